"""Choosing values for the ambiguous texts of a labelling, so that its reading costs the least.

Thirteen amounts with two possible values each have 8,192 combinations, and forty have too many to
try. So the core searches the choices as it searches a document: best first, with the compiled rules
inside the search. Rules in Python judge the readings that it proposes.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lawful import _core
from lawful.base.clock import is_up, seconds_left
from lawful.base.errors import MemoryBudgetError, TimeBudgetError
from lawful.rules.compiled.plan import Tables
from lawful.rules.judging.reading import Cost, Reading

if TYPE_CHECKING:
    from lawful.rules.judging.judge import Judge

MAX_EXTENSIONS = 2**15
"""Partial readings that are extended per labelling; beyond, the best reading so far is taken."""

MAX_UNFINISHED = 8
"""Searches of a document that end without a proof; the values of other labellings stay as read."""

MAX_PROPOSALS = 256
"""Readings per labelling that rules in Python judge."""

MAX_CHANGED = 1024
"""Readings per labelling that differ from the best one in a value, tried after such a search."""

MAX_DESCENTS = 2
"""Labellings per document for which that is done."""

MEMORY = 2**26
PATIENCE = 256
WIDTH = 8


class Settler:
    """Chooses the values of one document's readings."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.plan = judge.plan()
        self._descents = self._unfinished = 0
        self.tables = Tables(judge.rules, self.plan, judge.document.id, judge.given)

    def settle(self, reading: Reading, cost: Cost, until: float) -> tuple[Reading, Cost]:
        """The reading of the same spans that costs the least; the given one if none costs less."""
        best, most = reading, cost.most
        if self._unfinished >= MAX_UNFINISHED:
            return best, Cost(most, 0.0)
        try:
            search, choices = self._open(reading, most, until)
        except (TimeBudgetError, MemoryBudgetError):
            return best, Cost(most, 0.0)
        open_ = inf  # the least that a proposal with undecided rules may cost
        for _ in range(MAX_PROPOSALS):
            if is_up(until):  # judging proposals may have spent it
                break
            left = MAX_EXTENSIONS - search.extended
            try:
                status = search.next(left, seconds_left(until))
            except MemoryBudgetError:
                break
            if status is not _core.SearchStatus.found:
                if status is _core.SearchStatus.nothing:
                    return best, Cost(most, min(most, open_))
                break
            if search.violated >= most:
                return best, Cost(most, min(most, open_))
            proposed = self._chosen(reading, choices, search)
            found = self.judge.weigh(proposed, until)
            open_ = min(open_, found.least) if found.least < found.most else open_
            if found.most < most:
                best, most = proposed, found.most
        self._unfinished += 1
        if not is_up(until) and search.dive(WIDTH, seconds_left(until)):
            proposed = self._chosen(reading, choices, search)
            found = self.judge.weigh(proposed, until)
            if found.most < most:
                best, most = proposed, found.most
        if self._descents < MAX_DESCENTS:
            self._descents += 1
            best, most = self._descend(best, most, until)
        return best, Cost(most, min(most, open_, search.bound))

    def _descend(self, reading: Reading, most: float, until: float) -> tuple[Reading, float]:
        """Changes one value at a time while the reading costs less, from left to right.

        In a table with many doubtful cells, a value that is right mends its row and its column.
        """
        judge, last = self.judge, inf
        places = [(i, at) for i, spans in enumerate(reading) for at in range(len(spans))]
        options = [
            (i, at, judge.occurrences[start, end, other])
            for i, at in places
            for start, end, _ in (reading[i][at],)
            for other in range(len(judge.values(i, start, end)))
            if not other or judge.price_of_choice(i, start, end, other) != inf
        ]
        tried = 0
        while most < last:
            last = most
            for i, at, option in options:
                if reading[i][at] == option:
                    continue
                if is_up(until) or (tried := tried + 1) > MAX_CHANGED:
                    return reading, most
                spans = (*reading[i][:at], option, *reading[i][at + 1 :])
                proposed = (*reading[:i], spans, *reading[i + 1 :])
                if (cost := judge.weigh(proposed, until).most) < most:
                    reading, most = proposed, cost
        return reading, most

    def _open(
        self, reading: Reading, limit: float, until: float
    ) -> tuple[_core.Search, list[tuple[int, int, int]]]:
        """A search over the values of the spans; for each value its field, span and choice."""
        judge = self.judge
        places = sorted(
            (span.start, i, at) for i, spans in enumerate(reading) for at, span in enumerate(spans)
        )
        row: dict[str, NDArray[Any]] = {}
        starts = np.array([start for start, _, _ in places], np.uint32)
        if judge.page_numbers is not None:
            row["page"] = judge.page_numbers.numbers[starts]
        if judge.row_numbers is not None:
            row["row"], row["closes"] = judge.row_numbers.of_spans(starts, np.zeros_like(starts))
        field: list[int] = []
        span: list[int] = []
        value: list[int] = []
        price: list[float] = []
        choices: list[tuple[int, int, int]] = []
        for number, (_, i, at) in enumerate(places):
            field.append(i)
            start, end, _ = reading[i][at]
            faults = judge.faults(i, start, end)
            for which, found in enumerate(judge.values(i, start, end) or (None,)):
                if (own := judge.price_of_choice(i, start, end, which)) == inf:
                    continue
                span.append(number)
                value.append(self.tables.number_of(i, found))
                price.append(faults + own)
                choices.append((i, at, which))
        search = _core.Search(
            field=np.array(field, np.uint32),
            span=np.array(span, np.uint32),
            value=np.array(value, np.uint32),
            price=np.array(price, np.float64),
            plan=self.plan.core,
            lookups=self.tables.lookups(until),
            missing=np.array([judge.missing(i) for i in range(len(reading))]),
            limit=limit,
            memory=MEMORY,
            patience=PATIENCE,
            seconds=seconds_left(until),
            **row,
        )
        return search, choices

    def _chosen(
        self, reading: Reading, choices: list[tuple[int, int, int]], search: _core.Search
    ) -> Reading:
        changed = [list(spans) for spans in reading]
        for choice in search.choices.tolist():
            i, at, which = choices[choice]
            start, end, _ = reading[i][at]
            changed[i][at] = self.judge.occurrences[start, end, which]
        return tuple(map(tuple, changed))
