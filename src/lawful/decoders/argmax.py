"""Argmax: every word's most probable label, regardless of rules and scheme."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lawful.base.errors import InputError
from lawful.results.decoding import Budget, Decoding
from lawful.search.problem import Problem
from lawful.search.walk import Chunk, walk


@dataclass(frozen=True, slots=True)
class Argmax:
    """The baseline: one candidate, the model's own first choices. Not exact.

    The answer is ``optimal`` if it is legal and has no penalty; otherwise it comes back all the
    same, with the status ``exhausted``. It cannot obey pins, and refuses them.
    """

    name: ClassVar[str] = "argmax"
    exact: ClassVar[bool] = False
    spans: ClassVar[bool] = True
    chains: ClassVar[bool] = False
    default_budget: ClassVar[Budget] = Budget(candidates=1)

    def decode(self, problem: Problem, budget: Budget) -> Decoding:
        if problem.document.pins:
            raise InputError(
                f"document {problem.document.id!r} has pins, which decoder argmax cannot obey; "
                "use another decoder"
            )
        return walk(
            self.name,
            problem,
            self._one(problem),
            budget,
            legal=False,
            complete=lambda: len(problem.costs) == 0,  # no words, so there is only one labelling
            instead=problem.argmax,
        )

    @staticmethod
    def _one(problem: Problem) -> Iterator[Chunk]:
        yield problem.argmax[None], np.array([problem.log_prob(problem.argmax)])
