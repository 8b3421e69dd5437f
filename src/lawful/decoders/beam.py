"""Beam search: the k best prefixes, one word at a time, before the first rule is asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from lawful.decoders.search import Chunk, Problem, walk
from lawful.decoding import Budget, Decoding

WIDEST = 2**13
"""A wider beam than this is one that nobody can wait for."""


@dataclass(frozen=True, slots=True)
class Beam:
    """The paper's baseline, as wide as the budget's candidates.

    Words are independent, so the k best prefixes are all that the k best assignments begin with:
    what it finds is optimal, and only what lies beyond the beam is missed.
    """

    name: ClassVar[str] = "beam"
    exact: ClassVar[bool] = False
    default_budget: ClassVar[Budget] = Budget(candidates=2**5)

    def decode(self, problem: Problem, budget: Budget) -> Decoding:
        width = min(budget.candidates or inf, WIDEST)
        beams = self._beams(problem, int(width))
        return walk(self.name, problem, beams, budget, legal=False, complete=lambda: False)

    @staticmethod
    def _beams(problem: Problem, width: int) -> Iterator[Chunk]:
        costs = np.zeros(1)
        parents: list[np.ndarray] = []
        for row in problem.costs:
            extended = (costs[:, None] + row).ravel()  # (beams x labels)
            finite = int(np.isfinite(extended).sum())
            kept = np.argsort(extended, kind="stable")[: min(width, finite)]
            costs = extended[kept]
            parents.append(kept)
        labels = np.empty((len(costs), len(parents)), dtype=np.intp)
        beams = np.arange(len(costs))
        for word in range(len(parents) - 1, -1, -1):
            beams, labels[:, word] = np.divmod(parents[word][beams], problem.costs.shape[1])
        yield labels, -costs
