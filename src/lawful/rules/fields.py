"""The fields of one document: the possible values of their spans, and their faults.

A fault is a violated condition of a field itself, independent of rules: its texts must be readable,
match the pattern and the length, the field must be present, and repeated values must agree.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any, NamedTuple

from lawful.cache import Cache, size_of_texts
from lawful.document import Document
from lawful.errors import RuleFailure
from lawful.rules.definitions import Condition, Field, Rules
from lawful.rules.patterns import compiled
from lawful.rules.reading import Spans
from lawful.values import format_value, identity, read
from lawful.values.money import Printed, read_currency

MOST_BYTES = 2**25
"""Bytes in each cache of a document: of values, faults, costs and views."""


class Fault(NamedTuple):
    """A violated condition of a field, and its weight."""

    condition: Condition
    spans: Spans
    weight: float


class DocumentFields:
    """Values and faults of one document's fields, cached."""

    def __init__(self, document: Document, rules: Rules) -> None:
        self.document = document
        self.rules = rules
        self._types = [(f.type, f.name in rules.printed) for f in rules.fields]
        self._values: Cache[tuple[str, bool, int, int], tuple[Any, ...]] = Cache(MOST_BYTES)
        self._faults: Cache[tuple[int, int, int], tuple[Condition, ...]] = Cache(MOST_BYTES)

    def values(self, index: int, start: int, end: int) -> tuple[Any, ...]:
        """The possible values of a span as a field's type, the most plausible first."""
        type_, printed = self._types[index]
        key = (type_, printed, start, end)
        values = self._values.get(key)
        if values is None:
            text = self.document.text(start, end)
            found: tuple[Any, ...] = read(text, type_)
            if printed:
                currency = read_currency(text) if type_ == "money" else None
                found = tuple(Printed.of(value, currency) for value in found)
            values = self._values.keep(key, found, size_of_texts(found))
        return values

    def chosen(self, index: int, spans: Spans) -> list[Any]:
        """The chosen values of the spans that are readable."""
        return [
            values[choice]
            for start, end, choice in spans
            if (values := self.values(index, start, end))
        ]

    def is_present(self, index: int, spans: Spans) -> bool:
        """Whether a field is present: at least one of its spans is readable as its type."""
        return any(self.values(index, start, end) for start, end, _ in spans)

    def options(self, index: int, spans: Spans) -> list[Any]:
        """The values of a field that rules may use: several only under ``repeat: any``."""
        f = self.rules.fields[index]
        values = self.chosen(index, spans)
        if f.many:
            # An unreadable item makes any sum over the list unknown.
            return [tuple(values) if values and len(values) == len(spans) else None]
        if not spans:
            return [f.default]
        if f.repeat == "any" and values:
            return list({identity(value): value for value in values}.values())
        return [values[0] if values else None]

    def faults(self, index: int, spans: Spans, kept: Container[str]) -> list[Fault]:
        """All faults of a field; ``kept`` are the fields that must stay present."""
        f, weight_of = self.rules.fields[index], self.rules.weight_of
        found = [
            Fault(condition, (span,), weight_of(f, condition))
            for span in spans
            for condition in self.faults_of_span(index, span.start, span.end)
        ]
        if not self.is_present(index, spans):
            if f.presence == "required":
                found.append(Fault("required", spans, weight_of(f, "required")))
            elif f.name in kept:
                # Hard, so that no rule is avoided by removing a field that it reads.
                found.append(Fault("kept", spans, weight_of(f, "kept")))
        one = len(spans) < 2 or f.many or f.repeat != "agree"
        if not one and len(dict.fromkeys(self.chosen(index, spans))) > 1:
            found.append(Fault("agrees", spans, weight_of(f, "agrees")))
        return found

    def faults_of_span(self, index: int, start: int, end: int) -> tuple[Condition, ...]:
        """The conditions that one span violates by itself."""
        key = (index, start, end)
        faults = self._faults.get(key)
        if faults is None:
            faults = self._faults.keep(key, tuple(self._find_faults(index, start, end)))
        return faults

    def _find_faults(self, index: int, start: int, end: int) -> Iterator[Condition]:
        f = self.rules.fields[index]
        if not self.values(index, start, end):
            yield "reads"
        if f.max_words is not None and end - start > f.max_words:
            yield "max_words"
        if f.pattern is not None and not self._matches(f, self.document.text(start, end)):
            yield "pattern"

    def _matches(self, f: Field, text: str) -> bool:
        assert f.pattern is not None  # noqa: S101 - asked for fields with a pattern only
        try:
            return compiled(f.pattern).matches(text)
        except RuleFailure as error:
            where = f"document {self.document.id!r}, field {f.name!r}"
            raise RuleFailure(f"{where}: {error}") from None

    def complaint(self, index: int, fault: Fault) -> str:
        """The message of a fault."""
        f = self.rules.fields[index]
        if fault.condition == "required":
            return f"{f.name} is missing"
        if fault.condition == "kept":
            return f"{f.name} is missing, but the best legal labelling has it"
        if fault.condition == "agrees":
            distinct = dict.fromkeys(self.chosen(index, fault.spans))
            return f"{f.name} is {' and '.join(map(format_value, distinct))}"
        text = self.document.text(fault.spans[0].start, fault.spans[0].end)
        reasons = {
            "reads": f", which is no {f.type}",
            "max_words": f": more than {f.max_words} word{'s' * (f.max_words != 1)}",
            "pattern": f", which does not match {f.pattern!r}",
        }
        return f"{f.name} is {text!r}{reasons[fault.condition]}"
