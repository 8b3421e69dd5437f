"""Best-first search: expand the most probable assignment, push all of its neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import ClassVar

import numpy as np

from lawful.base.errors import MemoryBudgetError
from lawful.results.decoding import Budget, Decoding
from lawful.search.problem import Problem
from lawful.search.walk import Chunk, walk

MEMORY = 2**29
"""Bytes that the neighbours may hold."""

BYTES_BESIDES = 250  # per neighbour, in addition to its ranks


@dataclass(frozen=True, slots=True)
class BestFirst:
    """The paper's baseline: up to one push per word for every candidate, and a set of all pushed.

    Exact: the same candidates as ``lazyk``, but slower. When the budget ends first, the best
    labelling so far comes back, or else the best legal one.
    """

    name: ClassVar[str] = "best_first"
    exact: ClassVar[bool] = True
    chains: ClassVar[bool] = False
    default_budget: ClassVar[Budget] = Budget(candidates=2**8)

    def decode(self, problem: Problem, budget: Budget) -> Decoding:
        return walk(
            self.name, problem, self._all(problem), budget, legal=False, complete=lambda: True
        )

    @staticmethod
    def _all(problem: Problem) -> Iterator[Chunk]:
        words, labels = problem.costs.shape
        order = np.argsort(problem.costs, axis=1, kind="stable")
        ranked = np.take_along_axis(problem.costs, order, axis=1)  # by rank
        ranked = np.pad(ranked, ((0, 0), (0, 1)), constant_values=np.inf)
        everyone = np.arange(words)
        if not np.isfinite(ranked[:, 0]).all():
            return
        small = np.min_scalar_type(labels)
        best = np.zeros(words, dtype=small).tobytes()  # the rank of each word's label
        pushed = {best}
        heap = [(float(ranked[:, 0].sum()), 0, best)]
        while heap:
            cost, _, key = heappop(heap)
            ranks = np.frombuffer(key, small)
            yield order[everyone, ranks][None], np.array([-cost])
            if len(pushed) * (words * small.itemsize + BYTES_BESIDES) > MEMORY:
                raise MemoryBudgetError("there are more neighbours than fit into the memory budget")
            steps = ranked[everyone, ranks + 1] - ranked[everyone, ranks]
            for word in np.flatnonzero(np.isfinite(steps)).tolist():
                child = ranks.copy()
                child[word] += 1
                key = child.tobytes()
                if key not in pushed:
                    heappush(heap, (cost + float(steps[word]), len(pushed), key))
                    pushed.add(key)
