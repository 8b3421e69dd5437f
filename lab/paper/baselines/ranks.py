"""The notation of the paper's appendix A: a word's labels by falling probability, j = 1, 2, ...

Python counts from 0, so rank 0 is the best label. Labels of probability zero have no rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

Matrix = Sequence[Sequence[float]]  # (words, labels)
Ranks = tuple[int, ...]  # one rank per word
Row = list[tuple[float, int]]  # (log-probability, label) by rank


def rows_by_rank(probs: Matrix) -> list[Row]:
    """Every word's labels with their log-probabilities, the best first; ties by label."""
    return [
        sorted(((log(p), label) for label, p in enumerate(row) if p > 0), key=lambda x: -x[0])
        for row in probs
    ]


def cost(rows: list[Row], y: Ranks) -> float:
    """g(y), equation 4: minus the log-probability of the assignment."""
    return -sum(row[j][0] for row, j in zip(rows, y, strict=True))


def labels_of(rows: list[Row], y: Ranks) -> tuple[int, ...]:
    """The labels that have these ranks."""
    return tuple(row[j][1] for row, j in zip(rows, y, strict=True))
