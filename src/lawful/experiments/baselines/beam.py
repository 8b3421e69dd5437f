"""Beam search over independent words: the k best prefixes, one word at a time.

For this model the k best prefixes are all that the k best sequences can begin with, so the
result is exact. But ``k`` has to be known beforehand, and all of them are computed first.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nlargest

from lawful.experiments.baselines.ranks import Matrix, rows_by_rank


def beam(probs: Matrix, k: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """The ``k`` most probable assignments, by falling probability."""
    beams: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for row in rows_by_rank(probs):
        extended = ((g + log_p, (*y, label)) for g, y in beams for log_p, label in row)
        beams = nlargest(k, extended)
    for log_prob, labels in beams:
        yield labels, log_prob
