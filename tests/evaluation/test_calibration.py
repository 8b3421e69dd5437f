"""Temperatures that someone could work out by hand."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import Document, InputError, Scored, Scores
from lawful.evaluation.calibration import BINS, COLDEST, HOTTEST, Words, fit_temperature, measure
from lawful.evaluation.split import sample
from tests.fixtures import outputs
from tests.helpers import needs_shared


def words(probs, gold):
    """Words of two or more labels called a, b, …; gold by index."""
    labels = tuple("abcdefgh"[: np.shape(probs)[1]])
    scores = Scores.from_probs(probs, labels)
    document = Document("d", ["w"] * len(gold))
    return Words.of([Scored(document, scores, tuple(labels[i] for i in gold))])


# Nine to one, but right three times in four: an honest model says three to one, and
# three is the square root of nine.
TOO_SURE = words([[0.9, 0.1]] * 4, [0, 0, 0, 1])


def test_a_model_that_is_twice_too_sure_has_temperature_two():
    fit = fit_temperature(TOO_SURE)
    assert fit.temperature == pytest.approx(2, rel=1e-5)
    assert not fit.at_edge
    assert TOO_SURE.nll(2) == pytest.approx(-(3 * log(0.75) + log(0.25)) / 4)
    assert TOO_SURE.slope(2) == pytest.approx(0)


def test_the_calibration_error_is_the_mean_gap_between_said_and_right():
    before, after = measure(TOO_SURE), measure(TOO_SURE, 2.0)
    assert (before.accuracy, before.confidence) == pytest.approx((0.75, 0.9))
    assert before.ece == pytest.approx(0.15)
    assert after.ece == pytest.approx(0)
    # Two bins: of one word said 0.6 and wrong, and of three said 0.9, two of them right.
    mixed = measure(words([[0.6, 0.4]] + [[0.9, 0.1]] * 3, [1, 0, 0, 1]))
    assert [(b.words, b.accuracy) for b in mixed.bins] == [(1, 0), (3, pytest.approx(2 / 3))]
    assert mixed.ece == pytest.approx((1 * 0.6 + 3 * (0.9 - 2 / 3)) / 4)
    for found in mixed.bins:
        assert found.low < found.confidence <= found.high
        assert found.high - found.low == pytest.approx(1 / BINS)


def test_certainty_and_the_edges_of_bins_have_a_bin():
    sure = measure(words([[1.0, 0.0], [0.6, 0.4]], [0, 0]))
    assert [(b.low, b.words) for b in sure.bins] == [(pytest.approx(8 / 15), 1), (14 / 15, 1)]


def test_true_labels_of_probability_zero_are_left_out_and_counted():
    found = words([[0.9, 0.1]] * 4 + [[1.0, 0.0]], [0, 0, 0, 1, 1])
    assert found.impossible == 1
    assert fit_temperature(found).temperature == pytest.approx(2, rel=1e-5)
    assert found.nll(1) == pytest.approx(TOO_SURE.nll(1))
    # It still was sure and wrong, and that shows.
    assert measure(found).accuracy == pytest.approx(3 / 5)
    with pytest.raises(InputError, match="all 2 true labels have probability zero"):
        fit_temperature(words([[1.0, 0.0]] * 2, [1, 1]))


def test_a_word_whose_labels_are_all_forbidden_says_nothing():
    scores = Scores.from_log_probs([[-np.inf, -np.inf], [log(0.9), log(0.1)]], tuple("ab"))
    found = Words.of([Scored(Document("d", ["w", "w"]), scores, ("a", "a"))])
    assert (found.impossible, measure(found).accuracy) == (1, 1)
    assert sum(b.words for b in measure(found).bins) == 1


@pytest.mark.parametrize(
    ("probs", "gold", "temperature"),
    [
        ([[0.9, 0.1]] * 3, [0, 0, 0], COLDEST),  # always right: no certainty is too much
        ([[0.9, 0.1]] * 3, [1, 1, 1], HOTTEST),  # always wrong: the less it says the better
    ],
)
def test_where_no_temperature_is_best_the_edge_is_said_to_be_one(probs, gold, temperature):
    fit = fit_temperature(words(probs, gold))
    assert (fit.temperature, fit.at_edge) == (temperature, True)


@pytest.mark.parametrize("probs", [[[0.5, 0.5]], [[1.0, 0.0]]], ids=str)
def test_where_it_makes_no_difference_the_temperature_is_one(probs):
    assert fit_temperature(words(probs, [0])).temperature == 1


def test_nothing_at_all():
    with pytest.raises(InputError, match="no words"):
        fit_temperature(Words.of([]))
    assert measure(Words.of([])).ece == 0
    with pytest.raises(InputError, match="'d' has no gold"):
        Words.of([Scored(Document("d", ["w"]), Scores.from_probs([[1.0]], tuple("a")))])


def test_documents_may_have_other_lists_of_labels():
    pages = [
        Scored(
            Document("d", ["w"] * 2), Scores.from_probs([[0.9, 0.1]] * 2, tuple("ab")), ("a", "a")
        ),
        Scored(
            Document("e", ["w"] * 2),
            Scores.from_probs([[0, 0.1, 0.9]] * 2, tuple("xba")),
            ("a", "b"),
        ),
    ]
    assert fit_temperature(Words.of(pages)).temperature == pytest.approx(2, rel=1e-5)


@st.composite
def any_words(draw):
    count, size = draw(st.integers(1, 12)), draw(st.integers(2, 4))
    numbers = st.lists(st.floats(-8, 8), min_size=size, max_size=size)
    logits = np.array(draw(st.lists(numbers, min_size=count, max_size=count)))
    gold = draw(st.lists(st.integers(0, size - 1), min_size=count, max_size=count))
    labels = tuple("abcd"[:size])
    scores = Scores.from_logits(logits, labels)
    return Scored(Document("d", ["w"] * count), scores, tuple(labels[i] for i in gold))


@given(scored=any_words(), other=st.floats(COLDEST, HOTTEST))
def test_no_other_temperature_is_likelier(scored, other):
    found = Words.of([scored])
    assert found.nll(fit_temperature(found).temperature) <= found.nll(other) + 1e-9


@given(scored=any_words(), factor=st.floats(0.5, 2))
def test_what_was_heated_is_cooled_again(scored, factor):
    heated = Scored(scored.document, scored.scores.with_temperature(factor), scored.gold)
    fit, again = (fit_temperature(Words.of([page])) for page in (scored, heated))
    if not fit.at_edge and not again.at_edge and not Words.of([scored]).are_flat:
        # Compared by likelihood: almost flat words have one at nearly any temperature.
        ideal = Words.of([heated]).nll(fit.temperature / factor)
        assert Words.of([heated]).nll(again.temperature) == pytest.approx(ideal, abs=1e-9)
    assert 0 <= measure(Words.of([heated])).ece <= 1


@needs_shared
@pytest.mark.parametrize("name", outputs.OUTPUTS)
def test_real_models_are_too_sure(name):
    pages = [page.to_words("first") for page in outputs.read_outputs(name)]
    chosen = sample([page.document.id for page in pages], 0.5, 0)
    fit = fit_temperature(Words.of(page for page in pages if page.document.id in chosen))
    assert 1.4 < fit.temperature < 1.75
    rest = Words.of(page for page in pages if page.document.id not in chosen)
    before, after = measure(rest), measure(rest, fit.temperature)
    assert after.nll < before.nll
    assert after.ece < 0.7 * before.ece
