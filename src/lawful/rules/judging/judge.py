"""The judge of one document: what rules cost, and which of them hold.

A decoder has thousands of labellings judged, most of which differ in words that no rule reads. So
costs are cached by the spans of fields.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from copy import copy
from functools import cached_property
from math import inf
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lawful.base.cache import Cache, size_of_texts
from lawful.documents.document import Document
from lawful.documents.labels import Scheme
from lawful.rules.classes import ClassChoice
from lawful.rules.compiled.plan import Plan, plan_of
from lawful.rules.judging.ambiguity import Settler
from lawful.rules.judging.checks import (
    Check,
    Outcome,
    check_of,
    check_of_vacuous_rows,
    outcome_of,
    outcome_of_any,
    price_of,
)
from lawful.rules.judging.field_reader import BYTES_PER_SPAN, FieldReader, Labels, flat
from lawful.rules.judging.fields import MAX_BYTES, Fault, FieldView, Kept
from lawful.rules.judging.reading import Cost, Reading
from lawful.rules.language.nodes import PLACE, Environment
from lawful.rules.parsed_rule import ParsedRule
from lawful.rules.rule_set import LARGE, Rules
from lawful.values import identity

BYTES_PER_RULE = 1000


class _Judged(NamedTuple):
    """The outcomes of all rules on one reading, and the values that show each of them."""

    outcomes: list[list[tuple[Outcome, Environment]]]  # by rule; several only on rows
    penalty: float  # of conditions that fields themselves violate, and of orders


class Judge(FieldReader):
    """Checks the labellings of one document, which is of its most probable class."""

    def __init__(self, document: Document, rules: Rules, scheme: Scheme, hard: float = inf) -> None:
        super().__init__(document, rules, scheme, hard)
        self._forget_costs()

    def _forget_costs(self) -> None:
        self._costs: Cache[bytes, Cost] = Cache(MAX_BYTES)
        self._weighed: Cache[Reading, Cost] = Cache(MAX_BYTES)
        self._judged: Cache[Reading, _Judged] = Cache(MAX_BYTES)
        self._choices: Cache[Any, tuple[Outcome, Environment]] = Cache(MAX_BYTES)
        self._settler: Settler | None = None

    def keep_only(self, kept: Kept) -> None:
        super().keep_only(kept)
        self._costs.clear()
        self._weighed.clear()
        self._judged.clear()

    def of_class(self, choice: ClassChoice) -> Judge:
        """A judge of the same document as one of another class."""
        other = copy(self)
        other.choice = choice
        other.given = {**self.given, **choice.values}
        other._forget_costs()
        other.__dict__.pop("softened", None)
        return other

    @cached_property
    def softened(self) -> Judge:
        """A judge for which nothing is hard, so that it chooses values by all other weights, too.

        Where something hard is violated whatever the values are, all choices cost the same.
        """
        other = Judge(self.document, self.rules.softened, self.scheme, LARGE).of_class(self.choice)
        other.share_values(self)
        other.share_labels_like(self)
        other.keep_only(self._kept)
        return other

    def plan(self, *, whole: bool = False) -> Plan:
        """The plan of the rules for this document; see ``plan_of``."""
        return plan_of(self.rules, whole=whole, present=self._pinned)

    def settle(self, reading: Reading, until: float = inf) -> tuple[Reading, Cost]:
        """The same spans with the choice of values that costs the least, and the cost.

        The cost is the reading's penalty. Of choices with the same cost, the most plausible is
        taken. If the time (``until``, by ``perf_counter``) is up first, the best choice so far is
        returned, and the cost is a range.
        """
        cost = self.weigh(reading, until)
        if cost.most == 0 or not self.is_ambiguous(reading):
            return reading, cost
        if cost.least == inf and self._lacks_spans(reading):
            return reading, cost
        if self._settler is None:
            self._settler = Settler(self)
        return self._settler.settle(reading, cost, until)

    def _lacks_spans(self, reading: Reading) -> bool:
        """Whether spans are missing that must be there, so that no choice of values helps."""
        faults = (fault for i, spans in enumerate(reading) for fault in self._see(i, spans).faults)
        return any(
            fault.weight == inf and fault.condition in ("kept", "required") for fault in faults
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

    def price(self, reading: Reading) -> float:
        """The price of chosen values that are not the most plausible ones."""
        price = 0.0
        for i, spans in enumerate(reading):
            for start, end, choice in spans:
                if choice:
                    price += self.price_of_choice(i, start, end, choice)
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
        penalty += sum(fault.weight for _, fault in self._faults_of_rows(reading))
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
                yield Check(id_, "violated", message, weight, weight, fields=(name, after))
            here = [name for name in order.fields if spans[name]]
            if not late and len(here) > 1:
                yield Check(id_, "satisfied", " before ".join(here), weight, fields=order.fields)
            elif not late:
                which = f"{here[0]} alone" if here else "none of the fields"
                message = f"not checked: {which} occurs"
                yield Check(id_, "vacuous", message, weight, fields=order.fields)

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
            row, names = None if fault.row is None else fault.row[1], (self._names[i],)
            found.append(
                Check(id_, "violated", complaint, weight, weight, True, row=row, fields=names)
            )
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
        for i, fault in self._faults_of_rows(reading):
            yield i, f"{self._names[i]}:{fault.condition}", fault
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

    def _faults_of_rows(self, reading: Reading) -> Iterator[tuple[int, Fault]]:
        """The fields that rows lack though every row should have them."""
        for kind in self.rules.rows:
            if not kind.required:
                continue
            rows = self.rows(kind, reading)
            for row, number in zip(rows, self._table_numbers(kind, rows), strict=True):
                for name in kind.required:
                    i = self._field_index[name]
                    if not self._fields.is_present(i, row.spans.get(i, ())):
                        weight = self.rules.weight_of(self.rules.fields[i], "required")
                        yield i, Fault("required", (), weight, row=(kind.name, number))

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
        if outcome == "satisfied" or not self.rules.has_several_values:
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
                held = flat(option for n in rule.names for option in views[n].options)
                self._choices.keep(key, known, size_of_texts(held))
        return known
