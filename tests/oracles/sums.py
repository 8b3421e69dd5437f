"""Sums of lists by dynamic programming: the least cost for every sum, one word after another."""

from __future__ import annotations

from math import inf

import numpy as np

from lawful import Document, Scores


def worth_of_receipt(document: Document, scores: Scores, weight: float) -> float:
    """What the best labelling of a generated receipt is worth, under ``subtotal == sum(items)``.

    The labels are those of ``tests.fixtures.slow.receipt``, all spans of fields are one word, and
    one word is the subtotal: every other fault costs at least ``weight``, too.
    """
    costs = -scores.log_probs
    column = {label: i for i, label in enumerate(scores.labels)}
    amounts = [int(word) if word.isdigit() else None for word in document.words]
    most = sum(amount for amount in amounts if amount is not None)
    best = inf
    for place, amount in enumerate(amounts):
        if amount is None:
            continue
        # By whether the last word is a name, and by sum; only sums up to the subtotal matter.
        limit = min(amount, most)
        after_name, after_other = np.full(limit + 1, inf), np.full(limit + 1, inf)
        any_sum = [inf, 0.0]
        after_other[0] = 0.0
        for word, row in enumerate(costs):
            if word == place:
                cost = row[column["B-subtotal"]]
                after_other = np.minimum(after_name, after_other) + cost
                after_name = np.full(limit + 1, inf)
                any_sum = [inf, min(any_sum) + cost]
                continue
            before = np.minimum(after_name, after_other)
            begins, goes_on = row[column["B-name"]], row[column["I-name"]]
            other = min(row[column[label]] for label in ("O", "B-one", "B-count"))
            after_name = np.minimum(before + begins, after_name + goes_on)
            after_other = before + other
            item, number = row[column["B-item"]], amounts[word]
            if number is not None and number <= limit:
                ends = limit + 1 - number
                after_other[number:] = np.minimum(after_other[number:], before[:ends] + item)
            any_sum = [
                min(min(any_sum) + begins, any_sum[0] + goes_on),
                min(any_sum) + min(other, item if number is not None else inf),
            ]
        best = min(best, after_name[amount], after_other[amount], min(any_sum) + weight)
    return -float(best)
