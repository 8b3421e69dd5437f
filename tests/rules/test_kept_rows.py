"""What the best labelling has stays, in each row, too: no rule is satisfied by deleting it."""

from __future__ import annotations

from collections import Counter
from math import inf

import pytest

from lawful import Document, Field, Rule, Rules, Scores, decode
from lawful.rules import RowKind
from tests.drawing import EXACT, draw
from tests.helpers import ENOUGH
from tests.oracles.statements import Oracle

FIELDS = [
    Field("quantity", "q", "number"),
    Field("price", "p", "money"),
    Field("amount", "a", "money"),
    Field("total", "t", "money"),
]
LINE = ("quantity", "price", "amount")
LABELS = ["O", *(f"{prefix}-{field.label}" for field in FIELDS for prefix in "BI")]


def page(lines, total, sure=0.9):
    """A page of lines of three numbers, and the scores of a model that is right about all."""
    words = [*(word for line in lines for word in line), total]
    labels = [f"B-{name}" for _ in lines for name in "qpa"] + ["B-t"]
    rest = (1 - sure) / (len(LABELS) - 1)
    probs = [[sure if label == known else rest for label in LABELS] for known in labels]
    rows = [number for number, line in enumerate(lines) for _ in line] + [None]
    return Document("d", words, rows=rows), Scores.from_probs(probs, LABELS)


def rules_of(weight, presence="keep", **kind):
    return Rules(
        FIELDS,
        [Rule("amount == quantity * price", each="line", weight=weight), "total == sum(amount)"],
        rows=[RowKind("line", LINE, **kind)],
    ).with_defaults(presence=presence)


@pytest.mark.parametrize("decoder", EXACT)
def test_a_line_that_breaks_its_rule_is_reported_and_not_cut(decoder):
    document, scores = page([("2", "3", "6"), ("2", "5", "9")], "15")
    found = decode(document, scores, rules_of(10), decoder=decoder, budget=ENOUGH)
    assert (found.status, found.optimal) == ("relaxed", True)
    [violation] = found.violations
    assert violation.message == "line 2: amount is 9, quantity * price is 10"
    assert [len(row) for row in found.rows("line")] == [3, 3]
    free = decode(document, scores, rules_of(10, "free"), decoder=decoder, budget=ENOUGH)
    assert free.status == "satisfied"
    assert [len(row) for row in free.rows("line")] == [3, 2]


def test_rows_that_begin_with_a_field_keep_their_values_among_their_words():
    document, scores = page([("2", "3", "6"), ("2", "5", "9"), ("3", "3", "8")], "23")
    found = decode(document, scores, rules_of(10, starts="quantity"))
    for name in LINE:
        lines = [value.words[0] // 3 for value in found.fields[name]]
        assert lines == [0, 1, 2]


def test_a_line_is_not_dropped_as_a_whole():
    document, scores = page([("2", "3", "6"), ("2", "5", "9")], "6", sure=0.3)
    found = decode(document, scores, rules_of(3))
    assert len(found.rows("line")) == 2
    assert {check.id for check in found.violations} == {
        "amount == quantity * price",
        "total == sum(amount)",
    }


def test_lines_that_hard_rules_refuse_are_named():
    document, scores = page([("2", "5", "9")], "9")
    found = decode(document, scores, rules_of(inf))
    assert found.status == "infeasible"
    assert set(found.clash) <= {
        "amount == quantity * price",
        "quantity:kept",
        "price:kept",
        "amount:kept",
        "every span",
    }
    assert found.clash_minimal
    assert [len(row) for row in found.rows("line")] == [3]


def test_a_value_may_move_within_its_line():
    """The amount is the last number of the line, whichever the model likes better."""
    document = Document("d", ["2", "5", "9", "10"], rows=[0] * 4)
    rows = [{"B-q": 0.9}, {"B-p": 0.9}, {"B-a": 0.8}, {"B-a": 0.15, "O": 0.8}]
    probs = [
        [row.get(label, (1 - sum(row.values())) / (len(LABELS) - len(row))) for label in LABELS]
        for row in rows
    ]
    found = decode(document, Scores.from_probs(probs, LABELS), rules_of(10))
    assert [value.text for value in found.fields["amount"]] == ["10"]


def test_every_row_has_the_fields_that_it_needs_or_says_so():
    rules = rules_of(10, required=("quantity", "amount"))
    document, scores = page([("2", "3", "6")], "6")
    assert decode(document, scores, rules).status == "satisfied"
    lacking = Document("d", ["x", "3", "6", "6"], rows=[0, 0, 0, None])
    found = decode(lacking, scores, rules.with_defaults(weights={"quantity:reads": inf}))
    [violation] = found.violations
    assert (violation.id, violation.row) == ("quantity:required", 1)
    assert violation.message == "line 1: quantity is missing"
    assert (violation.implied, violation.price) == (True, 10)
    hard = rules.with_defaults(weights={"quantity:reads": inf, "quantity:required": inf})
    found = decode(lacking, scores, hard)
    assert found.status == "infeasible"
    assert "quantity:required" in found.clash


@pytest.mark.parametrize("start", range(0, 200, 20))
def test_nothing_that_the_best_labelling_has_disappears(start):
    """Neither from the page nor from a row, over all that the fuzzer draws, by any decoder."""
    kept = Counter()
    for number in range(start, start + 20):
        document, scores, rules, questions = draw(number)
        oracle = Oracle(document, scores, rules)
        places = [("page", name, 0, inf) for name in oracle.kept]
        places += [("row", *place) for place in oracle.kept_places]
        for asked in questions:
            if asked.decoder in ("argmax", "beam") or oracle.best_legal == -inf:
                continue
            found = decode(document, scores, rules, decoder=asked.decoder, budget=asked.budget)
            for of, name, first, end in places:
                values = found.fields.get(name, [])
                here = [v for v in values if v.value is not None and first <= v.words[0] < end]
                assert here, f"{name} is gone from words {first}:{end} of case {number}: {asked}"
                kept[of] += 1
    assert min(kept["page"], kept["row"]) > 5
