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
from lawful.clock import seconds_left
from lawful.errors import MemoryBudgetError, TimeBudgetError
from lawful.rules.plan import Tables
from lawful.rules.reading import Cost, Reading

if TYPE_CHECKING:
    from lawful.rules.judge import Judge

MOST_EXTENSIONS = 2**15
"""Partial readings that are extended per labelling; beyond, the best reading so far is taken."""

MOST_PROPOSALS = 256
"""Readings per labelling that rules in Python judge."""

MEMORY = 2**26
PATIENCE = 256
WIDTH = 8


class Settler:
    """Chooses the values of one document's readings."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.plan = judge.plan()
        self.tables = Tables(judge.rules, self.plan, judge.document.id, judge.given)

    def settle(self, reading: Reading, cost: Cost, until: float) -> tuple[Reading, Cost]:
        """The reading of the same spans that costs the least; the given one if none costs less."""
        best, most = reading, cost.most
        try:
            search, choices = self._open(reading, most, until)
        except (TimeBudgetError, MemoryBudgetError):
            return best, Cost(most, 0.0)
        open_ = inf  # the least that a proposal with undecided rules may cost
        for _ in range(MOST_PROPOSALS):
            if seconds_left(until) == 0.0:  # judging proposals may have spent it
                break
            left = MOST_EXTENSIONS - search.extended
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
        if seconds_left(until) != 0.0 and search.dive(WIDTH, seconds_left(until)):
            proposed = self._chosen(reading, choices, search)
            found = self.judge.weigh(proposed, until)
            if found.most < most:
                best, most = proposed, found.most
        return best, Cost(most, min(most, open_, search.bound))

    def _open(
        self, reading: Reading, limit: float, until: float
    ) -> tuple[_core.Search, list[tuple[int, int, int]]]:
        """A search over the values of the spans; for each value its field, span and choice."""
        judge = self.judge
        places = sorted(
            (span.start, i, at) for i, spans in enumerate(reading) for at, span in enumerate(spans)
        )
        row: dict[str, NDArray[Any]] = {}
        if judge.row_numbers is not None:
            starts = np.array([start for start, _, _ in places], np.uint32)
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
            ambiguity = judge.rules.fields[i].ambiguity or 0.0
            for which, found in enumerate(judge.values(i, start, end) or (None,)):
                if which and ambiguity == inf:
                    break
                span.append(number)
                value.append(self.tables.number_of(i, found))
                price.append(faults + (ambiguity if which else 0.0))
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
