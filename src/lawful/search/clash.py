"""Clashes: minimal sets of hard rules that no labelling satisfies together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from time import perf_counter
from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from lawful.cache import Cache
from lawful.clock import seconds_left
from lawful.decoding import Budget
from lawful.errors import RuleFailure
from lawful.rules.reading import Reading
from lawful.rules.rule_set import Rules
from lawful.search.problem import Labels, Problem

LEAST = 256
"""Candidates for one trial, unless fewer are left."""

SPANS = "every span"
"""Name, in a clash, of what fields demand of their spans: readable, well-formed, in agreement.
Demands with a weight of their own have names of their own, as in ``total:agrees``."""


class Trial(NamedTuple):
    """Whether some labelling violates no hard rule: none if that is not known."""

    feasible: bool | None
    tried: int  # candidates
    labels: Labels | None = None  # a labelling that violates none, and its reading
    reading: Reading | None = None


Try: TypeAlias = Callable[[Problem, Budget], Trial]


def find_clash(problem: Problem, budget: Budget, is_feasible: Try) -> tuple[tuple[str, ...], bool]:
    """The ids of hard rules that clash, and whether the set is minimal.

    Only ``legal`` if no labelling is legal. Pins have their ids, fields that must be present are
    ``name:kept`` and ``name:required``. Repeatable, unless the time is limited.
    """
    if problem.best_without_pins is None:
        return ("legal",), True
    demands = _demands(problem)
    trials = _Trials(problem, demands, budget, is_feasible)
    for demand in demands:  # a demand that cannot hold by itself explains most
        if trials.clash((demand,)):
            return (demand,), True
    trials.decided = True
    # What spans must be like rules out most of them, which makes trials short: it is tried last.
    ordered = sorted(demands, key=lambda demand: demand != SPANS)
    clash = _reduce(trials, (), tuple(ordered), changed=False)
    return tuple(demand for demand in demands if demand in clash), trials.decided


def _reduce(
    trials: _Trials, held: tuple[str, ...], demands: tuple[str, ...], *, changed: bool
) -> tuple[str, ...]:
    """A minimal subset of the demands that clashes with ``held``, with which all of them clash.

    QuickXplain (Junker, 2004): halves are tried before single demands, so that a small clash among
    many rules takes few trials, most of them with few rules. A trial that does not finish counts as
    one without a clash: the result then does clash, but may not be minimal.
    """
    if changed and trials.clash(held):
        return ()
    if len(demands) < 2:
        return demands
    half = len(demands) // 2
    first, second = demands[:half], demands[half:]
    of_second = _reduce(trials, held + first, second, changed=True)
    of_first = _reduce(trials, held + of_second, first, changed=bool(of_second))
    return of_first + of_second


class _Trials:
    """Trials whether some demands clash, within one budget for all of them."""

    def __init__(
        self, problem: Problem, demands: tuple[str, ...], budget: Budget, is_feasible: Try
    ) -> None:
        self.decided = True  # whether every trial so far finished
        self._problem = problem
        self._demands = frozenset(demands)
        self._is_feasible = is_feasible
        self._left = inf if budget.candidates is None else budget.candidates
        self._until = inf if budget.seconds is None else perf_counter() + budget.seconds
        self._held: list[frozenset[str]] = []  # demands that some labelling meets together
        if problem.best_legal is not None and seconds_left(self._until) != 0.0:
            self._learn(problem.best_legal, problem.judge.read(problem.best_legal))

    def clash(self, demands: tuple[str, ...]) -> bool:
        """Whether the demands are proven to clash."""
        if any(held.issuperset(demands) for held in self._held):
            return False
        seconds = seconds_left(self._until)
        feasible = None
        if self._left >= 1 and seconds != 0.0:
            # No trial may spend what the others need.
            some = min(self._left, max(LEAST, self._left if self._left == inf else self._left // 4))
            relaxed = _relaxed(self._problem, demands)
            trial = self._is_feasible(relaxed, Budget(candidates=some, seconds=seconds))
            self._left -= trial.tried
            feasible = trial.feasible
            if trial.labels is not None and trial.reading is not None:
                self._learn(trial.labels, relaxed.judge.with_ignored(trial.reading, trial.labels))
        self.decided = self.decided and feasible is not None
        return feasible is False

    def _learn(self, labels: Labels, reading: Reading) -> None:
        """Notes which demands a labelling meets: trials of some of these need no search."""
        problem = self._problem
        if problem.document.pins:
            return  # what pins say about words is not seen in a reading
        try:
            checks = problem.judge.checks(reading, self._until)
        except RuleFailure:  # of a rule that the trial was not about
            return
        broken = {check.id for check in checks if check.state == "violated" or not check.decided}
        if any(check.implied and check.id not in self._demands for check in checks):
            broken.add(SPANS)
        self._held.append(self._demands - broken)


def _demands(problem: Problem) -> tuple[str, ...]:
    """Everything that is hard: pins, rules, required and kept fields, and demands on spans.

    The text that a pin gives is part of the document, not a demand.
    """
    rules = problem.judge.rules
    own = rules.defaults.weights
    of_spans = [rule.weight for rule in (*rules.words, rules.boundaries) if rule is not None]
    of_spans.append(rules.defaults.weight)
    return (
        *(pin.id for pin in problem.document.pins if pin.kind != "text"),
        *(rule.id for rule in rules.parsed if rule.weight == inf),
        *(order.id or "" for order in rules.orders if order.weight == inf),
        *(f"{f.name}:kept" for f in rules.fields if f.name in problem.judge.kept),
        *(
            f"{f.name}:required"
            for f in rules.fields
            if f.presence == "required" and rules.weight_of(f, "required") == inf
        ),
        *(name for name in own if own[name] == inf and not name.endswith(":required")),
        *((SPANS,) if inf in of_spans else ()),
    )


def _relaxed(problem: Problem, demands: tuple[str, ...]) -> Problem:
    """The problem with these demands only."""
    rules = problem.judge.rules
    kept = frozenset(
        f.name
        for f in rules.fields
        if f"{f.name}:kept" in demands or f"{f.name}:required" in demands
    )
    pins = tuple(pin for pin in problem.document.pins if pin.id in demands)
    said = {pin.id for pin in pins}
    settled = frozenset(pin.field for pin in problem.document.pins if pin.kind == "value")
    key = frozenset(demands) - said, kept, settled
    known = _RELAXED.setdefault(rules, Cache(MOST_BYTES))
    relaxed = known.get(key)
    if relaxed is None:
        size = BYTES_PER_PART * (len(rules.fields) + len(rules.rules))
        relaxed = known.keep(key, _relaxed_rules(rules, *key), size)
    document = replace(problem.document, pins=pins)
    some = Problem(document, problem.scores, relaxed, keep=False).of_class(problem.judge.choice)
    some.judge.keep_fields(kept)
    some.judge.share_values(problem.judge)
    if not problem.document.pins:  # which are about fields, too
        some.judge.ignore(_unseen(relaxed, frozenset(demands), kept))
    return some


def _unseen(relaxed: Rules, demands: frozenset[str], kept: frozenset[str]) -> frozenset[str]:
    """The fields that make no difference to these demands."""
    if SPANS in demands or relaxed.rows or relaxed.shared_labels:
        return frozenset()
    seen = {*kept, *(demand.partition(":")[0] for demand in demands)}
    for rule in relaxed.parsed:
        seen |= rule.names | rule.places
    for order in relaxed.orders:
        seen |= set(order.fields)
    return frozenset(f.name for f in relaxed.fields if f.name not in seen)


Demands: TypeAlias = tuple[frozenset[str], frozenset[str], frozenset[str | None]]

MOST_BYTES = 2**26
BYTES_PER_PART = 2**13
"""Bytes of relaxed rules that are kept per set of rules; and of one field or rule among them."""

_RELAXED: WeakKeyDictionary[Rules, Cache[Demands, Rules]] = WeakKeyDictionary()


def _relaxed_rules(
    rules: Rules, demands: frozenset[str], kept: frozenset[str], settled: frozenset[str | None]
) -> Rules:
    """The rules with these demands only: ``kept`` fields, and any value of fields ``settled``."""

    def of_spans(weight: float) -> float:
        return inf if weight == inf and SPANS in demands else 0.0

    weights = {name: inf if name in demands else 0.0 for name in rules.defaults.weights}
    boundaries = rules.boundaries
    return replace(
        rules,
        # The search keeps track of a field's presence only where it matters.
        fields=tuple(
            replace(
                f,
                presence="keep" if f.name in kept else "free",
                # A pin settles which of its possible values a text has; without it, all count.
                ambiguity=0.0 if f.name in settled else f.ambiguity,
            )
            for f in rules.fields
        ),
        rules=tuple(
            replace(rule, weight=inf, unchecked=0.0) for rule in rules.rules if rule.id in demands
        ),
        defaults=replace(rules.defaults, weight=of_spans(rules.defaults.weight), weights=weights),
        orders=tuple(replace(order, weight=inf) for order in rules.orders if order.id in demands),
        # Without a weight of their own, they have the ones above.
        words=tuple(replace(r, weight=r.weight and of_spans(r.weight)) for r in rules.words),
        boundaries=boundaries
        and replace(boundaries, weight=boundaries.weight and of_spans(boundaries.weight)),
    )
