"""Exact: the best labelling under rules, with a proof, by a search over what rules see."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, inf
from time import perf_counter
from typing import Any, ClassVar

from lawful.decoders.clash import find_clash
from lawful.decoders.lattice import Candidates, Lattice
from lawful.decoders.search import ROUNDING, Problem, Walk, conclude
from lawful.decoding import Budget, Decoding
from lawful.rules.compile import Plan, plan_of


@dataclass(frozen=True, slots=True)
class Exact:
    """Streams 3 and 4: readings of fields, not labellings, and rules inside the search.

    What counts against the budget of candidates are partial readings that were extended.
    """

    name: ClassVar[str] = "exact"
    exact: ClassVar[bool] = True
    default_budget: ClassVar[Budget] = Budget(candidates=2**17)

    def decode(self, problem: Problem, budget: Budget) -> Decoding:
        found = search(problem, budget, plan_of(problem.judge.rules))
        decoding = conclude(self.name, found)
        if decoding.status == "infeasible":
            clash = find_clash(problem, lambda other: _is_feasible(other, budget))
            decoding = replace(decoding, clash=clash, seconds=perf_counter() - found.began)
        return decoding

    def decode_ranked(self, problem: Problem, budget: Budget, alternatives: int) -> Decoding:
        """The best labelling, and the next best ones whose fields have other values."""
        found = Walk(problem, budget, perf_counter())
        ranked = rank(found, plan_of(problem.judge.rules, whole=True), alternatives + 1)
        decoding = conclude(self.name, found)
        if not ranked:
            return decoding
        others = tuple(conclude(self.name, other) for other in ranked[1:])
        return replace(
            decoding,
            alternatives=others,
            confidence=_shares(decoding, others),
            seconds=perf_counter() - found.began,
        )


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
    if plan is None:
        found.tried -= 1  # it will come again, as the first reading
    for candidate in candidates:
        found.consider(candidate.labels, candidate.log_prob)
        candidates.deepest = -found.worth
        if found.worth >= -candidates.bound - ROUNDING:
            break
        if plan is None and found.is_out_of_budget():
            candidates.stopped_by = found.stopped_by
            break
        if budget.mass is not None and found.mass >= budget.mass:
            candidates.stopped_by = "mass"
            break
    if plan is not None:
        found.tried = 1 + candidates.extended
    _settle(found, candidates, found.worth)
    return found


def rank(found: Walk, plan: Plan, count: int) -> list[Walk]:
    """The best labellings by worth whose fields have different values; ``found`` has the best."""
    judge = found.problem.judge
    candidates = _candidates(found, plan)
    best: dict[Any, Walk] = {}
    ranked: list[Walk] = []
    for candidate in candidates:
        reading = candidates.lattice.reading(candidate.spans)
        found.consider(candidate.labels, candidate.log_prob, reading)
        worth = candidate.log_prob - judge.weigh(reading)
        values = judge.seen_values(reading)
        if worth > (best[values].worth if values in best else -inf):
            best[values] = replace(
                found, best=candidate.labels, worth=worth, reading=reading, tried=0, proven=True
            )
            ranked = sorted(best.values(), key=lambda entry: -entry.worth)[:count]
        if len(ranked) == count:
            candidates.deepest = -ranked[-1].worth
            if candidates.deepest <= candidates.bound + ROUNDING:
                break
    found.tried = 1 + candidates.extended
    _settle(found, candidates, found.worth)
    return ranked


def _candidates(found: Walk, plan: Plan | None) -> Candidates:
    problem, budget = found.problem, found.budget
    most = None
    if plan is not None and budget.candidates is not None:
        most = budget.candidates - 1  # the best legal labelling is one
    return Candidates(
        Lattice(problem.scores, problem.judge),
        plan,
        extensions=most,
        until=None if budget.seconds is None else found.began + budget.seconds,
        max_cost=budget.max_cost,
    )


def _settle(found: Walk, candidates: Candidates, worth: float) -> None:
    """Says what the search has proven."""
    bound = -inf if candidates.complete else -candidates.bound
    floor = found.floor
    found.last = max(bound, floor)
    found.proven = worth >= found.last - ROUNDING or found.last == -inf
    if not found.proven:
        found.stopped_by = candidates.stopped_by
        if floor > -inf and max(bound, worth) <= floor + ROUNDING:
            found.stopped_by = "max_cost"


def _is_feasible(problem: Problem, budget: Budget) -> bool | None:
    """Whether some labelling violates no hard rule; ``None`` where the budget ends first."""
    found = search(problem, budget, plan_of(problem.judge.rules))
    return True if found.best is not None else False if found.proven else None


def _shares(best: Decoding, others: tuple[Decoding, ...]) -> dict[str, float]:
    """By field, how much of the probability that was seen has it as the best decoding does.

    What counts is a decoding's worth: log-probability after the weights of what it violates.
    """
    everything = (best, *others)
    masses = [exp(decoding.worth - best.worth) for decoding in everything]
    names = dict.fromkeys(name for decoding in everything for name in decoding.fields)
    return {
        name: sum(
            mass
            for mass, decoding in zip(masses, everything, strict=True)
            if decoding.values(name) == best.values(name)
        )
        / sum(masses)
        for name in names
    }
