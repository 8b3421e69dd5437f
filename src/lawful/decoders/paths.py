"""Paths: legal label sequences by falling probability until the rules accept one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lawful import _core
from lawful.results.decoding import Budget, Decoding
from lawful.search.problem import Problem
from lawful.search.walk import chunked, walk


@dataclass(frozen=True, slots=True)
class Paths:
    """Walks the stream of legal paths. Exact; its first candidate is the best legal labelling.

    When the budget ends first, the best labelling so far comes back, or else the best legal one.
    """

    name: ClassVar[str] = "paths"
    exact: ClassVar[bool] = True
    spans: ClassVar[bool] = True
    chains: ClassVar[bool] = True
    default_budget: ClassVar[Budget] = Budget(candidates=2**13)

    def decode(self, problem: Problem, budget: Budget) -> Decoding:
        stream = chunked(_core.paths(problem.costs, problem.scheme.transitions))
        return walk(self.name, problem, stream, budget, legal=True, complete=lambda: True)
