"""Confidence of each field: the probability, under model and weights, that its value is right.

Every labelling, with every choice of values, weighs e to its worth. The core sums these weights
with and without the field's value, by dynamic programming over the state of compiled rules. Rules
in Python can only lower a weight, so the core's sums are then upper bounds; the known decodings,
and the core's sums less all that these rules can take away, are lower bounds. What was not counted
is bounded by the model's probability that the field then has the value, or another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, log
from typing import Any, NamedTuple

import numpy as np

from lawful import _core
from lawful.base.clock import seconds_left
from lawful.base.errors import MemoryBudgetError, TimeBudgetError
from lawful.documents.span_scores import SpanScores
from lawful.results.decoding import Confidence
from lawful.rules.classes import ClassChoice
from lawful.rules.judging.judge import Judge
from lawful.rules.parsed_rule import ParsedRule
from lawful.search.problem import ROUNDING, Problem
from lawful.search.reading_search import LAST_SLACK, MEMORY, Lattice
from lawful.search.walk import Walk
from lawful.values import MAX_VALUES


class Effort(NamedTuple):
    """The precision of one pass of the sums."""

    beyond: float  # spans are included up to this many nats below the answer
    lost: float  # how far dropped states may move sums, as a share of the answer's weight
    states: int  # maximum number of states per word
    work: int  # elementary steps per equation, to find the states that can still satisfy it
    steps: int  # elementary steps of states; beyond, few states are kept


class Precision(NamedTuple):
    """How narrow intervals should be, and what may be done for it.

    A document with at most ``few`` spans is short: all of them are included.
    """

    narrow: float
    efforts: tuple[Effort, ...]
    few: int


ALL_STEPS = 2**62

QUICK = Precision(
    0.05, (Effort(8.0, 0.03, 2**6, 0, 2**17), Effort(10.0, 0.04, 2**8, 2**22, 2**21)), 0
)
"""For every document of a run: what takes longer is left wide."""

FINE = Precision(
    0.005,
    (
        Effort(8.0, 0.01, 2**8, 0, 2**20),
        Effort(12.0, 0.003, 2**9, 2**22, 2**23),
        Effort(12.0, 0.002, 2**10, 2**24, 2**26),
    ),
    2**9,
)
"""Where alternatives are asked for, which take longer."""

MAX_STATES = 2**14  # per word of a short document, all of whose spans are included

NEGLIGIBLE = 1e-8  # of the answer's weight: labels of no field that add less are not followed
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
    asked = _Asked(found, others)
    shares = [UNKNOWN] * len(asked.names)
    parts = [
        _Part(asked, found.problem if choice == asked.judge.choice else None, choice)
        for choice in asked.judge.choices
    ]
    try:
        for effort in precision.efforts:
            of_effort = _shares(asked, parts, effort, precision.few, until, shares)
            if of_effort is None:
                break
            shares = [
                Confidence(max(a.low, b.low), min(a.high, b.high))
                for a, b in zip(shares, of_effort, strict=True)
            ]
            widest = max((share.high - share.low for share in shares), default=0.0)
            if widest < precision.narrow or all(part.everything for part in parts):
                break
    except (TimeBudgetError, MemoryBudgetError):
        pass
    named = _named(found)
    missing = {
        name
        for name, seen in zip(asked.names, asked.seen, strict=True)
        if seen is not None and not seen
    }
    return {
        name: Confidence(share.low * named.get(name, 1.0), share.high * named.get(name, 1.0))
        for name, share in zip(asked.names, shares, strict=True)
        if name not in missing or share.low < SURELY
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


class _Asked:
    """What is asked of one document: its classes and fields, and what the answer says of them."""

    def __init__(self, found: Walk, others: Sequence[Walk]) -> None:
        self.found = found
        self.judge = judge = found.problem.judge
        self.known = (found, *others)
        needs, fields = judge.rules.needs, judge.rules.fields
        self.classes = [name for name, value in judge.choice.classes.items() if value is not None]
        self.fields = [i for i, f in enumerate(fields) if not needs or f.name in needs]
        self.names = [*self.classes, *(fields[i].name for i in self.fields)]
        values = [_seen(walk) for walk in self.known]
        self.values = [[seen[i] for seen in values] for i in self.fields]  # (fields, known)
        self.seen = [None for _ in self.classes] + [of_field[0] for of_field in self.values]


def _seen(walk: Walk) -> tuple[Any, ...]:
    assert walk.reading is not None  # noqa: S101 - every answer has a reading
    return walk.problem.judge.seen_values(walk.reading)


class _Weights(NamedTuple):
    """Sums of weights with the answer's value and with others: upper and lower bounds."""

    same: float
    other: float
    surely_same: float
    surely_other: float

    def plus(self, more: _Weights, scale: float) -> _Weights:
        """These weights, and others times a scale."""
        return _Weights(*(a + scale * b for a, b in zip(self, more, strict=True)))

    @property
    def share(self) -> Confidence:
        """The bounds on the share of the answer's value."""
        low = self.surely_same / (self.surely_same + self.other)
        high = self.same / (self.same + self.surely_other)
        return Confidence(max(0.0, low - ROUNDED), max(min(1.0, high + ROUNDED), low))


NOTHING = _Weights(0.0, 0.0, 0.0, 0.0)
ANYTHING = _Weights(1.0, 1.0, 0.0, 0.0)


def _most_cost(rule: ParsedRule, judge: Judge) -> float:
    """The highest cost of a rule in any reading; a rule of rows may have one in every row."""
    once = max(rule.weight, rule.unchecked)
    if rule.each is None:
        return once
    numbers = judge.numbers_of(rule.each)
    rows = len(judge.document) if numbers is None else len(numbers.ends) - 1
    return once * max(rows, 1)


def _shares(
    asked: _Asked,
    parts: Sequence[_Part],
    effort: Effort,
    few: int,
    until: float,
    before: Sequence[Confidence],
) -> list[Confidence] | None:
    """The confidence of all that is asked, by the sums over all classes.

    None if the answer's share of all legal labellings is too small for double precision.
    """
    found = asked.found
    first = next(part for part in parts if part.choice == asked.judge.choice)
    first.prepare(effort, few, until)
    if found.worth - first.core.log_total < MIN_LOG_WEIGHT:
        return None
    sums = [NOTHING] * len(asked.names)
    for part in parts:
        scale = part.choice.log_prob - found.problem.prior  # to that of the answer's class
        if part is not first:
            # No penalty is negative, so a class weighs no more than all legal labellings.
            if scale + first.core.log_total < found.worth - effort.beyond:
                sums = [total.plus(ANYTHING, exp(scale)) for total in sums]
                continue
            part.prepare(effort, few, until)
            scale += part.core.log_total - first.core.log_total
        weights = part.weights(effort, until, before)
        sums = [total.plus(more, exp(scale)) for total, more in zip(sums, weights, strict=True)]
    return [total.share for total in sums]


class _Part:
    """The labellings of one class of a document: the core's sums, as shares of all legal ones."""

    core: _core.Mass
    lattice: Lattice

    def __init__(self, asked: _Asked, problem: Problem | None, choice: ClassChoice) -> None:
        self.asked, self.choice = asked, choice
        self.problem = problem
        self.is_here = [walk.problem.judge.choice == choice for walk in asked.known]
        self.everything = False
        self._beyond = 0.0

    def prepare(self, effort: Effort, few: int, until: float) -> None:
        """Lists the spans that this effort includes, and their values."""
        if self.everything or self._beyond == effort.beyond:
            return
        if self.problem is None:
            self.problem = self.asked.found.problem.of_class(self.choice)
        judge, rules, found = self.problem.judge, self.problem.judge.rules, self.asked.found
        plan = judge.plan()
        if not self._beyond:
            known = found.lattice if self.problem is found.problem else None
            if not isinstance(known, Lattice) or known.plan is not plan:
                known = Lattice(self.problem.costs, judge, plan)
            self.lattice = known  # if of the search, its texts have been read
        lattice = self.lattice
        self.worth = found.total - self.problem.prior  # of the answer, among those of this class
        spans, self.everything = self._spans(-self.worth - lattice.best + effort.beyond, few, until)
        values, span, price = lattice.read(spans, until)
        self.answers = [
            [lattice.tables.number_of(i, value) for value in known[0]]
            for i, known in zip(self.asked.fields, self.asked.values, strict=True)
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
            negligible=-inf if self.everything else self.worth + log(NEGLIGIBLE),
            memory=MEMORY,
            seconds=seconds_left(until),
            **lattice.places(spans),
        )
        self._beyond = effort.beyond
        self.undecided = sum(_most_cost(rule, judge) for rule in plan.python)

    def _spans(self, slack: float, few: int, until: float) -> tuple[_core.Spans, bool]:
        """The spans to include, and whether these are all spans of a short document."""
        spans = _core.Spans(self.lattice.core, inf, few, seconds_left(until))
        if spans.complete:
            return spans, True
        while True:
            spans = self.lattice.spans(slack, until)
            if spans.complete:
                return spans, False
            slack = min(slack, LAST_SLACK) / 2 if slack > ROUNDING else -inf

    def weights(self, effort: Effort, until: float, before: Sequence[Confidence]) -> list[_Weights]:
        """The weights of all that is asked; ``before`` is what is known of it."""
        assert self.problem is not None  # noqa: S101 - prepare has made it
        asked, judge = self.asked, self.problem.judge
        lost = 0.0 if self.everything else effort.lost * self._weight(self.worth)
        states, steps = effort.states, effort.steps
        if self.everything:
            states, steps = MAX_STATES, ALL_STEPS
        answers: list[tuple[list[int], float] | None] = [None for _ in judge.rules.fields]
        fields = zip(asked.fields, self.answers, before[len(asked.classes) :], strict=True)
        for i, answer, share in fields:
            answers[i] = (answer, (share.low + share.high) / 2)
        found = self.core.of(
            answers, lost, states, effort.work, steps, bool(asked.classes), seconds_left(until)
        )
        # The least share of a weight that remains after rules that the core has not decided.
        undecided = self.undecided
        if found.unsure:
            undecided = sum(_most_cost(rule, judge) for rule in judge.rules.parsed)
        kept = exp(-undecided)
        right = asked.judge.choice.classes
        return [
            *(self._of_class(found, kept, self.choice.classes[n] == right[n])
              for n in asked.classes),
            *(self._of_field(found, kept, i) for i in range(len(asked.fields))),
        ]  # fmt: skip

    def _of_class(self, found: _core.Shares, kept: float, is_same: bool) -> _Weights:
        known = sum(
            self._weight(walk.worth)
            for walk, here in zip(self.asked.known, self.is_here, strict=True)
            if here
        )
        most = found.all + found.open
        surely = max(found.all * kept, min(known, most))
        return _Weights(most, 0.0, surely, 0.0) if is_same else _Weights(0.0, most, 0.0, surely)

    def _of_field(self, found: _core.Shares, kept: float, number: int) -> _Weights:
        field, values = self.asked.fields[number], self.asked.values[number]
        same, other = found.same[field], max(0.0, found.all - found.same[field])
        most_same, most_other = same + found.open_same[field], other + found.open_other[field]
        known = {True: 0.0, False: 0.0}  # by whether they have the answer's value
        for walk, value, here in zip(self.asked.known, values, self.is_here, strict=True):
            if here:
                known[value == values[0]] += self._weight(walk.worth)
        return _Weights(
            most_same,
            most_other,
            surely_same=max(same * kept, min(known[True], most_same)),
            surely_other=max(other * kept, min(known[False], most_other)),
        )

    def _weight(self, worth: float) -> float:
        """The weight of a labelling of this worth."""
        return exp(worth - self.core.log_total)
