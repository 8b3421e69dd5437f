"""Argmax: every word's most probable label, whatever the rules and the scheme say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lawful.decoding import Budget, Decoding
from lawful.search.problem import Problem
from lawful.search.walk import Chunk, walk


@dataclass(frozen=True, slots=True)
class Argmax:
    """The baseline: one candidate. Exact only in the sense that it says whether it was lucky.

    When the rules or the scheme object, the argmax itself comes back, as ``exhausted``.
    """

    name: ClassVar[str] = "argmax"
    exact: ClassVar[bool] = False
    chains: ClassVar[bool] = False
    default_budget: ClassVar[Budget] = Budget(candidates=1)

    def decode(self, problem: Problem, budget: Budget) -> Decoding:
        return walk(
            self.name,
            problem,
            self._one(problem),
            budget,
            legal=False,
            complete=lambda: len(problem.costs) == 0,  # there is but one labelling
            fallback=problem.argmax,
        )

    @staticmethod
    def _one(problem: Problem) -> Iterator[Chunk]:
        yield problem.argmax[None], np.array([problem.log_prob(problem.argmax)])
