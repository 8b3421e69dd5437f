"""Ambiguous texts, read as rules need them."""

from __future__ import annotations

import numpy as np
import pytest

import lawful
from lawful import Document, Field, Rules, Scores
from lawful.search.problem import Problem


def test_forty_ambiguous_texts_are_settled_as_they_should_be():
    # 2^40 ways to read them; which of these add up with the fewest unlikely readings is found by
    # dynamic programming. The value of an amount is 1,000 times smaller, read otherwise.
    labels = ("O", "B-total", "B-item")
    values = [1000 * i + 1500 for i in range(40)]
    texts = [f"{value / 1000:.3f}" for value in values]
    total = sum(value / 1000 if i % 3 == 0 else value for i, value in enumerate(values))
    fewest = {0: 0}
    for value in values:
        taken = {amount + value: count + 1 for amount, count in fewest.items()}
        for amount, count in taken.items():
            fewest[amount] = min(count, fewest.get(amount, count))
    expected = fewest[sum(values[::3])]
    rules = Rules(
        [
            Field("total", "total", "money"),
            Field("items", "item", "money", many=True, ambiguity=0.01),
        ],
        [lawful.Rule("total == sum(items)", tolerance=0)],
    )
    document = Document("d", [f"{total:.2f}", *texts])
    judge = Problem(document, Scores.from_probs([[0.1, 0.8, 0.1]] * 41, labels), rules).judge
    reading, cost = judge.settle(judge.read(np.array([1] + [2] * 40)))
    assert expected < 14
    assert cost.most == cost.least == pytest.approx(0.01 * expected)
    assert sum(span.choice for span in reading[1]) == expected
    (check,) = judge.checks(reading)
    assert check.state == "satisfied"
