"""Rules as a plan for the native search: what it must remember, look up and judge.

The search goes over a document from left to right and knows a field by numbers: which of the
field's values came first, how many there were, what they add up to. What an expression says about
one field alone is evaluated once per value and looked up from then on. A rule that cannot
be compiled stays Python, and is asked about each reading that the search proposes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import localcontext
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeAlias, get_args
from weakref import WeakKeyDictionary

import numpy as np

from lawful import _core
from lawful.rules.arithmetic import EXACT
from lawful.rules.definitions import CompiledRule, Field, Rules
from lawful.rules.equation import equation_of
from lawful.rules.program import SCALE, Aspect, Assembler, NeedsPython

LARGEST = 10**24
"""A larger number of units is left to Python, like one with more decimals than ``SCALE``."""

FIRST_NUMBER = 2
"""Of a value; 0 is for a field that is missing, 1 for one that cannot be read."""

_PART = 10**12  # numbers go to the core as so many of these and the rest
_ABSENT = 1
_UNSURE = 2


Way: TypeAlias = Literal["local", "compiled", "python"]


@dataclass(frozen=True, slots=True)
class How:
    """How a rule is judged, and if in Python, why.

    ``local``: natively, on the value of one field, as soon as that is there. ``compiled``:
    natively, on the values of several. ``python``: on each reading that the search proposes.
    """

    way: Way
    reason: str = ""


class _Lookup(NamedTuple):
    """An expression over one field, to be tabulated."""

    field: int
    evaluate: Callable[[Any], Any]  # of the field's value, or of None
    missing: Any  # what it is when the field is missing
    kind: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The rules as the core wants them, and what must be tabulated for each document."""

    core: _core.Plan
    lookups: tuple[_Lookup, ...]
    how: Mapping[str, How]
    python: tuple[CompiledRule, ...]  # the rules that stay Python


class Tables:
    """The values of one document by number, and what every lookup of a plan says of them.

    Number 0 is for a field that is missing, 1 for one that cannot be read; values come after, in
    the order in which somebody asked for their numbers. Without a plan nothing is looked up.
    """

    def __init__(self, rules: Rules, plan: Plan | None) -> None:
        self.numbers: list[dict[Any, int]] = [{} for _ in rules.fields]
        self._plan = plan
        self._texts: dict[Any, int] = {}  # equal texts have equal numbers, whatever their fields
        self._columns: list[tuple[list[int], list[int], list[int]]] = []
        if plan is not None:
            self._columns = [([], [], []) for _ in plan.lookups]

    def number_of(self, field: int, value: Any) -> int:
        """The number of a field's value."""
        numbers = self.numbers[field]
        return numbers.setdefault(value, len(numbers) + FIRST_NUMBER)

    def lookups(self) -> list[_core.Lookup]:
        """All tables as they are now, by lookup and number."""
        if self._plan is None:
            return []
        with localcontext(EXACT):
            for lookup, columns in zip(self._plan.lookups, self._columns, strict=True):
                self._extend(lookup, columns)
        return [
            (np.array(high, np.int64), np.array(low, np.int64), np.array(states, np.uint8))
            for high, low, states in self._columns
        ]

    def _extend(self, lookup: _Lookup, columns: tuple[list[int], list[int], list[int]]) -> None:
        """Looks up the values that are new."""
        high, low, states = columns
        new = list(islice(self.numbers[lookup.field], max(0, len(states) - FIRST_NUMBER), None))
        found = [lookup.evaluate(value) for value in new]
        if not states:
            found = [lookup.missing, lookup.evaluate(None), *found]
        for value in found:
            number, state = _outcome(value, lookup.kind, self._texts)
            for column, part in zip((high, low), divmod(number, _PART), strict=True):
                column.append(part)
            states.append(state)


def _outcome(value: Any, kind: str, texts: dict[Any, int]) -> tuple[int, int]:
    """A value as a number and a state, as the core has them."""
    if value is None:
        return 0, _ABSENT
    if kind == "text":  # a registered type may give anything, even what is not equal to itself
        return (texts.setdefault(value, len(texts)), 0) if value == value else (0, _UNSURE)  # noqa: PLR0124
    if isinstance(value, bool):
        return int(value), 0
    if isinstance(value, date):
        return value.toordinal(), 0
    numerator, denominator = value.as_integer_ratio()
    scaled, rest = divmod(numerator * 10**SCALE, denominator)
    return (scaled, 0) if not rest and abs(scaled) <= LARGEST else (0, _UNSURE)


_PLANS: WeakKeyDictionary[Rules, dict[bool, Plan]] = WeakKeyDictionary()


def plan_of(rules: Rules, *, whole: bool = False) -> Plan:
    """The plan of these rules; made once.

    With ``whole``, all values of all fields are remembered, so that readings are told apart by
    what a person would see in the fields and not only by what rules make of them.
    """
    plans = _PLANS.setdefault(rules, {})
    if whole not in plans:
        plans[whole] = _Planner(rules, whole=whole).plan()
    return plans[whole]


class _Planner:
    """Hands out slots and lookups, and compiles the rules one by one."""

    def __init__(self, rules: Rules, *, whole: bool) -> None:
        self.rules = rules
        self.whole = whole
        self.index = {f.name: i for i, f in enumerate(rules.fields)}
        self.slots: dict[tuple[int, Aspect], int] = {}
        self.lookups: list[_Lookup] = []
        self.lookup_slots: list[int] = []
        self.lookup_of: dict[tuple[int, str], int] = {}
        self.numbers_of: dict[int, int] = {}  # of lists: the lookup of their values

    def plan(self) -> Plan:
        with localcontext(EXACT):
            return self.make_plan()

    def make_plan(self) -> Plan:
        how: dict[str, How] = {}
        native, equations, python = [], [], []
        for rule in self.rules.compiled:
            program = Assembler(self, rule)
            try:
                program.assemble()
            except NeedsPython as reason:
                how[rule.id] = How("python", str(reason))
                python.append(rule)
                self.remember_for_python(rule)
                continue
            local = program.early and len(program.fields) == 1
            how[rule.id] = How("local" if local else "compiled")
            native.append(
                (
                    program.core(),
                    rule.weight,
                    rule.unchecked,
                    sorted(program.fields),
                    program.early,
                    sorted(program.any),
                )
            )
            if (equation := equation_of(program)) is not None:
                equations.append(equation)
        for i, f in enumerate(self.rules.fields):
            self.remember_for_field(i, f)
        fields = []
        for i, f in enumerate(self.rules.fields):
            slots = [self.slots.get((i, aspect), -1) for aspect in get_args(Aspect)]
            numbers = self.numbers_of.get(i, -1)
            fields.append(
                (f.many, f.default is not None, [*slots, numbers], self.rules.defaults.weight)
            )
        core = _core.Plan(fields, len(self.slots), self.lookup_slots, native, equations)
        return Plan(core, tuple(self.lookups), how, tuple(python))

    def slot(self, field: int, aspect: Aspect) -> int:
        return self.slots.setdefault((field, aspect), len(self.slots))

    def lookup(self, field: int, text: str, kind: str, evaluate: Callable[[Any], Any]) -> int:
        key = field, text
        if key not in self.lookup_of:
            f = self.rules.fields[field]
            self.lookup_of[key] = len(self.lookups)
            self.lookups.append(_Lookup(field, evaluate, evaluate(f.default), kind))
            self.lookup_slots.append(0 if f.many else self.slot(field, "first"))
        return self.lookup_of[key]

    def numbers(self, field: int) -> int:
        """The lookup of a list's values as numbers."""
        if field not in self.numbers_of:
            self.numbers_of[field] = self.lookup(
                field, "", self.rules.fields[field].kind, lambda value: value
            )
        return self.numbers_of[field]

    def remember_for_field(self, index: int, f: Field) -> None:
        """What presence and repeats need, and with ``whole`` what a person would see."""
        if f.many:
            if self.whole or f.presence != "free":
                self.slot(index, "readable")
            if self.whole:
                self.slot(index, "all")
            return
        if self.whole or f.presence != "free" or f.repeat == "agree":
            self.slot(index, "first")
        if f.repeat == "agree":
            self.slot(index, "disagrees")

    def remember_for_python(self, rule: CompiledRule) -> None:
        """All that Python will see of the fields, so that no two readings are mixed up."""
        for name in rule.names:
            index = self.index[name]
            f = self.rules.fields[index]
            if rule.function is None or rule.when is not None:
                self.slot(index, "count")
            if f.many:
                self.slot(index, "readable")
            if f.many or f.repeat == "any":
                self.slot(index, "all")
            if not f.many:
                self.slot(index, "first")
