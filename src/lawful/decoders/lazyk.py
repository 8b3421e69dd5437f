"""Lazy-k: assignments by falling probability until one is legal and the rules accept it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lawful import _core
from lawful.results.decoding import Budget, Decoding
from lawful.search.problem import Problem
from lawful.search.walk import chunked, walk


@dataclass(frozen=True, slots=True)
class LazyK:
    """The paper's method, on the stream of assignments. Exact; most of its candidates are illegal.

    When the budget ends first, the best labelling so far comes back, or else the best legal one.
    """

    name: ClassVar[str] = "lazyk"
    exact: ClassVar[bool] = True
    chains: ClassVar[bool] = False
    default_budget: ClassVar[Budget] = Budget(candidates=2**13)

    def decode(self, problem: Problem, budget: Budget) -> Decoding:
        stream = chunked(_core.assignments(problem.costs))
        return walk(self.name, problem, stream, budget, legal=False, complete=lambda: True)
