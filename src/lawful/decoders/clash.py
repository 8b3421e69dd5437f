"""Which rules clash: a smallest set of hard rules that no labelling can satisfy together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, islice
from math import inf
from time import perf_counter

from lawful.decoders.search import Problem
from lawful.rules.model import Rules

MOST_TRIALS = 100
MOST_SECONDS = 1.0
"""How long sets of rules are tried. Beyond, the set does clash, but there may be a smaller one."""

SPANS = "every span"
"""In a clash: what fields ask of their spans, that they can be read, fit, and agree."""


def find_clash(problem: Problem, is_feasible: Callable[[Problem], bool | None]) -> tuple[str, ...]:
    """The hard rules that clash, by id; ``legal`` alone where no labelling is legal.

    Fields that must be there are ``name:kept`` and ``name:required``.
    """
    if problem.best_legal is None:
        return ("legal",)
    demands = _demands(problem)
    until = perf_counter() + MOST_SECONDS
    trials = 0

    def clashes(some: tuple[str, ...]) -> bool:
        nonlocal trials
        trials += 1
        if trials > MOST_TRIALS or perf_counter() > until:
            return False
        return is_feasible(_relaxed(problem, some)) is False

    clash = demands
    for demand in demands:
        rest = tuple(other for other in clash if other != demand)
        if clashes(rest):
            clash = rest
    smaller = (some for size in range(len(clash)) for some in combinations(demands, size))
    return next(filter(clashes, islice(smaller, MOST_TRIALS)), clash)


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
        [replace(rule, weight=inf) for rule in rules.rules if rule.id in demands],
        scheme=rules.scheme,
        defaults=replace(rules.defaults, weight=inf if SPANS in demands else 0.0),
    )
    some = Problem(problem.document, problem.scores, relaxed, keep=False)
    some.judge.keep_fields(kept)
    return some
