"""Readings of a document from the core, by rising cost.

A lattice of all spans would be far too large, and nearly all of them are absurd. So it holds only
the spans of labellings whose cost is within some slack of the best one's. The search yields all
readings up to that cost, in order; then the slack is doubled. Texts are parsed only for spans in
the lattice.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Generator, Iterator, Sequence
from hashlib import blake2b
from itertools import chain
from math import inf
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from lawful import _core
from lawful.base.cache import Cache
from lawful.base.clock import is_up, seconds_left
from lawful.base.errors import MemoryBudgetError, TimeBudgetError
from lawful.documents.labels import Scheme
from lawful.documents.span_scores import SpanScheme
from lawful.results.decoding import Limit
from lawful.rules.compiled.plan import Plan, Tables
from lawful.rules.judging.judge import Judge
from lawful.rules.judging.reading import Occurrence, Reading
from lawful.rules.rule_set import Rules
from lawful.search.problem import ROUNDING
from lawful.values import type_named

MEMORY = 2**29
"""Bytes that a search may hold; its graph may hold as many again."""

MAX_SPANS, MIN_SPANS = 2**16, 2**10
SLACKS = (8.0, 16.0, 32.0, 64.0, 128.0, inf)
"""Nats above the best labelling, one after another until the answer is proven; the last one
includes all spans."""

SLACKS_OF_SHORT_SPANS = (8.0, 20.0, 40.0, 80.0, 160.0, inf)
"""The same if long spans are left out, so that a larger slack adds little."""

MIN_SLACK = 0.1
LAST_SLACK = 128.0  # stands for an infinite slack that has to be reduced
PATIENCE = 1024
"""Steps that the search tries before it computes bounds on what rules cost."""

WITHOUT: tuple[str, ...] = ()
"""Kinds of bounds that are not made, for tests: the answer does not depend on them."""

FIRST_PAUSE = 256
"""Partial readings that are extended before a good reading is guessed."""

MANY = 192
"""Spans of which so many are unreadable that it pays to leave these out all at once."""

SATURATED = 32.0
MAX_FOR_ALL, MAX_FOR_PROOF = 128, 192
"""If long spans are left out, there are hardly more spans beyond some slack. From this one on, the
next search has all spans if there were so few values; or so few, and rules refused them at once."""

FEW = 16
"""Extensions of a search that ends so soon that the next one is given far more slack."""

WORK_PER_SPAN, WORK_TO_IMPROVE = 2**11, 2**24
"""Elementary steps for reading a span, and at most for changing a reading."""

HOPELESS = 2**12
"""Span values among which a long search seldom ends with a proof; with fewer, more work is done."""

FIRST_WIDTH, LAST_WIDTH = 8, 512
"""Partial readings that the first guess follows at each word, and the last ones."""

Did = TypeVar("Did")
Labels: TypeAlias = NDArray[np.unsignedinteger[Any]]
SpanValue: TypeAlias = tuple[int, int, int, int]
"""Field, start, end, and the number of the value, or ``_core.UNREADABLE``."""


class Candidate(NamedTuple):
    """A reading, and the best labelling that has it."""

    labels: Labels
    log_prob: float
    violated: float  # the part of its penalty that the search knows
    spans: tuple[SpanValue, ...]


class Lattice:
    """The spans of one document under its rules, and the numbers of their values."""

    def __init__(self, costs: NDArray[np.float64], judge: Judge, plan: Plan | None) -> None:
        scheme = judge.scheme
        if not isinstance(scheme, SpanScheme):
            scheme = judge.rules.scheme_for(scheme.labels)  # without transition scores
        self.core = _core.Lattice(costs, layout_of(judge.rules, scheme, judge.ignored))
        self.judge = judge
        self.plan = plan
        self.tables = Tables(judge.rules, plan, judge.document.id, judge.given)
        fields = range(len(judge.rules.fields))
        self._missing = np.array(list(map(judge.missing, fields)))
        self._unreadable = list(map(judge.only_if_unreadable, fields))
        self._read: dict[tuple[int, int, int], tuple[tuple[SpanValue, float], ...]] = {}

    @property
    def has_short_spans(self) -> bool:
        """Whether long spans are left out: hard rules refuse them, for no type can read them."""
        types = (type_named(f.type) for f in self.judge.rules.fields)
        return all(price == inf for price in self._unreadable) and all(
            type_.hopeless is not None for type_ in types
        )

    @property
    def best(self) -> float:
        """The cost of the best legal labelling; infinite if none is legal."""
        return self.core.best

    def open_search(
        self, slack: float, max_cost: float, until: float, most: int = MAX_SPANS
    ) -> tuple[_core.Search, list[SpanValue], float]:
        """A search up to a slack, the span values by their index in the search, and the slack.

        The slack is less if there were more spans than ``most``. Raises ``TimeBudgetError``.
        """
        max_cost += ROUNDING
        spans = self.spans(min(slack, max_cost), until, most)
        while not spans.complete:
            slack = min(slack, max_cost, 2 * LAST_SLACK) / 2
            if slack < ROUNDING:
                slack = -inf  # even the best labellings have too many spans
            spans = self.spans(slack, until, most)
        values, span, price = self.read(spans, until)
        numbers = [number for _, _, _, number in values]
        search = _core.Search(
            spans,
            span=np.array(span, np.uint32),
            value=np.array(numbers, np.uint32),
            price=np.array(price, np.float64),
            plan=None if self.plan is None else self.plan.core,
            lookups=self.tables.lookups(until),
            missing=self._missing,
            slack=slack,
            max_cost=None if max_cost == inf else max_cost,
            memory=MEMORY,
            patience=PATIENCE,
            seconds=seconds_left(until),
            without=WITHOUT,
            **self.places(spans),
        )
        return search, values, slack

    def places(self, spans: _core.Spans) -> dict[str, Any]:
        """What rules need to know of spans, if they do; by field, the places that need a value."""
        numbers = self.judge.row_numbers
        found: dict[str, Any] = {}
        kept = self.judge.kept.places
        if kept and self.plan is not None:
            found["kept"] = [
                [(place.start, place.end) for place in kept.get(f.name, ())]
                for f in self.judge.rules.fields
            ]
        if numbers is not None and self.plan is not None:
            found["row"], found["closes"] = numbers.of_spans(spans.start, spans.end)
        if self.judge.page_numbers is not None and self.plan is not None:
            found["page"] = self.judge.page_numbers.numbers[spans.start]
        if self.judge.rules.shared_labels:
            found["seen_as"] = np.array(
                [field for field, *_ in self.spans_by_field(spans)], np.uint32
            )
        return found

    def spans_by_field(self, spans: _core.Spans) -> Iterator[tuple[int, int, int]]:
        """The field, start and end of each span."""
        ends = self.judge.scheme.text_ends(spans.start, spans.end)
        rows = zip(spans.field.tolist(), spans.start.tolist(), ends.tolist(), strict=True)
        if not self.judge.rules.shared_labels:
            return rows
        return ((self.judge.field_of(*row), *row[1:]) for row in rows)

    def spans(self, slack: float, until: float, most: int = MAX_SPANS) -> _core.Spans:
        """The field spans of all labellings within a slack of the best one, if so few."""
        return _core.Spans(self.core, slack, most, seconds_left(until))

    def reading(self, spans: tuple[SpanValue, ...]) -> Reading:
        """The reading that has these span values."""
        found: list[list[Occurrence]] = [[] for _ in self.judge.rules.fields]
        occurrences = self.judge.occurrences
        for field, start, end, number in spans:
            values = self.judge.values(field, start, end)
            which = 0
            if number != _core.UNREADABLE and len(values) > 1:
                which = [self.tables.known(field, value) for value in values].index(number)
            found[field].append(occurrences[start, end, which])
        return tuple(map(tuple, found))

    def read(
        self, spans: _core.Spans, until: float
    ) -> tuple[list[SpanValue], list[int], list[float]]:
        """The span values that no hard rule refuses, and for each its span's index and its price.

        Raises ``TimeBudgetError`` when the time is up.
        """
        values: list[SpanValue] = []
        index: list[int] = []
        prices: list[float] = []
        known = self._read
        for at, span in self._open_spans(spans, until):
            found = known.get(span)
            if found is None:
                found = known[span] = self._values(span, until)
            for value, price in found:
                values.append(value)
                index.append(at)
                prices.append(price)
        return values, index, prices

    def _open_spans(
        self, spans: _core.Spans, until: float
    ) -> Iterator[tuple[int, tuple[int, int, int]]]:
        """The index of each span, and the span.

        Most of many spans are unreadable; where a hard rule forbids that, they are left out, and
        fields of one type share what is known.
        """
        must_read = [price == inf for price in self._unreadable]
        if len(spans.field) < MANY or not any(must_read) or self.judge.rules.shared_labels:
            return enumerate(self.spans_by_field(spans))
        field, start = spans.field, spans.start
        end = self.judge.scheme.text_ends(start, spans.end)
        values = self.judge.values

        def is_readable(field: int, start: int, end: int) -> bool:
            if until != inf and perf_counter() > until:
                raise TimeBudgetError("the time is up")
            return bool(values(field, start, end))

        unreadable = self.judge.unreadable.find(field, start, end, is_readable)
        at = np.flatnonzero(~(unreadable & np.array(must_read)[field]))
        rows = zip(field[at].tolist(), start[at].tolist(), end[at].tolist(), strict=True)
        return zip(at.tolist(), rows, strict=True)

    def _values(
        self, span: tuple[int, int, int], until: float
    ) -> tuple[tuple[SpanValue, float], ...]:
        """The values of a span that no hard rule refuses, and their prices.

        Raises ``TimeBudgetError`` when the time is up.
        """
        judge = self.judge
        field, start, end = span
        if until != inf and perf_counter() > until:
            raise TimeBudgetError("the time is up")
        values = judge.values(field, start, end)
        faults = self._unreadable[field]
        if faults is None:
            faults = judge.faults(field, start, end)
        elif values:
            faults = 0.0
        if faults == inf:
            return ()
        if not values:
            return (((field, start, end, _core.UNREADABLE), faults),)
        number_of = self.tables.number_of
        first = ((field, start, end, number_of(field, values[0])), faults)
        if len(values) == 1:
            return (first,)
        others = (
            ((field, start, end, number_of(field, value)), faults + price)
            for choice, value in enumerate(values[1:], 1)
            if (price := judge.price_of_choice(field, start, end, choice)) != inf
        )
        return (first, *others)


class ReadingSearch:
    """Readings by rising cost: ``-log p`` of the labelling plus the penalty known to the search.

    With a plan, hard rules prune the search, and readings that the rules cannot tell apart come
    once; without one, all readings come. Readings still to come cost at least ``bound``, and there
    are none if ``complete``. With ``guess``, good readings also come early, before it is known that
    they are next: with ``stop_above``, they keep the search short. ``stopped_by`` is the limit that
    ended the search: ``extensions`` of partial readings, the time ``until``, or memory.
    """

    def __init__(
        self,
        lattice: Lattice,
        *,
        extensions: float = inf,
        work: float = inf,
        until: float = inf,
        max_cost: float = inf,
        guess: bool = False,
        slacks: Sequence[float] | None = None,
    ) -> None:
        self.bound = lattice.best
        self.complete = lattice.best == inf
        self.stopped_by: Limit | None = None
        self.extended = 0
        self.has_improved = False  # some reading, span by span
        self._ceiling = inf  # readings of a higher cost are not needed
        self.lattice = lattice
        self._extensions = extensions
        self._work = work
        self._until = until
        self._max_cost = max_cost
        self._guess = guess
        self._short = lattice.has_short_spans
        self._slacks = slacks or (SLACKS_OF_SHORT_SPANS if self._short else SLACKS)
        self._seen: set[bytes] = set()
        self._search: tuple[_core.Search, list[SpanValue]] | None = None
        self._share = 1.0  # of the work that counts
        self._short_of: Limit = "memory"  # where spans are too many
        self._improved = False  # the reading of the best labels in this search

    def stop_above(self, cost: float) -> None:
        """Ends the search at this cost: readings that cost more are not needed."""
        self._ceiling = cost

    def stop(self, limit: Limit) -> None:
        """Ends the search because of a limit that the caller keeps track of."""
        self.stopped_by = limit

    def __iter__(self) -> Iterator[Candidate]:
        slack = self._slacks[0]
        try:
            while not self.complete and self.stopped_by is None and self.bound < self._ceiling:
                if perf_counter() >= self._until:
                    self.stopped_by = "seconds"
                    return
                needed = self._ceiling - self.lattice.best + ROUNDING
                slack = yield from self._go(min(slack, needed))
                judge = self.lattice.judge
                if not self._seen and judge.pinned is not None:
                    # To prove this by searching would take all spans.
                    self.complete |= judge.pinned.lacks_a_value(judge.values, self._until)
        except MemoryBudgetError:
            self.stopped_by = "memory"
        except TimeBudgetError:
            self.stopped_by = "seconds"

    def _go(self, wanted: float) -> Generator[Candidate, None, float]:
        """Yields all readings within a slack; returns the next slack."""
        search, values, slack = self._open(wanted)
        self._search, self._improved = (search, values), False
        self._share = min(1.0, (1 + len(values)) / HOPELESS)
        if not self._seen:
            search.nothing_below(self.bound)
        pause: float = FIRST_PAUSE if self._guess else inf
        width = FIRST_WIDTH
        while True:
            if perf_counter() >= self._until:  # the caller may have spent it on the last one
                self.stopped_by = "seconds"
                return slack
            limit = min(self.lattice.best + slack, self._ceiling + ROUNDING)
            search.stop_above(limit)
            status = self._advance(search, pause)
            self.bound = max(self.bound, min(search.bound, limit))
            if status is _core.SearchStatus.nothing:
                self.complete = limit == inf
                if slack < wanted:  # too many spans for the wanted one
                    self.stopped_by = self._short_of
                larger = self._next_slack(slack, len(values), refused=search.extended < FEW)
                if self._guess and limit < self._ceiling and (found := self._look_beyond(larger)):
                    yield found
                return larger
            if status is _core.SearchStatus.paused:
                if not self._extensions_left() or self._work <= 0:
                    self.stopped_by = "candidates"
                    return slack
                if self._guess and (found := self.guess(width, self._until)):
                    yield found
                pause, width = 4 * pause, min(4 * width, LAST_WIDTH)
                continue
            found = _found(search, values)
            if (digest := _digest(found.spans)) not in self._seen:
                self._seen.add(digest)
                yield found

    def _next_slack(self, slack: float, values: int, *, refused: bool) -> float:
        """The slack after one with so many values, that rules may have refused at once."""
        few = values < (MAX_FOR_PROOF if refused else MAX_FOR_ALL)
        if few and slack >= SATURATED and self._short:
            return inf
        larger = [more for more in self._slacks if more > slack] or [inf]
        # If the rules refuse everything at once, a little more will not do.
        return larger[1 if refused and len(larger) > 2 else 0]

    def _advance(self, search: _core.Search, pause: float) -> _core.SearchStatus:
        """Searches for the next reading, at most until ``pause`` extensions later."""
        before = search.extended
        most = int(min(self._extensions_left(), pause, 2**62))
        try:
            return self._do(search, search.next, most, until=self._until)
        finally:
            self.extended += search.extended - before

    def _do(self, search: _core.Search, do: Callable[..., Did], *given: Any, until: float) -> Did:
        """What a method of a search returns, within the time and the work that are left."""
        before = search.work
        left = max(0, self._work) / self._share
        try:
            return do(*given, seconds_left(until), None if left == inf else int(left))
        finally:
            self._work -= self._share * (search.work - before)

    def guess(self, width: int, until: float) -> Candidate | None:
        """A good reading, not proven to be the best, from an unfinished search."""
        if self._search is None or is_up(until):
            return None
        search = self._search[0]
        return self._improve(self._do(search, search.dive, width, until=until), until)

    def _improve(self, found: bool, until: float) -> Candidate | None:
        """The reading that the search has found, or that of the best labels, changed bit by bit."""
        search, values = cast(tuple[_core.Search, list[SpanValue]], self._search)
        if found or not self._improved:
            self._improved = True
            before = search.work
            improved = search.improve(found, seconds_left(until), WORK_TO_IMPROVE)
            self._work -= self._share * (search.work - before)
            self.has_improved |= improved
            found |= improved
        is_needed = found and search.cost + search.violated < self._ceiling
        return _found(search, values) if is_needed else None

    def _look_beyond(self, slack: float) -> Candidate | None:
        """A good reading with the spans of a search that found none, to keep the next one short."""
        if self._search is None or is_up(self._until):
            return None
        search = self._search[0]
        most = min(self.lattice.best + slack, self._ceiling)
        found = self._do(search, search.dive_beyond, most, FIRST_WIDTH, until=self._until)
        return self._improve(found, self._until)

    def _open(self, slack: float) -> tuple[_core.Search, list[SpanValue], float]:
        most = int(min(MAX_SPANS, max(MIN_SPANS, self._work / WORK_PER_SPAN)))
        self._short_of = "candidates" if most < MAX_SPANS else "memory"
        while True:
            try:
                opened = self.lattice.open_search(slack, self._max_cost, self._until, most)
                self._work -= WORK_PER_SPAN * len(opened[1])
                return opened
            except MemoryBudgetError:
                if slack < MIN_SLACK:
                    raise
                self._short_of = "memory"
                slack = min(slack, 2 * LAST_SLACK) / 4  # retry with fewer spans

    def _extensions_left(self) -> int:
        return int(max(0, min(self._extensions - self.extended, 2**62)))


def _found(search: _core.Search, values: list[SpanValue]) -> Candidate:
    """The last reading that a search has found."""
    spans = tuple(values[i] for i in search.choices.tolist())
    return Candidate(search.labels, -search.cost, search.violated, spans)


def _digest(spans: tuple[SpanValue, ...]) -> bytes:
    """Sixteen bytes that tell readings apart, which may have thousands of spans."""
    return blake2b(array("I", chain.from_iterable(spans)).tobytes(), digest_size=16).digest()


MAX_BYTES = 2**26
"""Bytes of layouts that are kept for all rules together."""

Key: TypeAlias = tuple[str, tuple[str, ...], tuple[str, ...], frozenset[int]]

_LAYOUTS: Cache[Key, _core.Layout] = Cache(MAX_BYTES)


def layout_of(rules: Rules, scheme: Scheme, ignored: frozenset[int]) -> _core.Layout:
    """The core's table of how labels form spans of fields, but of those that are ignored.

    Cached per list of labels, for all rules whose fields have the same labels.
    """
    labels = scheme.labels
    of_fields = tuple(f.label for f in rules.fields)
    layout = _LAYOUTS.get(key := (rules.scheme, labels, of_fields, ignored))
    if layout is None:
        start, between, end = (table.astype(np.uint8) for table in scheme.allowed)
        names = list(of_fields)
        names += [type_ for type_ in scheme.types if type_ not in names]
        types = [scheme.type_of(i) for i in range(len(labels))]
        first = [-1 if type_ is None else names.index(type_) for type_ in types]
        # Numbers beyond those of fields are of no field.
        type_of = [len(names) + i if i in ignored else i for i in first]
        opens, closes = scheme.marks
        layout = _core.Layout(
            start, between, end, np.array(type_of, np.int32), opens, closes, len(rules.fields)
        )
        _LAYOUTS.keep(key, layout, scheme.size + 100 * len(of_fields))
    return layout
