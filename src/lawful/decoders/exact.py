"""Exact: the best labelling under rules, with a proof, by a search over what rules see."""

from __future__ import annotations

from dataclasses import dataclass, replace
from heapq import nlargest
from math import exp, inf
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from lawful.decoders.clash import find_clash
from lawful.decoders.lattice import Candidates, Lattice
from lawful.decoders.search import ROUNDING, Problem, Walk, conclude
from lawful.decoding import Budget, Decoding
from lawful.rules.compile import Plan, plan_of
from lawful.rules.judge import Judge


@dataclass(frozen=True, slots=True)
class Exact:
    """Searches readings of fields, not labellings, with the rules inside the search.

    What counts against the budget of candidates are partial readings that were extended. When the
    budget ends first, the best labelling so far comes back; where hard rules refuse every one, the
    best legal labelling, and which rules clash.
    """

    name: ClassVar[str] = "exact"
    exact: ClassVar[bool] = True
    default_budget: ClassVar[Budget] = Budget(candidates=2**17)

    def decode(self, problem: Problem, budget: Budget) -> Decoding:
        found = search(problem, budget, plan_of(problem.judge.rules))
        return self._conclude(found)

    def decode_ranked(self, problem: Problem, budget: Budget, alternatives: int) -> Decoding:
        """The best labelling, and the next best ones whose fields have other values."""
        found = Walk(problem, budget, perf_counter())
        ranked = rank(found, plan_of(problem.judge.rules, whole=True), alternatives + 1)
        decoding = self._conclude(found)
        if not ranked:
            return decoding
        return replace(
            decoding,
            alternatives=tuple(conclude(self.name, other) for other in ranked[1:]),
            confidence=_confidence(problem.judge, ranked),
            seconds=perf_counter() - found.began,
        )

    def _conclude(self, found: Walk) -> Decoding:
        decoding = conclude(self.name, found)
        if decoding.status != "infeasible":
            return decoding
        clash = find_clash(found.problem, lambda other: _is_feasible(other, found.budget))
        return replace(decoding, clash=clash, seconds=perf_counter() - found.began)


def search(problem: Problem, budget: Budget, plan: Plan | None) -> Walk:
    """The best labelling, and what is known about it.

    Without a plan, every reading is judged in Python, and counts against the budget.
    """
    found = Walk(problem, budget, perf_counter())
    if problem.best_legal is None:
        found.proven = True
        return found
    found.consider(problem.best_legal, problem.log_prob(problem.best_legal))
    if found.worth == found.last:
        found.proven = True
        return found
    if found.is_out_of_budget():
        return found
    candidates = _candidates(found, plan)
    candidates.deepest = -found.worth
    found.tried = 0  # it may come again, among the readings
    for candidate in candidates:
        reading = candidates.lattice.reading(candidate.spans)
        found.consider(candidate.labels, candidate.log_prob, reading)
        if np.array_equal(candidate.labels, problem.best_legal):
            found.mass -= exp(candidate.log_prob)  # it was counted before
        candidates.deepest = -found.worth
        if _is_settled(found, candidates, plan, found.worth):
            break
    _settle(found, candidates, plan)
    return found


def rank(found: Walk, plan: Plan, count: int) -> list[Walk]:
    """The best labellings by worth whose fields have different values; ``found`` has the best."""
    judge = found.problem.judge
    candidates = _candidates(found, plan)
    best: dict[Any, Walk] = {}
    ranked: list[Walk] = []
    for candidate in candidates:
        reading = candidates.lattice.reading(candidate.spans)
        worth = found.consider(candidate.labels, candidate.log_prob, reading, settle=False)
        values = judge.seen_values(reading)
        if worth > (best[values].worth if values in best else -inf):
            best[values] = replace(found, best=candidate.labels, worth=worth, reading=reading)
            ranked = nlargest(count, best.values(), key=lambda entry: entry.worth)
        last = ranked[-1].worth if len(ranked) == count else -inf
        candidates.deepest = -last
        if _is_settled(found, candidates, plan, last):
            break
    if ranked:  # of several that are worth the same, the first, and not the one that came first
        found.best, found.reading = ranked[0].best, ranked[0].reading
    _settle(found, candidates, plan)
    for other in ranked:
        other.proven = other.worth >= found.last - ROUNDING or candidates.complete
    return ranked


def _candidates(found: Walk, plan: Plan | None) -> Candidates:
    problem, budget = found.problem, found.budget
    most = inf if plan is None or budget.candidates is None else budget.candidates - 1
    return Candidates(
        Lattice(problem.scores, problem.judge),
        plan,
        extensions=most,
        until=inf if budget.seconds is None else found.began + budget.seconds,
        max_cost=inf if budget.max_cost is None else budget.max_cost,
    )


def _is_settled(found: Walk, candidates: Candidates, plan: Plan | None, worth: float) -> bool:
    """Whether what is still to come is worth no more, or something is spent."""
    if worth >= -candidates.bound - ROUNDING:
        return True
    if plan is None and found.is_out_of_budget():
        candidates.stopped_by = found.stopped_by
    elif found.budget.mass is not None and found.mass >= found.budget.mass:
        candidates.stopped_by = "mass"
    return candidates.stopped_by is not None


def _settle(found: Walk, candidates: Candidates, plan: Plan | None) -> None:
    """Says what the search has proven, and what it took."""
    if plan is not None:
        found.tried = 1 + candidates.extended
    bound = -inf if candidates.complete else -candidates.bound
    floor = found.floor
    found.last = max(bound, floor)
    found.proven = found.worth >= found.last - ROUNDING or found.last == -inf
    found.stopped_by = None if found.proven else candidates.stopped_by
    if not found.proven and floor > -inf and max(bound, found.worth) <= floor + ROUNDING:
        found.stopped_by = "max_cost"


def _is_feasible(problem: Problem, budget: Budget) -> bool | None:
    """Whether some labelling violates no hard rule; ``None`` where the budget ends first."""
    found = search(problem, budget, plan_of(problem.judge.rules))
    return True if found.best is not None else False if found.proven else None


def _confidence(judge: Judge, ranked: list[Walk]) -> dict[str, float]:
    """By field, how much of the probability that was seen has it as the best decoding does.

    What counts is a labelling's worth: log-probability after the weights of what it violates.
    """
    masses = [exp(walk.worth - ranked[0].worth) for walk in ranked]
    seen = [judge.seen_values(walk.reading) for walk in ranked if walk.reading is not None]
    shares = {}
    for i, f in enumerate(judge.rules.fields):
        if any(values[i] for values in seen):
            same = (mass for mass, values in zip(masses, seen, strict=True)
                    if values[i] == seen[0][i])  # fmt: skip
            shares[f.name] = sum(same) / sum(masses)
    return shares
