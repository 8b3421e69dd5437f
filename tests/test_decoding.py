"""Budgets, and what two decodings differ in."""

from __future__ import annotations

from dataclasses import replace

import pytest

import lawful
from lawful import Budget, Document, Rules, Scores, decode
from lawful.decoding import differences
from lawful.rules.judge import FieldValue


@pytest.mark.parametrize(
    "options",
    [
        {"candidates": 0},
        {"candidates": 1.5},
        {"candidates": True},
        {"seconds": -1},
        {"max_cost": -1},
        {"max_cost": float("nan")},
        {"mass": 2},
        {"mass": "all"},
        {"mass": True},
    ],
)
def test_budgets_are_checked(options):
    with pytest.raises(lawful.InputError, match="budget: "):
        Budget(**options)


def values(**fields):
    return {
        name: [FieldValue(str(value), value, (0, 1)) for value in found]
        for name, found in fields.items()
    }


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"total": [7]}, {"total": [9]}, [("total", "7", "9")]),
        ({"total": [7]}, {}, [("total", "7", "missing")]),
        ({}, {"items": [3, 4]}, [("items", "missing", "3 4")]),
        ({"items": [3, 4]}, {"items": [3, 4, 4]}, [("items", "", "4")]),
        ({"items": [3, 4, 4]}, {"items": [3, 4]}, [("items", "4", "")]),
        ({"items": [3, 4]}, {"items": [4, 3]}, [("items", "3 4", "4 3")]),
        ({"total": [7, 7]}, {"total": [7]}, []),  # one value is what it has, however often
        ({"total": [None, 7]}, {"total": [7]}, []),  # the first that can be read
        ({"total": [7, 9]}, {"total": [9, 7]}, [("total", "7", "9")]),
    ],
)
def test_decodings_differ_in_the_values_of_their_fields(before, after, expected):
    base = decode(Document("d", ["x"]), Scores.from_probs([[1.0]], ["O"]), Rules([]))
    one, other = (replace(base, fields=values(**fields)) for fields in (before, after))
    assert list(differences(one, other, {"total", "tax"})) == expected
