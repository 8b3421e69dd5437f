"""The operators of the rule language: names, constants, arithmetic, comparison and logic.

One class per operator: ``parse`` checks it, ``evaluate`` and ``emit`` are its two back ends. To add
an operator, write a class here and list its syntax in ``SYNTAX``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, DecimalException, localcontext
from typing import TYPE_CHECKING, Any

from lawful._core import Op
from lawful.rules.arithmetic import COMPARE, EXACT, difference, exactly, negative, shift
from lawful.rules.nodes import Environment, Kind, Node, described, plain
from lawful.rules.program import Assembler, NeedsPython, constant_value, inverse, scaled

if TYPE_CHECKING:
    from lawful.rules.expression import Parser


@dataclass(frozen=True, eq=False)
class Constant(Node):
    """A number, a text or a truth value."""

    value: Decimal | str | bool

    @classmethod
    def parse(cls, parser: Parser, node: ast.Constant) -> Constant:
        """Checks the constant."""
        value = node.value
        text = parser.text_of(node)
        if isinstance(value, bool):
            return cls(text, "condition", value)
        if isinstance(value, str):
            return cls(text, "text", value)
        if not isinstance(value, int | float):
            name = type(value).__name__
            raise parser.fail(f"constants of type {name} are not part of the rule language", node)
        number = Decimal(repr(value))  # the digits as written, not the nearest binary float
        if not number.is_finite():
            raise parser.fail(f"{value} is not a finite number", node)
        return cls(text, "number", number)

    @property
    def exact(self) -> bool:
        return True

    def evaluate(self, environment: Environment) -> Any:
        del environment
        return self.value

    def write(self, environment: Environment, *, within: int = 0) -> str:
        del environment, within
        return str(self.value)


@dataclass(frozen=True, eq=False)
class FieldName(Node):
    """The value of a field; a tuple of values for a list."""

    many: bool = False

    @classmethod
    def parse(cls, parser: Parser, node: ast.Name | ast.Attribute) -> FieldName:
        """Checks that the field is known and has one value."""
        found = parser.field(node)
        if found.many:
            name = parser.text_of(node)
            raise parser.fail(f"{name} is a list: use sum({name}), count({name}), min or max", node)
        return found

    @classmethod
    def parse_dotted(cls, parser: Parser, node: ast.Attribute) -> Node:
        """A field of rows, or the currency of a field."""
        of_field = isinstance(node.value, ast.Name | ast.Attribute)
        if node.attr == "currency" and of_field and not parser.knows(node):
            return Currency.parse(parser, node)
        return cls.parse(parser, node)

    @property
    def reads(self) -> frozenset[str]:
        return frozenset({self.text})

    def evaluate(self, environment: Environment) -> Any:
        return environment[self.text]

    def names(self) -> Iterator[str]:
        yield self.text


@dataclass(frozen=True, eq=False)
class Currency(Node):
    """The code of the currency that is printed next to an amount; unknown if there is none."""

    field: FieldName

    @classmethod
    def parse(cls, parser: Parser, node: ast.Attribute) -> Currency:
        """Takes a field of type money."""
        assert isinstance(node.value, ast.Name | ast.Attribute)  # noqa: S101 - by the caller
        found = FieldName.parse(parser, node.value)
        if found.text not in parser.amounts:
            raise parser.fail(f"{found.text} is not of type money and has no currency", node)
        return cls(parser.text_of(node), "text", found)

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.field,)

    @property
    def printed(self) -> frozenset[str]:
        return self.reads

    def evaluate(self, environment: Environment) -> str | None:
        return getattr(self.field.evaluate(environment), "currency", None)


@dataclass(frozen=True, eq=False)
class Negation(Node):
    """The opposite of a number: ``-x``."""

    operand: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.operand,)

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

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.operand,)

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

    @property
    def children(self) -> tuple[Node, ...]:
        return self.parts

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


@dataclass(frozen=True, eq=False)
class Arithmetic(Node):
    """Two values added, subtracted, multiplied or divided; unknown after a division by zero."""

    sign: str
    left: Node
    right: Node
    operation: Callable[[Any, Any], Any] = field(repr=False)

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
    def children(self) -> tuple[Node, ...]:
        return self.left, self.right

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
class Comparison(Node):
    """Two values compared; numbers with the rule's tolerance, unless both are exact."""

    sign: str
    left: Node
    right: Node
    tolerance: Decimal | None  # none: compared exactly

    @property
    def children(self) -> tuple[Node, ...]:
        return self.left, self.right

    def evaluate(self, environment: Environment) -> bool | None:
        left, right = self.left.evaluate(environment), self.right.evaluate(environment)
        if left is None or right is None:
            return None
        return COMPARE[self.sign](left, right, self.tolerance)

    def emit(self, program: Assembler) -> int:
        tolerance = self.tolerance or Decimal()
        decimals = program.aligned(self.left, self.right, decimals=scaled(tolerance)[1])
        program.add(_COMPARE[self.sign], 0, program.constant(int(tolerance.scaleb(decimals))))
        return 0

    def facts(self, environment: Environment) -> Iterator[str]:
        both = (self.left, self.right)
        values = [side.evaluate(environment) for side in both]
        written = [side.write(environment) for side in both]
        sides = list(zip(written, map(plain, values), strict=True))
        sign = self.sign
        if sign == "==":
            # The calculation first, then its result.
            sides.sort(key=lambda side: side[0] == side[1])
            sign = "=" if values[0] == values[1] else "≈"
        (one, first), (other, last) = sides
        before = one if one == first else f"{one} = {first}"
        after = other if other == last else f"{last} = {other}"
        yield f"{one} = {after}" if sign == "=" else f"{before} {sign} {after}"


COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}

_COMPARE = {
    "==": Op.equal,
    "!=": Op.unequal,
    "<": Op.below,
    "<=": Op.at_most,
    ">": Op.above,
    ">=": Op.at_least,
}


@dataclass(frozen=True, eq=False)
class Membership(Node):
    """Whether a value equals one of several: ``x in ('a', 'b')``, ``rate in (7, 19)``."""

    operand: Node
    equals: tuple[Comparison, ...]  # with each option
    listed: str  # the options as written
    negated: bool

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.operand,)

    def evaluate(self, environment: Environment) -> bool | None:
        if self.operand.evaluate(environment) is None:
            return None
        return any(each.evaluate(environment) for each in self.equals) != self.negated

    def emit(self, program: Assembler) -> int:
        if not self.equals:
            raise NeedsPython("an empty list next to other fields")
        program.fold(self.equals, Op.or_)
        if self.negated:
            program.add(Op.not_)
        return 0

    def facts(self, environment: Environment) -> Iterator[str]:
        yield f"{self.operand.write(environment)} {'not ' * self.negated}in {self.listed}"


@dataclass(frozen=True, eq=False)
class Chain(Node):
    """Several comparisons in a row, all of which must hold: ``a <= b <= c``."""

    links: tuple[Node, ...]

    @property
    def children(self) -> tuple[Node, ...]:
        return self.links

    def evaluate(self, environment: Environment) -> bool | None:
        values = [link.evaluate(environment) for link in self.links]
        return False if False in values else None if None in values else True

    def emit(self, program: Assembler) -> int:
        program.fold(self.links, Op.and_)
        return 0

    def facts(self, environment: Environment) -> Iterator[str]:
        for link in self.links:
            yield from link.facts(environment)


def parse_comparison(parser: Parser, node: ast.Compare) -> Node:
    """A comparison, a membership, or a chain of them."""
    operands = [node.left, *node.comparators]
    steps = zip(operands, node.ops, operands[1:], strict=False)
    links = [_parse_link(parser, left, op, right, node) for left, op, right in steps]
    return links[0] if len(links) == 1 else Chain(parser.text_of(node), "condition", tuple(links))


def _parse_link(
    parser: Parser, left: ast.expr, op: ast.cmpop, right: ast.expr, node: ast.Compare
) -> Node:
    text = parser.text_of(ast.Compare(left, [op], [right]))
    a = parser.node(left)
    if isinstance(op, ast.In | ast.NotIn):
        equals = _parse_options(parser, a, left, right)
        negated = isinstance(op, ast.NotIn)
        return Membership(text, "condition", a, equals, parser.text_of(right), negated)
    sign = COMPARISONS.get(type(op))
    if sign is None:
        raise parser.fail("'is' is not part of the rule language; write ==", node)
    b = parser.node(right)
    if a.kind != b.kind:
        hint = "; write date('2024-12-31')" if {a.kind, b.kind} == {"date", "text"} else ""
        raise parser.fail(f"cannot compare {described(a)} with {described(b)}{hint}", node)
    if a.kind in ("text", "condition") and sign not in ("==", "!="):
        raise parser.fail(f"cannot compare {described(a)} with {sign}; only == and !=", node)
    return _compared(parser, text, sign, a, b)


def _compared(parser: Parser, text: str, sign: str, a: Node, b: Node) -> Comparison:
    close = a.kind == "number" and not (a.exact and b.exact)
    return Comparison(text, "condition", sign, a, b, parser.tolerance if close else None)


def _parse_options(
    parser: Parser, operand: Node, left: ast.expr, node: ast.expr
) -> tuple[Comparison, ...]:
    if not isinstance(node, ast.Tuple | ast.List | ast.Set) or operand.kind == "condition":
        raise parser.fail("'in' needs a value and a list, as in x in ('a', 'b')", node)
    options = [parser.node(item) for item in node.elts]
    with localcontext(EXACT):
        values = {
            option.evaluate({})
            for option in options
            if option.kind == operand.kind and not option.reads
        }
    if len(values - {None}) != len(options):
        message = f"the list after 'in' may hold only constant {operand.kind}s, each once"
        raise parser.fail(message, node)
    return tuple(
        _compared(
            parser, parser.text_of(ast.Compare(left, [ast.Eq()], [item])), "==", operand, option
        )
        for item, option in zip(node.elts, options, strict=True)
    )


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

    @property
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
