"""Readings: readings of the document by falling worth, until the rules accept one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lawful.decoders.exact import find_best
from lawful.results.decoding import Budget, Decoding
from lawful.search.problem import Problem
from lawful.search.walk import conclude


@dataclass(frozen=True, slots=True)
class Readings:
    """Searches readings; each is judged in Python and counts as one candidate. Exact.

    When the budget ends first, the best labelling so far comes back, or else the best legal one.
    """

    name: ClassVar[str] = "readings"
    exact: ClassVar[bool] = True
    spans: ClassVar[bool] = True
    chains: ClassVar[bool] = False
    default_budget: ClassVar[Budget] = Budget(candidates=2**13)

    def decode(self, problem: Problem, budget: Budget) -> Decoding:
        return conclude(self.name, find_best(problem, budget, None))
