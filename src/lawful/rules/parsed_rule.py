"""One rule of a set: its expressions parsed, and nothing left open."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from lawful.base.errors import RulesError, shown
from lawful.rules.definitions import (
    Field,
    Rule,
    RuleDefaults,
    Weight,
    messages_of,
)
from lawful.rules.judging.rows import PREVIOUS, RowKind
from lawful.rules.language.comparisons import Comparison
from lawful.rules.language.expression import Expression, parse
from lawful.rules.language.nodes import Kind
from lawful.values import type_named

LEFT, RIGHT = "left", "right"
"""What messages call the sides of a comparison."""


@dataclass(frozen=True, slots=True)
class ParsedRule:
    """A rule with everything filled in and its expressions parsed."""

    id: str
    weight: Weight
    messages: Mapping[str, str]  # by language, that of ``Check.message`` first
    reads: tuple[str, ...]
    names: frozenset[str]  # all fields whose values it may need; no constants
    expression: Expression | None  # none: a function
    function: Callable[..., Any] | None
    when: Expression | None
    tolerance: Decimal
    unchecked: float
    places: frozenset[str] = frozenset()  # the fields whose places it depends on
    each: RowKind | None = None  # the rows on which it is judged, one by one


@dataclass(frozen=True, slots=True)
class RuleParser:
    """Parses rules that are about these fields, rows and values."""

    fields: tuple[Field, ...]
    rows: tuple[RowKind, ...]
    defaults: RuleDefaults
    given: Mapping[str, str]  # as in ``Rules``
    classes: Mapping[str, str]

    def parse(self, rule: Rule) -> ParsedRule:
        """The rule with its expressions parsed, and what it lacks taken from the defaults."""
        each = self._kind_of_rows(rule.each)
        known = self._scope(each)
        constants = {*self.given, *self.classes}
        tolerance = self.defaults.tolerance if rule.tolerance is None else rule.tolerance
        dotted = {f"{kind.name}.{name}": name for kind in self.rows for name in kind.fields}
        money = {f.name for f in self.fields if f.type == "money"}
        amounts = money | {f"{PREVIOUS}.{name}" for name in money}
        when = None if rule.when is None else parse(rule.when, known, tolerance, dotted, amounts)
        expression = None
        function = None
        reads: tuple[str, ...] = rule.reads
        if isinstance(rule.check, str):
            expression = parse(rule.check, known, tolerance, dotted, amounts)
            reads = tuple(sorted(expression.reads | (when.reads if when else frozenset())))
        else:
            function = rule.check
            if each is not None:
                raise RulesError("a Python function cannot be judged on each row")
            for name in reads:
                if name not in known:
                    raise RulesError(
                        f"reads unknown field {name!r}; fields: {', '.join(sorted(known))}"
                    )
        messages = messages_of(rule.message)
        sides = (LEFT, RIGHT) if expression and isinstance(expression.root, Comparison) else ()
        for message in messages.values():
            _check_message(message, (*known, *sides))
        parts = [part.root for part in (expression, when) if part is not None]
        places = frozenset(name for part in parts for name in part.placed)
        if given := min(places & self.given.keys(), default=None):
            raise RulesError(f"{given} is given, so it has no place in the document")
        if known_class := min(places & self.classes.keys(), default=None):
            raise RulesError(f"{known_class} is a class, so it has no place in the document")
        return ParsedRule(
            id=rule.id or "",
            weight=self.defaults.weight if rule.weight is None else rule.weight,
            messages=messages,
            reads=reads,
            names=frozenset(map(field_of, (*reads, *(when.reads if when else ())))) - constants,
            expression=expression,
            function=function,
            when=when,
            tolerance=tolerance,
            unchecked=self._unchecked(rule),
            places=frozenset(map(field_of, places)),
            each=each,
        )

    def _unchecked(self, rule: Rule) -> float:
        if rule.unchecked is not None:
            return rule.unchecked
        # Many rows lack a value because the page does not print it.
        return self.defaults.unchecked if rule.each is None else 0.0

    def _kind_of_rows(self, name: str | None) -> RowKind | None:
        if name is None:
            return None
        for kind in self.rows:
            if kind.name == name:
                return kind
        known = ", ".join(kind.name for kind in self.rows) or "none"
        raise RulesError(f"each is {shown(name)}, expected a kind of rows: {known}")

    def _scope(self, each: RowKind | None) -> dict[str, tuple[Kind, bool]]:
        """The names that a rule may use; in a rule of rows, their fields have one value."""
        own = () if each is None else each.fields
        names: dict[str, tuple[Kind, bool]] = {
            f.name: (f.kind, f.many and f.name not in own) for f in self.fields
        }
        names |= {name: (type_named(type_).kind, False) for name, type_ in self.given.items()}
        names |= dict.fromkeys(self.classes, ("text", False))
        return names | {f"{PREVIOUS}.{name}": names[name] for name in own}


def field_of(name: str) -> str:
    """The field of a name in an expression: that of the row before is the same field."""
    return name.removeprefix(f"{PREVIOUS}.")


def _check_message(message: str, known: Collection[str]) -> None:
    for name in re.findall(r"\{([^{}]*)\}", message):
        if name not in known:
            raise RulesError(
                f"message names unknown field {name!r}; fields: {', '.join(sorted(known))}"
            )
