"""The fields of one document: the possible values of their spans, and their faults.

A fault is a violated condition of a field itself, independent of other fields: its texts must be
readable, match the pattern and the length, begin and contain what they may, the field must be
present, and repeated values must agree.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import inf
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from lawful.base.cache import Cache, size_of_texts
from lawful.base.errors import RuleFailure
from lawful.documents.document import Document
from lawful.documents.pins import Pin
from lawful.rules.definitions import Condition, Field
from lawful.rules.judging.misread_values import MisreadValues, price_of_choice
from lawful.rules.judging.pinned import Pinned
from lawful.rules.judging.places import Places
from lawful.rules.judging.reading import Occurrence, Spans
from lawful.rules.judging.rows import KeptPlace
from lawful.rules.judging.unreadable import UnreadableSpans
from lawful.rules.language.patterns import compiled
from lawful.rules.rule_set import Rules, ValueKey
from lawful.rules.span_rules import WordRule
from lawful.values import format_value, identity, read_in
from lawful.values.money import Printed

MAX_BYTES = 2**25
"""Bytes in each cache of a document: of values, faults, costs and views."""

BYTES_PER_FAULT = 200


class Fault(NamedTuple):
    """A violated condition of a field, and its weight."""

    condition: Condition
    spans: Spans
    weight: float
    word: int | None = None  # the one that may not be in this field
    only: tuple[str, ...] = ()  # the fields that it may be in
    pin: Pin | None = None  # that is broken
    row: tuple[str, int] | None = None  # the kind and the number of the row that it is about


class Kept(NamedTuple):
    """What may not vanish, so that no rule is satisfied by deleting what it reads."""

    fields: frozenset[str] = frozenset()  # those that must be present
    places: Mapping[str, tuple[KeptPlace, ...]] = {}  # by field, where its values must begin

    def only(self, names: frozenset[str]) -> Kept:
        """The part that is about these fields."""
        places = {name: places for name, places in self.places.items() if name in names}
        return Kept(self.fields & names, places)

    @property
    def names(self) -> frozenset[str]:
        """All fields that it is about."""
        return self.fields.union(self.places)


class FieldView(NamedTuple):
    """The part of a reading that concerns one field."""

    options: list[Any]  # its values; several only under ``repeat: any``
    occurs: int  # number of spans
    faults: list[Fault]  # conditions that the field itself violates

    @property
    def penalty(self) -> float:
        """The weights of its faults."""
        return sum(fault.weight for fault in self.faults)


class DocumentFields:
    """Values and faults of one document's fields, cached."""

    def __init__(self, document: Document, rules: Rules, hard: float = inf) -> None:
        """``hard`` is the weight of pins and of fields that must be kept."""
        self.document = document
        self.rules = rules
        self.hard = hard
        self.pinned = Pinned(document, rules) if document.pins else None
        self._values: dict[ValueKey, Cache[tuple[int, int], tuple[Any, ...]]] = {}
        self._values_of = self._caches()
        self._faults: Cache[tuple[int, int, int], tuple[Fault, ...]] = Cache(MAX_BYTES)
        self.unreadable = UnreadableSpans(document, [f.type for f in rules.fields])
        """The spans that are known to be unreadable, or not to be; filled by searches."""

    def share_values(self, other: DocumentFields) -> None:
        """Uses what other rules have read of the same document: values do not depend on rules."""
        self._values = other._values
        self._values_of = self._caches()
        self.unreadable = other.unreadable

    def _caches(self) -> list[Cache[tuple[int, int], tuple[Any, ...]]]:
        """By field, the values of spans; fields of the same type share them."""
        known = self._values
        for key in self.rules.value_keys:
            if key not in known:
                known[key] = Cache(MAX_BYTES)
        return [known[key] for key in self.rules.value_keys]

    def values(self, index: int, start: int, end: int) -> tuple[Any, ...]:
        """The possible values of a span as a field's type, the most plausible first."""
        values = self._values_of[index].get((start, end))
        if values is None:
            values = self._read(index, start, end)
        return values if self.pinned is None else self.pinned.choose(index, values)

    def _read(self, index: int, start: int, end: int) -> tuple[Any, ...]:
        type_, printed, limit = self.rules.value_keys[index]

        def read_text(text: str) -> tuple[Any, ...]:
            values: tuple[Any, ...] = read_in(self.document.words, text, type_)
            return Printed.of(values, text, type_) if printed else values

        found = read_text(self.document.text(start, end))
        if found and limit and (misreads := self.document.misread(start, end)):
            found = MisreadValues.of(found, misreads, limit, read_text)
        size = size_of_texts(found) if self.rules.of_texts[index] else 0
        return self._values_of[index].keep((start, end), found, size)

    def price(self, index: int, start: int, end: int, choice: int) -> float:
        """The price of a choice among the values of a span; infinite if it never happens."""
        ambiguity = self.rules.fields[index].ambiguity or 0.0
        return price_of_choice(self.values(index, start, end), choice, ambiguity) if choice else 0.0

    def chosen(self, index: int, spans: Spans) -> list[Any]:
        """The chosen values of the spans that are readable."""
        return [
            values[choice]
            for start, end, choice in spans
            if (values := self.values(index, start, end))
        ]

    def is_present(self, index: int, spans: Spans) -> bool:
        """Whether a field is present: at least one of its spans is readable as its type."""
        for start, end, _ in spans:  # noqa: SIM110 - a generator takes twice as long
            if self.values(index, start, end):
                return True
        return False

    def view(self, index: int, spans: Spans, kept: Kept) -> FieldView:
        """What rules see of a field; ``kept`` is what must stay present."""
        f = self.rules.fields[index]
        chosen = self.chosen(index, spans)
        faults: list[Fault] = []
        if spans and (len(chosen) < len(spans) or self.only_if_unreadable(index) is None):
            for start, end, _ in spans:
                faults += self.faults_of_span(index, start, end)
        if not chosen:
            faults += _required(f, spans, self.rules)
            if f.name in kept.fields:
                # Hard, so that no rule is avoided by removing a field that it reads.
                faults.append(Fault("kept", spans, self.hard))
        elif len(chosen) > 1 and not f.many and f.repeat == "agree" and len(set(chosen)) > 1:
            faults.append(Fault("agrees", spans, self.rules.weight_of(f, "agrees")))
        if places := kept.places.get(f.name):
            faults += self._empty(index, spans, places)
        if self.pinned is not None:
            unmet = self.pinned.unmet(index, spans, is_present=bool(chosen))
            faults += (Fault("pinned", spans, self.hard, pin=pin) for pin in unmet)
        return FieldView(_options(f, spans, chosen), len(spans), faults)

    def _empty(self, index: int, spans: Spans, places: Sequence[KeptPlace]) -> Iterator[Fault]:
        """The faults of places in which no readable value begins."""
        starts = [start for start, end, _ in spans if self.values(index, start, end)]
        for place in places:
            at = bisect_left(starts, place.start)
            if at == len(starts) or starts[at] >= place.end:
                yield Fault("kept", spans, self.hard, row=(place.kind, place.row))

    def faults_of_span(self, index: int, start: int, end: int) -> tuple[Fault, ...]:
        """The faults of one span by itself."""
        if self.only_if_unreadable(index) is not None and self.values(index, start, end):
            return ()
        key = (index, start, end)
        faults = self._faults.get(key)
        if faults is None:
            spans = (Occurrence(start, end),)
            f, weight_of = self.rules.fields[index], self.rules.weight_of
            found = [
                Fault(condition, spans, weight_of(f, condition))
                for condition in self._violated(index, start, end)
            ]
            if self.rules.words:
                found += self._faults_of_words(f, spans)
            if (at := self.rules.boundaries) is not None and start in self._no_boundaries:
                found.append(Fault("boundary", spans, weight_of(f, "boundary", at.weight)))
            if self.pinned is not None:
                broken = self.pinned.broken_by(index, start, end, self.values(index, start, end))
                found += (Fault("pinned", spans, self.hard, pin=pin) for pin in broken)
            faults = self._faults.keep(key, tuple(found), BYTES_PER_FAULT * len(found))
        return faults

    def only_if_unreadable(self, index: int) -> float | None:
        """What an unreadable span costs, if spans of the field have no other faults."""
        return None if self.pinned is not None else self.rules.only_if_unreadable[index]

    def first_that_fits(self, fields: Sequence[int], start: int, end: int) -> int:
        """The first of these fields whose own conditions a span meets, or else the last.

        With pins, it is one that is pinned to its value, or else one whose pins it does not break,
        if there are such fields.
        """
        if (pins := self.pinned) is not None:
            values = {i: self.values(i, start, end) for i in fields}
            agree = [i for i in fields if not any(pins.broken_by(i, start, end, values[i]))]
            meant = [i for i in agree if pins.is_meant(i, values[i])]
            fields = meant or agree or fields
        return next((i for i in fields if not any(self._violated(i, start, end))), fields[-1])

    def _faults_of_words(self, f: Field, spans: Spans) -> Iterator[Fault]:
        for word in range(spans[0].start, spans[0].end):
            for rule in self._rules_of_words.get(word, ()):
                if f.name not in rule.only:
                    weight = self.rules.weight_of(f, "words", rule.weight)
                    yield Fault("words", spans, weight, word, rule.only)

    @cached_property
    def _places(self) -> Places:
        return Places(self.document)

    @cached_property
    def _rules_of_words(self) -> dict[int, list[WordRule]]:
        """By word, the rules that are about it."""
        found: dict[int, list[WordRule]] = {}
        for i, word in enumerate(self.document.words):
            try:
                rules = [rule for rule in self.rules.words if rule.applies_to(word)]
            except RuleFailure as error:
                raise self._failure(f"word {i}", error) from None
            if rules:
                found[i] = rules
        return found

    @cached_property
    def _no_boundaries(self) -> frozenset[int]:
        """The words at which no span should begin."""
        boundaries = self.rules.boundaries
        if boundaries is None:
            return frozenset()
        found = set[int]()
        for i, word in enumerate(self.document.words[:-1]):
            try:
                if not boundaries.allow_after(word):
                    found.add(i + 1)
            except RuleFailure as error:
                raise self._failure(f"word {i}", error) from None
        return frozenset(found)

    def _violated(self, index: int, start: int, end: int) -> Iterator[Condition]:
        """The conditions of the field that a span violates."""
        f, words = self.rules.fields[index], self.document.words
        if not self.values(index, start, end):
            yield "reads"
        if f.max_words is not None and end - start > f.max_words:
            yield "max_words"
        if f.where is not None and self._places.holds(f.where, start, end) is False:
            yield "where"
        if f.pattern is f.starts is f.ends is None and f.lexicon is None:
            return
        try:
            text = self.document.text(start, end)
            if f.pattern is not None and not compiled(f.pattern).matches(text):
                yield "pattern"
            if f.starts is not None and not compiled(f.starts).occurs_in(words[start]):
                yield "starts"
            if f.ends is not None and not compiled(f.ends).occurs_in(words[end - 1]):
                yield "ends"
            if f.lexicon is not None and text not in f.lexicon:
                yield "in"
        except RuleFailure as error:
            raise self._failure(f"field {f.name!r}", error) from None

    def _failure(self, what: str, error: RuleFailure) -> RuleFailure:
        """The error of a pattern that is too slow, with the document and the part of it."""
        return RuleFailure(f"document {self.document.id!r}, {what}: {error}")

    def complaint(self, index: int, fault: Fault) -> str:
        """The message of a fault."""
        f = self.rules.fields[index]
        if fault.pin is not None:
            texts = (f"{self.document.text(a, b)!r} (words {a}:{b})" for a, b, _ in fault.spans)
            return f"{f.name} is {', '.join(texts) or 'missing'}"
        if fault.condition in ("required", "kept"):
            but = ", but the best legal labelling has it" * (fault.condition == "kept")
            where = "" if fault.row is None else f"{fault.row[0]} {fault.row[1]}: "
            return f"{where}{f.name} is missing{but}"
        if fault.condition == "agrees":
            distinct = dict.fromkeys(self.chosen(index, fault.spans))
            return f"{f.name} is {' and '.join(map(format_value, distinct))}"
        (start, end, _), words = fault.spans[0], self.document.words
        text = self.document.text(start, end)
        if fault.condition == "boundary" and self.rules.boundaries is not None:
            before, after = words[start - 1], self.rules.boundaries.after
            return f"{f.name} {text!r} begins after {before!r}, which does not match {after!r}"
        if fault.word is not None:
            only = f"may be in {', '.join(fault.only)} only" if fault.only else "is in no field"
            return f"{f.name} is {text!r}, but {words[fault.word]!r} {only}"
        lexicon = "" if f.lexicon is None else f.lexicon.name
        reasons = {
            "reads": f", which is no {f.type}",
            "max_words": f": more than {f.max_words} word{'s' * (f.max_words != 1)}",
            "pattern": f", which does not match {f.pattern!r}",
            "starts": f": {words[start]!r} at its beginning does not match {f.starts!r}",
            "ends": f": {words[end - 1]!r} at its end does not match {f.ends!r}",
            "in": f", which is not in {lexicon}",
            "where": f", which is not where {f.where}",
        }
        return f"{f.name} is {text!r}{reasons[fault.condition]}"


_ABSENT: WeakKeyDictionary[Rules, tuple[FieldView, ...]] = WeakKeyDictionary()


def views_of_absent(rules: Rules) -> tuple[FieldView, ...]:
    """By field, what rules see if it has no spans, and neither pins nor labels ask for any."""
    views = _ABSENT.get(rules)
    if views is None:
        views = _ABSENT[rules] = tuple(
            FieldView(_options(f, (), []), 0, _required(f, (), rules)) for f in rules.fields
        )
    return views


def _required(f: Field, spans: Spans, rules: Rules) -> list[Fault]:
    """The fault of a field that is required, and has no value that can be read."""
    needed = f.presence == "required"
    return [Fault("required", spans, rules.weight_of(f, "required"))] if needed else []


def _options(f: Field, spans: Spans, chosen: list[Any]) -> list[Any]:
    """The values of a field that rules may use: several only under ``repeat: any``."""
    if f.many:
        # An unreadable item makes any sum over the list unknown.
        return [tuple(chosen) if chosen and len(chosen) == len(spans) else None]
    if not spans:
        return [f.default]
    if f.repeat == "any" and len(chosen) > 1:
        return list({identity(value): value for value in chosen}.values())
    return [chosen[0] if chosen else None]
