"""The operators of the rule language: arithmetic, logic and choice, and the list of all syntax.

One class per operator: ``parse`` checks it, ``evaluate`` and ``emit`` are its two back ends. To add
an operator, write a class here and list its syntax in ``SYNTAX``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, DecimalException
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from lawful._core import Op
from lawful.rules.compiled.program import Assembler, NeedsPython, constant_value, inverse, scaled
from lawful.rules.language.arithmetic import difference, exactly, negative, shift
from lawful.rules.language.comparisons import objections_of, parse_comparison
from lawful.rules.language.nodes import Environment, Kind, Node, described
from lawful.rules.language.operands import Constant, FieldName

if TYPE_CHECKING:
    from lawful.rules.language.expression import Parser


@dataclass(frozen=True, eq=False)
class Negation(Node):
    """The opposite of a number: ``-x``."""

    operand: Node
    strict: ClassVar[bool] = True

    @property
    def exact(self) -> bool:
        return self.operand.exact

    def evaluate(self, environment: Environment) -> Any:
        value = self.operand.evaluate(environment)
        return None if value is None else negative(value)

    def emit(self, program: Assembler) -> int:
        decimals = program.emit(self.operand)
        program.add(Op.negate)
        return decimals

    def write(self, environment: Environment, *, within: int = 0) -> str:
        del within
        return f"-{self.operand.write(environment, within=2)}"


@dataclass(frozen=True, eq=False)
class Not(Node):
    """The negation of a condition."""

    operand: Node

    def evaluate(self, environment: Environment) -> bool | None:
        value = self.operand.evaluate(environment)
        return None if value is None else not value

    def emit(self, program: Assembler) -> int:
        program.emit(self.operand)
        program.add(Op.not_)
        return 0


def parse_unary(parser: Parser, node: ast.UnaryOp) -> Node:
    """A sign or ``not``."""
    if isinstance(node.op, ast.Not):
        operand = parser.condition(node.operand, "not")
        return Not(parser.text_of(node), "condition", operand)
    operand = parser.number(node.operand, "a sign")
    if isinstance(node.op, ast.USub):
        return Negation(parser.text_of(node), "number", operand)
    if isinstance(node.op, ast.UAdd):
        return operand
    raise parser.fail("~ is not part of the rule language", node)


@dataclass(frozen=True, eq=False)
class Junction(Node):
    """Conditions joined by ``and`` or by ``or``, in Kleene's three-valued logic."""

    parts: tuple[Node, ...]
    decisive: bool  # the value of a part that decides the whole: true for or, false for and

    @classmethod
    def parse(cls, parser: Parser, node: ast.BoolOp) -> Junction:
        """Checks that all parts are conditions."""
        either = isinstance(node.op, ast.Or)
        parts = [parser.condition(value, "or" if either else "and") for value in node.values]
        return cls(parser.text_of(node), "condition", tuple(parts), either)

    def evaluate(self, environment: Environment) -> bool | None:
        unknown = False
        for part in self.parts:
            value: bool | None = part.evaluate(environment)
            if value is self.decisive:
                return value
            unknown |= value is None
        return None if unknown else not self.decisive

    def emit(self, program: Assembler) -> int:
        program.fold(self.parts, Op.or_ if self.decisive else Op.and_)
        return 0

    def facts(self, environment: Environment) -> Iterator[str]:
        true = [part for part in self.parts if part.evaluate(environment) is True]
        for part in true[: 1 if self.decisive else None]:
            yield from part.facts(environment)

    def objections(self, environment: Environment) -> Iterator[str]:
        yield from objections_of(self.parts, environment)


@dataclass(frozen=True, eq=False)
class Arithmetic(Node):
    """Two values added, subtracted, multiplied or divided; unknown after a division by zero."""

    sign: str
    left: Node
    right: Node
    operation: Callable[[Any, Any], Any] = field(repr=False)
    strict: ClassVar[bool] = True

    @classmethod
    def parse(cls, parser: Parser, node: ast.BinOp) -> Arithmetic:
        """Checks that the operation is defined for the two kinds."""
        left, right = parser.node(node.left), parser.node(node.right)
        sign = ARITHMETIC.get(type(node.op))
        if sign is None:
            raise parser.unknown(node.op, node)
        if (left.kind, sign, right.kind) not in _OPERATIONS:
            raise parser.fail(f"cannot calculate {described(left)} {sign} {described(right)}", node)
        kind, operation = _OPERATIONS[left.kind, sign, right.kind]
        return cls(parser.text_of(node), kind, sign, left, right, operation)

    @property
    def exact(self) -> bool:
        days = self.left.kind == self.right.kind == "date"
        return days or (self.left.exact and self.right.exact)

    def evaluate(self, environment: Environment) -> Any:
        left, right = self.left.evaluate(environment), self.right.evaluate(environment)
        if left is None or right is None:
            return None
        try:
            return self.operation(left, right)
        except (DecimalException, ZeroDivisionError, OverflowError):
            return None  # such as a division by zero: unknown, which violates no rule

    def check_tabulates(self) -> None:
        super().check_tabulates()
        if self.sign == "/":
            inverse(constant_value(self.right))

    def emit(self, program: Assembler) -> int:
        if self.left.kind == "date" and self.right.kind == "number":
            raise NeedsPython("a date shifted by another field")
        if self.sign in "+-":
            decimals = program.aligned(self.left, self.right)
            program.add(Op.add if self.sign == "+" else Op.subtract)
            return decimals
        if self.sign == "*":
            decimals = program.emit(self.left) + program.emit(self.right)
        else:
            factor, more = scaled(inverse(constant_value(self.right)))
            decimals = program.emit(self.left) + more
            program.add_constant(factor)
        program.add(Op.multiply)
        return decimals

    def write(self, environment: Environment, *, within: int = 0) -> str:
        level = 1 if self.sign in "+-" else 2
        left = self.left.write(environment, within=level)
        right = self.right.write(environment, within=level + (self.sign in "-/"))
        text = f"{left} {self.sign} {right}"
        return f"({text})" if within > level else text


ARITHMETIC: Mapping[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
}


_OPERATIONS: Mapping[tuple[Kind, str, Kind], tuple[Kind, Callable[[Any, Any], Any]]] = {
    ("number", "+", "number"): ("number", exactly(lambda a, b: a + b)),
    ("number", "-", "number"): ("number", difference),
    ("number", "*", "number"): ("number", exactly(lambda a, b: a * b)),
    ("number", "/", "number"): ("number", exactly(lambda a, b: a / b)),
    ("date", "-", "date"): ("number", lambda a, b: Decimal((a - b).days)),
    ("date", "+", "number"): ("date", shift),
    ("date", "-", "number"): ("date", lambda a, b: shift(a, -b)),
}


@dataclass(frozen=True, eq=False)
class Conditional(Node):
    """One value or another: ``a if condition else b``."""

    test: Node
    then: Node
    otherwise: Node

    @classmethod
    def parse(cls, parser: Parser, node: ast.IfExp) -> Conditional:
        """Checks that both values are of one kind."""
        test = parser.condition(node.test, "if")
        then, otherwise = parser.node(node.body), parser.node(node.orelse)
        if then.kind != otherwise.kind:
            message = f"one side is a {described(then)}, the other a {described(otherwise)}"
            raise parser.fail(message, node)
        return cls(parser.text_of(node), then.kind, test, then, otherwise)

    @cached_property
    def children(self) -> tuple[Node, ...]:
        return self.then, self.test, self.otherwise

    @property
    def exact(self) -> bool:
        return self.then.exact and self.otherwise.exact

    def evaluate(self, environment: Environment) -> Any:
        holds = self.test.evaluate(environment)
        if holds is None:
            return None
        return (self.then if holds else self.otherwise).evaluate(environment)

    def missing(self, environment: Environment) -> Iterator[str]:
        holds = self.test.evaluate(environment)
        part = self.test if holds is None else self.then if holds else self.otherwise
        yield from part.missing(environment)

    def emit(self, program: Assembler) -> int:
        program.emit(self.test)
        decimals = program.aligned(self.then, self.otherwise)
        program.add(Op.choose)
        return decimals

    def write(self, environment: Environment, *, within: int = 0) -> str:
        chosen = self.then if self.test.evaluate(environment) else self.otherwise
        return chosen.write(environment, within=within)


SYNTAX: Mapping[type[ast.expr], Callable[[Parser, Any], Node]] = {
    ast.Constant: Constant.parse,
    ast.Name: FieldName.parse,
    ast.Attribute: FieldName.parse_dotted,
    ast.UnaryOp: parse_unary,
    ast.BoolOp: Junction.parse,
    ast.BinOp: Arithmetic.parse,
    ast.Compare: parse_comparison,
    ast.IfExp: Conditional.parse,
}
"""Parsers by Python's syntax: each checks an operator and makes its node."""
