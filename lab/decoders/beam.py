"""Beam search: keeps the k best prefixes, word by word; rules judge only the final ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import ClassVar

import numpy as np

from lawful.base.errors import MemoryBudgetError, TimeBudgetError
from lawful.results.decoding import Budget, Decoding
from lawful.search.problem import Problem
from lawful.search.walk import LARGEST_CHUNK, Chunk, walk

MEMORY = 2**28
"""Bytes that the beams of all words may hold."""

WIDEST = 2**13
"""Maximum width of the beam; a wider one would take too long."""


@dataclass(frozen=True, slots=True)
class Beam:
    """The paper's baseline; the budget's candidates are the width of the beam. Not exact.

    Words are independent, so the k best assignments begin with the k best prefixes: what it finds
    is optimal, and it misses only assignments beyond the beam. If it finds none that the rules
    accept, the best labelling so far comes back, or else the best legal one.
    """

    name: ClassVar[str] = "beam"
    exact: ClassVar[bool] = False
    chains: ClassVar[bool] = False
    default_budget: ClassVar[Budget] = Budget(candidates=2**5)

    def decode(self, problem: Problem, budget: Budget) -> Decoding:
        width = min(budget.candidates or inf, WIDEST)
        return walk(
            self.name,
            problem,
            lambda until: self._beams(problem, int(width), until),
            budget,
            legal=False,
            complete=lambda: len(problem.costs) == 0,  # no words, so there is only one labelling
        )

    @staticmethod
    def _beams(problem: Problem, width: int, until: float) -> Iterator[Chunk]:
        costs = np.zeros(1)
        parents: list[np.ndarray] = []
        held = 0
        for row in problem.costs:
            if perf_counter() > until:
                raise TimeBudgetError("the time is up")
            if held > MEMORY:
                raise MemoryBudgetError("the beam is too wide for a document of this length")
            extended = (costs[:, None] + row).ravel()  # (beams x labels)
            finite = int(np.isfinite(extended).sum())
            # A copy, since a view would keep the discarded part in memory.
            kept = np.argsort(extended, kind="stable")[: min(width, finite)].astype(np.int64)
            costs = extended[kept]
            parents.append(kept)
            held += kept.nbytes
        small = np.min_scalar_type(problem.costs.shape[1])
        labels = np.empty((len(costs), len(parents)), dtype=small)
        beams = np.arange(len(costs))
        for word in range(len(parents) - 1, -1, -1):
            beams, labels[:, word] = np.divmod(parents[word][beams], problem.costs.shape[1])
        for start in range(0, len(costs), LARGEST_CHUNK):
            yield labels[start : start + LARGEST_CHUNK], -costs[start : start + LARGEST_CHUNK]
