"""The judge of one document: finds the fields of a labelling, and checks the rules.

A decoder has thousands of labellings judged, most of which differ in words that no rule reads. So
costs are cached by the spans of fields, and values by the words of their spans. Each cache is
bounded in bytes: a long document has labellings of thousands of spans.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from itertools import count
from math import inf
from operator import attrgetter
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lawful.cache import Cache, size_of_texts
from lawful.document import Box, Document
from lawful.labels import Scheme
from lawful.rules.checks import (
    Check,
    Outcome,
    check_of,
    check_of_vacuous_rows,
    outcome_of,
    outcome_of_any,
    price_of,
)
from lawful.rules.classes import ClassChoice, class_choices
from lawful.rules.fields import BYTES_PER_FAULT, MOST_BYTES, DocumentFields, Fault, FieldView
from lawful.rules.given import given_values
from lawful.rules.nodes import COUNT, PLACE, ROWS, Environment
from lawful.rules.pinned import Pinned
from lawful.rules.places import Place, Places
from lawful.rules.plan import Plan, plan_of
from lawful.rules.reading import Cost, Occurrence, Occurrences, Reading, Spans
from lawful.rules.rows import PREVIOUS, Row, RowKind, RowNumbers, rows_of, table_numbers
from lawful.rules.rule_set import ParsedRule, Rules
from lawful.rules.settle import Settler
from lawful.rules.unreadable import UnreadableSpans
from lawful.values import identity, unprinted

Labels: TypeAlias = NDArray[np.integer[Any]]  # (words,): label indices


BYTES_PER_SPAN = 100
BYTES_PER_RULE = 1000


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

    def __reduce__(self) -> tuple[Any, ...]:
        return FieldValue, _PARTS_OF_VALUES(self)


_PARTS_OF_VALUES = attrgetter(*FieldValue.__match_args__)


class Seen(NamedTuple):
    """The values of a reading, as rules see them."""

    page: Environment
    rows: Mapping[str, list[Environment]]  # by kind, of each row, with the values of the page


class _Judged(NamedTuple):
    """The outcomes of all rules on one reading, and the values that show each of them."""

    outcomes: list[list[tuple[Outcome, Environment]]]  # by rule; several only on rows
    penalty: float  # of conditions that fields themselves violate, and of orders


class Judge:
    """Reads and checks labellings of one document, which is of its most probable class."""

    def __init__(self, document: Document, rules: Rules, scheme: Scheme) -> None:
        self.document = document
        self.rules = rules
        self.scheme = scheme
        self._fields = DocumentFields(document, rules)
        self.values = self._fields.values
        """The possible values of a span, by field, start and end, the most plausible first."""
        self.occurrences = Occurrences()
        self._labels = tuple(rules.field_of_label)
        self._index = tuple(rules.field_of_label.values())
        self.relevant = scheme.numbers_of(self._labels)
        """By label, a number above 0 if it is of a field; labellings that have the same numbers
        have the same reading."""
        self._costs: Cache[bytes, Cost] = Cache(MOST_BYTES)
        self._views: Cache[tuple[int, Spans], FieldView] = Cache(MOST_BYTES)
        self._readings: Cache[bytes, Reading] = Cache(MOST_BYTES)
        self._weighed: Cache[Reading, Cost] = Cache(MOST_BYTES)
        self._judged: Cache[Reading, _Judged] = Cache(MOST_BYTES)
        self.choices = class_choices(document, rules.classes)
        self.choice = self.choices[0]
        self.given: Environment = {
            **given_values(document, rules.given),
            **self.choice.values,
        }
        self._names = rules.names
        self._field_index = rules.field_index
        self.row_numbers = RowNumbers.of(document) if rules.rows else None
        self._placed = rules.placed
        self._places = Places(document) if self._placed else None
        self._kept: frozenset[str] = frozenset()
        self.ignored: frozenset[int] = frozenset()
        pinned = self._fields.pinned
        self._pinned = frozenset() if pinned is None else pinned.present
        self._settler: Settler | None = None
        self._choices: Cache[Any, tuple[Outcome, Environment]] = Cache(MOST_BYTES)

    def of_class(self, choice: ClassChoice) -> Judge:
        """A judge of the same document as one of another class."""
        other = copy(self)
        other.choice = choice
        other.given = {**self.given, **choice.values}
        other._costs = Cache(MOST_BYTES)
        other._weighed = Cache(MOST_BYTES)
        other._judged = Cache(MOST_BYTES)
        other._choices = Cache(MOST_BYTES)
        other._settler = None
        return other

    def keep(self, labels: Labels) -> None:
        """Keeps the ``presence: keep`` fields of this labelling, the best legal one."""
        self.keep_fields(
            f.name
            for i, (f, spans) in enumerate(zip(self.rules.fields, self.read(labels), strict=True))
            if f.presence == "keep" and self._fields.is_present(i, spans)
        )

    def keep_fields(self, names: Iterable[str]) -> None:
        """Sets the fields that may not be missing."""
        self._kept = frozenset(names)
        self._costs.clear()
        self._views.clear()
        self._weighed.clear()
        self._judged.clear()

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
    def kept(self) -> frozenset[str]:
        """The fields that may not be missing."""
        return self._kept

    @property
    def pinned(self) -> Pinned | None:
        """What pins demand of the fields; none if the document has no pins."""
        return self._fields.pinned

    def plan(self, *, whole: bool = False) -> Plan:
        """The plan of the rules for this document; see ``plan_of``."""
        return plan_of(self.rules, whole=whole, present=self._pinned)

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
        return index if sharing is None else self._fields.first_that_fits(sharing, start, end)

    def tells_apart(self, one: Labels, other: Labels) -> bool:
        """Whether two labellings differ in a word that belongs to a field in one of them."""
        return self.relevant[one].tobytes() != self.relevant[other].tobytes()

    def settle(self, reading: Reading, until: float = inf) -> tuple[Reading, Cost]:
        """The same spans with the choice of values that costs the least, and the cost.

        The cost is the reading's penalty. Of choices with the same cost, the most plausible is
        taken. If the time (``until``, by ``perf_counter``) is up first, the best choice so far is
        returned, and the cost is a range.
        """
        cost = self.weigh(reading, until)
        if cost.most == 0 or not self._is_ambiguous(reading):
            return reading, cost
        if self._settler is None:
            self._settler = Settler(self)
        return self._settler.settle(reading, cost, until)

    def _is_ambiguous(self, reading: Reading) -> bool:
        return any(
            len(self.values(i, span.start, span.end)) > 1
            for i, (f, spans) in enumerate(zip(self.rules.fields, reading, strict=True))
            if f.ambiguity != inf
            for span in spans
        )

    def weigh(self, reading: Reading, until: float = inf) -> Cost:
        """The cost of a reading with its values as chosen: violated weights and all prices."""
        cost = self._weighed.get(reading)
        if cost is None:
            cost = self._cost_of_rules(reading, until).plus(self.price(reading))
            if cost.least == cost.most:  # else, with more time, the range may be smaller
                size = BYTES_PER_SPAN * sum(map(len, reading))
                self._weighed.keep(reading, cost, size)
        return cost

    def seen_values(self, reading: Reading) -> tuple[Any, ...]:
        """Field values as a person sees them: all of a list, the first of any other field."""
        values = (self._fields.chosen(i, spans) for i, spans in enumerate(reading))
        return tuple(
            tuple(found if f.many else found[:1])
            for f, found in zip(self.rules.fields, values, strict=True)
        )

    def price(self, reading: Reading) -> float:
        """The price of chosen values that are not the most plausible ones."""
        price = 0.0
        for i, spans in enumerate(reading):
            for _, _, choice in spans:
                if choice:
                    price += self.rules.fields[i].ambiguity or 0.0
        return price

    def costs(self, rows: NDArray[np.integer[Any]], until: float = inf) -> Iterator[Cost]:
        """The cost of each labelling under its best reading.

        Costs are cached; labellings that differ only in labels that no rule reads share an entry.
        """
        codes = np.ascontiguousarray(self.relevant[rows])
        if not codes.shape[1]:
            yield from (self.cost(row, until) for row in rows)
            return
        keys = codes.view(np.dtype((np.void, codes.itemsize * codes.shape[1])))
        for key, row in zip(keys[:, 0].tolist(), rows, strict=True):
            cost = self._costs.get(key)
            if cost is None:
                cost = self._costs.keep(key, self.cost(row, until), len(key))
            yield cost

    def settled(self, labels: Labels, until: float = inf) -> tuple[Reading, Cost]:
        """The best reading of a labelling, and its cost; see ``settle``."""
        return self.settle(self.read(labels), until)

    def cost(self, labels: Labels, until: float = inf) -> Cost:
        """The cost of a labelling under its best reading."""
        return self.settled(labels, until)[1]

    def _cost_of_rules(self, reading: Reading, until: float) -> Cost:
        outcomes, penalty = self._judge_rules(reading, until)
        least = most = penalty
        for rule, judged in zip(self.rules.parsed, outcomes, strict=True):
            for outcome, _ in judged:
                if outcome != "satisfied":
                    price = price_of(rule, outcome)
                    most += price
                    least += 0.0 if outcome == "undecided" else price
        return Cost(most, least)

    def _judge_rules(self, reading: Reading, until: float) -> _Judged:
        """All rules on a reading; cached, since its cost, its checks and reasons need them."""
        judged = self._judged.get(reading)
        if judged is not None:
            return judged
        views = self._see_all(reading)
        penalty = self._price_of_orders(reading)
        for view in views.values():
            if view.faults:
                penalty += view.penalty
        environment, rows = self._see_rows(reading, self._see_page(views, reading))
        outcomes = [
            [
                self._judge_rule(rule, views, each, until)
                for each in ([environment] if rule.each is None else rows[rule.each.name])
            ]
            for rule in self.rules.parsed
        ]
        judged = _Judged(outcomes, penalty)
        if not any(outcome == "undecided" for each in outcomes for outcome, _ in each):
            held = sum(map(len, outcomes)) + sum(map(len, rows.values()))
            size = BYTES_PER_SPAN * sum(map(len, reading)) + BYTES_PER_RULE * (1 + held)
            self._judged.keep(reading, judged, size)
        return judged

    def _price_of_orders(self, reading: Reading) -> float:
        if not self.rules.orders:
            return 0.0
        spans = dict(zip(self._names, reading, strict=True))
        return sum(order.weight or 0.0 for order in self.rules.orders for _ in order.late(spans))

    def _checks_of_orders(self, reading: Reading) -> Iterator[Check]:
        """One check per span that is out of order; else, one for the order."""
        if not self.rules.orders:
            return
        spans = dict(zip(self._names, reading, strict=True))
        for order in self.rules.orders:
            id_, weight = order.id or "", order.weight or 0.0
            late = order.late(spans)
            for name, (start, end, _), after, (first, last, _) in late:
                one, other = self.document.text(start, end), self.document.text(first, last)
                message = f"{name} {one!r} comes after {after} {other!r}"
                yield Check(id_, "violated", message, weight, price=weight)
            here = [name for name in order.fields if spans[name]]
            if not late and len(here) > 1:
                yield Check(id_, "satisfied", " before ".join(here), weight)
            elif not late:
                which = f"{here[0]} alone" if here else "none of the fields"
                yield Check(id_, "vacuous", f"not checked: {which} occurs", weight)

    def rows(self, kind: RowKind, reading: Reading) -> list[Row]:
        """The rows of a reading, in the order of words."""
        return rows_of(kind, self._field_index, reading, self.row_numbers)

    def _table_numbers(self, kind: RowKind, rows: list[Row]) -> list[int]:
        """By row, its number in tables and messages, from 1."""
        document = self.document
        if kind.starts is not None or document.rows is not None or document.boxes is None:
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
        for row in self.rows(kind, reading):
            values: dict[str, Any] = {}
            for name in kind.fields:
                i = self._field_index[name]
                spans = row.spans.get(i, ())
                values[name] = next(iter(self._fields.chosen(i, spans)), None)
                values[COUNT + name] = len(spans)
                if name in self._placed:
                    values[PLACE + name] = self._place(i, spans)
            found.append(values)
        return found

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

    def _place(self, index: int, spans: Spans) -> Place | None:
        if self._places is None:
            return None
        readable = (span for span in spans if self.values(index, span.start, span.end))
        return self._places.of(spans, next(readable, None))

    def _see(self, index: int, spans: Spans) -> FieldView:
        """The view of one field; cached, since many labellings have the same spans of it."""
        key = (index, spans)
        view = self._views.get(key)
        if view is None:
            view = self._fields.view(index, spans, self._kept)
            size = BYTES_PER_SPAN * len(spans) + BYTES_PER_FAULT * len(view.faults)
            if self.rules.of_texts[index]:
                size += size_of_texts(_flat(view.options))
            self._views.keep(key, view, size)
        return view

    def checks(self, reading: Reading, until: float = inf) -> list[Check]:
        """The checks of all rules, and the violated checks that fields imply."""
        found: list[Check] = []
        for rule, judged in zip(
            self.rules.parsed, self._judge_rules(reading, until).outcomes, strict=True
        ):
            if rule.each is None:
                found += (check_of(rule, outcome, values) for outcome, values in judged)
                continue
            outcomes = [outcome for outcome, _ in judged]
            numbers = self._table_numbers(rule.each, self.rows(rule.each, reading))
            found += [
                check_of(rule, outcome, row, number)
                for (outcome, row), number in zip(judged, numbers, strict=True)
                if outcome not in ("missing", "idle")
            ]
            missing = outcomes.count("missing")
            if missing or not {"satisfied", "violated", "undecided"} & set(outcomes):
                found.append(check_of_vacuous_rows(rule, missing, len(outcomes)))
        found += self._checks_of_orders(reading)
        for i, id_, fault in self._faults_of(reading):
            complaint, weight = self._fields.complaint(i, fault), fault.weight
            found.append(Check(id_, "violated", complaint, weight, price=weight, implied=True))
        return found

    def violations(self, reading: Reading, until: float = inf) -> Counter[str]:
        """How many of the ``checks`` of each rule or condition are violated."""
        found: Counter[str] = Counter()
        for rule, judged in zip(
            self.rules.parsed, self._judge_rules(reading, until).outcomes, strict=True
        ):
            if violated := sum(outcome == "violated" for outcome, _ in judged):
                found[rule.id] += violated
        for check in self._checks_of_orders(reading):
            if check.state == "violated":
                found[check.id] += 1
        for _, id_, _ in self._faults_of(reading):
            found[id_] += 1
        return found

    def broken(self, reading: Reading, until: float = inf) -> tuple[set[str], set[str]]:
        """The ids of rules that are violated or not decided, and of what fields violate."""
        judged = zip(self.rules.parsed, self._judge_rules(reading, until).outcomes, strict=True)
        rules = {
            rule.id
            for rule, outcomes in judged
            if any(outcome in ("violated", "undecided") for outcome, _ in outcomes)
        }
        orders = self._checks_of_orders(reading)
        rules.update(check.id for check in orders if check.state == "violated")
        return rules, {id_ for _, id_, _ in self._faults_of(reading)}

    def _faults_of(self, reading: Reading) -> Iterator[tuple[int, str, Fault]]:
        """The faults of all fields: the field, the id of its check, and the fault.

        A broken pin comes once, however many spans break it.
        """
        said: set[str] = set()
        for i, spans in enumerate(reading):
            for fault in self._see(i, spans).faults:
                id_ = f"{self._names[i]}:{fault.condition}"
                if fault.pin is not None:
                    id_ = fault.pin.id
                    if id_ in said:
                        continue
                    said.add(id_)
                yield i, id_, fault

    def fields(self, reading: Reading) -> dict[str, list[FieldValue]]:
        """The texts, values and places of each field; missing fields are left out."""
        found: dict[str, list[FieldValue]] = {}
        row_of: dict[tuple[int, int], int] = {}
        for kind in self.rules.rows:
            rows = self.rows(kind, reading)
            for number, row in zip(self._table_numbers(kind, rows), rows, strict=True):
                row_of |= {
                    (i, span.start): number for i, spans in row.spans.items() for span in spans
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
                    )
                )
        return found

    def share_values(self, other: Judge) -> None:
        """Uses what another judge of the same document has read, under any rules."""
        self._fields.share_values(other._fields)

    @property
    def unreadable(self) -> UnreadableSpans:
        """The spans that are known to be unreadable, or not to be."""
        return self._fields.unreadable

    # For searches: the penalties of a single span, and of a field without spans.

    def faults(self, index: int, start: int, end: int) -> float:
        """The weights of conditions that a span violates by itself."""
        return sum((each.weight for each in self._fields.faults_of_span(index, start, end)), 0.0)

    def only_if_unreadable(self, index: int) -> float | None:
        """What an unreadable span costs, if spans have no other faults; else ``None``."""
        return self._fields.only_if_unreadable(index)

    def missing(self, index: int) -> float:
        """The weights of conditions that are violated if the field is missing."""
        f = self.rules.fields[index]
        if f.presence == "required":
            return inf if f.name in self._pinned else self.rules.weight_of(f, "required")
        return inf if f.name in self._kept or f.name in self._pinned else 0.0

    def _judge_rule(
        self,
        rule: ParsedRule,
        views: dict[str, FieldView],
        environment: Environment,
        until: float,
    ) -> tuple[Outcome, Environment]:
        """The outcome of a rule on a page or on one of its rows, and the values that show it.

        Fields of a row have one value there; others may have several.
        """
        name = self.document.id
        outcome = outcome_of(rule, environment, name)
        if outcome == "satisfied":
            return outcome, environment
        names = rule.names if rule.each is None else rule.names.difference(rule.each.fields)
        options = {n: views[n].options for n in names if len(views[n].options) > 1}
        if not options:
            return outcome, environment
        if rule.names & self.rules.in_rows:  # values and counts do not say which rows they are in
            return outcome_of_any(rule, environment, options, name, until)
        key = (
            rule.id,
            *((identity(tuple(views[n].options)), views[n].occurs) for n in sorted(rule.names)),
            *(environment[PLACE + n] for n in sorted(rule.places)),
        )
        known = self._choices.get(key)
        if known is None:
            known = outcome_of_any(rule, environment, options, name, until)
            if known[0] != "undecided" or perf_counter() < until:
                held = _flat(option for n in rule.names for option in views[n].options)
                self._choices.keep(key, known, size_of_texts(held))
        return known


def _flat(options: Iterable[Any]) -> Iterator[Any]:
    """The values of options, where a list is a tuple of values."""
    for option in options:
        yield from option if isinstance(option, tuple) else (option,)


def _of_previous(key: str) -> str:
    """The key, for rules of the next row, of what a row has under this key."""
    mark = key[0] if key[0] in COUNT + PLACE else ""
    return f"{mark}{PREVIOUS}.{key.removeprefix(mark)}"
