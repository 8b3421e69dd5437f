"""Native programs: a rule as instructions for the core's stack machine.

A program combines numbers of single fields by arithmetic, comparisons and logic: numbers looked up
by a field's value, and counts and sums in the state of the search. Nodes of an expression ``emit``
themselves; the assembler here decides which nodes are constants and which are lookups, and keeps
decimals aligned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from lawful import _core
from lawful._core import SCALE, Op

if TYPE_CHECKING:
    from lawful.rules.language.nodes import Node
    from lawful.rules.parsed_rule import ParsedRule
    from lawful.rules.rule_set import Rules

MAX_DECIMALS = 24

Aspect: TypeAlias = Literal[
    "first", "disagrees", "count", "readable", "sum", "least", "greatest", "all", "places",
    "in_row", "kept", "previous",
]  # fmt: skip
"""The parts of a field's state in the search: the slots of ``_core.FieldPlan``, and its value in
the row before."""


Evaluate: TypeAlias = Callable[[Any, Mapping[str, Any]], Any]
"""The result of an expression of one field's value, or ``None``, and of a document's given
values."""


class NeedsPython(Exception):  # noqa: N818 - it is no error
    """The expression cannot be compiled, for this reason."""


class Planner(Protocol):
    """Allots slots of the state and lookups, shared by all rules."""

    rules: Rules
    index: Mapping[str, int]  # of the field of each name

    def is_list(self, name: str) -> bool:
        """Whether the name stands for several values, of which a rule sees some aggregate."""

    def slot(self, field: int, aspect: Aspect) -> int:
        """The slot of one part of a field's state."""

    def lookup(self, name: str | None, text: str, kind: str, evaluate: Evaluate) -> int:
        """The index of the lookup of an expression over one name, shared by equal texts.

        Without a name, the expression is over given values alone.
        """

    def numbers(self, field: int) -> int:
        """The index of the lookup of a list's values as numbers."""

    def presence(self, name: str) -> int:
        """The slot that is above 0 if the name has a span, readable or not."""

    def sum_of_rows(
        self, kind: str, name: str, condition: Node, rule: ParsedRule
    ) -> tuple[int, int]:
        """The slots of a sum over the rows that meet a condition: if it is known, and the sum."""


class Assembler:
    """Assembles the program of one rule."""

    def __init__(self, planner: Planner, rule: ParsedRule) -> None:
        self.planner = planner
        self.rule = rule
        self.given = planner.rules.constants.keys()
        self.code: list[_core.Instruction] = []
        self.constants: list[int] = []
        self.fields: set[int] = set()
        self.any: set[int] = set()  # fields with ``repeat: any``
        self.early = True  # the rule reads nothing but first values of fields

    def assemble(self) -> None:
        """Emits the whole rule; it is idle if its ``when`` does not hold."""
        rule = self.rule
        if rule.expression is None:
            raise NeedsPython("a Python function")
        if rule.when is not None:
            self.emit(rule.when.root)
        self.emit(rule.expression.root)
        if rule.when is not None:
            self.add(Op.idle)
            self.add(Op.choose)

    def core(self) -> _core.Program:
        """The program in the core's form."""
        return _core.Program(self.code, self.constants)

    def emit(self, node: Node) -> int:
        """Leaves the value of a node on the stack; returns its decimals."""
        if not node.reads:
            return self._emit_value(node.evaluate({}))
        if node.reads <= self.given:
            node.check_tabulates()
            text = f"{node.text} +- {self.rule.tolerance}"
            evaluate = node.evaluate
            self.add(
                Op.lookup,
                0,
                self.planner.lookup(None, text, node.kind, lambda _, given: evaluate(given)),
            )
            return SCALE if node.kind == "number" else 0
        if (name := self.single_name(node)) is not None:
            node.check_tabulates()
            self.add(Op.lookup, 0, self.lookup(name, node))
            self.fields.add(self.planner.index[name])
            return SCALE if node.kind == "number" else 0
        decimals = node.emit(self)
        if decimals > MAX_DECIMALS:
            raise NeedsPython(f"{node.text}: too many decimals")
        return decimals

    def single_name(self, node: Node) -> str | None:
        """The name that alone decides a node's value, so that it can be looked up, or ``None``."""
        names = node.reads - self.given
        if len(names) != 1 or node.counts:
            return None
        (name,) = names
        return None if self.planner.is_list(name) else name

    def lookup(self, name: str, node: Node) -> int:
        """The index of the lookup of a node over one name."""
        evaluate, field = node.evaluate, self.planner.index[name]
        if self.rule.each is None and self.planner.rules.fields[field].repeat == "any":
            self.any.add(field)
            self.planner.slot(field, "all")
            self.early = False
        text = f"{node.text} +- {self.rule.tolerance}"
        return self.planner.lookup(
            name, text, node.kind, lambda value, given: evaluate({**given, name: value})
        )

    # Instructions, for the ``emit`` of nodes.

    def add(self, op: Op, operand: int = 0, index: int = 0) -> None:
        """Adds one instruction."""
        self.code.append(_core.Instruction(op, operand, index))

    def constant(self, value: int) -> int:
        """The index of a constant."""
        if abs(value) >= _core.NUMBER_LIMIT:
            raise NeedsPython("a number with too many digits")
        self.constants.append(value)
        return len(self.constants) - 1

    def add_constant(self, value: int) -> None:
        """Leaves a constant on the stack."""
        self.add(Op.constant, 0, self.constant(value))

    def add_count(self, name: str) -> None:
        """Leaves the number of spans of a field on the stack."""
        self.early = False
        self.add(Op.slot, 0, self.planner.slot(self.planner.index[name], "count"))

    def add_presence(self, name: str) -> None:
        """Leaves whether a name has a span on the stack."""
        self.early = False
        self.add(Op.slot, 0, self.planner.presence(name))
        self.add_constant(0)
        self.add(Op.above, 0, self.constant(0))

    def add_aggregate(self, name: str, aspect: Aspect) -> int:
        """Leaves the sum, the least or the greatest value of a list on the stack."""
        self.early = False
        field = self.planner.index[name]
        self.planner.numbers(field)
        readable = self.planner.slot(field, "readable")
        self.add(Op.of_list, readable, self.planner.slot(field, aspect))
        return SCALE if self.planner.rules.fields[field].kind == "number" else 0

    def add_sum_of_rows(self, kind: str, name: str, condition: Node) -> int:
        """Leaves the sum of a field over some rows on the stack."""
        self.early = False
        readable, total = self.planner.sum_of_rows(kind, name, condition, self.rule)
        self.add(Op.of_list, readable, total)
        return SCALE

    def aligned(self, *operands: Node, decimals: int = 0, fold: Op | None = None) -> int:
        """Emits the operands, scaled to the decimals of the one that has the most; returns these.

        With ``fold``, each operand is combined with those before it, so that the stack stays low.
        """
        parts = [self._part(operand) for operand in operands]
        most = max(decimals, *(has for _, has in parts))
        if most > MAX_DECIMALS:
            raise NeedsPython("too many decimals")
        for at, (code, has) in enumerate(parts):
            self.code += code
            if has < most:
                self.add(Op.scale, most - has)
            if at and fold is not None:
                self.add(fold, 2)
        return most

    def fold(self, conditions: Sequence[Node], op: Op) -> None:
        """Emits conditions joined by an operation, two at a time, so that the stack stays low."""
        for at, condition in enumerate(conditions):
            self.emit(condition)
            if at:
                self.add(op, 2)

    def _part(self, node: Node) -> tuple[list[_core.Instruction], int]:
        before, self.code = self.code, []
        decimals = self.emit(node)
        code, self.code = self.code, before
        return code, decimals

    def _emit_value(self, value: Any) -> int:
        if value is None:
            self.add(Op.absent)
            return 0
        if isinstance(value, bool):
            number, decimals = int(value), 0
        elif isinstance(value, date):
            number, decimals = value.toordinal(), 0
        elif isinstance(value, Decimal):
            number, decimals = scaled(value)
        elif isinstance(value, Fraction):
            raise NeedsPython("a quotient that does not come out even")
        else:
            raise NeedsPython("a text next to other fields")
        self.add_constant(number)
        return decimals


def constant_value(node: Node) -> Decimal:
    """The value of a node that reads no field."""
    value = None if node.reads else node.evaluate({})
    if not isinstance(value, Decimal):
        raise NeedsPython(f"a division by {node.text}")
    return value


_ROOMY = Context(prec=5000)  # more digits than an expression may have characters


def scaled(number: Decimal) -> tuple[int, int]:
    """A decimal as a whole number and a number of decimals."""
    sign, digits, exponent = number.normalize(_ROOMY).as_tuple()
    assert isinstance(exponent, int)  # noqa: S101 - it is finite
    decimals = max(0, -exponent)
    whole = int("".join(map(str, digits))) * 10 ** max(0, exponent)
    return (-whole if sign else whole), decimals


def inverse(number: Decimal) -> Decimal:
    """One over the number; raises ``NeedsPython`` if that has too many decimals."""
    if number == 0:
        raise NeedsPython("a division by zero")
    try:
        quotient = 1 / number
    except Inexact:
        raise NeedsPython(f"a division by {number}") from None
    if scaled(quotient)[1] > MAX_DECIMALS:
        raise NeedsPython(f"a division by {number}")
    return quotient
