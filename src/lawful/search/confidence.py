"""Confidence of each field: the probability, under model and weights, that its value is right.

Every labelling, with every choice of values, weighs e to its worth. The core sums these weights
with and without the field's value, by dynamic programming over the state of compiled rules. Rules
in Python can only lower a weight, so the core's sums are then upper bounds; the known decodings,
and the core's sums less all that these rules can take away, are lower bounds. The mass that was
not counted is added to either side.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf
from typing import Any, NamedTuple

import numpy as np

from lawful import _core
from lawful.base.clock import seconds_left
from lawful.base.errors import MemoryBudgetError, TimeBudgetError
from lawful.documents.span_scores import SpanScores
from lawful.results.decoding import Confidence
from lawful.rules.judging.judge import Judge
from lawful.rules.parsed_rule import ParsedRule
from lawful.rules.rule_set import Rules
from lawful.search.problem import ROUNDING, Problem
from lawful.search.reading_search import LAST_SLACK, MEMORY, Lattice
from lawful.search.walk import Walk
from lawful.values import MAX_VALUES


class Effort(NamedTuple):
    """The precision of one pass of the sums."""

    beyond: float  # spans are included up to this many nats below the answer
    smallest: float  # states of less weight, as a share of the answer's, are dropped
    states: int  # maximum number of states per word
    work: int  # elementary steps per equation, to find the states that can still satisfy it


class Precision(NamedTuple):
    """How narrow intervals should be, and what may be done for it.

    A document with at most ``few`` spans is short: all of them are included.
    """

    narrow: float
    efforts: tuple[Effort, ...]
    few: int


QUICK = Precision(0.05, (Effort(8.0, 1e-4, 2**7, 0), Effort(12.0, 1e-5, 2**9, 2**22)), 0)
"""For every document of a run."""

FINE = Precision(
    0.005,
    (
        Effort(8.0, 1e-5, 2**8, 0),
        Effort(12.0, 1e-7, 2**9, 2**22),
        Effort(12.0, 1e-8, 2**10, 2**24),
    ),
    2**9,
)
"""Where alternatives are asked for, which take longer."""

MAX_STATES = 2**14  # per word of a short document, all of whose spans are included

ROUNDED = 1e-12
MIN_LOG_WEIGHT = -600.0  # exp(-745) is 0 in double precision
SURELY = 1 - 1e-6
UNKNOWN = Confidence(0.0, 1.0)


def confidences(
    found: Walk, others: Sequence[Walk], until: float, precision: Precision = FINE
) -> dict[str, Confidence]:
    """By class and by field, the probability that it has the answer's value.

    If rules say which fields are needed, of these alone. A field that is missing in the answer is
    listed unless it is missing with a probability above ``SURELY``. ``others`` are decodings with
    other values. Precision rises until the intervals are narrow; they are wider if the time is up
    first. If scores say that a value may be one that nobody has named, it is so much less sure.
    """
    judge = found.problem.judge
    classes = [name for name, value in judge.choice.classes.items() if value is not None]
    names = [*classes, *(f.name for f in judge.rules.fields)]
    asked = {*classes, *_asked(judge.rules)}
    shares = [UNKNOWN] * len(names)
    try:
        for effort in precision.efforts:
            masses = _Masses(found, others, effort, precision.few, until)
            if masses.is_lost:
                break
            shares = [
                Confidence(max(a.low, b.low), min(a.high, b.high))
                for a, b in zip(shares, masses.shares(classes), strict=True)
            ]
            of_asked = (s for name, s in zip(names, shares, strict=True) if name in asked)
            widest = max((share.high - share.low for share in of_asked), default=0.0)
            if masses.everything or widest < precision.narrow:
                break
    except (TimeBudgetError, MemoryBudgetError):
        pass
    named = _named(found)
    missing = {f.name for f, seen in zip(judge.rules.fields, _seen(found), strict=True) if not seen}
    return {
        name: Confidence(share.low * named.get(name, 1.0), share.high * named.get(name, 1.0))
        for name, share in zip(names, shares, strict=True)
        if name in asked and (name not in missing or share.low < SURELY)
    }


def _named(found: Walk) -> dict[str, float]:
    """By field, the probability that its true value has been named at all, if scores know of it.

    A violated rule says that one of its fields is wrong, and more so than the rule itself.
    """
    scores, judge = found.problem.scores, found.problem.judge
    if not isinstance(scores, SpanScores) or not scores.named or found.reading is None:
        return {}
    unnamed = {f.name: 1 - scores.named.get(f.label, 1.0) for f in judge.rules.fields}
    broken = {c.id: c.weight for c in judge.checks(found.reading) if c.state == "violated"}
    for rule in judge.rules.parsed:
        if rule.id in broken:
            about = [name for name in rule.names if name in unnamed]
            whole = sum(unnamed[name] for name in about) + exp(-broken[rule.id])
            for name in about:
                unnamed[name] = max(unnamed[name], unnamed[name] / whole)
    return {name: 1 - share for name, share in unnamed.items()}


def _asked(rules: Rules) -> frozenset[str]:
    """The fields that confidence is asked of."""
    return frozenset(rules.needs or (f.name for f in rules.fields))


def _seen(walk: Walk) -> tuple[Any, ...]:
    assert walk.reading is not None  # noqa: S101 - every answer has a reading
    return walk.problem.judge.seen_values(walk.reading)


class _Weights(NamedTuple):
    """Sums of weights with the answer's value and with others: upper and lower bounds.

    ``open`` was not counted, and may belong to either.
    """

    same: float
    other: float
    open: float
    surely_same: float
    surely_other: float

    def plus(self, more: _Weights, scale: float) -> _Weights:
        """These weights, and others times a scale."""
        return _Weights(*(a + scale * b for a, b in zip(self, more, strict=True)))

    @property
    def share(self) -> Confidence:
        """The bounds on the share of the answer's value."""
        low = self.surely_same / (self.surely_same + self.other + self.open)
        same = self.same + self.open
        high = same / (same + self.surely_other)
        return Confidence(max(0.0, low - ROUNDED), max(min(1.0, high + ROUNDED), low))


NOTHING = _Weights(0.0, 0.0, 0.0, 0.0, 0.0)


def _most_cost(rule: ParsedRule, judge: Judge) -> float:
    """The highest cost of a rule in any reading; a rule of rows may have one in every row."""
    once = max(rule.weight, rule.unchecked)
    if rule.each is None:
        return once
    numbers = judge.numbers_of(rule.each)
    rows = len(judge.document) if numbers is None else len(numbers.ends) - 1
    return once * max(rows, 1)


class _Masses:
    """The sums for one document, over all its classes, and the intervals that follow from them."""

    def __init__(
        self, found: Walk, others: Sequence[Walk], effort: Effort, few: int, until: float
    ) -> None:
        self._found = found
        self._how = others, effort, few, until
        self._of_answer = _MassesOfClass(found.problem, found, *self._how)
        self._effort = effort
        self.everything = self._of_answer.everything

    @property
    def is_lost(self) -> bool:
        """Whether the answer's share of all legal labellings is too small for double precision."""
        return self._found.worth - self._of_answer.core.log_total < MIN_LOG_WEIGHT

    def shares(self, classes: Sequence[str]) -> list[Confidence]:
        """The confidence of these classes, and of each field."""
        found = self._found
        judge = found.problem.judge
        sums = [NOTHING] * (len(classes) + len(judge.rules.fields))
        for choice in judge.choices:
            masses = self._of_answer
            scale = choice.log_prob - found.problem.prior  # to that of the answer's class
            if choice != judge.choice:
                # No penalty is negative, so a class weighs no more than all legal labellings.
                if scale + masses.core.log_total < found.worth - self._effort.beyond:
                    whole = NOTHING._replace(open=1.0)
                    sums = [total.plus(whole, exp(scale)) for total in sums]
                    continue
                problem = found.problem.of_class(choice)
                masses = _MassesOfClass(problem, found, *self._how)
                scale += masses.core.log_total - self._of_answer.core.log_total
                self.everything = self.everything and masses.everything
            weights = masses.weights(classes)
            sums = [total.plus(part, exp(scale)) for total, part in zip(sums, weights, strict=True)]
        return [total.share for total in sums]


class _MassesOfClass:
    """The core's sums for one document of one class, as shares of all legal labellings."""

    def __init__(
        self,
        problem: Problem,
        found: Walk,
        others: Sequence[Walk],
        effort: Effort,
        few: int,
        until: float,
    ) -> None:
        judge, rules = problem.judge, problem.judge.rules
        plan = judge.plan()
        self.judge, self.effort, self.until = judge, effort, until
        self.found = found
        known = [found, *others]
        self.known = [walk for walk in known if walk.problem.judge.choice == judge.choice]
        self.lattice = lattice = Lattice(problem.costs, judge, plan)
        self.worth = found.total - problem.prior  # of the answer, among labellings of this class
        spans, self.everything = self._spans(-self.worth - lattice.best + effort.beyond, few)
        values, span, price = lattice.read(spans, until)
        asked = _asked(rules)
        self.answers = [
            [lattice.tables.number_of(i, value) for value in seen] if f.name in asked else None
            for i, (f, seen) in enumerate(zip(rules.fields, _seen(found), strict=True))
        ]
        other = list(map(judge.least_price, range(len(rules.fields))))
        for sharing in rules.shared_labels.values():
            other[sharing[0]] = min(other[i] for i in sharing)
        self.core = _core.Mass(
            spans,
            span=np.array(span, np.uint32),
            value=np.array([number for *_, number in values], np.uint32),
            price=np.array(price, np.float64),
            plan=plan.core,
            lookups=lattice.tables.lookups(until),
            missing=np.array([judge.missing(i) for i in range(len(rules.fields))]),
            most_weight=np.array([1 + (MAX_VALUES - 1) * exp(-price) for price in other]),
            everything=self.everything,
            memory=MEMORY,
            seconds=seconds_left(until),
            **lattice.places(spans),
        )
        self.undecided = sum(_most_cost(rule, judge) for rule in plan.python)
        self.most_undecided = sum(_most_cost(rule, judge) for rule in rules.parsed)

    def _spans(self, slack: float, few: int) -> tuple[_core.Spans, bool]:
        """The spans to include, and whether these are all spans of a short document."""
        spans = _core.Spans(self.lattice.core, inf, few, seconds_left(self.until))
        if spans.complete:
            return spans, True
        while True:
            spans = self.lattice.spans(slack, self.until)
            if spans.complete:
                return spans, False
            slack = min(slack, LAST_SLACK) / 2 if slack > ROUNDING else -inf

    def weights(self, classes: Sequence[str]) -> list[_Weights]:
        """The weights of these classes, and of each field."""
        smallest = 0.0 if self.everything else self.effort.smallest * self._weight(self.worth)
        states = MAX_STATES if self.everything else self.effort.states
        found = self.core.of(
            self.answers, smallest, states, self.effort.work, seconds_left(self.until)
        )
        # The least share of a weight that remains after rules that the core has not decided.
        kept = exp(-(self.most_undecided if found.unsure else self.undecided))
        answer = self.found.problem.judge.choice.classes
        return [
            *(
                self._of_class(found, kept, self.judge.choice.classes[n] == answer[n])
                for n in classes
            ),
            *(self._of_field(found, kept, i) for i in range(len(found.same))),
        ]

    def _of_class(self, found: _core.Shares, kept: float, is_same: bool) -> _Weights:
        known = sum(self._weight(walk.worth) for walk in self.known)
        surely = max(found.all * kept, min(known, found.all + found.open))
        if is_same:
            return _Weights(found.all, 0.0, found.open, surely, 0.0)
        return _Weights(0.0, found.all, found.open, 0.0, surely)

    def _of_field(self, found: _core.Shares, kept: float, field: int) -> _Weights:
        if self.answers[field] is None:
            return NOTHING._replace(open=1.0)
        same, other = found.same[field], max(0.0, found.all - found.same[field])
        known = {True: 0.0, False: 0.0}  # by whether they have the answer's value
        for walk in self.known:
            known[_seen(walk)[field] == _seen(self.found)[field]] += self._weight(walk.worth)
        return _Weights(
            same,
            other,
            found.open,
            surely_same=max(same * kept, min(known[True], same + found.open)),
            surely_other=max(other * kept, min(known[False], other + found.open)),
        )

    def _weight(self, worth: float) -> float:
        """The weight of a labelling of this worth."""
        return exp(worth - self.core.log_total)
