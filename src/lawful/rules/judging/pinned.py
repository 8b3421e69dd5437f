"""Pins on one document: what they demand of the spans of its fields, checked against each other.

Pins that contradict each other on every document are an error. Others may still leave no labelling,
on this document: that is for decoders to prove.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate
from time import perf_counter
from typing import Any, NoReturn, TypeAlias

from lawful.base.errors import DocumentError, did_you_mean, shown
from lawful.documents.document import Document
from lawful.documents.pins import Pin
from lawful.rules.definitions import Field
from lawful.rules.given_values import value_of
from lawful.rules.judging.misread_values import MisreadValues
from lawful.rules.judging.reading import Reading, Spans
from lawful.rules.rule_set import Rules
from lawful.values import unprinted

Read: TypeAlias = Callable[[int, int, int], tuple[Any, ...]]
"""Gives the possible values of a span, by field, start and end."""

MAX_SPANS = 2**17
"""Spans that are read to find out whether a document has a value."""

MOST = 2**20
"""Words that pins may mention, counted once for every pin."""


class Pinned:
    """What pins demand of fields, which are numbered as in the rules."""

    def __init__(self, document: Document, rules: Rules) -> None:
        self.pins = document.pins
        self._document = document
        self._index = {f.name: i for i, f in enumerate(rules.fields)}
        self._values: dict[int, Any] = {}
        self._of_value: dict[int, list[Pin]] = {}
        self._spans: dict[int, list[Pin]] = {i: [] for i in range(len(rules.fields))}
        self._refused: dict[int, list[Pin]] = {i: [] for i in range(len(rules.fields))}
        for pin in self.pins:
            if pin.field is not None and pin.field not in self._index:
                known = f"fields: {', '.join(self._index)}"
                hint = did_you_mean(pin.field, self._index)
                self._fail(f"a pin is about the unknown field {shown(pin.field)}; {hint}{known}")
        for pin in self.pins:
            if pin.subject == "value":
                self._pin_value(pin, rules)
        self._check_words()
        self._pin_words()
        self._counts = [self._count(i) for i in range(len(rules.fields))]
        self.present = frozenset(
            rules.fields[i].name
            for i, value in self._values.items()
            if rules.fields[i].default != value
        )
        """The fields that must be present to have their value, since it is not their default."""

    def _pin_value(self, pin: Pin, rules: Rules) -> None:
        index = self._index[pin.field or ""]
        f = rules.fields[index]
        if f.many:
            self._fail(f"{pin.id}: {f.name} is a list; pin the words of its values")
        where = f"document {shown(self._document.id)}: pinned {f.name}"
        value = value_of(pin.value, f.type, where)
        if self._values.setdefault(index, value) != value:
            self._contradict(self._of_value[index][0], pin)
        self._of_value.setdefault(index, []).append(pin)

    def _pin_words(self) -> None:
        """Records which spans pins demand and refuse."""
        for pin in self.pins:
            if pin.is_span:
                self._spans[self._index[pin.field or ""]].append(pin)
            for name, index in self._index.items():
                if pin.refuses(name):
                    self._refused[index].append(pin)

    def _check_words(self) -> None:
        """No two pins contradict each other about a word, and none an absent field."""
        absent = {pin.field: pin for pin in self.pins if pin.kind == "absent"}
        for pin in self.pins:
            if pin.field in absent and (pin.is_span or pin.subject == "value"):
                self._contradict(absent[pin.field], pin)
        if sum(end - start for start, end in filter(None, (pin.words for pin in self.pins))) > MOST:
            self._fail(f"pins mention words more than {MOST:,} times")
        texts: dict[int, Pin] = {}  # by word
        spans: dict[int, Pin] = {}
        outside: dict[tuple[int, str | None], Pin] = {}  # of one field, or of all
        for pin in self.pins:
            for word in range(*(pin.words or (0, 0))):
                rivals: tuple[Pin | None, ...]
                if pin.subject == "text":
                    rivals = (texts.setdefault(word, pin),)
                elif pin.is_span:
                    others = (outside.get((word, field)) for field in (None, pin.field))
                    rivals = (spans.setdefault(word, pin), *others)
                else:
                    outside.setdefault((word, pin.field), pin)
                    span = spans.get(word)
                    rivals = (span,) if span and pin.field in (None, span.field) else ()
                for other in rivals:
                    if other is not None and other is not pin:
                        self._contradict(other, pin)

    def _contradict(self, one: Pin, other: Pin) -> NoReturn:
        self._fail(f"two pins contradict each other: {one.said}; {other.said}")

    def _fail(self, message: str) -> NoReturn:
        raise DocumentError(f"document {shown(self._document.id)}: {message}")

    def _count(self, index: int) -> tuple[list[int], dict[int, int]]:
        """By boundary, the number of words before it that pins mention; the ends of its spans."""
        mentioned = [0] * len(self._document)
        ends: dict[int, int] = {}
        for pin in (*self._spans[index], *self._refused[index]):
            start, end = pin.words or (0, len(mentioned))
            mentioned[start:end] = [1] * (end - start)
            if pin.is_span and self._index[pin.field or ""] == index:
                ends[start] = end
        return [0, *accumulate(mentioned)], ends

    def lacks_a_value(self, read: Read, until: float) -> bool:
        """Whether no words of the document have the value of a field that must be present.

        False if that is not known by the time ``until``, or because there are too many spans.
        """
        words = len(self._document)
        if words * words > 2 * MAX_SPANS:
            return False
        return any(
            not self._has_value(index, read, until)
            for index, (pin, *_) in self._of_value.items()
            if pin.field in self.present
        )

    def _has_value(self, index: int, read: Read, until: float) -> bool:
        words = len(self._document)
        for length in range(1, words + 1):
            if perf_counter() > until:
                return True
            for start in range(words - length + 1):
                if not self._misses(index, read(index, start, start + length)):
                    return True
        return False

    def _misses(self, index: int, values: tuple[Any, ...]) -> bool:
        """Whether a field is pinned to a value which is none of these."""
        if index not in self._values:
            return False
        pinned = self._values[index]
        return all(unprinted(value) != pinned for value in values)

    def is_default(self, f: Field) -> bool:
        """Whether a field is pinned to its default, which it has if it is missing."""
        return self._index[f.name] in self._values and f.name not in self.present

    def is_meant(self, index: int, values: tuple[Any, ...]) -> bool:
        """Whether a field is pinned to one of these values."""
        return index in self._values and not self._misses(index, values)

    def choose(self, index: int, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Those of a text's possible values that the field is pinned to; all if none is."""
        if index not in self._values:
            return values
        pinned = self._values[index]
        kept = [i for i, value in enumerate(values) if unprinted(value) == pinned]
        if isinstance(values, MisreadValues):
            return values.only(kept) if kept else values
        return tuple(values[i] for i in kept) or values

    def broken_by(self, index: int, start: int, end: int, values: tuple[Any, ...]) -> Iterator[Pin]:
        """The pins that a span of a field breaks by itself, if its text has these values."""
        if self._misses(index, values):
            yield from self._of_value[index]
        counts, ends = self._counts[index]
        if counts[start] == counts[end] or ends.get(start) == end:
            return
        for pin in (*self._spans[index], *self._refused[index]):
            first, last = pin.words or (0, len(self._document))
            if first < end and start < last:
                yield pin

    def unmet(self, index: int, spans: Spans, *, is_present: bool) -> Iterator[Pin]:
        """The pins that demand a span which is not among these, or the field's presence."""
        if self._spans[index]:
            places = {(start, end) for start, end, _ in spans}
            yield from (pin for pin in self._spans[index] if pin.words not in places)
        if not is_present:
            yield from (pin for pin in self._of_value.get(index, ()) if pin.field in self.present)

    def broken(self, reading: Reading, read: Read) -> set[Pin]:
        """The pins that a reading breaks, but for what they say about labels of no field."""
        found: set[Pin] = set()
        for i, spans in enumerate(reading):
            values = [read(i, start, end) for start, end, _ in spans]
            for (start, end, _), some in zip(spans, values, strict=True):
                found.update(self.broken_by(i, start, end, some))
            found.update(self.unmet(i, spans, is_present=any(values)))
        return found

    def are_met(self, reading: Reading, read: Read) -> bool:
        """Whether no pin is unmet by a reading; see ``unmet``."""
        return not any(
            pin
            for i, spans in enumerate(reading)
            for pin in self.unmet(
                i, spans, is_present=any(read(i, start, end) for start, end, _ in spans)
            )
        )

    def about_labels(self) -> Iterator[Pin]:
        """The pins that say which labels words may have."""
        return (pin for pin in self.pins if pin.subject == "labels")
