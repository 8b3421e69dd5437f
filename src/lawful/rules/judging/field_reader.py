"""What the fields of one document say: the readings of its labellings, their values and rows.

Values are cached by the words of their spans. Each cache is bounded in bytes: a long document has
labellings of thousands of spans.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from math import inf
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lawful.base.cache import Cache, size_of_texts
from lawful.documents.document import Box, Document
from lawful.documents.labels import Scheme
from lawful.rules.classes import class_choices
from lawful.rules.given_values import given_values
from lawful.rules.judging.fields import (
    BYTES_PER_FAULT,
    MAX_BYTES,
    DocumentFields,
    FieldView,
    Kept,
    views_of_absent,
)
from lawful.rules.judging.misread_values import MIN_PRICE, reading_of_choice
from lawful.rules.judging.pinned import Pinned
from lawful.rules.judging.places import Place, Places
from lawful.rules.judging.reading import Occurrence, Occurrences, Reading, Spans
from lawful.rules.judging.rows import (
    PREVIOUS,
    ByRow,
    KeptPlace,
    Row,
    RowKind,
    RowNumbers,
    Sections,
    page_numbers,
    rows_of,
    sections_of,
    table_numbers,
    words_of_rows,
)
from lawful.rules.judging.unreadable import UnreadableSpans
from lawful.rules.language.nodes import COUNT, PLACE, ROWS, Environment
from lawful.rules.rule_set import Rules
from lawful.values import unprinted

Labels: TypeAlias = NDArray[np.integer[Any]]  # (words,): label indices

BYTES_PER_SPAN = 100


@dataclass(frozen=True, slots=True)
class FieldValue:
    """One occurrence of a field: its text, its value, and its place in the document."""

    text: str
    value: Any  # none: the text could not be read as the field's type
    words: tuple[int, int]
    box: Box | None = None
    page: int | None = None
    choice: int = 0  # index of the chosen value among the possible ones; 0 is the most plausible
    row: int | None = None  # the number of its row, from 1, if the field belongs to rows
    read_as: str | None = None  # the text that it is taken for, if OCR misread a character of it

    def __reduce__(self) -> tuple[Any, ...]:
        return FieldValue, _PARTS_OF_VALUES(self)


_PARTS_OF_VALUES = attrgetter(*FieldValue.__match_args__)


class Seen(NamedTuple):
    """The values of a reading, as rules see them."""

    page: Environment
    rows: Mapping[str, list[Environment]]  # by kind, of each row, with the values of the page


class FieldReader:
    """Reads labellings of one document, which is of its most probable class."""

    def __init__(self, document: Document, rules: Rules, scheme: Scheme, hard: float = inf) -> None:
        self.document = document
        self.rules = rules
        self.scheme = scheme
        self._fields = DocumentFields(document, rules, hard)
        self._sharing = self._fields  # decides among fields that share a label
        self.values = self._fields.values
        """The possible values of a span, by field, start and end, the most plausible first."""
        self.price_of_choice = self._fields.price
        """The price of a choice among the values of a span, by field, start and end."""
        self.occurrences = Occurrences()
        self._labels = tuple(rules.field_of_label)
        self._index = tuple(rules.field_of_label.values())
        self.relevant = scheme.numbers_of(self._labels)
        """By label, a number above 0 if it is of a field; labellings that have the same numbers
        have the same reading."""
        self._views: Cache[tuple[int, Spans], FieldView] = Cache(MAX_BYTES)
        self._absent = views_of_absent(rules)
        self._readings: Cache[bytes, Reading] = Cache(MAX_BYTES)
        self._divided: Cache[Spans, ByRow] = Cache(MAX_BYTES)
        self._rows_seen: Cache[tuple[Any, ...], dict[str, Any]] = Cache(MAX_BYTES)
        self.choices = class_choices(document, rules.classes)
        self.choice = self.choices[0]
        self.given: Environment = {
            **given_values(document, rules.given),
            **self.choice.values,
        }
        self._names = rules.names
        self._field_index = rules.field_index
        self.row_numbers = RowNumbers.of(document) if rules.rows else None
        by_page = any(kind.by is not None for kind in rules.rows)
        self.page_numbers = page_numbers(document) if by_page else None
        self._placed = rules.placed
        self._places = Places(document) if self._placed else None
        self._kept = Kept()
        self.ignored: frozenset[int] = frozenset()
        pinned = self._fields.pinned
        self._pinned = frozenset() if pinned is None else pinned.present

    def keep(self, labels: Labels) -> None:
        """Keeps the ``presence: keep`` fields of this labelling, the best legal one.

        A field that is pinned to its default has this value if it is missing, so it is not kept. A
        field of rows, unless its presence is free, is kept in every row that has it.
        """
        pins = self.pinned
        reading = self.read(labels)
        names = frozenset(
            f.name
            for i, (f, spans) in enumerate(zip(self.rules.fields, reading, strict=True))
            if spans and f.presence == "keep" and not (pins is not None and pins.is_default(f))
            if self._fields.is_present(i, spans)
        )
        places = {name: found for name, found in self._kept_places(reading) if found}
        self.keep_only(Kept(names, places))

    def _kept_places(self, reading: Reading) -> Iterator[tuple[str, tuple[KeptPlace, ...]]]:
        """By field of rows, the rows of a reading that have a value of it."""
        index, words = self._field_index, len(self.document)
        for kind in self.rules.rows:
            rows = self.rows(kind, reading)
            numbers = self.numbers_of(kind)
            members = [index[name] for name in (*kind.fields, *self.rules.held[kind.name])]
            places = [
                (row, KeptPlace(start, end, kind.name, number))
                for row, (start, end), number in zip(
                    rows,
                    words_of_rows(rows, members, reading, numbers, words),
                    self._table_numbers(kind, rows),
                    strict=True,
                )
            ]
            for name in kind.fields:
                i = index[name]
                if self.rules.fields[i].presence != "free":
                    yield (
                        name,
                        tuple(
                            place
                            for row, place in places
                            if self._fields.is_present(i, row.spans.get(i, ()))
                        ),
                    )

    def keep_only(self, kept: Kept) -> None:
        """Sets what may not vanish."""
        self._kept = kept
        self._views.clear()
        self.__dict__.pop("_wanted", None)

    @property
    def kept(self) -> Kept:
        """What may not vanish."""
        return self._kept

    def ignore(self, names: frozenset[str]) -> None:
        """Lets searches pass over the spans of these fields, which nothing depends on."""
        self.ignored = frozenset(self._field_index[name] for name in names)

    def with_ignored(self, reading: Reading, labels: Labels) -> Reading:
        """The reading that a search found for these labels, with the fields that it ignored."""
        if not self.ignored:
            return reading
        read = self.read(labels)
        return tuple(read[i] if i in self.ignored else spans for i, spans in enumerate(reading))

    @property
    def pinned(self) -> Pinned | None:
        """What pins demand of the fields; none if the document has no pins."""
        return self._fields.pinned

    def read(self, labels: Labels) -> Reading:
        """The reading of a labelling, with the most plausible values."""
        key = labels.tobytes()  # all labellings of a document have as many words
        reading = self._readings.get(key)
        if reading is None:
            found: list[list[Occurrence]] = [[] for _ in self.rules.fields]
            spans = self.scheme.spans_of(self._labels, labels)
            shared, occurrences = self.rules.shared_labels, self.occurrences
            for which, start, end in spans:
                index = self._index[which]
                if index in shared:
                    index = self.field_of(index, start, end)
                found[index].append(occurrences[start, end, 0])
            reading = tuple(map(tuple, found))
            self._readings.keep(key, reading, len(key) + BYTES_PER_SPAN * len(spans))
        return reading

    def field_of(self, index: int, start: int, end: int) -> int:
        """The field of a span, by the first field that has its label.

        If fields share the label, it is the first one whose conditions the span meets by itself, or
        else the last.
        """
        sharing = self.rules.shared_labels.get(index)
        return index if sharing is None else self._sharing.first_that_fits(sharing, start, end)

    def share_labels_like(self, other: FieldReader) -> None:
        """Lets another judge of the same document decide to which field a shared label belongs.

        To be called before anything is read: pins decide that, and a clash leaves some of them out.
        """
        self._sharing = other._sharing

    def tells_apart(self, one: Labels, other: Labels) -> bool:
        """Whether two labellings differ in a word that belongs to a field in one of them."""
        return self.relevant[one].tobytes() != self.relevant[other].tobytes()

    def is_ambiguous(self, reading: Reading) -> bool:
        """Whether a text of the reading has several possible values."""
        return any(
            len(self.values(i, span.start, span.end)) > 1
            for i, spans in enumerate(reading)
            if spans and self.least_price(i) != inf
            for span in spans
        )

    def least_price(self, index: int) -> float:
        """The least that another value of a text of this field may cost than its first one."""
        f = self.rules.fields[index]
        misread = MIN_PRICE if f.misreads and self.document.misreads else inf
        return min(f.ambiguity or 0.0, misread)

    def seen_values(self, reading: Reading) -> tuple[Any, ...]:
        """Field values as a person sees them: all of a list, the first of any other field."""
        values = (self._fields.chosen(i, spans) for i, spans in enumerate(reading))
        return tuple(
            tuple(found if f.many else found[:1])
            for f, found in zip(self.rules.fields, values, strict=True)
        )

    def rows(self, kind: RowKind, reading: Reading) -> list[Row]:
        """The rows of a reading, in the order of words."""
        index, numbers = self._field_index, self.row_numbers
        if kind.of is None:
            return rows_of(kind, index, reading, None if numbers is None else self._by_row)
        pages = None if kind.by is None else self.page_numbers
        return sections_of(kind, self.rules.held[kind.name], index, reading, numbers, pages)

    def _by_row(self, spans: Spans) -> ByRow:
        """The spans of a field by row; cached, since most fields of two readings have the same."""
        found = self._divided.get(spans)
        if found is None:
            assert self.row_numbers is not None  # noqa: S101 - asked for known rows only
            found = self.row_numbers.divide(spans)
            self._divided.keep(spans, found, 2 * BYTES_PER_SPAN * (1 + len(spans)))
        return found

    def numbers_of(self, kind: RowKind) -> RowNumbers | None:
        """The rows of a kind by word, if they are known before the search."""
        if kind.of is not None:
            return None if kind.by is None else self.page_numbers
        return self.row_numbers if kind.starts is None else None

    def sections(self, reading: Reading) -> dict[str, Sections]:
        """By kind of sections, which of them each row belongs to: to that with its first value."""
        found: dict[str, Sections] = {}
        kinds = {kind.name: kind for kind in self.rules.rows}
        for kind in self.rules.rows:
            if kind.of is None:
                continue
            inner = kinds[kind.of]
            rows = self.rows(inner, reading)
            section_of = dict(self._sections_of_rows(kind, inner, reading))
            of_number: dict[int, int | None] = {}
            for at, number in enumerate(self._table_numbers(inner, rows)):
                of_number.setdefault(number, section_of.get(at))
            numbers = tuple(of_number[number] for number in sorted(of_number))
            found[kind.name] = Sections(inner.name, len(self.rows(kind, reading)), numbers)
        return found

    def _sections_of_rows(
        self, kind: RowKind, inner: RowKind, reading: Reading
    ) -> Iterator[tuple[int, int]]:
        """The rows of ``inner`` that are in sections of a kind, each with the section's number."""
        starts = {
            span.start: number
            for number, section in enumerate(self.rows(kind, reading), 1)
            for spans in section.spans.values()
            for span in spans
        }
        for at, row in enumerate(self.rows(inner, reading)):
            if number := starts.get(min(spans[0].start for spans in row.spans.values())):
                yield at, number

    def _table_numbers(self, kind: RowKind, rows: list[Row]) -> list[int]:
        """By row, its number in tables and messages, from 1."""
        document = self.document
        own = kind.starts is not None or kind.of is not None
        if own or document.rows is not None or document.boxes is None:
            return list(range(1, len(rows) + 1))
        texts = frozenset(i for i, f in enumerate(self.rules.fields) if f.kind == "text")
        starts = [min(spans[0].start for spans in row.spans.values()) for row in rows]
        return table_numbers(rows, texts, list(map(document.page, starts)))

    def see(self, reading: Reading) -> Seen:
        """The values of a reading; of a field with several (``repeat: any``), the first."""
        page = self._see_page(self._see_all(reading), reading)
        return Seen(*self._see_rows(reading, page, {kind.name for kind in self.rules.rows}))

    def _see_rows(
        self, reading: Reading, environment: Environment, kinds: Iterable[str] | None = None
    ) -> tuple[Environment, dict[str, list[Environment]]]:
        """The values of a page with those of its rows; and by kind, what rules of each row see.

        These are the values of the row, of the one before, and of the page. A field's value is its
        first readable one in the row. ``kinds`` are those with rules of each row, by default.
        """
        if not self.rules.rows:
            return environment, {}
        rows = {kind.name: self._values_of_rows(kind, reading) for kind in self.rules.rows}
        page = {**environment, **{ROWS + name: values for name, values in rows.items()}}
        seen: dict[str, list[Environment]] = {}
        if kinds is None:
            kinds = {rule.each.name for rule in self.rules.parsed if rule.each is not None}
        for name in kinds:
            values = rows[name]
            keys = {each: _of_previous(each) for each in (values or [{}])[0]}
            last: dict[str, Any] = {each: 0 if each.startswith(COUNT) else None for each in keys}
            seen[name] = []
            for row in values:
                before = {key: last[each] for each, key in keys.items()}
                seen[name].append({**page, **row, **before})
                last = row
        return page, seen

    def _values_of_rows(self, kind: RowKind, reading: Reading) -> list[dict[str, Any]]:
        found = []
        held = self.rules.held[kind.name]
        for row in self.rows(kind, reading):
            key = (kind.name, *row.spans.items())
            values = self._rows_seen.get(key)
            if values is None:
                values = self._values_of_row(kind, row, held)
                size = BYTES_PER_SPAN * len(row.spans) + 2 * BYTES_PER_SPAN * len(values)
                self._rows_seen.keep(key, values, size)
            found.append(values)
        for inner in (each for each in self.rules.rows if {*each.fields} <= {*held}):
            of_section: list[list[dict[str, Any]]] = [[] for _ in found]
            rows = self._values_of_rows(inner, reading)
            for at, number in self._sections_of_rows(kind, inner, reading):
                of_section[number - 1].append(rows[at])
            found = [
                {**values, ROWS + inner.name: rows}
                for values, rows in zip(found, of_section, strict=True)
            ]
        return found

    def _values_of_row(self, kind: RowKind, row: Row, held: tuple[str, ...]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name in (*kind.fields, *held):
            i = self._field_index[name]
            spans = row.spans.get(i, ())
            chosen = self._fields.chosen(i, spans)
            values[name] = next(iter(chosen), None)
            if name in held:  # an unreadable value makes any sum over the list unknown
                values[name] = tuple(chosen) if chosen and len(chosen) == len(spans) else None
            values[COUNT + name] = len(spans)
            if name in self._placed:
                values[PLACE + name] = self._place(i, spans)
        return values

    def _see_all(self, reading: Reading) -> dict[str, FieldView]:
        return dict(zip(self._names, map(self._see, count(), reading), strict=True))

    def _see_page(self, views: dict[str, FieldView], reading: Reading) -> Environment:
        """The values, counts and places that rules about the page see."""
        seen = dict(self.given)
        for name, view in views.items():
            seen[name] = view.options[0]
            seen[COUNT + name] = view.occurs
        for name in self._placed:
            index = self._field_index[name]
            seen[PLACE + name] = self._place(index, reading[index])
        return seen

    @cached_property
    def _wanted(self) -> frozenset[str]:
        """The fields of which it matters to this document if they are absent."""
        return frozenset(self._names) if self.pinned is not None else self._kept.names

    def _place(self, index: int, spans: Spans) -> Place | None:
        if self._places is None:
            return None
        readable = (span for span in spans if self.values(index, span.start, span.end))
        return self._places.of(spans, next(readable, None))

    def _see(self, index: int, spans: Spans) -> FieldView:
        """The view of one field; cached, since many labellings have the same spans of it."""
        if not spans and self._names[index] not in self._wanted:
            return self._absent[index]
        key = (index, spans)
        view = self._views.get(key)
        if view is None:
            view = self._fields.view(index, spans, self._kept)
            size = BYTES_PER_SPAN * len(spans) + BYTES_PER_FAULT * len(view.faults)
            if self.rules.of_texts[index]:
                size += size_of_texts(flat(view.options))
            self._views.keep(key, view, size)
        return view

    def fields(self, reading: Reading) -> dict[str, list[FieldValue]]:
        """The texts, values and places of each field; missing fields are left out."""
        found: dict[str, list[FieldValue]] = {}
        row_of: dict[tuple[int, int], int] = {}
        for kind in self.rules.rows:
            rows = self.rows(kind, reading)
            for number, row in zip(self._table_numbers(kind, rows), rows, strict=True):
                row_of |= {
                    (i, span.start): number
                    for i in map(self._field_index.__getitem__, kind.fields)
                    for span in row.spans.get(i, ())
                }
        document = self.document
        has_places = document.boxes is not None or document.pages is not None
        for i, (name, spans) in enumerate(zip(self._names, reading, strict=True)):
            if spans:
                found[name] = []
            for start, end, choice in spans:
                values = self.values(i, start, end)
                found[name].append(
                    FieldValue(
                        document.text(start, end),
                        unprinted(values[choice]) if values else None,
                        (start, end),
                        document.box(start, end) if has_places else None,
                        document.page(start) if has_places else None,
                        choice,
                        row_of.get((i, start)) if row_of else None,
                        reading_of_choice(values, choice),
                    )
                )
        return found

    def share_values(self, other: FieldReader) -> None:
        """Uses what another judge of the same document has read, under any rules."""
        self._fields.share_values(other._fields)

    @property
    def unreadable(self) -> UnreadableSpans:
        """The spans that are known to be unreadable, or not to be."""
        return self._fields.unreadable

    def faults(self, index: int, start: int, end: int) -> float:
        """The weights of conditions that a span violates by itself."""
        return sum((each.weight for each in self._fields.faults_of_span(index, start, end)), 0.0)

    def only_if_unreadable(self, index: int) -> float | None:
        """What an unreadable span costs, if spans have no other faults; else ``None``."""
        return self._fields.only_if_unreadable(index)

    def missing(self, index: int) -> float:
        """The weights of conditions that are violated if the field is missing."""
        f = self.rules.fields[index]
        hard = self._fields.hard
        if f.presence == "required":
            return hard if f.name in self._pinned else self.rules.weight_of(f, "required")
        return hard if f.name in self._kept.fields or f.name in self._pinned else 0.0


def flat(options: Iterable[Any]) -> Iterator[Any]:
    """The values of options, where a list is a tuple of values."""
    for option in options:
        yield from option if isinstance(option, tuple) else (option,)


def _of_previous(key: str) -> str:
    """The key, for rules of the next row, of what a row has under this key."""
    mark = key[0] if key[0] in COUNT + PLACE else ""
    return f"{mark}{PREVIOUS}.{key.removeprefix(mark)}"
