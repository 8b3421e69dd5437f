"""Clashes: minimal sets of hard rules that no labelling satisfies together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from math import inf
from time import perf_counter
from typing import NamedTuple, TypeAlias

import numpy as np

from lawful.base.cache import Cache
from lawful.base.clock import is_up
from lawful.base.errors import RuleFailure
from lawful.results.decoding import Budget
from lawful.rules.compiled.plan import BYTES_PER_PART
from lawful.rules.definitions import LEGAL, SPANS
from lawful.rules.judging.reading import Reading
from lawful.rules.rule_set import Rules
from lawful.search.problem import Labels, Problem
from lawful.search.repairs import Repairs

LEAST = 256
"""Candidates for one trial, unless fewer are left."""

MAX_GUESSES = 8
"""Guesses of a clash by the labellings at hand, before demands are left out by halves."""

MAX_REPAIRED = 4
"""Labellings that are repaired before a search, those that violate the fewest demands."""


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
        return (LEGAL,), True
    demands = _demands(problem)
    trials = _Trials(problem, demands, budget, is_feasible)
    for demand in demands:  # a demand that cannot hold by itself explains most
        if trials.clash((demand,)):
            return trials.with_sharing(frozenset({demand}), True)
    trials.decided = True
    met = trials.most_met(demand for demand in demands if demand not in trials.rules)
    others = [demand for demand in demands if demand not in met]
    others.sort(key=trials.fields_read)  # a rule of few fields makes a small clash
    needed = _minimal(trials, met, tuple(others))
    clash = frozenset(_minimal(trials, (), needed + met))
    minimal = trials.decided or all(trials.can_hold(clash - {demand}) for demand in clash)
    return trials.with_sharing(clash, minimal)


def _minimal(trials: _Trials, held: tuple[str, ...], demands: tuple[str, ...]) -> tuple[str, ...]:
    """A minimal subset of the demands that clashes with ``held``, with which all of them clash.

    Every labelling at hand that meets ``held`` violates one of a clash. So a small set of which
    they all violate one is tried first (Ignatiev et al., 2015): if it clashes, it is minimal.
    """
    last = None
    for _ in range(MAX_GUESSES):
        guess = trials.guess(held, demands)
        if guess is None or guess == last:
            break
        if trials.clash(held + guess):
            return guess
        last = guess
    trials.decided = True
    needed = trials.needed(held, demands)
    others = tuple(demand for demand in demands if demand not in needed)
    held += needed
    return needed + _reduce(trials, held, others, changed=bool(held))


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


def _hitting_set(demands: tuple[str, ...], sets: list[frozenset[str]]) -> tuple[str, ...]:
    """Few demands, one from each of the sets, none of which can be left out."""
    chosen: list[str] = []
    left = sets
    while left:
        # Of demands in as many sets, the first: the result is repeatable.
        chosen.append(max(demands, key=lambda demand: sum(demand in some for some in left)))
        left = [some for some in left if chosen[-1] not in some]
    for demand in tuple(chosen):
        rest = [other for other in chosen if other != demand]
        if all(some.intersection(rest) for some in sets):
            chosen = rest
    return tuple(demand for demand in demands if demand in chosen)


class _Known(NamedTuple):
    """A labelling and the demands that it violates."""

    labels: Labels
    reading: Reading
    broken: frozenset[str]


class _Trials:
    """Trials whether some demands clash, within one budget for all of them."""

    def __init__(
        self, problem: Problem, demands: tuple[str, ...], budget: Budget, is_feasible: Try
    ) -> None:
        self.decided = True  # whether every trial so far finished
        self.rules = {rule.id: rule for rule in problem.judge.rules.parsed}
        self._problem = problem
        self._ordered = demands
        self._demands = frozenset(demands)
        self._is_feasible = is_feasible
        self._left = inf if budget.candidates is None else budget.candidates
        self._until = budget.deadline(perf_counter())
        self._known: list[_Known] = []
        self._clashing = [self._demands]  # sets of demands that no labelling meets
        self._open: set[frozenset[str]] = set()  # those whose trial did not finish
        self._repairs = Repairs(problem)
        self._repaired: set[bytes] = set()  # labellings that were made from others
        self._repairable = {*self.rules, SPANS}
        if problem.best_legal is not None and not is_up(self._until):
            self._learn(problem.best_legal, problem.judge.read(problem.best_legal))

    def clash(self, demands: tuple[str, ...]) -> bool:
        """Whether the demands are proven to clash."""
        asked = frozenset(demands)
        if any(clashing <= asked for clashing in self._clashing):
            return True
        if self.can_hold(asked):
            return False
        feasible = None if asked in self._open else self._search(asked)
        if feasible is None:
            self._open.add(asked)
            self.decided = False
        elif not feasible:
            self._clashing.append(asked)
        return feasible is False

    def _search(self, demands: frozenset[str], without: str | None = None) -> bool | None:
        """Whether some labelling meets the demands; none if the budget ends first.

        The pin ``without`` does not decide among fields that share a label.
        """
        if self._left < 1 or is_up(self._until):
            return None
        # No trial may spend what the others need.
        some = min(self._left, max(LEAST, self._left if self._left == inf else self._left // 4))
        relaxed = _relaxed(self._problem, demands, without)
        trial = self._is_feasible(relaxed, Budget(candidates=some).ending(self._until))
        self._left -= trial.tried
        if trial.labels is not None and trial.reading is not None:
            self._learn(trial.labels, relaxed.judge.with_ignored(trial.reading, trial.labels))
        return trial.feasible

    def with_sharing(self, clash: frozenset[str], minimal: bool) -> tuple[tuple[str, ...], bool]:
        """A clash with the pins that decide to which fields its spans belong, and if it is minimal.

        Pins that are left out of a trial still decide among fields that share a label. So those
        without which the clash can hold belong to it, and leaving out a pin of a clash means that
        it does not decide either.
        """
        problem = self._problem
        shared = problem.judge.rules.shared_labels
        pins = {pin.id for pin in problem.document.pins if pin.subject != "text" and shared}
        deciding = {pin for pin in pins - clash if self._search(clash, without=pin)}
        whole = clash | deciding
        if pins & whole:
            minimal = all(
                self._search(whole - {each}, without=each if each in pins else None)
                for each in whole
            )
        return tuple(demand for demand in self._ordered if demand in whole), minimal

    def most_met(self, demands: Iterable[str]) -> tuple[str, ...]:
        """Those of the demands that one labelling at hand meets, the one that meets the most.

        All of them if there is no labelling at hand. What spans must be like rules out most of
        them, which makes trials short; so it comes first, and is left out last.
        """
        ordered = sorted(demands, key=lambda demand: demand != SPANS)
        self.can_hold(frozenset(ordered))  # finds more labellings
        broken = (known.broken.intersection(ordered) for known in self._known)
        fewest = min(broken, key=len, default=frozenset())
        return tuple(demand for demand in ordered if demand not in fewest)

    def fields_read(self, demand: str) -> float:
        """The number of fields that a rule reads; infinite if the demand is no rule."""
        return len(self.rules[demand].names) if demand in self.rules else inf

    def needed(self, held: tuple[str, ...], demands: tuple[str, ...]) -> tuple[str, ...]:
        """Demands without which ``held`` and all others can hold, as far as labellings tell.

        They are in every clash.
        """
        everything = frozenset(held + demands)
        return tuple(demand for demand in demands if self.can_hold(everything - {demand}))

    def guess(self, held: tuple[str, ...], demands: tuple[str, ...]) -> tuple[str, ...] | None:
        """A minimal set of demands of which every labelling at hand that meets ``held`` breaks one.

        None if there is no labelling at hand, or no such set.
        """
        if not self._known:
            return None
        self.needed(held, demands)  # finds more labellings
        broken = [known.broken for known in self._known if not known.broken.intersection(held)]
        some = [each.intersection(demands) for each in broken]
        return _hitting_set(demands, some) if all(some) else None

    def can_hold(self, demands: frozenset[str]) -> bool:
        """Whether a labelling at hand, or one next to it, meets all of these demands."""
        if any(not known.broken & demands for known in self._known):
            return True
        near = [known for known in self._known if not known.broken & demands - self._repairable]
        near.sort(key=lambda known: len(known.broken & demands))
        return any(self._repair(known, demands) for known in near[:MAX_REPAIRED])

    def _repair(self, known: _Known, demands: frozenset[str]) -> bool:
        """Whether a labelling next to a known one meets the demands."""
        if self._left < 1 or is_up(self._until):
            return False
        broken = known.broken & demands
        labels = self._repairs.repair(
            known.labels,
            known.reading,
            [rule for id_, rule in self.rules.items() if id_ in broken],
            optional={
                f.name
                for f in self._problem.judge.rules.fields
                if not {f"{f.name}:kept", f"{f.name}:required"} & demands
            },
            unreadable=SPANS not in demands,
        )
        if labels is None or (key := labels.tobytes()) in self._repaired:
            return False
        self._repaired.add(key)
        self._left -= 1
        found = self._learn(labels, self._repairs.read(labels, known.reading))
        return found is not None and not found.broken & demands

    def _learn(self, labels: Labels, reading: Reading) -> _Known | None:
        """Notes which demands a labelling meets: trials of some of these need no search."""
        problem = self._problem
        if problem.document.pins:
            return None  # what pins say about words is not seen in a reading
        try:
            rules, conditions = problem.judge.broken(reading, self._until)
        except RuleFailure:  # of a rule that the trial was not about
            return None
        broken = rules | conditions
        if any(map(self._is_of_spans, conditions)):
            broken.add(SPANS)
        known = _Known(labels, reading, self._demands & broken)
        self._known.append(known)
        return known

    def _is_of_spans(self, condition: str) -> bool:
        """Whether a condition is, or may be, one of those on all spans.

        Those of words and boundaries are, if these have a weight of their own.
        """
        rules, kind = self._problem.judge.rules, condition.partition(":")[2]
        own = {"words": rules.words, "boundary": (rules.boundaries,)}.get(kind, ())
        weights = (rule.weight for rule in own if rule is not None)
        return condition not in self._demands or any(weight is not None for weight in weights)


def _demands(problem: Problem) -> tuple[str, ...]:
    """Everything that is hard: pins, rules, required and kept fields, and demands on spans.

    The text that a pin gives is part of the document, not a demand.
    """
    rules = problem.judge.rules
    own = rules.defaults.weights
    of_spans = [rule.weight for rule in (*rules.words, rules.boundaries) if rule is not None]
    of_spans.append(rules.defaults.weight)
    return (
        *(pin.id for pin in problem.document.pins if pin.subject != "text"),
        *(rule.id for rule in rules.parsed if rule.weight == inf),
        *(order.id or "" for order in rules.orders if order.weight == inf),
        *(f"{f.name}:kept" for f in rules.fields if f.name in problem.judge.kept.names),
        *(
            f"{f.name}:required"
            for f in rules.fields
            if (f.presence == "required" or f.name in rules.required_in_rows)
            and rules.weight_of(f, "required") == inf
        ),
        *(name for name in own if own[name] == inf and not name.endswith(":required")),
        *((SPANS,) if inf in of_spans else ()),
    )


def _relaxed(problem: Problem, demands: frozenset[str], without: str | None = None) -> Problem:
    """The problem with these demands only; see ``_Trials._search``."""
    rules = problem.judge.rules
    named = frozenset(f.name for f in rules.fields if f"{f.name}:kept" in demands)
    required = {
        f.name for f in rules.fields if f.presence == "required" and f"{f.name}:required" in demands
    }
    some_kept = problem.judge.kept.only(named)
    some_kept = some_kept._replace(fields=some_kept.fields | required)
    kept = named | required
    pins = tuple(pin for pin in problem.document.pins if pin.id in demands)
    said = {pin.id for pin in pins}
    settled = frozenset(pin.field for pin in problem.document.pins if pin.subject == "value")
    key = frozenset(demands) - said, kept, settled, _can_drop_spans(problem)
    relaxed = _RELAXED.get((rules, key))
    if relaxed is None:
        size = 2 * BYTES_PER_PART * (len(rules.fields) + len(rules.rules))
        relaxed = _RELAXED.keep((rules, key), _relaxed_rules(rules, *key), size)
    document = replace(problem.document, pins=pins)
    some = Problem(document, problem.scores, relaxed, keep=False).of_class(problem.judge.choice)
    if pins != problem.document.pins and rules.shared_labels:
        whole = problem
        if without is not None:
            deciding = tuple(pin for pin in problem.document.pins if pin.id != without)
            document = replace(document, pins=deciding)
            whole = Problem(document, problem.scores, rules, keep=False)
        some.judge.share_labels_like(whole.judge)
    some.judge.keep_only(some_kept)
    some.judge.share_values(problem.judge)
    if not problem.document.pins:  # which are about fields, too
        some.judge.ignore(_unseen(relaxed, frozenset(demands), kept))
    return some


def _can_drop_spans(problem: Problem) -> bool:
    """Whether a labelling stays legal if the words of any span are outside all spans instead."""
    if problem.document.pins:
        return False
    costs = problem.costs[:, problem.scheme.fillers]
    return bool(np.isfinite(costs).all(axis=0).any())


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


Demands: TypeAlias = tuple[frozenset[str], frozenset[str], frozenset[str | None], bool]

_RELAXED: Cache[tuple[Rules, Demands], Rules] = Cache(2**25)
"""Relaxed rules, of all rules together."""


def _relaxed_rules(
    rules: Rules,
    demands: frozenset[str],
    kept: frozenset[str],
    settled: frozenset[str | None],
    can_drop_spans: bool,
) -> Rules:
    """The rules with these demands only: ``kept`` fields, and any value of fields ``settled``.

    With ``can_drop_spans``, some spans that make no difference to the demands are ruled out.
    """

    def of_spans(weight: float) -> float:
        return inf if weight == inf and SPANS in demands else 0.0

    own = {*rules.defaults.weights, *(f"{name}:required" for name in rules.required_in_rows)}
    weights = {name: inf if name in demands else 0.0 for name in own}
    boundaries = rules.boundaries
    relaxed = replace(
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
    if not can_drop_spans or SPANS in demands or rules.rows or rules.shared_labels:
        return relaxed
    needless = dict.fromkeys(_needless_spans(relaxed), inf)
    defaults = replace(relaxed.defaults, weights={**relaxed.defaults.weights, **needless})
    return replace(relaxed, defaults=defaults)


def _needless_spans(rules: Rules) -> Iterator[str]:
    """The conditions that may be demanded of spans without a difference to what can hold.

    Of a field of which rules see the first value only, spans that cannot be read and those with
    other values may as well not be there.
    """
    seen = {name for order in rules.orders for name in order.fields}
    for rule in rules.parsed:
        seen |= rule.places
        for expression in (rule.expression, rule.when):
            seen |= expression.root.counted if expression is not None else set()
    for f in rules.fields:
        if not f.many and f.default is None and f.name not in seen:
            yield f"{f.name}:reads"
            if f.repeat == "agree":
                yield f"{f.name}:agrees"
