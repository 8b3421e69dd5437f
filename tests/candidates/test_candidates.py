"""Candidates: probabilities of texts from samples and guesses, and what is refused."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from math import exp, inf, log, nan

import pytest

from lawful import Candidates, InputError
from lawful.candidates.align_lists import align
from lawful.candidates.samples import text_of
from lawful.values import read


def probabilities(slot):
    """The probabilities of a slot's texts, and of missing."""
    found = {text: exp(each) for text, each in slot.log_probs.items()}
    assert (slot.log_missing > -inf) == bool(slot.absent_in)
    return found | ({None: exp(slot.log_missing)} if slot.absent_in else {})


def by_path(candidates):
    """By path and item, the probabilities of its texts."""
    return {(".".join(s.path), s.item): pytest.approx(probabilities(s)) for s in candidates.slots}


def test_every_sample_has_a_vote_and_smoothing_adds_to_each():
    samples = [{"a": "x", "b": {"c": 1}}, {"a": " x "}, {"a": "y", "b": {"c": None}}, {}]
    assert by_path(Candidates.from_samples(samples)) == {
        ("a", None): {"x": 2.5 / 5.5, "y": 1.5 / 5.5, None: 1.5 / 5.5},
        ("b.c", None): {"1": 1.5 / 5, None: 3.5 / 5},
    }
    assert by_path(Candidates.from_samples(samples[:2], smoothing=2)) == {
        ("a", None): {"x": 1},
        ("b.c", None): {"1": 3 / 6, None: 3 / 6},
    }


def test_with_log_probs_equal_samples_count_once():
    samples = [{"a": "x"}, {"a": "x", "b": None}, {"a": "y"}, {"a": "z"}]
    log_probs = [log(0.2), log(0.2), log(0.1), -1e9]
    found = Candidates.from_samples(samples, [p - 1000 for p in log_probs])
    votes = {"x": 4 * 2 / 3, "y": 4 / 3}  # nobody has z, or has left out what it is about
    expected = {text: (vote + 0.5) / 5 for text, vote in votes.items()}
    assert by_path(found) == {("a", None): expected}


def test_numbers_become_texts_that_read_as_these_numbers():
    for value in (0, 5, -7, 53.28, 1000.0, 3.125, -0.001, Decimal("1.10"), 1e-7, 12345678, 1e15):
        text = text_of(value, "x")
        assert read(text, "money")[0] == Decimal(str(value)), text
    assert text_of(3.125, "x") == "3.1250"
    assert (text_of(True, "x"), text_of(date(2024, 1, 5), "x")) == ("true", "2024-01-05")
    assert text_of("  ", "x") is text_of(None, "x") is None


def test_rows_are_aligned_between_samples():
    a, b, c = ({"name": n, "price": p} for n, p in (("tea", 1), ("cake", 2), ("milk", 3)))
    wrong = {"name": "cake", "price": 7}
    samples = [{"lines": [a, b, c]}, {"lines": [a, c]}, {"lines": [a, wrong, c]}, {"lines": []}, {}]
    found = by_path(Candidates.from_samples(samples))
    assert found[("lines.name", 1)] == {"cake": 2.5 / 6, None: 3.5 / 6}
    assert found[("lines.price", 1)] == {"2": 1.5 / 6.5, "7": 1.5 / 6.5, None: 3.5 / 6.5}
    assert found[("lines.name", 2)] == {"milk": 3.5 / 6, None: 2.5 / 6}
    assert len(found) == 6


def test_what_is_a_list_in_one_sample_is_a_list_in_all():
    samples = [{"codes": ["A", "B"], "lines": [{"n": "x"}]}, {"codes": "A", "lines": {"n": "x"}}]
    assert by_path(Candidates.from_samples(samples)) == {
        ("codes", 0): {"A": 1},
        ("codes", 1): {"B": 1.5 / 3, None: 1.5 / 3},
        ("lines.n", 0): {"x": 1},
    }


def test_items_keep_their_order_and_wrong_ones_their_place():
    lists = [[{(): text} for text in texts] for texts in ("abc", "axc", "bc", "abcd", "")]
    columns = align(lists, [1.0] * 5)
    shown = ["".join("-" if item is None else item[()] for item in column) for column in columns]
    assert shown == ["aa-a-", "bxbb-", "cccc-", "---d-"]
    assert align([], []) == align([[], []], [1, 1]) == []


def test_probabilities_may_be_given():
    found = Candidates(
        {
            "total": {"5": log(0.6), 5.0: log(0.2), "7": -inf},
            "tax": {"1": log(0.9), "": log(0.1)},
            "sure": {"x": 0.0},
            "items": [{"1": log(0.5)}, {"2": log(0.25)}],
            "lines": [{"name": {"tea": log(0.5)}}, {"name": {"cake": log(0.5)}}],
        }
    )
    assert by_path(found) == {
        ("total", None): {"5": 0.8, None: 0.2},
        ("tax", None): {"1": 0.9, None: 0.1},
        ("sure", None): {"x": 1},
        ("items", 0): {"1": 0.5, None: 0.5},
        ("items", 1): {"2": 0.25, None: 0.75},
        ("lines.name", 0): {"tea": 0.5, None: 0.5},
        ("lines.name", 1): {"cake": 0.5, None: 0.5},
    }
    assert found.paths[-1] == ("lines", "name")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (["x"], r"candidates is \['x'\], expected fields and their candidates"),
        ({1: {}}, "1 is no name of a field"),
        ({"a": "x"}, "candidates of a is 'x', expected texts and their log-probabilities, or"),
        ({"a": ["x"]}, r"candidates of a\[0\] is 'x', expected a mapping"),
        ({"a": {"x": 0.5}}, "candidates of a: 'x' has 0.5, expected a log-probability"),
        ({"a": {"x": nan}}, "candidates of a: 'x' has nan"),
        ({"a": {"x": "-1"}}, "candidates of a: 'x' has '-1'"),
        ({"a": {"x": 0.0, "y": 0.0}}, "candidates of a: probabilities sum to 2, over 1"),
        ({"a": {"x": -1.0, "": -1.0}}, "candidates of a: probabilities sum to 0.735759, expected"),
        ({"a": [{"b": {"x": 1}}]}, r"candidates of a\[0\].b: 'x' has 1"),
        ({"a": [{"x": -1.0}] * 100_001}, "the candidates are for 100,001 values, over 100,000"),
    ],
)
def test_bad_candidates_are_named(fields, message):
    with pytest.raises(InputError, match=message):
        Candidates(fields)


@pytest.mark.parametrize(
    ("samples", "log_probs", "message"),
    [
        ([], None, "there are no samples, expected at least one"),
        ({"a": 1}, None, "objects is {'a': 1}, expected a list"),
        ([{}, 7], None, "sample 1 is 7, expected an object$"),
        ([{"a": {1, 2}}], None, r"sample 0: a is \{1, 2\}, expected a text, a number or null"),
        ([{"a": nan}], None, "sample 0: a is nan, expected a text"),
        ([{"a": 10**400}], None, "sample 0: a is 1000.*, expected a text"),
        ([{"a": Decimal("1e999999999")}], None, "sample 0: a is Decimal.*, expected a text"),
        ([{"a": [[1]]}], None, r"sample 0: a\[0\] is \[1\], expected a text"),
        ([{"a": [{"b": [1]}]}], None, r"sample 0: a\[0\]: b is a list in a list, which cannot"),
        ([{"a": [1] * 5001}], None, "a list has 5,001 items, over 5,000"),
        ([{}], [0, 0], "2 log_probs for 1 samples, expected one each"),
        ([{}], [inf], r"log_probs\[0\] is inf, expected a log-probability"),
        ([{}], ["0"], r"log_probs\[0\] is '0', expected a log-probability"),
    ],
)
def test_bad_samples_are_named(samples, log_probs, message):
    with pytest.raises(InputError, match=message):
        Candidates.from_samples(samples, log_probs)


def test_bad_smoothing_and_deep_nesting_are_refused():
    for smoothing in (0, -1, nan, None, True, inf, 1e-300):
        with pytest.raises(InputError, match=r"smoothing is .*, expected a number from 0.000001"):
            Candidates.from_samples([{}], smoothing=smoothing)
    deep = {"a": 1}
    for _ in range(20):
        deep = {"a": deep}
    with pytest.raises(InputError, match="objects are nested more than 8 deep"):
        Candidates.from_samples([deep])
