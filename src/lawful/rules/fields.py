"""The fields of one document: the possible values of their spans, and what is wrong with them.

A fault is what a field asks for by itself, whatever rules say: that its texts can be read, have the
form and length asked for, that it is there, and that repeated values agree.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from math import inf
from typing import Any, Literal, NamedTuple, TypeAlias

from lawful.document import Document
from lawful.rules.definitions import Rules
from lawful.rules.reading import Spans
from lawful.values import format_value, read

What: TypeAlias = Literal["reads", "max_words", "pattern", "required", "kept", "agrees"]


class Fault(NamedTuple):
    """Something that a field asks for and does not have, and what it costs."""

    what: What
    spans: Spans
    weight: float


class DocumentFields:
    """Reads texts of one document as values of fields; each text once."""

    def __init__(self, document: Document, rules: Rules) -> None:
        self.document = document
        self.rules = rules
        self._types = [f.type for f in rules.fields]
        self._values: dict[tuple[str, int, int], tuple[Any, ...]] = {}
        self._faults: dict[tuple[int, int, int], tuple[What, ...]] = {}

    def values(self, index: int, start: int, end: int) -> tuple[Any, ...]:
        """The possible values of a span as a field's type, the most plausible first."""
        type_ = self._types[index]
        key = (type_, start, end)
        values = self._values.get(key)
        if values is None:
            values = self._values[key] = read(self.document.text(start, end), type_)
        return values

    def chosen(self, index: int, spans: Spans) -> list[Any]:
        """The values of the spans that can be read, as chosen."""
        return [
            values[choice]
            for start, end, choice in spans
            if (values := self.values(index, start, end))
        ]

    def is_present(self, index: int, spans: Spans) -> bool:
        """Whether a field is really there: with one text at least that its type can read."""
        return any(self.values(index, start, end) for start, end, _ in spans)

    def options(self, index: int, spans: Spans) -> list[Any]:
        """The values that rules may take for a field: several only under ``repeat: any``."""
        f = self.rules.fields[index]
        values = self.chosen(index, spans)
        if f.many:
            # One that cannot be read makes a sum over all of them unknown.
            return [tuple(values) if values and len(values) == len(spans) else None]
        if not spans:
            return [f.default]
        if f.repeat == "any" and values:
            return list(dict.fromkeys(values))
        return [values[0] if values else None]

    def faults(self, index: int, spans: Spans, kept: Container[str]) -> list[Fault]:
        """Everything that is wrong with a field; ``kept`` are the fields that may not vanish."""
        f, weight = self.rules.fields[index], self.rules.defaults.weight
        found = [
            Fault(what, (span,), weight)
            for span in spans
            for what in self.faults_of_span(index, span.start, span.end)
        ]
        if not self.is_present(index, spans):
            if f.presence == "required":
                found.append(Fault("required", spans, weight))
            elif f.name in kept:
                # Hard, so that no rule is ever "satisfied" by taking away what it reads.
                found.append(Fault("kept", spans, inf))
        one = len(spans) < 2 or f.many or f.repeat != "agree"
        if not one and len(dict.fromkeys(self.chosen(index, spans))) > 1:
            found.append(Fault("agrees", spans, weight))
        return found

    def faults_of_span(self, index: int, start: int, end: int) -> tuple[What, ...]:
        """Everything that is wrong with one span by itself."""
        key = (index, start, end)
        faults = self._faults.get(key)
        if faults is None:
            faults = self._faults[key] = tuple(self._find_faults(index, start, end))
        return faults

    def _find_faults(self, index: int, start: int, end: int) -> Iterator[What]:
        f = self.rules.fields[index]
        if not self.values(index, start, end):
            yield "reads"
        if f.max_words is not None and end - start > f.max_words:
            yield "max_words"
        if f.pattern is not None and not re.fullmatch(f.pattern, self.document.text(start, end)):
            yield "pattern"

    def complaint(self, index: int, fault: Fault) -> str:
        """A fault in words."""
        f = self.rules.fields[index]
        if fault.what == "required":
            return f"{f.name} is missing"
        if fault.what == "kept":
            return f"{f.name} was there and may not vanish"
        if fault.what == "agrees":
            distinct = dict.fromkeys(self.chosen(index, fault.spans))
            return f"{f.name} is {' and '.join(map(format_value, distinct))}"
        text = self.document.text(fault.spans[0].start, fault.spans[0].end)
        reasons = {
            "reads": f", which is no {f.type}",
            "max_words": f": more than {f.max_words} words",
            "pattern": f", which does not match {f.pattern!r}",
        }
        return f"{f.name} is {text!r}{reasons[fault.what]}"
