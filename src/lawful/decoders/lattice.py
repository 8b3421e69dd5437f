"""Readings of a document from the core: what rules see of labellings, by rising cost.

A lattice of all spans would be far too large, and nearly all of them are absurd. So it holds only
what a labelling may have whose cost is within some slack of the best one's. Everything up to that
cost comes out of it, in order; then the slack is doubled. Texts are read only for the spans that
are in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lawful import _core
from lawful.errors import MemoryBudgetError
from lawful.rules.compile import Plan
from lawful.rules.judge import Judge
from lawful.rules.model import Rules
from lawful.scores import Scores

if TYPE_CHECKING:
    from lawful.decoding import Limit

MEMORY = 2**29
"""Bytes that a search may hold, and again as many for the graph that it searches."""

MOST_SPANS = 2**16
FIRST_SLACK = 4.0  # nats
LAST_SLACK = 128.0  # beyond, everything is in
ROUNDING = 1e-9
"""Costs that differ by less than this are equal: sums of the same numbers in another order."""

Labels: TypeAlias = NDArray[np.unsignedinteger[Any]]


class Candidate(NamedTuple):
    """A reading, as the best labelling that has it."""

    labels: Labels
    log_prob: float
    violated: float  # what the search knows it to violate, prices included
    spans: tuple[tuple[int, int, int, int], ...]  # field, start, end, number of the value


@dataclass(slots=True)
class Effort:
    """What a search may still spend."""

    extensions: int | None
    until: float | None  # by perf_counter


class Lattice:
    """The lattice of one document under its rules, and the numbers of the values in it."""

    def __init__(self, scores: Scores, rules: Rules, judge: Judge) -> None:
        self.core = _core.Lattice(scores.costs, layout_of(rules, scores.labels))
        self.judge = judge
        self.numbers: list[dict[Any, int]] = [{} for _ in rules.fields]

    @property
    def best(self) -> float:
        """The cost of the best legal labelling; infinite where none is legal."""
        return self.core.best

    def spans(self, slack: float) -> tuple[_core.Spans, float]:
        """The spans within a slack, or within a smaller one where there are too many."""
        spans = _core.Spans(self.core, slack, MOST_SPANS)
        while not spans.complete:
            slack = LAST_SLACK if slack == inf else slack / 2
            if slack < ROUNDING:
                slack = -1.0
            spans = _core.Spans(self.core, slack, MOST_SPANS)
        return spans, slack

    def search(
        self, spans: _core.Spans, plan: Plan | None, max_cost: float | None
    ) -> tuple[_core.Search, list[tuple[int, int, int, int]]]:
        """A search over these spans, and by reading what it is of."""
        judge = self.judge
        fields = judge.rules.fields
        readings: list[tuple[int, int, int, int]] = []
        columns: list[tuple[int, float]] = []
        rows = zip(spans.field.tolist(), spans.start.tolist(), spans.end.tolist(), strict=True)
        for at, (field, start, end) in enumerate(rows):
            faults = judge.faults(field, start, end)
            if faults == inf:
                continue
            numbers = self.numbers[field]
            values = judge.readings(field, start, end)
            if not values:
                readings.append((field, start, end, 0))
                columns.append((at, faults))
                continue
            price = faults
            for value in values:
                number = numbers.setdefault(value, len(numbers) + 2)
                readings.append((field, start, end, number))
                columns.append((at, price))
                price = faults + (fields[field].ambiguity or 0.0)
                if price == inf:
                    break
        tables = [] if plan is None else plan.tabulate([list(n) for n in self.numbers])
        missing = [judge.missing(i) for i in range(len(fields))]
        search = _core.Search(
            spans,
            np.array([at for at, _ in columns], np.uint32),
            np.array([number for *_, number in readings], np.uint32),
            np.array([price for _, price in columns], np.float64),
            None if plan is None else plan.core,
            tables,
            np.array(missing, np.float64),
            max_cost,
            MEMORY,
        )
        return search, readings


class Candidates:
    """Readings by rising cost: a labelling's own, and what the search knows it to violate.

    With a plan, readings that rules see alike are one, and hard rules refuse; without, all
    differ. ``bound`` is what those still to come cost at least; ``complete`` says that there are
    none, ``stopped_by`` that the effort was spent.
    """

    def __init__(
        self,
        lattice: Lattice,
        plan: Plan | None,
        effort: Effort,
        max_cost: float | None = None,
    ) -> None:
        self.bound = lattice.best
        self.complete = lattice.best == inf
        self.stopped_by: Limit | None = None
        self.extended = 0
        self.deepest = inf  # no need to look for anything of a higher cost
        self._lattice = lattice
        self._plan = plan
        self._effort = effort
        self._max_cost = max_cost
        self._seen: set[tuple[tuple[int, int, int, int], ...]] = set()

    def __iter__(self) -> Iterator[Candidate]:
        slack = FIRST_SLACK
        try:
            while not self.complete and self.stopped_by is None and self.bound < self.deepest:
                needed = self.deepest - self._lattice.best + ROUNDING
                slack = yield from self._search(min(slack, needed))
        except MemoryBudgetError:
            self.stopped_by = "memory"

    def _search(self, slack: float) -> Iterator[Candidate]:
        """Everything within a slack; returns the next one."""
        wanted = slack
        spans, slack = self._lattice.spans(slack)
        search, readings = self._lattice.search(spans, self._plan, self._max_cost)
        while True:
            extended = search.extended
            state = search.next(self._left(), self._seconds_left())
            self.extended += search.extended - extended
            if state == 1:
                self.bound = max(self.bound, self._lattice.best + slack)
                self.complete = slack == inf
                if slack < wanted:
                    self.stopped_by = "memory"  # more spans than anybody could look at
                return inf if 2 * slack > LAST_SLACK else 2 * slack
            self.bound = max(self.bound, min(search.bound, self._lattice.best + slack))
            if state == 2:
                self.stopped_by = "seconds" if self._left() else "candidates"
                return slack
            found = tuple(readings[i] for i in search.readings.tolist())
            if found not in self._seen:
                self._seen.add(found)
                yield Candidate(search.labels, -search.cost, search.violated, found)

    def _left(self) -> int:
        most = self._effort.extensions
        return 2**62 if most is None else max(0, most - self.extended)

    def _seconds_left(self) -> float | None:
        until = self._effort.until
        return None if until is None else max(0.0, until - perf_counter())


def layout_of(rules: Rules, labels: tuple[str, ...]) -> _core.Layout:
    """How the labels of a model make spans of fields; made once for each list of labels."""
    layouts: dict[tuple[str, ...], _core.Layout] = rules.__dict__["_layouts"]
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
