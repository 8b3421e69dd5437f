"""How sure each field is: the probability, under model and weights, that its value is right.

Every labelling, with every way to read its texts, counts by e to its worth. The core adds them up,
those with the field's value and those without, by dynamic programming over what compiled rules
remember. Rules that stay Python can only make a labelling count less, so what the core finds is
then an upper bound; what was seen of decodings, and the most that these rules can take away, are
lower ones. What was not looked at is added to both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf
from typing import Any

import numpy as np

from lawful import _core
from lawful.clock import seconds_left
from lawful.decoders.lattice import LAST_SLACK, MEMORY, Lattice
from lawful.decoders.search import ROUNDING, Walk
from lawful.decoding import Confidence
from lawful.errors import MemoryBudgetError, TimeBudgetError
from lawful.rules.compile import plan_of

BEYOND = 12.0
"""Nats below the answer at which spans are still looked at."""

SMALLEST = 1e-10
"""A state is let go that holds less than this share of what the answer alone weighs."""

FEW_SPANS = 2**9
"""Where there are no more, all are looked at."""

MOST_STATES = 2**12
MOST_READINGS = 8
"""Of a text whose other readings have a price; types of users may give as many."""

UNKNOWN = Confidence(0.0, 1.0)


def confidences(found: Walk, others: Sequence[Walk], until: float) -> dict[str, Confidence]:
    """By field, the probability that it is as the answer has it.

    Fields that the answer does not have are there unless it is sure that they are missing.
    ``others`` are decodings with other values.
    """
    rules = found.problem.judge.rules
    try:
        sure = _Masses(found, others, until)
    except (TimeBudgetError, MemoryBudgetError):
        sure = None
    shares: dict[str, Confidence] = {}
    for i, f in enumerate(rules.fields):
        share = UNKNOWN if sure is None else sure.of(i)
        if _seen(found)[i] or share.low < 1 - 1e-6:
            shares[f.name] = share
    return shares


def _seen(walk: Walk) -> tuple[Any, ...]:
    assert walk.reading is not None  # noqa: S101 - what was found has one
    return walk.problem.judge.seen_values(walk.reading)


class _Masses:
    """The core's sums for one document, and what is known besides."""

    def __init__(self, found: Walk, others: Sequence[Walk], until: float) -> None:
        problem = found.problem
        judge, rules = problem.judge, problem.judge.rules
        plan = plan_of(rules)
        self.found, self.others, self.until = found, others, until
        self.lattice = lattice = Lattice(problem.scores, judge, plan)
        spans, everything = self._spans(-found.worth - lattice.best + BEYOND)
        readings, span, price = lattice.read(spans, until)
        self.answer = [
            np.array([lattice.tables.number_of(i, value) for value in values], np.uint32)
            for i, values in enumerate(_seen(found))
        ]
        other = [f.ambiguity if f.ambiguity is not None else inf for f in rules.fields]
        self.core = _core.Mass(
            spans,
            span=np.array(span, np.uint32),
            value=np.array([number for *_, number in readings], np.uint32),
            price=np.array(price, np.float64),
            plan=plan.core,
            lookups=lattice.tables.lookups(),
            missing=np.array([judge.missing(i) for i in range(len(rules.fields))]),
            most_readings=np.array([1 + (MOST_READINGS - 1) * exp(-price) for price in other]),
            everything=everything,
            memory=MEMORY,
            seconds=seconds_left(until),
        )
        self.undecided = sum(max(rule.weight, rule.unchecked) for rule in plan.python)
        self.weights = sum(max(rule.weight, rule.unchecked) for rule in rules.compiled)

    def _spans(self, slack: float) -> tuple[_core.Spans, bool]:
        """The spans to look at, and whether these are all that there are: of a short document."""
        spans = _core.Spans(self.lattice.core, inf, FEW_SPANS, seconds_left(self.until))
        if spans.complete:
            return spans, True
        while True:
            spans = self.lattice.spans(slack, self.until)
            if spans.complete:
                return spans, False
            slack = min(slack, LAST_SLACK) / 2 if slack > ROUNDING else -inf

    def of(self, field: int) -> Confidence:
        """How sure one field is."""
        least = self._weight(self.found)
        try:
            same, other, open_, unsure = self.core.of(
                field, self.answer[field], SMALLEST * least, MOST_STATES, seconds_left(self.until)
            )
        except (TimeBudgetError, MemoryBudgetError):
            return UNKNOWN
        # What rules that the core has not decided may take away of it.
        kept = exp(-(self.weights if unsure else self.undecided))
        values = _seen(self.found)[field]
        seen = sum(self._weight(o) for o in self.others if _seen(o)[field] != values)
        surely_same = max(same * kept, least)
        surely_other = max(other * kept, min(seen, other + open_))
        low = surely_same / (max(same, surely_same) + other + open_)
        high = (same + open_) / (same + open_ + surely_other)
        return Confidence(min(max(0.0, low - 1e-12), 1.0), max(min(1.0, high + 1e-12), low))

    def _weight(self, walk: Walk) -> float:
        """What a labelling weighs by itself, as a share of all that are legal."""
        return exp(walk.worth - self.core.log_total)
