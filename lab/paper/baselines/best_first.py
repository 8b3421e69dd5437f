"""Best-first search: explore the cheapest state, push all its children.

A child changes one word to its next label. A state has one parent for every changed word, so the
set of pushed states prevents that it is explored twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush

from lab.paper.baselines.ranks import Matrix, cost, labels_of, rows_by_rank


def best_first(probs: Matrix) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every assignment by falling probability, with up to n pushes for each."""
    rows = rows_by_rank(probs)
    if not all(rows):
        return
    best = (0,) * len(rows)
    heap = [(cost(rows, best), best)]
    pushed = {best}
    while heap:
        g, y = heappop(heap)
        yield labels_of(rows, y), -g
        for i, j in enumerate(y):
            child = (*y[:i], j + 1, *y[i + 1 :])
            if j + 1 < len(rows[i]) and child not in pushed:
                pushed.add(child)
                heappush(heap, (cost(rows, child), child))
