"""Scoring decodings: small pages with answers someone could check by hand."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import lawful
from lawful import Document, Field, Rules, Scored, Scores
from lawful.evaluation import Counts, Scoreboard

LABELS = ("O", "B-total", "I-total", "B-item")
RULES = Rules(
    [Field("total", "total", "money"), Field("items", "item", "money", many=True)],
    ["total == sum(items)"],
)


def page(words, gold):
    scores = Scores.from_probs([[0.25] * 4] * len(words), LABELS)
    return Scored(Document("d", words), scores, gold)


def decoded(labels, status="satisfied"):
    return SimpleNamespace(labels=labels, status=status)


def test_f1_is_the_harmonic_mean_of_precision_and_recall():
    counts = Counts()
    counts.add({1, 2, 3}, {2, 3, 4, 5})
    assert (counts.right, counts.found, counts.true) == (2, 3, 4)
    precision, recall = 2 / 3, 2 / 4
    assert counts.f1 == pytest.approx(2 * precision * recall / (precision + recall))
    assert Counts().f1 == 1


def test_entities_values_rules_and_pages():
    gold = ("B-total", "I-total", "B-item", "B-item")
    words = ("Rp", "7", "3", "4")
    board = Scoreboard(RULES)
    board.add(page(words, gold), decoded(gold))
    # The currency is lost: the entity is wrong, the value is right.
    board.add(page(words, gold), decoded(("O", "B-total", "B-item", "B-item"), "relaxed"))
    # The wrong amount: both are wrong, and the rule is violated.
    board.add(page(words, gold), decoded(("O", "O", "B-total", "B-item")))
    # No total: nothing to check.
    board.add(page(words, gold), decoded(("O", "O", "B-item", "B-item")))
    assert (board.pages, board.satisfied) == (4, 3)
    assert (board.checked, board.passed, board.unchecked) == (3, 2, 1)
    assert board.right_pages == [True, True, False, False]
    assert (board.values.right, board.values.found, board.values.true) == (2, 3, 4)
    assert (board.entities.right, board.entities.found, board.entities.true) == (
        3 + 2 + 1 + 2,
        10,
        12,
    )

    baseline = Scoreboard(RULES)
    for labels in (gold, ("O",) * 4, gold, ("O",) * 4):
        baseline.add(page(words, gold), decoded(labels))
    assert board.against(baseline) == (1, 1)


def test_gold_is_needed():
    scored = Scored(Document("d", ["5"]), Scores.from_probs([[0.25] * 4], LABELS))
    with pytest.raises(lawful.InputError, match="document 'd' has no gold labels"):
        Scoreboard(RULES).add(scored, decoded(("O",)))
