"""Readings of a document from the core: what rules see of labellings, by rising cost.

A lattice of all spans would be far too large, and nearly all of them are absurd. So it holds only
what a labelling may have whose cost is within some slack of the best one's. Everything up to that
cost comes out of it, in order; then the slack is doubled. Texts are read only for the spans that
are in.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from math import inf
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from lawful import _core
from lawful.clock import seconds_left
from lawful.decoding import Limit
from lawful.errors import MemoryBudgetError, TimeBudgetError
from lawful.rules.definitions import Rules
from lawful.rules.judge import Judge
from lawful.rules.plan import Plan, Tables
from lawful.rules.reading import Occurrence, Reading
from lawful.scores import Scores
from lawful.search.problem import ROUNDING

MEMORY = 2**29
"""Bytes that a search may hold, and again as many for the graph that it searches."""

MOST_SPANS = 2**16
FIRST_SLACK = 4.0  # nats
LAST_SLACK = 128.0  # beyond, everything is in
LEAST_SLACK = 0.1
PATIENCE = 256
"""Partial readings that are extended before the search goes to the length of bounding sums."""

BETWEEN_LOOKS = 64  # texts between two looks at the time

Labels: TypeAlias = NDArray[np.unsignedinteger[Any]]
SpanValue: TypeAlias = tuple[int, int, int, int]
"""Field, start, end, and the number of the value, or ``_core.UNREADABLE``."""


class Candidate(NamedTuple):
    """A reading, as the best labelling that has it."""

    labels: Labels
    log_prob: float
    violated: float  # what the search knows it to violate, prices included
    spans: tuple[SpanValue, ...]


class Lattice:
    """The lattice of one document under its rules, and the numbers of the values in it."""

    def __init__(self, scores: Scores, judge: Judge, plan: Plan | None) -> None:
        self.core = _core.Lattice(scores.costs, layout_of(judge.rules, scores.labels))
        self.judge = judge
        self.plan = plan
        self.tables = Tables(judge.rules, plan)

    @property
    def best(self) -> float:
        """The cost of the best legal labelling; infinite where none is legal."""
        return self.core.best

    def search(
        self, slack: float, max_cost: float, until: float
    ) -> tuple[_core.Search, list[SpanValue], float]:
        """A search up to a slack, what its readings are of, and the slack.

        That is smaller than asked for where there would be too many spans. Raises
        ``TimeBudgetError`` when time ends first.
        """
        max_cost += ROUNDING
        spans = self.spans(min(slack, max_cost), until)
        while not spans.complete:
            slack = min(slack, max_cost, 2 * LAST_SLACK) / 2
            if slack < ROUNDING:
                slack = -inf  # not even the spans of the best labellings are few enough
            spans = self.spans(slack, until)
        readings, span, price = self.read(spans, until)
        fields = len(self.judge.rules.fields)
        search = _core.Search(
            spans,
            span=np.array(span, np.uint32),
            value=np.array([number for *_, number in readings], np.uint32),
            price=np.array(price, np.float64),
            plan=None if self.plan is None else self.plan.core,
            lookups=self.tables.lookups(),
            missing=np.array([self.judge.missing(i) for i in range(fields)]),
            slack=slack,
            max_cost=None if max_cost == inf else max_cost,
            memory=MEMORY,
            patience=PATIENCE,
            seconds=seconds_left(until),
        )
        return search, readings, slack

    def spans(self, slack: float, until: float) -> _core.Spans:
        """The spans of fields that a labelling within a slack of the best one may have."""
        return _core.Spans(self.core, slack, MOST_SPANS, seconds_left(until))

    def reading(self, spans: tuple[SpanValue, ...]) -> Reading:
        """What a judge calls a reading."""
        found: list[list[Occurrence]] = [[] for _ in self.judge.rules.fields]
        for field, start, end, number in spans:
            known = self.tables.numbers[field]
            numbers = [known.get(value) for value in self.judge.values(field, start, end)]
            which = numbers.index(number) if number != _core.UNREADABLE else 0
            found[field].append(Occurrence(start, end, which))
        return tuple(map(tuple, found))

    def read(
        self, spans: _core.Spans, until: float
    ) -> tuple[list[SpanValue], list[int], list[float]]:
        """The readings of spans that no hard rule refuses; by reading, its span and its price."""
        judge = self.judge
        fields = judge.rules.fields
        readings: list[SpanValue] = []
        span: list[int] = []
        prices: list[float] = []
        rows = zip(spans.field.tolist(), spans.start.tolist(), spans.end.tolist(), strict=True)
        for at, (field, start, end) in enumerate(rows):
            if at % BETWEEN_LOOKS == 0 and perf_counter() > until:
                raise TimeBudgetError("the time is up")
            faults = price = judge.faults(field, start, end)
            for value in judge.values(field, start, end) or (None,):
                if price == inf:
                    break
                number = self.tables.number_of(field, value)
                readings.append((field, start, end, number))
                span.append(at)
                prices.append(price)
                price = faults + (fields[field].ambiguity or 0.0)
        return readings, span, prices


class Candidates:
    """Readings by rising cost: a labelling's own, and what the search knows it to violate.

    With a plan, readings that rules see alike are one, and hard rules refuse; without, all
    differ. ``bound`` is what those still to come cost at least. ``complete`` says that there are
    none, ``stopped_by`` that something is spent: ``extensions`` of partial readings, or the time
    ``until``.
    """

    def __init__(
        self,
        lattice: Lattice,
        *,
        extensions: float = inf,
        until: float = inf,
        max_cost: float = inf,
    ) -> None:
        self.bound = lattice.best
        self.complete = lattice.best == inf
        self.stopped_by: Limit | None = None
        self.extended = 0
        self._ceiling = inf  # nothing of a higher cost is wanted
        self.lattice = lattice
        self._extensions = extensions
        self._until = until
        self._max_cost = max_cost
        self._seen: set[tuple[SpanValue, ...]] = set()
        self._search: tuple[_core.Search, list[SpanValue]] | None = None

    def stop_above(self, cost: float) -> None:
        """Nothing that costs more is wanted."""
        self._ceiling = cost

    def stop(self, limit: Limit) -> None:
        """Ends the search because something else is spent."""
        self.stopped_by = limit

    def __iter__(self) -> Iterator[Candidate]:
        slack = FIRST_SLACK
        try:
            while not self.complete and self.stopped_by is None and self.bound < self._ceiling:
                if perf_counter() >= self._until:
                    self.stopped_by = "seconds"
                    return
                needed = self._ceiling - self.lattice.best + ROUNDING
                slack = yield from self._go(min(slack, needed))
        except MemoryBudgetError:
            self.stopped_by = "memory"
        except TimeBudgetError:
            self.stopped_by = "seconds"

    def _go(self, wanted: float) -> Generator[Candidate, None, float]:
        """Everything within a slack; returns the next one."""
        search, readings, slack = self._open(wanted)
        self._search = search, readings
        limit = self.lattice.best + slack
        while True:
            if perf_counter() >= self._until:  # whoever judges what was found took it
                self.stopped_by = "seconds"
                return slack
            before = search.extended
            try:
                status = search.next(self._extensions_left(), seconds_left(self._until))
            finally:
                self.extended += search.extended - before
            self.bound = max(self.bound, min(search.bound, limit))
            if status is _core.SearchStatus.nothing:
                self.complete = slack == inf
                if slack < wanted:
                    self.stopped_by = "memory"  # more spans than anybody could look at
                return inf if 2 * slack > LAST_SLACK else 2 * slack
            if status is _core.SearchStatus.paused:
                self.stopped_by = "seconds" if self._extensions_left() else "candidates"
                return slack
            found = tuple(readings[i] for i in search.choices.tolist())
            if found not in self._seen:
                self._seen.add(found)
                yield Candidate(search.labels, -search.cost, search.violated, found)

    def guess(self, tries: int, until: float) -> Candidate | None:
        """A good reading, not proven to be the best, where the search has come to nothing yet."""
        if self._search is None or seconds_left(until) == 0.0:
            return None
        search, readings = self._search
        if not search.dive(tries, seconds_left(until)):
            return None
        found = tuple(readings[i] for i in search.choices.tolist())
        return Candidate(search.labels, -search.cost, search.violated, found)

    def _open(self, slack: float) -> tuple[_core.Search, list[SpanValue], float]:
        while True:
            try:
                return self.lattice.search(slack, self._max_cost, self._until)
            except MemoryBudgetError:
                if slack < LEAST_SLACK:
                    raise
                slack = min(slack, 2 * LAST_SLACK) / 4  # fewer spans rather than none at all

    def _extensions_left(self) -> int:
        return int(max(0, min(self._extensions - self.extended, 2**62)))


_LAYOUTS: WeakKeyDictionary[Rules, dict[tuple[str, ...], _core.Layout]] = WeakKeyDictionary()


def layout_of(rules: Rules, labels: tuple[str, ...]) -> _core.Layout:
    """How the labels of a model make spans of fields; made once for each list of labels."""
    layouts = _LAYOUTS.setdefault(rules, {})
    if labels not in layouts:
        scheme = rules.scheme_for(labels)
        start, between, end = (table.astype(np.uint8) for table in scheme.allowed)
        names = [f.label for f in rules.fields]
        names += [type_ for type_ in scheme.types if type_ not in names]
        kinds = [scheme.type_of(i) for i in range(len(labels))]
        kind = [-1 if type_ is None else names.index(type_) for type_ in kinds]
        opens, closes = scheme.marks
        layouts[labels] = _core.Layout(
            start, between, end, np.array(kind, np.int32), opens, closes, len(rules.fields)
        )
    return layouts[labels]
