"""Algorithm 1, Lazy-k, with NextBest and AddNextBest (appendix B), as published.

The heap holds explored states, each under the cost of its best unexplored neighbour; ``frontier``
holds explored and claimed states, each with the index of its next best change. Lines carry the
numbers of the pseudo-code. Three things there cannot be meant as printed:

- NextBest gives up when ``frontier[y]`` *equals* the number of words, which would never try the
  last change (and for one word nothing at all). Here it gives up when it *exceeds* it.
- ArgSort(diffs) is ascending, which would try the worst change first. Here it is descending.
- NextBest assigns to ``y`` itself. Here it returns a new state, as line 10 needs the old one.

A word at its last label has no next change; it is left out of ArgSort(diffs), whose length takes
the place of the number of words.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count

from lab.paper.baselines.ranks import Matrix, Ranks, Row, cost, labels_of, rows_by_rank


def lazyk(probs: Matrix) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every assignment by falling probability; the constraint and ``k`` are the caller's."""
    rows = rows_by_rank(probs)
    if not all(rows):
        return
    search = _LazyK(rows)
    best = (0,) * len(rows)  # line 2
    yield labels_of(rows, best), -cost(rows, best)  # line 3
    search.frontier[best] = 1  # line 5
    search.add_next_best(best)  # line 6
    while search.heap:  # line 8
        _, _, y_i = heappop(search.heap)  # line 9
        y_k = search.next_best(y_i)  # line 10
        assert y_k is not None
        yield labels_of(rows, y_k), -cost(rows, y_k)  # line 11
        search.add_next_best(y_k)  # line 12
        search.add_next_best(y_i)  # line 13


class _LazyK:
    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.heap: list[tuple[float, int, Ranks]] = []
        self.frontier: dict[Ranks, int] = {}
        self.sorted_changes: dict[Ranks, list[int]] = {}  # "cached"
        self.pushed = count()  # ties pop in the order in which they were pushed

    def add_next_best(self, y: Ranks) -> None:
        y_j = self.next_best(y)
        while y_j is not None and y_j in self.frontier:
            self.frontier[y] += 1
            y_j = self.next_best(y)
        if y_j is not None:
            self.frontier[y_j] = 1
            heappush(self.heap, (cost(self.rows, y_j), next(self.pushed), y))

    def next_best(self, y: Ranks) -> Ranks | None:
        changes = self.changes(y)
        if self.frontier[y] > len(changes):
            return None
        i = changes[self.frontier[y] - 1]
        return (*y[:i], y[i] + 1, *y[i + 1 :])

    def changes(self, y: Ranks) -> list[int]:
        """ArgSort(diffs): the words, the one whose next label costs least first."""
        if y not in self.sorted_changes:
            diffs = {
                i: row[j + 1][0] - row[j][0]
                for i, (row, j) in enumerate(zip(self.rows, y, strict=True))
                if j + 1 < len(row)
            }
            self.sorted_changes[y] = sorted(diffs, key=lambda i: -diffs[i])
        return self.sorted_changes[y]
