"""Beam search over independent words: the k best prefixes, one word at a time.

Since words are independent, the k best sequences begin with the k best prefixes, so the result is
exact. But ``k`` must be known in advance, and all sequences are computed before the first is
yielded.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nlargest

from lab.paper.baselines.ranks import Matrix, rows_by_rank


def beam(probs: Matrix, k: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """The ``k`` most probable assignments, by falling probability."""
    beams: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for row in rows_by_rank(probs):
        extended = ((g + log_p, (*y, label)) for g, y in beams for log_p, label in row)
        beams = nlargest(k, extended)
    for log_prob, labels in beams:
        yield labels, log_prob
