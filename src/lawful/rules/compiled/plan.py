"""Rules as a plan for the native search: the slots of its state, its lookups, its programs.

The search goes over a document from left to right, and its state holds a few numbers per field: the
number of its first value, how many values there were, their sum. An expression over one field alone
is evaluated once per value and tabulated; given values are constants of a document. A rule that
cannot be compiled stays in Python, and judges each reading that the search proposes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import inf
from time import perf_counter
from typing import Any, Literal, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from lawful import _core
from lawful.base.cache import Cache, size_of_texts
from lawful.base.errors import MemoryBudgetError, RuleFailure, TimeBudgetError
from lawful.rules.compiled.equation import equation_of
from lawful.rules.compiled.program import Aspect, Assembler, Evaluate, NeedsPython, Planner
from lawful.rules.compiled.row_planner import RowPlanner
from lawful.rules.definitions import Field
from lawful.rules.judging.rows import RowKind
from lawful.rules.language.arithmetic import EXACT
from lawful.rules.language.nodes import Environment, Node
from lawful.rules.parsed_rule import ParsedRule
from lawful.rules.rule_set import Rules
from lawful.rules.span_rules import Order
from lawful.values import identity, unprinted

LARGEST = 10**24
"""Larger numbers of units are left to Python, as are numbers with over ``_core.SCALE`` decimals."""

MAX_BYTES_OF_TEXTS = 2**27
"""Bytes of the texts of one document that are numbered: spans of a long text may overlap."""

Way: TypeAlias = Literal["local", "compiled", "python"]


@dataclass(frozen=True, slots=True)
class How:
    """Where a rule is judged, and the reason if in Python.

    ``local``: in the core, as soon as the one field that it reads has a value. ``compiled``: in the
    core, on the values of several fields. ``python``: on each reading that the search proposes.
    """

    way: Way
    reason: str = ""


class _Lookup(NamedTuple):
    """An expression over one field and given values, to be tabulated."""

    field: int | None  # none: over given values alone
    evaluate: Evaluate
    default: Any  # the field's value if it is missing
    kind: str
    slot: int  # of the state, with the number of the field's value; 0 for a list


@dataclass(frozen=True, slots=True)
class Plan:
    """The rules in the core's form, and the expressions to be tabulated for each document."""

    core: _core.Plan
    lookups: tuple[_Lookup, ...]
    how: Mapping[str, How]
    python: tuple[ParsedRule, ...]  # the rules that are judged in Python


class Tables:
    """The numbers of one document's values, and the tables of a plan's lookups by number.

    Values are numbered from ``_core.FIRST_VALUE`` on, in the order of calls to ``number_of``.
    Without a plan there are no lookups.
    """

    def __init__(
        self, rules: Rules, plan: Plan | None, document: str, given: Environment | None = None
    ) -> None:
        self._given = given or {}
        self._numbers: list[dict[Any, int]] = [{} for _ in rules.fields]
        self._values: list[list[Any]] = [[] for _ in rules.fields]
        self._plan = plan
        self._document = document
        self._held = 0  # bytes of texts in numbers
        self._numbered = -1  # values that lookups have
        self._texts: dict[Any, int] = {}  # equal texts have equal numbers, whatever their fields
        self._lookups: list[_core.Lookup] = []
        if plan is not None:
            self._lookups = [_core.Lookup(lookup.slot) for lookup in plan.lookups]

    def number_of(self, field: int, value: Any) -> int:
        """The number of a field's value; ``None`` stands for an unreadable text.

        Raises ``MemoryBudgetError`` when the texts hold more than ``MAX_BYTES_OF_TEXTS``.
        """
        if value is None:
            return _core.UNREADABLE
        numbers = self._numbers[field]
        key = value if type(value) is Decimal else identity(value)
        number = numbers.get(key)
        if number is None:
            if isinstance(value, str):
                self._held += size_of_texts((value,))
                if self._held > MAX_BYTES_OF_TEXTS:
                    raise MemoryBudgetError("the texts of the spans take too much memory")
            number = numbers[key] = len(numbers) + _core.FIRST_VALUE
            self._values[field].append(value)
        return number

    def known(self, field: int, value: Any) -> int | None:
        """The number of a value that ``number_of`` was asked for; ``None`` for any other."""
        return self._numbers[field].get(identity(value))

    def lookups(self, until: float = inf) -> list[_core.Lookup]:
        """The tables of all lookups, extended to the values numbered so far.

        Raises ``TimeBudgetError`` when the time is up.
        """
        if self._plan is not None and self._numbered != (numbered := sum(map(len, self._values))):
            with localcontext(EXACT):
                for lookup, table in zip(self._plan.lookups, self._lookups, strict=True):
                    try:
                        self._extend(lookup, table, until)
                    except RuleFailure as error:
                        raise RuleFailure(f"document {self._document!r}: {error}") from None
            self._numbered = numbered
        return self._lookups

    def _extend(self, lookup: _Lookup, table: _core.Lookup, until: float) -> None:
        """Adds the values that are new."""
        if not len(table):
            for value in (lookup.default, None):
                result = lookup.evaluate(value, self._given)
                table.append(*_outcome(result, lookup.kind, self._texts))
        if lookup.field is None:
            return
        new = self._values[lookup.field][len(table) - _core.FIRST_VALUE :]
        evaluate, kind, given = lookup.evaluate, lookup.kind, self._given
        for value in new:
            if until != inf and perf_counter() > until:
                raise TimeBudgetError("the time is up")
            table.append(*_outcome(evaluate(value, given), kind, self._texts))


_KNOWN = _core.OutcomeState.known
_MISSING = _core.OutcomeState.missing
_UNSURE = _core.OutcomeState.unsure
_UNITS = 10**_core.SCALE


def _outcome(value: Any, kind: str, texts: dict[Any, int]) -> tuple[_core.OutcomeState, int]:
    """A value in the core's form: a state, and a number if it is known."""
    if value is None:
        return _MISSING, 0
    if kind == "text":  # a registered type may give any value, even one not equal to itself
        return (_KNOWN, texts.setdefault(value, len(texts))) if value == value else (_UNSURE, 0)  # noqa: PLR0124
    if type(value) is not Decimal:
        if isinstance(value, bool):
            return _KNOWN, int(value)
        if isinstance(value, date):
            return _KNOWN, value.toordinal()
    return _in_units(value)


def _in_units(value: Decimal | Fraction) -> tuple[_core.OutcomeState, int]:
    """A number in units of the core; amounts repeat in a document, and from one to the next."""
    is_short = isinstance(value, Decimal) and value.__sizeof__() < BYTES_OF_AMOUNT
    return _short_in_units(value) if is_short else _short_in_units.__wrapped__(value)


BYTES_OF_AMOUNT = 200
"""A number that takes more is not kept."""


@lru_cache(maxsize=16_384)
def _short_in_units(value: Decimal | Fraction) -> tuple[_core.OutcomeState, int]:
    numerator, denominator = value.as_integer_ratio()
    scaled, rest = divmod(numerator * _UNITS, denominator)
    return (_KNOWN, scaled) if not rest and abs(scaled) <= LARGEST else (_UNSURE, 0)


_PLANS: WeakKeyDictionary[Rules, dict[bool, Plan]] = WeakKeyDictionary()

BYTES_PER_PART = 2**14
"""About how many bytes a field or a rule takes with its plan."""

_PINNED: Cache[tuple[Rules, bool, frozenset[str]], Plan] = Cache(2**25)
"""Plans for documents with pins, each of which may name other fields."""


def plan_of(rules: Rules, *, whole: bool = False, present: frozenset[str] = frozenset()) -> Plan:
    """The plan of these rules; made once.

    With ``whole``, the state holds all values of all fields, so that the search tells apart
    readings that differ in any value, even if rules treat them alike. It says whether the fields
    ``present`` are there, even if no rule asks for it.
    """
    asked = present
    if present:
        asked = frozenset(
            f.name for f in rules.fields if f.name in present and f.presence == "free"
        )
    if not asked:
        plans = _PLANS.setdefault(rules, {})
        if whole not in plans:
            plans[whole] = _Planner(rules, whole=whole, present=asked).plan()
        return plans[whole]
    if (plan := _PINNED.get(key := (rules, whole, asked))) is None:
        plan = _Planner(rules, whole=whole, present=asked).plan()
        _PINNED.keep(key, plan, BYTES_PER_PART * (len(rules.fields) + len(rules.rules)))
    return plan


_OF_LISTS: tuple[Aspect, ...] = ("count", "readable", "sum", "least", "greatest")


class _Planner:
    """Hands out slots and lookups, and compiles the rules one by one."""

    def __init__(self, rules: Rules, *, whole: bool, present: frozenset[str]) -> None:
        self.rules = rules
        self.whole = whole
        self.present = present
        self.index: Mapping[str, int] = {f.name: i for i, f in enumerate(rules.fields)}
        self.slots: dict[tuple[int, Aspect], int] = {}
        self.lookups: list[_Lookup] = []
        self.lookup_of: dict[tuple[int, str], int] = {}  # by slot, or by list
        self.numbers_of: dict[int, int] = {}  # of lists: the lookup of their values
        self.equal_of: dict[int, int] = {}  # the lookup of values, whatever their print
        self.constant: tuple[int, Aspect] = (len(rules.fields), "first")  # of a field that never is
        self.seen_by_python: set[int] = set()  # fields
        self.sums: dict[tuple[str, str, str], _core.RowSum] = {}  # by kind, name and condition
        self.slots_of_sums: dict[tuple[str, str, str], tuple[int, int]] = {}
        self.row_of = {name: i for i, kind in enumerate(rules.rows) for name in kind.fields}

    def plan(self) -> Plan:
        with localcontext(EXACT):
            return self.make_plan()

    def make_plan(self) -> Plan:
        how: dict[str, How] = {}
        native, equations, python = [], [], []
        of_rows: dict[RowKind, list[_core.RulePlan]] = {kind: [] for kind in self.rules.rows}
        for rule in self.rules.parsed:
            planner: Planner = self if rule.each is None else RowPlanner.of(self, rule.each)
            program = Assembler(planner, rule)
            try:
                program.assemble()
            except NeedsPython as reason:
                how[rule.id] = How("python", str(reason))
                python.append(rule)
                self.add_slots_for_python(rule)
                continue
            local = program.early and len(program.fields) == 1
            how[rule.id] = How("local" if local and rule.each is None else "compiled")
            compiled = _core.RulePlan(
                program=program.core(),
                weight=rule.weight,
                unchecked=rule.unchecked,
                fields=sorted(program.fields) if rule.each is None else [],
                early=program.early and rule.each is None,
                any=sorted(program.any),
            )
            if rule.each is not None:
                of_rows[rule.each].append(compiled)
                continue
            native.append(compiled)
            if (equation := equation_of(program)) is not None:
                equations.append(equation)
        for i, f in enumerate(self.rules.fields):
            self.add_slots_for_field(i, f)
        rows = [
            self.row_plan(kind, rules, any(kind in _kinds(rule, self.rules) for rule in python))
            for kind, rules in of_rows.items()
        ]
        orders = [self.order_plan(order) for order in self.rules.orders]
        core = _core.Plan(
            fields=[self.field_plan(i, f) for i, f in enumerate(self.rules.fields)],
            slots=len(self.slots),
            rules=native,
            equations=equations,
            rows=rows,
            orders=orders,
            constant=self.slots.get(self.constant),
        )
        return Plan(core, tuple(self.lookups), how, tuple(python))

    def field_plan(self, index: int, f: Field) -> _core.FieldPlan:
        return _core.FieldPlan(
            many=f.many,
            has_default=f.default is not None,
            disagreement=self.rules.weight_of(f, "agrees"),
            first=self.slots.get((index, "first")),
            disagrees=self.slots.get((index, "disagrees")),
            count=self.slots.get((index, "count")),
            readable=self.slots.get((index, "readable")),
            sum=self.slots.get((index, "sum")),
            least=self.slots.get((index, "least")),
            greatest=self.slots.get((index, "greatest")),
            all=self.slots.get((index, "all")),
            places=self.slots.get((index, "places")),
            in_row=self.slots.get((index, "in_row")),
            kept=self.slots.get((index, "kept")),
            rows=self.row_of.get(f.name),
            numbers=self.numbers_of.get(index),
            equal=self.equal_of.get(index),
            whole=self.whole or index in self.seen_by_python,
        )

    def slot(self, field: int, aspect: Aspect) -> int:
        return self.slots.setdefault((field, aspect), len(self.slots))

    def is_list(self, name: str) -> bool:
        return self.rules.fields[self.index[name]].many

    def row_plan(
        self, kind: RowKind, rules: list[_core.RulePlan], remembers: bool
    ) -> _core.RowPlan:
        at = -1 - self.rules.rows.index(kind)  # slots of rows have negative keys
        members = [self.index[name] for name in kind.fields]
        return _core.RowPlan(
            open=self.slot(at, "first"),
            history=self.slot(at, "all"),
            starter=self.starter(kind),
            always=kind.starts is not None,
            rules=rules,
            previous=[
                (self.slot(i, "in_row"), self.slots[i, "previous"])
                for i in members
                if (i, "previous") in self.slots
            ],
            remembers=remembers,
            required=[
                (self.slot(i, "in_row"), self.rules.weight_of(self.rules.fields[i], "required"))
                for i in map(self.index.__getitem__, kind.required)
            ],
            sums=[sum_ for (name, *_), sum_ in self.sums.items() if name == kind.name],
            section=None if kind.of is None else self.section_plan(kind),
        )

    def starter(self, kind: RowKind) -> int | None:
        if kind.of is None:
            return self.index[kind.starts or kind.fields[0]]
        return None if kind.starts is None else self.index[kind.starts]

    def section_plan(self, kind: RowKind) -> _core.SectionPlan:
        held = {}
        for name in self.rules.held[kind.name]:
            key = self.held_key(kind, name)
            aspects = {a: self.slots[key, a] for a in _OF_LISTS if (key, a) in self.slots}
            held[self.index[name]] = _core.ListSlots(**aspects)
        return _core.SectionPlan(
            by_page=kind.by is not None,
            ender=None if kind.ends is None else self.index[kind.ends],
            ended=self.slot(-1 - self.rules.rows.index(kind), "count"),
            held=list(held.items()),
        )

    def held_key(self, kind: RowKind, name: str) -> int:
        """The key of slots of a field in the open section; below those of rows and orders."""
        rows, fields = self.rules.rows, self.rules.fields
        number = rows.index(kind) * len(fields) + self.index[name]
        return -1 - len(rows) - len(self.rules.orders) - number

    def presence(self, name: str) -> int:
        return self.slot(self.index[name], "count")

    def sum_of_rows(
        self, kind: str, name: str, condition: Node, rule: ParsedRule
    ) -> tuple[int, int]:
        key = kind, name, f"{condition.text} +- {rule.tolerance}"
        if key not in self.sums:
            each = next(one for one in self.rules.rows if one.name == kind)
            if each.of is not None:
                raise NeedsPython(f"a sum over some sections ({kind})")
            planner = RowPlanner(self, each)
            program = Assembler(planner, replace(rule, each=each))
            program.emit(condition)
            lookup = planner.lookup(name, "", "number", lambda value, _: value)
            at = -1 - len(self.rules.rows) * (1 + len(self.rules.fields)) - len(self.rules.orders)
            at -= len(self.sums)
            slots = self.slot(at, "readable"), self.slot(at, "sum")
            self.slots_of_sums[key] = slots
            self.sums[key] = _core.RowSum(
                condition=program.core(), lookup=lookup, readable=slots[0], sum=slots[1]
            )
        return self.slots_of_sums[key]

    def order_plan(self, order: Order) -> _core.OrderPlan:
        ranks = {name: rank for rank, name in enumerate(order.fields, 1)}
        return _core.OrderPlan(
            # After those of rows.
            slot=self.slot(-1 - len(self.rules.rows) - self.rules.orders.index(order), "first"),
            ranks=[ranks.get(f.name, 0) for f in self.rules.fields],
            weight=order.weight or 0.0,
        )

    def lookup(self, name: str | None, text: str, kind: str, evaluate: Evaluate) -> int:
        if name is None:
            return self.lookup_in(None, self.slot(*self.constant), text, kind, evaluate, None)
        field = self.index[name]
        f = self.rules.fields[field]
        slot = None if f.many else self.slot(field, "first")
        return self.lookup_in(field, slot, text, kind, evaluate, f.default)

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
        key = (-1 - (field or 0) if slot is None else slot), text
        if key not in self.lookup_of:
            self.lookup_of[key] = len(self.lookups)
            self.lookups.append(_Lookup(field, evaluate, default, kind, slot or 0))
        return self.lookup_of[key]

    def numbers(self, field: int) -> int:
        """The lookup of a list's values as numbers."""
        if field not in self.numbers_of:
            f = self.rules.fields[field]
            self.numbers_of[field] = self.lookup(f.name, "", f.kind, lambda value, _: value)
        return self.numbers_of[field]

    def add_slots_for_field(self, index: int, f: Field) -> None:
        """Adds the slots that ``presence`` and ``repeat`` need; with ``whole``, for all values."""
        if f.name in self.row_of and f.presence != "free":
            self.slot(index, "kept")
        if f.name in self.rules.printed:
            # Numbered as texts, so that every value has a known number.
            self.equal_of[index] = self.lookup(
                f.name, "equal", "text", lambda value, _: unprinted(value)
            )
        if f.many:
            if self.whole or f.presence != "free":
                self.slot(index, "readable")
            if self.whole:
                self.slot(index, "all")
            return
        if self.whole or f.presence != "free" or f.repeat == "agree" or f.name in self.present:
            self.slot(index, "first")
        if f.repeat == "agree":
            self.slot(index, "disagrees")

    def add_slots_for_python(self, rule: ParsedRule) -> None:
        """Adds slots for all that a rule in Python can see, so that no two readings are merged."""
        for name in rule.names:
            index = self.index[name]
            f = self.rules.fields[index]
            self.seen_by_python.add(index)
            if rule.function is None or rule.when is not None:
                self.slot(index, "count")
            if name in rule.places:
                self.slot(index, "places")
            if f.many:
                self.slot(index, "readable")
            if f.many or f.repeat == "any":
                self.slot(index, "all")
            if not f.many:
                self.slot(index, "first")


def _kinds(rule: ParsedRule, rules: Rules) -> list[RowKind]:
    """The kinds of rows whose structure a rule can see: those of its fields and its own."""
    return [kind for kind in rules.rows if kind == rule.each or rule.names & set(kind.fields)]
