"""Scores that cannot be used are refused, with the row and the value."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import lawful
from lawful import SchemeError, Scores, ScoresError
from lawful.documents.scores import as_costs

INF, NAN = float("inf"), float("nan")
PROBS = "expected a probability between 0 and 1"


@pytest.mark.parametrize(
    ("scores", "kind", "message"),
    [
        ([[0.5, 0.5], [NAN, 1]], "probs", f"row 1, label 0 of probs is nan, {PROBS}"),
        ([[0.5, 0.5], [1.25, -0.25]], "probs", f"row 1, label 1 of probs is -0.25, {PROBS}"),
        ([[0.5, INF]], "probs", f"row 0, label 1 of probs is inf, {PROBS}"),
        ([[0.5, 0.5], [1e308, 1e308]], "probs", r"row 1, label 0 of probs is 1e\+308"),
        ([[-800.0, -900.0]], "log_probs", r"row 0 of exp\(log_probs\) sums to 0,"),
        ([[1000.0, -3.0]], "log_probs", r"row 0 of exp\(log_probs\) sums to inf"),
        (np.ma.masked_less([[0.5, 0.5]], 0.1), "probs", "probs is a masked array"),
        (
            np.array([[np.longdouble("1e4000")]]),
            "costs",
            "expected a number that fits into 64 bits",
        ),
        (np.array([[np.longdouble("1e-4000")]]), "probs", "expected a number that fits into 64"),
        ([[0.5, 0.5], [0.5, 0.37]], "probs", r"row 1 of probs sums to 0.87, expected 1 \(within"),
        ([[0.6, 0.6]], "probs", "row 0 of probs sums to 1.2"),
        ([[-0.7, NAN]], "log_probs", "row 0, label 1 of log_probs is nan"),
        ([[0.0, INF]], "log_probs", "row 0, label 1 of log_probs is inf, expected .* -inf to"),
        ([[0.5, -0.7]], "log_probs", r"row 0 of exp\(log_probs\) sums to 2.14"),
        ([[NAN]], "costs", "row 0, label 0 of costs is nan"),
        ([[1.0], [-INF]], "costs", "row 1, label 0 of costs is -inf, expected .*, or inf to"),
        ([[1e101]], "costs", "row 0, label 0 of costs is 1e.101, expected a number of size up to"),
        ([[1.0, INF]], "emissions", "row 0, label 1 of emissions is inf"),
        (
            [0.5, 0.5],
            "probs",
            r"probs has 1 dimension \(shape \(2,\)\), expected 2: words x labels",
        ),
        (np.ones((2, 1, 1)), "probs", "probs has 3 dimensions"),
        (3.0, "costs", r"costs has 0 dimensions"),
        (np.empty((3, 0)), "probs", r"shape \(3, 0\): zero labels"),
        (np.empty((0, 0)), "probs", "zero labels"),
        ([["a", "b"]], "probs", "expected real numbers"),
        (np.ones((1, 1), complex), "probs", "holds complex128, expected real numbers"),
        ([[None, 1.0]], "probs", "holds object, expected real numbers"),
        ([[0.5, 0.5], ["a"]], "probs", "is not a matrix"),
        ([[0.5, 0.5], 1.0], "probs", "is not a matrix"),
        ([[0.5, [0.5]], [1.0]], "probs", "is not a matrix"),
        ([[1.0]], "logits", "unknown kind of scores 'logits'; kinds: probs, log_probs, emissions"),
    ],
)
def test_bad_scores_are_named(scores, kind, message):
    with pytest.raises(lawful.ScoresError, match=message) as caught:
        lawful.assignments(scores, kind=kind)
    assert isinstance(caught.value, ValueError)
    with pytest.raises(lawful.ScoresError):
        lawful.paths(scores, lawful.Scheme.table([[True]]), kind=kind)


def test_kinds_are_one_another():
    probs = np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]])
    with np.errstate(divide="ignore"):
        log_probs = np.log(probs)
    costs = as_costs(probs, "probs")
    assert np.array_equal(costs, as_costs(log_probs, "log_probs"))
    assert np.array_equal(costs, as_costs(log_probs, "emissions"))
    assert np.array_equal(costs, as_costs(-log_probs, "costs"))


def test_unnormalised_scores_are_used_as_they_are():
    labels, score = next(lawful.assignments([[2.0, 5.0], [-1.0, -3.0]], kind="emissions"))
    assert (labels.tolist(), score) == ([1, 0], 4.0)
    labels, score = next(lawful.assignments([[2.0, 5.0], [-1.0, -3.0]], kind="costs"))
    assert (labels.tolist(), score) == ([0, 1], 1.0)


def test_half_precision_may_be_further_from_one():
    flat = np.full((1, 61), -np.log(61)).astype(np.float16)  # sums to 1.0015
    lawful.assignments(flat, kind="log_probs")
    with pytest.raises(lawful.ScoresError, match=r"sums to 1\.0015"):
        lawful.assignments(flat.astype(np.float64), kind="log_probs")


def test_whole_numbers_are_probabilities_too():
    assert len(list(lawful.assignments([[1, 0], [0, 1]]))) == 1
    assert len(list(lawful.assignments(np.eye(3, dtype=bool)))) == 1


def test_ragged_paths_are_refused_with_the_row():
    scheme = lawful.Scheme.named("BIO", ["O", "B-a"])
    with pytest.raises(lawful.ScoresError, match="row 1 of probs has 1 label, expected 2"):
        lawful.paths([[0.5, 0.5], [1.0]], scheme)


def test_scores_from_logits_are_a_softmax_at_a_temperature():
    logits = [[2.0, 0.0, -1.0], [0.0, 5.0, float("-inf")]]
    for temperature in (0.5, 1, 3.0):
        scores = Scores.from_logits(logits, ["O", "B-a", "I-a"], temperature=temperature)
        powers = np.exp(np.array(logits) / temperature)
        assert np.exp(scores.log_probs) == pytest.approx(powers / powers.sum(1, keepdims=True))
    hot = Scores.from_logits(logits, ["O", "B-a", "I-a"]).with_temperature(3)
    assert hot.log_probs == pytest.approx(scores.log_probs)
    assert not hot.log_probs.flags.writeable


@pytest.mark.parametrize(
    "temperature", [0, -1, 1e-300, float("nan"), float("inf"), "hot", None, True]
)
def test_a_temperature_is_a_number_above_zero(temperature):
    with pytest.raises(lawful.ScoresError, match="temperature is"):
        Scores.from_logits([[0.0]], ["O"], temperature=temperature)


def test_scores_need_a_name_for_every_column():
    with pytest.raises(lawful.ScoresError, match="2 labels, but the scores have 3 columns"):
        Scores.from_probs([[0.2, 0.3, 0.5]], ["O", "B-a"])


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        ([[0.0, np.inf]], ("O", "B-a")),  # crashed the interpreter in lazyk
        ([[np.nan, 0.0]], ("O", "B-a")),
        ([[0.0, -np.inf, -np.inf]], ("O", "B-a")),  # was decoded without complaint
        ([[0.3, 0.4]], ("O", "B-a")),
        ([0.0], ("O",)),
        ([[0.0]], ("O", "O")),
    ],
)
def test_scores_made_directly_are_checked(rows, labels):
    with pytest.raises((ScoresError, SchemeError)):
        Scores(np.array(rows), labels)


def test_scores_made_directly_are_as_good_as_any():
    given = np.log(np.array([[0.25, 0.75]]))
    scores = Scores(given, ["O", "B-a"])
    given[:] = np.nan
    assert scores.labels == ("O", "B-a")
    assert np.exp(scores.log_probs).tolist() == [[0.25, 0.75]]
    assert not scores.log_probs.flags.writeable
    again = pickle.loads(pickle.dumps(scores))
    assert not again.log_probs.flags.writeable
    assert again.labels == scores.labels
