"""An expression as a native program, and where it is one, as an equation.

A program puts together what is known of single fields, by sums, comparisons and logic: numbers that
are looked up by a field's value, and what the search has counted and added up on its way.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from datetime import date
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from lawful import _core
from lawful._core import Op
from lawful.rules import language
from lawful.rules.definitions import CompiledRule, Field, Rules

MOST_DECIMALS = 24
LARGEST_FACTOR = 10**9

Aspect: TypeAlias = Literal[
    "first", "disagrees", "count", "readable", "sum", "least", "greatest", "all"
]
"""What the search may remember of a field: the slots of ``_core.FieldPlan``."""


_COMPARE = {
    "==": Op.equal,
    "!=": Op.unequal,
    "<": Op.below,
    "<=": Op.at_most,
    ">": Op.above,
    ">=": Op.at_least,
}


class NeedsPython(Exception):  # noqa: N818 - it is no error
    """The expression needs Python, for this reason."""


class Planner(Protocol):
    """Who hands out slots of the state and lookups, to all rules together."""

    rules: Rules
    known: dict[str, tuple[str, bool]]  # fields as name -> (kind, is a list)
    index: dict[str, int]

    def slot(self, field: int, aspect: Aspect) -> int:
        """The slot for what is remembered of a field."""

    def lookup(self, field: int, text: str, type_: str, evaluate: Callable[[Any], Any]) -> int:
        """The table of an expression over one field, by its text."""

    def numbers(self, field: int) -> int:
        """The table of a list's values as numbers."""


class Term(NamedTuple):
    """A multiple of something in an equation."""

    kind: _core.TermKind
    field: int
    lookup: int
    factor: Decimal


class Assembler:
    """Compiles one rule to a program."""

    def __init__(self, planner: Planner, rule: CompiledRule) -> None:
        self.planner = planner
        self.rule = rule
        self.code: list[_core.Instruction] = []
        self.constants: list[int] = []
        self.fields: set[int] = set()
        self.any: set[int] = set()  # fields of which any value will do
        self.early = True  # reads fields by their first values only

    def compile(self) -> None:
        rule = self.rule
        if rule.expression is None:
            raise NeedsPython("a Python function")
        if rule.when is not None:
            self.emit(rule.when.tree)
        self.emit(rule.expression.tree)
        if rule.when is not None:
            self.add(Op.idle)
            self.add(Op.choose)

    def core(self) -> _core.Program:
        return _core.Program(self.code, self.constants)

    def add(self, op: Op, operand: int = 0, index: int = 0) -> None:
        self.code.append(_core.Instruction(op, operand, index))

    def constant(self, value: int) -> int:
        if abs(value) >= _core.NUMBER_LIMIT:
            raise NeedsPython("a number of too many digits")
        self.constants.append(value)
        return len(self.constants) - 1

    # One expression: leaves its outcome on the stack, and says with how many decimals.

    def emit(self, node: ast.expr) -> int:
        compiler = self.checker()
        typed = compiler.compile(node)
        reads = compiler.reads
        if not reads:
            return self.emit_constant(typed.evaluate({}))
        if len(reads) == 1 and not _asks_how_often(node):
            (name,) = reads
            f = self.planner.rules.fields[self.planner.index[name]]
            if not f.many:
                self.check_divisions(node)
                return self.emit_lookup(f, typed)
        method = getattr(self, f"emit_{type(node).__name__.lower()}", None)
        if method is None:
            raise NeedsPython(f"{typed.text}: not arithmetic, comparison or logic")
        decimals: int = method(node)
        if decimals > MOST_DECIMALS:
            raise NeedsPython(f"{typed.text}: too many decimals")
        return decimals

    def check_divisions(self, node: ast.expr) -> None:
        """Refuses quotients that most often have more decimals than fit."""
        for part in ast.walk(node):
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div):
                _inverse(self.constant_value(part.right))

    def emit_constant(self, value: Any) -> int:
        if value is None:
            self.add(Op.absent)
            return 0
        if isinstance(value, bool):
            number, decimals = int(value), 0
        elif isinstance(value, date):
            number, decimals = value.toordinal(), 0
        elif isinstance(value, Decimal):
            number, decimals = _scaled(value)
        elif isinstance(value, Fraction):
            raise NeedsPython("a quotient that does not come out even")
        else:
            raise NeedsPython("a text beside other fields")
        self.add(Op.constant, 0, self.constant(number))
        return decimals

    def emit_lookup(self, f: Field, typed: language.Node) -> int:
        field = self.planner.index[f.name]
        self.add(Op.lookup, 0, self.lookup_of(f, typed))
        self.fields.add(field)
        return _core.SCALE if typed.type == "number" else 0

    def lookup_of(self, f: Field, typed: language.Node) -> int:
        if f.repeat == "any":
            self.any.add(self.planner.index[f.name])
            self.planner.slot(self.planner.index[f.name], "all")
            self.early = False
        name, evaluate = f.name, typed.evaluate
        return self.planner.lookup(
            self.planner.index[name],
            f"{typed.text} +- {self.rule.tolerance}",
            typed.type,
            lambda value: evaluate({name: value}),
        )

    def aligned(self, *operands: ast.expr, decimals: int = 0, fold: Op | None = None) -> int:
        """The operands, all with as many decimals as the one that has the most."""
        parts = [self.part(operand) for operand in operands]
        most = max(decimals, *(has for _, has in parts))
        for at, (code, has) in enumerate(parts):
            self.code += code
            if has < most:
                self.add(Op.scale, most - has)
            if at and fold is not None:
                self.add(fold, 2)
        return most

    def part(self, node: ast.expr) -> tuple[list[_core.Instruction], int]:
        before, self.code = self.code, []
        decimals = self.emit(node)
        code, self.code = self.code, before
        return code, decimals

    def emit_binop(self, node: ast.BinOp) -> int:
        sign = language.OPERATORS[type(node.op)]
        compiler = self.checker()
        left, right = compiler.compile(node.left), compiler.compile(node.right)
        if left.type == "date" and right.type == "number":
            raise NeedsPython("a date shifted by what another field says")
        if sign in "+-":
            decimals = self.aligned(node.left, node.right)
            self.add(Op.add if sign == "+" else Op.subtract)
            return decimals
        if sign == "*":
            decimals = self.emit(node.left) + self.emit(node.right)
            self.add(Op.multiply)
            return decimals
        factor, more = _scaled(_inverse(self.constant_value(node.right)))
        decimals = self.emit(node.left) + more
        self.add(Op.constant, 0, self.constant(factor))
        self.add(Op.multiply)
        return decimals

    def constant_value(self, node: ast.expr) -> Decimal:
        compiler = self.checker()
        typed = compiler.compile(node)
        value = None if compiler.reads else typed.evaluate({})
        if not isinstance(value, Decimal):
            raise NeedsPython(f"a division by {typed.text}")
        return value

    def emit_unaryop(self, node: ast.UnaryOp) -> int:
        decimals = self.emit(node.operand)
        if isinstance(node.op, ast.Not):
            self.add(Op.not_)
        elif isinstance(node.op, ast.USub):
            self.add(Op.negate)
        return decimals

    def emit_boolop(self, node: ast.BoolOp) -> int:
        for at, value in enumerate(node.values):
            self.emit(value)
            if at:  # two at a time, so that the stack stays low
                self.add(Op.and_ if isinstance(node.op, ast.And) else Op.or_, 2)
        return 0

    def emit_compare(self, node: ast.Compare) -> int:
        operands = [node.left, *node.comparators]
        for at, (left, op, right) in enumerate(zip(operands, node.ops, operands[1:], strict=False)):
            sign = language.COMPARISONS.get(type(op))
            if sign is None:
                raise NeedsPython("a list of texts beside other fields")
            tolerance = self.tolerance(left, right)
            _, decimals = _scaled(tolerance)
            decimals = self.aligned(left, right, decimals=decimals)
            if decimals > MOST_DECIMALS:
                raise NeedsPython("too many decimals")
            self.add(_COMPARE[sign], 0, self.constant(int(tolerance.scaleb(decimals))))
            if at:
                self.add(Op.and_, 2)
        return 0

    def type_of(self, node: ast.expr) -> str:
        return self.checker().compile(node).type

    def checker(self) -> language.Compiler:
        return language.Compiler("", self.planner.known, self.rule.tolerance)

    def tolerance(self, left: ast.expr, right: ast.expr) -> Decimal:
        """How far two sides may be apart and still be equal."""
        compiler = self.checker()
        a, b = compiler.compile(left), compiler.compile(right)
        return (
            self.rule.tolerance if a.type == "number" and not (a.exact and b.exact) else Decimal()
        )

    def emit_ifexp(self, node: ast.IfExp) -> int:
        self.emit(node.test)
        decimals = self.aligned(node.body, node.orelse)
        self.add(Op.choose)
        return decimals

    def emit_call(self, node: ast.Call) -> int:
        name = node.func.id  # type: ignore[attr-defined]
        method = getattr(self, f"call_{name}", None)
        if method is None:
            raise NeedsPython(f"{name} of more than one field")
        decimals: int = method(node)
        return decimals

    def call_abs(self, node: ast.Call) -> int:
        decimals = self.emit(node.args[0])
        self.add(Op.abs)
        return decimals

    def call_round(self, node: ast.Call) -> int:
        decimals = self.emit(node.args[0])
        places = node.args[1].value if len(node.args) == 2 else 0  # type: ignore[attr-defined]
        if decimals > places:
            self.add(Op.round, 0, self.constant(10 ** (decimals - places)))
        return decimals

    def call_min(self, node: ast.Call) -> int:
        return self.extreme(node, "least", Op.least)

    def call_max(self, node: ast.Call) -> int:
        return self.extreme(node, "greatest", Op.greatest)

    def extreme(self, node: ast.Call, aspect: Aspect, op: Op) -> int:
        if len(node.args) == 1:
            return self.of_list(node, aspect)
        return self.aligned(*node.args, fold=op)

    def call_sum(self, node: ast.Call) -> int:
        return self.of_list(node, "sum")

    def of_list(self, node: ast.Call, aspect: Aspect) -> int:
        field = self.field_of(node)
        self.planner.numbers(field)
        readable = self.planner.slot(field, "readable")
        self.add(Op.of_list, readable, self.planner.slot(field, aspect))
        return _core.SCALE if self.planner.rules.fields[field].kind == "number" else 0

    def field_of(self, node: ast.Call) -> int:
        self.early = False
        return self.planner.index[node.args[0].id]  # type: ignore[attr-defined]

    def call_count(self, node: ast.Call) -> int:
        self.add(Op.slot, 0, self.planner.slot(self.field_of(node), "count"))
        return 0

    def call_present(self, node: ast.Call) -> int:
        self.call_count(node)
        self.add(Op.constant, 0, self.constant(0))
        self.add(Op.above, 0, self.constant(0))
        return 0

    # The rule as an equation, for the bounds of the search.

    def equation(self) -> _core.Equation | None:
        """The rule with whole numbers as factors; ``None`` for what is no equation."""
        rule = self.rule
        if rule.when is not None or rule.weight == 0 or self.any or rule.expression is None:
            return None
        try:
            terms, constant, tolerance = self.linear(rule.expression.tree)
        except (NeedsPython, Inexact):
            return None
        factors = [term.factor for term in terms]
        decimals = max((_scaled(number)[1] for number in (*factors, constant)), default=0)
        unit = Decimal(10) ** decimals
        whole = [int(factor * unit) for factor in factors]
        if not terms or decimals > MOST_DECIMALS or max(map(abs, whole)) > LARGEST_FACTOR:
            return None
        unit *= 10**_core.SCALE
        numbers = int(constant * unit), int(tolerance * unit)
        if max(map(abs, numbers)) >= 2**100:
            return None
        return _core.Equation(
            terms=[
                _core.Term(kind=term.kind, field=term.field, lookup=term.lookup, factor=factor)
                for term, factor in zip(terms, whole, strict=True)
            ],
            constant=numbers[0],
            tolerance=numbers[1],
            weight=rule.weight,
            unchecked=rule.unchecked,
            early=self.early,
        )

    def linear(self, node: ast.expr) -> tuple[list[Term], Decimal, Decimal]:
        """The two sides of an equation as one, and the tolerance: all may be that far from 0."""
        if not isinstance(node, ast.Compare) or len(node.ops) > 1:
            raise NeedsPython
        left, op, right = node.left, node.ops[0], node.comparators[0]
        if self.type_of(left) != "number":
            raise NeedsPython
        tolerance = self.tolerance(left, right)
        if isinstance(op, ast.Eq):
            terms, constant = self.terms(ast.BinOp(left, ast.Sub(), right), Decimal(1))
            return terms, constant, tolerance
        distance = isinstance(left, ast.Call) and left.func.id == "abs"  # type: ignore[attr-defined]
        if not isinstance(op, ast.LtE) or not distance:
            raise NeedsPython
        terms, constant = self.terms(left.args[0], Decimal(1))  # type: ignore[attr-defined]
        return terms, constant, tolerance + self.constant_value(right)

    def terms(self, node: ast.expr, factor: Decimal) -> tuple[list[Term], Decimal]:
        compiler = self.checker()
        typed = compiler.compile(node)
        if typed.type != "number":
            raise NeedsPython
        if not compiler.reads:
            return [], factor * self.constant_value(node)
        if isinstance(node, ast.BinOp):
            return self.terms_of_binop(node, factor)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self.terms(node.operand, -factor)
        if len(compiler.reads) > 1:
            raise NeedsPython
        return [self.term(node, typed, next(iter(compiler.reads)), factor)], Decimal()

    def term(self, node: ast.expr, typed: language.Node, name: str, factor: Decimal) -> Term:
        """A part of an equation that is about one field."""
        field = self.planner.index[name]
        f = self.planner.rules.fields[field]
        if not _asks_how_often(node) and not f.many:
            return Term(_core.TermKind.first, field, self.lookup_of(f, typed), factor)
        if _is_call(node, "count"):
            return Term(_core.TermKind.count, field, 0, factor)
        if _is_call(node, "sum"):
            return Term(_core.TermKind.sum, field, self.planner.numbers(field), factor)
        if _is_sum_or_zero(node):
            return Term(_core.TermKind.sum_or_zero, field, self.planner.numbers(field), factor)
        raise NeedsPython

    def terms_of_binop(self, node: ast.BinOp, factor: Decimal) -> tuple[list[Term], Decimal]:
        if isinstance(node.op, ast.Add | ast.Sub):
            left, constant = self.terms(node.left, factor)
            sign = -1 if isinstance(node.op, ast.Sub) else 1
            right, more = self.terms(node.right, sign * factor)
            return left + right, constant + more
        if isinstance(node.op, ast.Div):
            return self.terms(node.left, factor * _inverse(self.constant_value(node.right)))
        for one, other in ((node.left, node.right), (node.right, node.left)):
            try:
                return self.terms(other, factor * self.constant_value(one))
            except NeedsPython:
                continue
        raise NeedsPython


def _asks_how_often(node: ast.expr) -> bool:
    """Whether it asks how often a field occurs, and not only what its value is."""
    return any(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Name)
        and part.func.id in ("present", "count")
        for part in ast.walk(node)
    )


def _is_call(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Call) and node.func.id == name  # type: ignore[attr-defined]


def _is_sum_or_zero(node: ast.expr) -> bool:
    """Whether it is ``sum(x) if present(x) else 0``."""
    return (
        isinstance(node, ast.IfExp)
        and _is_call(node.test, "present")
        and _is_call(node.body, "sum")
        and isinstance(node.orelse, ast.Constant)
        and node.orelse.value == 0
    )


_ROOMY = Context(prec=5000)  # more digits than an expression may have characters


def _scaled(number: Decimal) -> tuple[int, int]:
    """A decimal as a whole number and how many decimals it has."""
    sign, digits, exponent = number.normalize(_ROOMY).as_tuple()
    assert isinstance(exponent, int)  # noqa: S101 - it is finite
    decimals = max(0, -exponent)
    whole = int("".join(map(str, digits))) * 10 ** max(0, exponent)
    return (-whole if sign else whole), decimals


def _inverse(number: Decimal) -> Decimal:
    if number == 0:
        raise NeedsPython("a division by zero")
    try:
        inverse = 1 / number
    except Inexact:
        raise NeedsPython(f"a division by {number}") from None
    if _scaled(inverse)[1] > MOST_DECIMALS:
        raise NeedsPython(f"a division by {number}")
    return inverse
