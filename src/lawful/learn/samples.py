"""What rules are judged on, pages or rows of one kind, and the same with values of others.

A rule that also holds for values that do not belong together says nothing about those that do. So
its share by chance is measured: values of a field are exchanged with those of other pages or rows.
The same exchanges tell which rules find out what others find out as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lawful.learn.intervals import Share
from lawful.learn.truth import TruePages
from lawful.rules.judging.checks import outcome_of
from lawful.rules.judging.rows import PREVIOUS
from lawful.rules.language.nodes import COUNT, Environment
from lawful.rules.parsed_rule import ParsedRule
from lawful.rules.rule_set import Rules

MAX_CHANCES = 400
"""Exchanges by which the share by chance is measured."""

MAX_EXCHANGES = 200
"""Exchanges of each field by which rules are compared."""


@dataclass(frozen=True, slots=True)
class Units:
    """Pages, or rows of one kind, with the values that rules see there."""

    rules: Rules
    kind: str | None  # of rows
    seen: Sequence[Environment]
    held_out: NDArray[np.bool_]  # (units,)

    @classmethod
    def of_pages(cls, truth: TruePages) -> Units:
        """The pages."""
        held_out = np.array([page.held_out for page in truth.pages], bool)
        return cls(truth.rules, None, [page.seen.page for page in truth.pages], held_out)

    @classmethod
    def of_rows(cls, truth: TruePages, kind: str) -> Units:
        """The rows of a kind, of all pages."""
        found = [(row, page.held_out) for page in truth.pages for row in page.seen.rows[kind]]
        held_out = np.array([out for _, out in found], bool)
        return cls(truth.rules, kind, [row for row, _ in found], held_out)

    @property
    def mined(self) -> list[Environment]:
        """The values of the units on which rules are looked for."""
        return [each for each, out in zip(self.seen, self.held_out, strict=True) if not out]

    @property
    def names(self) -> list[str]:
        """The fields whose values belong to a unit."""
        of_rows = {name for kind in self.rules.rows for name in kind.fields}
        if self.kind is None:
            return [f.name for f in self.rules.fields]
        own = next(kind.fields for kind in self.rules.rows if kind.name == self.kind)
        return [name for name in own if name in of_rows]

    @property
    def known(self) -> list[ParsedRule]:
        """The rules with an expression that are about such units."""
        return [
            rule
            for rule in self.rules.parsed
            if (rule.each.name if rule.each else None) == self.kind and rule.expression is not None
        ]

    def having(self, name: str) -> list[int]:
        """The units in which a field has a value."""
        return [i for i, each in enumerate(self.seen) if has_value(each, name)]

    def outcomes(self, rule: ParsedRule) -> NDArray[np.int8]:
        """By unit: 1 if the rule holds, 0 if it is violated, -1 if it is vacuous."""
        return np.array([_state(rule, each) for each in self.seen], np.int8)

    def chance(self, rule: ParsedRule, outcomes: NDArray[np.int8], seed: int) -> Share | None:
        """How often a rule holds if its fields have values of other units.

        The values of a rule about one field come from other fields of the same kind; there is no
        share by chance if there are none.
        """
        random = np.random.default_rng([seed, *rule.id.encode()])
        names = sorted(set(rule.reads) - set(self.rules.constants))
        checked = np.flatnonzero(outcomes >= 0)
        if not len(checked) or not names:
            return None
        rounds = min(max(1, MAX_CHANCES // len(checked)), 8)
        some = random.permutation(np.tile(checked, rounds))[:MAX_CHANCES]
        if len(names) == 1:
            return self._chance_of_one(rule, names[0], some.tolist(), random)
        having = {name: self.having(name) for name in names}
        holds = of = 0
        for i in some.tolist():
            other = self.seen[i]
            for name in names:
                if has_value(other, name):
                    other = _with(other, name, self.seen[_pick(having[name], random)], name)
            state = _state(rule, other)
            holds, of = holds + (state == 1), of + (state >= 0)
        return Share(holds, of)

    def _chance_of_one(
        self, rule: ParsedRule, name: str, some: Iterable[int], random: np.random.Generator
    ) -> Share | None:
        by_name = {f.name: f for f in self.rules.fields}
        f = by_name[name.removeprefix(f"{PREVIOUS}.")]
        likes = [
            each
            for each in self.names
            if each != name and (by_name[each].kind, by_name[each].many) == (f.kind, f.many)
        ]
        holds = of = 0
        for i in some:
            here = [each for each in likes if has_value(self.seen[i], each)]
            if here:
                other = _with(self.seen[i], name, self.seen[i], here[random.integers(len(here))])
                state = _state(rule, other)
                holds, of = holds + (state == 1), of + (state >= 0)
        return Share(holds, of) if of else None

    def caught(self, rules: Sequence[ParsedRule], seed: int) -> NDArray[np.bool_]:
        """Which exchanges of one value each rule finds out: (rules, exchanges).

        It finds out an exchange if it holds before and is violated after it.
        """
        random = np.random.default_rng([seed, 1])
        columns: list[NDArray[np.bool_]] = []
        for name in self.names:
            readers = [k for k, rule in enumerate(rules) if name in rule.reads]
            having = self.having(name)
            if not readers or len(having) < 2:
                continue
            for i in random.permutation(having)[:MAX_EXCHANGES].tolist():
                other = _with(self.seen[i], name, self.seen[_pick(having, random)], name)
                column = np.zeros(len(rules), bool)
                for k in readers:
                    column[k] = _state(rules[k], other) == 0 and _state(rules[k], self.seen[i]) == 1
                columns.append(column)
        return np.array(columns, bool).reshape(len(columns), len(rules)).T


def _pick(units: Sequence[int], random: np.random.Generator) -> int:
    return units[int(random.integers(len(units)))]


def has_value(seen: Environment, name: str) -> bool:
    """Whether a field has a value that is printed, and not its default."""
    return seen.get(name) is not None and seen.get(COUNT + name) != 0


def _state(rule: ParsedRule, seen: Environment) -> int:
    outcome = outcome_of(rule, seen, "")
    return {"satisfied": 1, "violated": 0}.get(outcome, -1)


def _with(seen: Environment, name: str, other: Environment, source: str) -> Environment:
    """The values of a unit with one of another, or of another field."""
    count = COUNT + name
    changed = {**seen, name: other[source]}
    if count in seen and COUNT + source in other:
        changed[count] = other[COUNT + source]
    return changed
