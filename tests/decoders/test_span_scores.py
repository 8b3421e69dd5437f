"""Decoding with span scores against every set of candidate spans."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import (
    Budget,
    Document,
    Field,
    InputError,
    Rules,
    RulesError,
    Scores,
    SpanScores,
    decode,
)
from lawful.search import Problem
from tests.helpers import ENOUGH
from tests.oracles.span_sets import assert_is_best, every_answer, every_set
from tests.strategies import AMOUNTS_AND_DAYS, rule_sets

TYPES = ("total", "tax", "part", "day", "due", "x")
PROBS = st.sampled_from([0.0, 1e-9, 0.1, 0.3, 0.5, 0.5, 0.7, 0.9, 1.0])


@st.composite
def span_problems(draw, most=6):
    """A document of up to five words, overlapping candidates with ties, zeros and ones, rules."""
    words = draw(st.lists(st.sampled_from(AMOUNTS_AND_DAYS), max_size=5))
    place = st.tuples(st.integers(0, len(words)), st.integers(1, 3), st.sampled_from(TYPES))
    places = draw(st.lists(place, max_size=most, unique=True))
    candidates = [
        (start, start + length, type_, draw(PROBS))
        for start, length, type_ in places
        if start + length <= len(words)
    ]
    return Document("d", words), candidates, draw(rule_sets())


@settings(max_examples=700)
@given(problem=span_problems(), count=st.integers(1, 3))
def test_the_answer_its_alternatives_and_its_confidence_are_those_of_all_sets(problem, count):
    document, candidates, rules = problem
    scores = SpanScores(candidates, len(document), TYPES)
    sets = list(every_set(candidates))
    whole = Problem(document, scores, rules)
    own = whole.log_prob(whole.best_legal)
    assert own == pytest.approx(max(log_prob for _, log_prob in sets), abs=1e-9)
    found = decode(document, scores, rules, budget=ENOUGH, alternatives=count)
    assert_is_best(found, whole.judge, sets, count)
    prices = sum(change.price for change in found.span_corrections)
    assert prices == pytest.approx(own - found.log_prob, abs=1e-6)
    assert not found.corrections


@settings(max_examples=200)
@given(problem=span_problems())
def test_decoders_agree_and_their_bounds_hold(problem):
    document, candidates, rules = problem
    scores = SpanScores(candidates, len(document), TYPES)
    judge = Problem(document, scores, rules).judge
    best = max(worth for _, worth in every_answer(judge, every_set(candidates)))
    for decoder in ("auto", "exact", "readings", "paths", "argmax"):
        for budget in (ENOUGH, Budget(candidates=3)):
            found = decode(document, scores, rules, decoder=decoder, budget=budget)
            assert found.bound >= best - 1e-9
            assert found.worth <= best + 1e-9
            if found.optimal:
                assert found.worth == pytest.approx(best, abs=1e-9)
            assert found.status != "infeasible" or best == -inf
            if budget is ENOUGH and decoder != "argmax":
                assert found.optimal or best == -inf or found.stopped_by == "combinations"


RULES = Rules(
    [Field(name, name, "money") for name in ("total", "subtotal", "tax")],
    ["total == subtotal + tax"],
)
WORDS = Document("r", ["Total", "53.28", "Tax", "5.28", "Net", "48.00"])


def test_a_span_is_relabelled_and_another_added_because_of_a_rule():
    scores = SpanScores(
        [(1, 2, "total", 0.4), (3, 4, "total", 0.7), (3, 4, "tax", 0.6), (4, 6, "subtotal", 0.2),
         (5, 6, "subtotal", 0.9)],
        words=6,
    )  # fmt: skip
    free = RULES.with_defaults(unchecked=2.0)
    found = decode(WORDS, scores, free)
    assert found.labels == ("O", "B-total", "O", "B-tax", "O", "B-subtotal")
    assert [change.text(WORDS.words) for change in found.span_corrections] == [
        "nothing -> total '53.28'",
        "total '5.28' -> tax '5.28'",
    ]
    assert [round(change.price, 3) for change in found.span_corrections] == [0.405, 0.442]
    assert found.span_corrections[1].because == ("total:agrees",)
    assert "total '5.28' -> tax '5.28' (0.44 nats, because of total:agrees)" in str(found)
    assert found.to_dict()["span_corrections"][1] == {
        "old": {"label": "total", "words": [3, 4], "text": "5.28"},
        "new": {"label": "tax", "words": [3, 4], "text": "5.28"},
        "price": pytest.approx(0.442, abs=1e-3),
        "because": ["total:agrees"],
    }


def test_a_span_removed_next_to_one_added_are_two_corrections():
    rules = Rules([Field(name, name, presence="free") for name in ("a", "b")], ["not present(a)"])
    scores = SpanScores([(0, 1, "a", 0.6), (1, 2, "b", 0.4)], words=2)
    found = decode(Document("d", ["x", "y"]), scores, rules.with_rules("present(b)"))
    changes = [change.text(found.words) for change in found.span_corrections]
    assert changes == ["a 'x' -> nothing", "nothing -> b 'y'"]


def test_adjacent_spans_of_one_type_stay_apart():
    rules = Rules([Field("items", "item", "money", many=True)])
    scores = SpanScores([(0, 1, "item", 0.9), (1, 3, "item", 0.8)], words=3)
    found = decode(Document("d", ["1.00", "2.00", "EUR"]), scores, rules)
    assert found.labels == ("B-item", "B-item", "I-item")
    assert [value.text for value in found.fields["items"]] == ["1.00", "2.00 EUR"]


def test_a_document_without_words_or_candidates_has_an_answer():
    for words in ((), ("a", "b")):
        scores = SpanScores([], len(words), ["total", "subtotal", "tax"])
        found = decode(Document("d", words), scores, RULES, alternatives=1)
        assert found.labels == ("O",) * len(words)
        assert (found.status, found.optimal, found.log_prob) == ("unchecked", True, 0.0)


def test_fields_may_share_the_type_of_a_span():
    rules = Rules(
        [Field("iban", "code", pattern="[A-Z]{2}.*"), Field("other", "code")], ["present(iban)"]
    )
    scores = SpanScores([(0, 1, "code", 0.9), (1, 2, "code", 0.3)], words=2)
    found = decode(Document("d", ["12", "DE1"]), scores, rules)
    assert {name: found.values(name) for name in found.fields} == {
        "iban": ("DE1",),
        "other": ("12",),
    }


def test_what_cannot_be_used_is_refused():
    scores = SpanScores([(0, 1, "total", 0.9)], words=6, types=["total", "subtotal", "tax"])
    with pytest.raises(InputError, match="decoder lazyk cannot use span scores; decoders that do"):
        decode(WORDS, scores, RULES, decoder="lazyk")
    with pytest.raises(InputError, match="has 6 words, but 5 words with span scores"):
        decode(WORDS, SpanScores([], 5, ["total", "subtotal", "tax"]), RULES)
    with pytest.raises(RulesError, match="field 'tax' has label 'tax', which the model does not"):
        decode(WORDS, SpanScores([], 6, ["total", "subtotal"]), RULES)
    with pytest.raises(InputError, match="scores is of type str, expected a Scores or a SpanScor"):
        decode(WORDS, "scores", RULES)
    with pytest.raises(InputError, match="rules is of type Scores, expected a Rules"):
        decode(WORDS, scores, Scores.from_probs([[1.0]], ["O"]))
