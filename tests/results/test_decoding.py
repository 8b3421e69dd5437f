"""Budgets, and what two decodings differ in."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest

import lawful
from lawful import Budget, Document, Rules, Scores, decode
from lawful.cli.counts import Tally, counts_of
from lawful.cli.writers import writer_for
from lawful.pipeline.call import Call
from lawful.results.decoding import differences
from lawful.rules.judging.field_reader import FieldValue


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


MONEY = [lawful.Field(name, name, "money") for name in "ab"]


def test_what_only_the_labelling_scheme_changed_is_no_correction_of_the_model():
    rules = Rules([lawful.Field("a", "a"), lawful.Field("b", "b")], ["a != 'x y'"])
    labels = ["O", "B-a", "I-a", "B-b", "I-b"]
    scores = Scores.from_probs([[0, 0.1, 0.9, 0, 0], [0, 0, 0.9, 0.1, 0]], labels)
    found = decode(Document("d", ["x", "y"]), scores, rules)
    assert [(c.new, c.because) for c in found.corrections] == [
        ("B-a", ("legal",)), ("B-b", ("a != 'x y'", "legal")),
    ]  # fmt: skip
    assert found.changed == 1


def test_a_rule_of_many_rows_counts_once_and_its_rows_apart():
    kind = lawful.rules.RowKind("line", ("a", "b"))
    rules = Rules(MONEY, [lawful.Rule("a == b", each="line", id="same")], rows=[kind])
    words = ["1.00", "1.00", "2.00", "2.00", "3.00"]
    scores = Scores.from_probs(np.eye(3)[[1, 2, 1, 2, 1]], ["O", "B-a", "B-b"])

    found = decode(Document("d", words, rows=[1, 1, 2, 2, 3]), scores, rules)

    assert [check.state for check in found.rule_checks] == ["satisfied", "satisfied", "vacuous"]
    assert (found.counts.rules, found.checked, found.counts.hold) == (1, 1, 1)
    assert "(1 of 1 rules checked, 2 of 3 row checks, optimal" in str(found)
    record = found.to_dict()
    assert (record["checked"], record["rules"]) == (1, 1)
    assert record["row_checks"] == {"checked": 2, "all": 3}
    tally = Tally(counts_of(found.status, found.checks))
    assert str(tally) == "1 satisfied; 1 of 1 rules checked, 1 holds, 2 of 3 row checks"
    writer = writer_for("csv", Call(rules))
    scored = lawful.Scored(Document("d", words, rows=[1, 1, 2, 2, 3]), scores)
    lines = writer.head() + writer.write(scored, found)[0]
    row = next(csv.DictReader(lines.splitlines()))
    assert (row["checked"], row["rules"], row["row_checks"]) == ("1", "1", "2 of 3")
    assert row["unchecked"] == "same"


def test_an_order_counts_once_however_many_spans_are_late():
    rules = Rules(MONEY, [], orders=[lawful.rules.Order(("a", "b"), weight=0.1)])
    scores = Scores.from_probs(np.eye(3)[[2, 1, 1]], ["O", "B-a", "B-b"])

    found = decode(Document("d", ["1.00"] * 3), scores, rules)

    assert [check.state for check in found.rule_checks] == ["violated", "violated"]
    assert (found.counts.rules, found.checked, found.counts.broken) == (1, 1, 1)
    assert "row_checks" not in found.to_dict()


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
