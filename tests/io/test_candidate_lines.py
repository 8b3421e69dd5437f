"""Lines of candidates, however wrong: a bad line or an answer, and never another exception."""

from __future__ import annotations

import json
import random

import pytest

from lawful import Budget, Candidates, FailedDocument, Field, LawfulError, Rule, Rules, choose
from lawful.io.candidate_lines import parse_candidates
from lawful.rules import RowKind

EXPENSE = {
    "Type": {"Text": "TOTAL", "Confidence": 90},
    "ValueDetection": {"Text": "5", "Confidence": 80},
}
LINES = [
    {
        "id": "samples",
        "samples": [
            {"total": 5, "tax": 1.5, "lines": [{"amount": 4, "name": "a b c"}], "day": "5/1/2024"},
            {"total": "5,00", "lines": []},
        ],
        "log_probs": [-1, -2],
    },
    {
        "id": "sources",
        "sources": {
            "a": {"total": 5, "lines": [{"amount": 4, "name": "b"}], "day": "2024-01-05"},
            "b": [{"total": "5.00", "lines": []}, '{"total": 6'],
            "c": {"tax": 1.5},
        },
        "reliability": {"a": 0.9, "b": {"total": 0.5, "*": 0.8}},
    },
    {
        "id": "candidates",
        "candidates": {
            "total": {"5": -0.1},
            "lines": [{"amount": {"1": -0.5}}],
            "tax": [{"2": -1}],
        },
        "given": {"x": 1},
        "classes": {"kind": {"a": 0}},
    },
    {
        "id": "textract",
        "textract": {
            "ExpenseDocuments": [
                {
                    "SummaryFields": [EXPENSE],
                    "LineItemGroups": [{"LineItems": [{"LineItemExpenseFields": [EXPENSE]}]}],
                }
            ]
        },
    },
    {
        "id": "azure",
        "azure": {
            "documents": [
                {
                    "fields": {
                        "total": {"valueCurrency": {"amount": 9.5}, "confidence": 0.6},
                        "Items": {"valueArray": [{"valueObject": {"amount": {"content": "3"}}}]},
                    }
                }
            ]
        },
    },
    {
        "id": "document_ai",
        "document_ai": {
            "entities": [
                {"type": "total", "mentionText": "5", "confidence": 0.7},
                {"type": "line", "properties": [{"type": "line/amount", "mentionText": "3"}]},
            ]
        },
    },
]
JUNK = [None, True, 0, -1, 1e308, 1e-320, "", " ", "x" * 500, "1.000", "\0", "\u202e", [], {}, [[]],
        [{}], {"a": {}}, {"": 1}, [None], 10**25, 10**40, "NaN", "1e9999"]  # fmt: skip
RULES = Rules(
    [
        Field("total", "TOTAL", "money"),
        Field("tax", "t", "money"),
        Field("amount", "a", "money"),
        Field("name", "n", max_words=2),
        Field("day", "d", "date"),
    ],
    ["total == sum(amount) + tax", Rule("amount > 0", each="line")],
    rows=[RowKind("line", ("name", "amount"))],
)


def mutated(value, dice):
    """The value with some of its parts replaced, repeated or left out."""
    if dice.random() < 0.06:
        return dice.choice(JUNK)
    if isinstance(value, dict):
        names = ["total", "lines", "amount", ""]
        return {
            dice.choice(names) if dice.random() < 0.04 else name: mutated(each, dice)
            for name, each in value.items()
        }
    if isinstance(value, list):
        return [mutated(each, dice) for each in value] * dice.choice([1, 1, 1, 1, 0, 2])
    return value


@pytest.mark.parametrize("seed", range(4))
def test_every_line_is_bad_or_has_an_answer(seed):
    dice = random.Random(seed)  # noqa: S311 - no secrets
    answers = 0
    for _ in range(300):
        text = json.dumps(mutated(dice.choice(LINES), dice)).encode()
        candidates = parse_candidates(1, text)
        if isinstance(candidates, FailedDocument):
            assert candidates.message
            continue
        try:
            found = choose(candidates, RULES, budget=Budget(seconds=2))
        except LawfulError:
            continue
        json.dumps(found.to_dict(), default=str)
        answers += 1
    assert answers > 20


def test_lines_are_what_they_say():
    for line in LINES:
        found = parse_candidates(7, json.dumps(line).encode())
        assert isinstance(found, Candidates)
        assert (found.id, found.line) == (line["id"], 7)
        assert choose(found, RULES).fields["total"]
    assert parse_candidates(1, b"").message.startswith("the line is longer than")
