"""Exact: the best labelling under rules, with a proof, by a search over what rules see."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar

from lawful.decoders.lattice import ROUNDING, Candidates, Effort, Lattice
from lawful.decoders.search import Problem, Walk, conclude
from lawful.decoding import Budget, Decoding
from lawful.rules.compile import plan_of


@dataclass(frozen=True, slots=True)
class Exact:
    """Streams 3 and 4: readings of fields, not labellings, and rules inside the search.

    What counts against the budget of candidates are partial readings that were extended.
    """

    name: ClassVar[str] = "exact"
    exact: ClassVar[bool] = True
    default_budget: ClassVar[Budget] = Budget(candidates=2**17)

    def decode(self, problem: Problem, budget: Budget) -> Decoding:
        return conclude(self.name, self.search(problem, budget))

    def search(self, problem: Problem, budget: Budget) -> Walk:
        """The best labelling, and what is known about it."""
        found = Walk(problem, budget, perf_counter())
        if problem.best_legal is None:
            found.proven = True
            return found
        found.consider(problem.best_legal, problem.log_prob(problem.best_legal))
        if found.worth == found.last:
            found.proven = True
            return found
        lattice = Lattice(problem.scores, problem.judge.rules, problem.judge)
        until = None if budget.seconds is None else found.began + budget.seconds
        most = None if budget.candidates is None else budget.candidates - found.tried
        candidates = Candidates(
            lattice, plan_of(problem.judge.rules), Effort(most, until), budget.max_cost
        )
        candidates.deepest = -found.worth
        for candidate in candidates:
            found.consider(candidate.labels, candidate.log_prob)
            candidates.deepest = -found.worth
            if found.worth >= -candidates.bound - ROUNDING:
                break
            if budget.mass is not None and found.mass >= budget.mass:
                candidates.stopped_by = "mass"
                break
        found.tried = 1 + candidates.extended
        found.last = -candidates.bound
        found.proven = candidates.complete or found.worth >= found.last - ROUNDING
        if not found.proven:
            found.stopped_by = candidates.stopped_by
        return found
