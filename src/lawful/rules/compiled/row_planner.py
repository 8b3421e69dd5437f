"""Planners for rules of rows and of sections: what their names are in the state of the search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from lawful.rules.compiled.program import Aspect, Evaluate, NeedsPython, Planner
from lawful.rules.judging.rows import PREVIOUS, RowKind
from lawful.rules.language.nodes import Node
from lawful.rules.parsed_rule import ParsedRule


class Whole(Planner, Protocol):
    """The planner of all rules, which those of rows ask for slots and lookups."""

    def lookup_in(
        self,
        field: int | None,
        slot: int | None,
        text: str,
        kind: str,
        evaluate: Evaluate,
        default: Any,
    ) -> int:
        """The lookup of an expression over the value that a slot holds, or those of a list."""

    def held_key(self, kind: RowKind, name: str) -> int:
        """The key of slots of a field in the open section."""


class RowPlanner:
    """The planner for rules of rows: names are values in the open row, or in the row before."""

    @classmethod
    def of(cls, planner: Whole, kind: RowKind) -> RowPlanner:
        return cls(planner, kind) if kind.of is None else SectionPlanner(planner, kind)

    def __init__(self, planner: Whole, kind: RowKind) -> None:
        self.rules = planner.rules
        self.kind = kind
        before = {f"{PREVIOUS}.{name}": planner.index[name] for name in kind.fields}
        self.index: Mapping[str, int] = {**planner.index, **before}
        self._planner = planner
        self._own = {*before, *kind.fields}

    def is_list(self, name: str) -> bool:
        if name not in self._own:
            raise NeedsPython(f"{name} is not in the row")
        return False

    def slot(self, field: int, aspect: Aspect) -> int:
        raise NeedsPython(f"the {aspect} of {self.rules.fields[field].name} in a row")

    def numbers(self, field: int) -> int:
        raise NeedsPython(f"the list {self.rules.fields[field].name} in a row")

    def lookup(self, name: str | None, text: str, kind: str, evaluate: Evaluate) -> int:
        if name is None:
            return self._planner.lookup(name, text, kind, evaluate)
        field = self.index[name]
        slot = self._planner.slot(field, "in_row")
        if name.startswith(f"{PREVIOUS}."):
            slot = self._planner.slot(field, "previous")
        return self._planner.lookup_in(field, slot, text, kind, evaluate, None)

    def presence(self, name: str) -> int:
        if name not in self._own:
            raise NeedsPython(f"{name} is not in the row")
        field = self.index[name]
        slot = self._planner.slot(field, "in_row")
        return self._planner.slot(field, "previous") if name.startswith(PREVIOUS) else slot

    def sum_of_rows(
        self, kind: str, name: str, condition: Node, rule: ParsedRule
    ) -> tuple[int, int]:
        raise NeedsPython(f"a sum of {name} over some rows, for each {self.kind.name}")


class SectionPlanner(RowPlanner):
    """The planner for rules of sections: fields of their rows are lists there."""

    def is_list(self, name: str) -> bool:
        return name in self.rules.held[self.kind.name] or super().is_list(name)

    def slot(self, field: int, aspect: Aspect) -> int:
        name = self.rules.fields[field].name
        if name not in self.rules.held[self.kind.name]:
            return super().slot(field, aspect)
        return self._planner.slot(self._planner.held_key(self.kind, name), aspect)

    def numbers(self, field: int) -> int:
        return self._planner.numbers(field)

    def presence(self, name: str) -> int:
        held = name in self.rules.held[self.kind.name]
        return self.slot(self.index[name], "count") if held else super().presence(name)
