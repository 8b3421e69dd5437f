"""Which rules clash: hard rules that no labelling can satisfy together, none of them too many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from time import perf_counter

from lawful.clock import seconds_left
from lawful.decoders.search import Problem
from lawful.decoding import Budget
from lawful.rules.model import Rules

SPANS = "every span"
"""In a clash: what fields ask of their spans, that they can be read, fit, and agree."""


def find_clash(
    problem: Problem,
    budget: Budget,
    is_feasible: Callable[[Problem, Budget], tuple[bool | None, int]],
) -> tuple[tuple[str, ...], bool]:
    """Hard rules that clash, by id, and whether none of them can be left out.

    ``legal`` alone where no labelling is legal. Fields that must be there are ``name:kept`` and
    ``name:required``. Rules are left out one by one, in their order; where the budget, of all
    trials together, ends before that is known of each, the set does clash but may be too large.
    """
    if problem.best_legal is None:
        return ("legal",), True
    until = inf if budget.seconds is None else perf_counter() + budget.seconds
    left = budget.candidates or inf
    clash = _demands(problem)
    minimal = True
    for demand in clash:
        rest = tuple(other for other in clash if other != demand)
        seconds = seconds_left(until)
        if left < 1 or seconds == 0.0:
            return clash, False
        feasible, spent = is_feasible(
            _relaxed(problem, rest), Budget(candidates=left, seconds=seconds)
        )
        left -= spent
        if feasible is False:
            clash = rest
        elif feasible is None:
            minimal = False
    return clash, minimal


def _demands(problem: Problem) -> tuple[str, ...]:
    """All that is hard."""
    rules = problem.judge.rules
    hard = rules.defaults.weight == inf
    return (
        *(rule.id for rule in rules.compiled if rule.weight == inf),
        *(f"{f.name}:kept" for f in rules.fields if f.name in problem.judge.kept),
        *(f"{f.name}:required" for f in rules.fields if hard and f.presence == "required"),
        *((SPANS,) if hard else ()),
    )


def _relaxed(problem: Problem, demands: tuple[str, ...]) -> Problem:
    """The problem with these demands only."""
    rules = problem.judge.rules
    kept = {
        f.name
        for f in rules.fields
        if f"{f.name}:kept" in demands or f"{f.name}:required" in demands
    }
    relaxed = Rules(
        # The search remembers whether a field was there only where that may matter.
        [replace(f, presence="keep" if f.name in kept else "free") for f in rules.fields],
        [replace(rule, weight=inf, unchecked=0.0) for rule in rules.rules if rule.id in demands],
        scheme=rules.scheme,
        defaults=replace(rules.defaults, weight=inf if SPANS in demands else 0.0),
    )
    some = Problem(problem.document, problem.scores, relaxed, keep=False)
    some.judge.keep_fields(kept)
    return some
