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
from lawful.clock import seconds_left
from lawful.decoding import Confidence
from lawful.errors import MemoryBudgetError, TimeBudgetError
from lawful.rules.plan import plan_of
from lawful.search.problem import ROUNDING
from lawful.search.reading_search import LAST_SLACK, MEMORY, Lattice
from lawful.search.walk import Walk
from lawful.values import MOST_VALUES


class Effort(NamedTuple):
    """The precision of one pass of the sums."""

    beyond: float  # spans are included up to this many nats below the answer
    smallest: float  # states of less weight, as a share of the answer's, are dropped
    states: int  # maximum number of states per word
    work: int  # elementary steps per equation, to find the states that can still satisfy it


EFFORTS = (
    Effort(8.0, 1e-5, 2**8, 0),
    Effort(12.0, 1e-7, 2**9, 2**22),
    Effort(12.0, 1e-8, 2**10, 2**24),
)
MOST_STATES = 2**14  # per word of a short document, all of whose spans are included
NARROW = 0.005
"""Intervals below this width are narrow enough."""

FEW_SPANS = 2**9
"""A document with at most this many spans is short: all of them are included."""

ROUNDED = 1e-12
LEAST_LOG_WEIGHT = -600.0  # exp(-745) is 0 in double precision
SURELY = 1 - 1e-6
UNKNOWN = Confidence(0.0, 1.0)


def confidences(found: Walk, others: Sequence[Walk], until: float) -> dict[str, Confidence]:
    """By field, the probability that it has the answer's value.

    A field that is missing in the answer is listed unless it is missing with a probability above
    ``SURELY``. ``others`` are decodings with other values. Precision rises until the intervals are
    narrow; they are wider if the time is up first.
    """
    fields = found.problem.judge.rules.fields
    shares = [UNKNOWN] * len(fields)
    try:
        for effort in EFFORTS:
            masses = _Masses(found, others, effort, until)
            if masses.is_lost:
                break
            shares = [
                Confidence(max(a.low, b.low), min(a.high, b.high))
                for a, b in zip(shares, masses.shares(), strict=True)
            ]
            if masses.everything or all(share.high - share.low < NARROW for share in shares):
                break
    except (TimeBudgetError, MemoryBudgetError):
        pass
    seen = _seen(found)
    return {
        f.name: share
        for f, values, share in zip(fields, seen, shares, strict=True)
        if values or share.low < SURELY
    }


def _seen(walk: Walk) -> tuple[Any, ...]:
    assert walk.reading is not None  # noqa: S101 - every answer has a reading
    return walk.problem.judge.seen_values(walk.reading)


class _Masses:
    """The core's sums for one document, and the intervals that follow from them."""

    def __init__(self, found: Walk, others: Sequence[Walk], effort: Effort, until: float) -> None:
        problem = found.problem
        judge, rules = problem.judge, problem.judge.rules
        plan = plan_of(rules)
        self.found, self.others, self.effort, self.until = found, others, effort, until
        self.lattice = lattice = Lattice(problem.scores, judge, plan)
        spans, self.everything = self._spans(-found.worth - lattice.best + effort.beyond)
        values, span, price = lattice.read(spans, until)
        self.answers = [
            [lattice.tables.number_of(i, value) for value in seen]
            for i, seen in enumerate(_seen(found))
        ]
        other = [f.ambiguity if f.ambiguity is not None else inf for f in rules.fields]
        self.core = _core.Mass(
            spans,
            span=np.array(span, np.uint32),
            value=np.array([number for *_, number in values], np.uint32),
            price=np.array(price, np.float64),
            plan=plan.core,
            lookups=lattice.tables.lookups(until),
            missing=np.array([judge.missing(i) for i in range(len(rules.fields))]),
            most_weight=np.array([1 + (MOST_VALUES - 1) * exp(-price) for price in other]),
            everything=self.everything,
            memory=MEMORY,
            seconds=seconds_left(until),
            **lattice.rows(spans),
        )
        self.undecided = sum(max(rule.weight, rule.unchecked) for rule in plan.python)
        self.weights = sum(max(rule.weight, rule.unchecked) for rule in rules.parsed)

    def _spans(self, slack: float) -> tuple[_core.Spans, bool]:
        """The spans to include, and whether these are all spans of a short document."""
        spans = _core.Spans(self.lattice.core, inf, FEW_SPANS, seconds_left(self.until))
        if spans.complete:
            return spans, True
        while True:
            spans = self.lattice.spans(slack, self.until)
            if spans.complete:
                return spans, False
            slack = min(slack, LAST_SLACK) / 2 if slack > ROUNDING else -inf

    @property
    def is_lost(self) -> bool:
        """Whether the answer's share of all legal labellings is too small for double precision."""
        return self.found.worth - self.core.log_total < LEAST_LOG_WEIGHT

    def shares(self) -> list[Confidence]:
        """The confidence of each field."""
        weight = self._weight(self.found)
        smallest = 0.0 if self.everything else self.effort.smallest * weight
        states = MOST_STATES if self.everything else self.effort.states
        found = self.core.of(
            self.answers, smallest, states, self.effort.work, seconds_left(self.until)
        )
        # The least share of a weight that remains after rules that the core has not decided.
        kept = exp(-(self.weights if found.unsure else self.undecided))
        return [
            self._interval(i, same, max(0.0, found.all - same), found.open, kept)
            for i, same in enumerate(found.same)
        ]

    def _interval(
        self, field: int, same: float, other: float, open_: float, kept: float
    ) -> Confidence:
        values = _seen(self.found)[field]
        seen = sum(self._weight(walk) for walk in self.others if _seen(walk)[field] != values)
        surely_same = max(same * kept, self._weight(self.found))
        surely_other = max(other * kept, min(seen, other + open_))
        low = surely_same / (surely_same + other + open_)
        high = (same + open_) / (same + open_ + surely_other)
        return Confidence(max(0.0, low - ROUNDED), max(min(1.0, high + ROUNDED), low))

    def _weight(self, walk: Walk) -> float:
        """The weight of a walk's best labelling, as a share of all legal labellings."""
        return exp(walk.worth - self.core.log_total)
