"""Comparisons of the rule language: ``==``, ``<``, ``in``, and chains of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from lawful._core import Op
from lawful.rules.compiled.program import Assembler, NeedsPython, scaled
from lawful.rules.language.arithmetic import COMPARE, EXACT
from lawful.rules.language.nodes import Environment, Node, described, plain
from lawful.rules.language.operands import Constant

if TYPE_CHECKING:
    from lawful.rules.language.expression import Parser


@dataclass(frozen=True, eq=False)
class Comparison(Node):
    """Two values compared; numbers with the rule's tolerance, unless both are exact."""

    sign: str
    left: Node
    right: Node
    tolerance: Decimal | None  # none: compared exactly
    strict: ClassVar[bool] = True

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

    def objections(self, environment: Environment) -> Iterator[str]:
        found, other = (plain(side.evaluate(environment)) for side in self.children)
        if isinstance(self.right, Constant):
            sign = "" if self.sign == "==" else f"{self.sign} "
            yield f"{self.left.text} is {found}, expected {sign}{other}"
        else:
            yield f"{self.left.text} is {found}, {self.right.text} is {other}"

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

    @cached_property
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

    def objections(self, environment: Environment) -> Iterator[str]:
        yield f"{self.operand.text} is {plain(self.operand.evaluate(environment))}"


@dataclass(frozen=True, eq=False)
class ChainedComparison(Node):
    """Several comparisons in a row, all of which must hold: ``a <= b <= c``."""

    links: tuple[Node, ...]

    def evaluate(self, environment: Environment) -> bool | None:
        values = [link.evaluate(environment) for link in self.links]
        return False if False in values else None if None in values else True

    def emit(self, program: Assembler) -> int:
        program.fold(self.links, Op.and_)
        return 0

    def facts(self, environment: Environment) -> Iterator[str]:
        for link in self.links:
            yield from link.facts(environment)

    def objections(self, environment: Environment) -> Iterator[str]:
        yield from objections_of(self.links, environment)


def objections_of(parts: tuple[Node, ...], environment: Environment) -> Iterator[str]:
    """The objections of those parts that are false."""
    for part in parts:
        if part.evaluate(environment) is False:
            yield from part.objections(environment)


def parse_comparison(parser: Parser, node: ast.Compare) -> Node:
    """A comparison, a membership, or a chain of them."""
    operands = [node.left, *node.comparators]
    steps = zip(operands, node.ops, operands[1:], strict=False)
    links = [_parse_link(parser, left, op, right, node) for left, op, right in steps]
    return (
        links[0]
        if len(links) == 1
        else ChainedComparison(parser.text_of(node), "condition", tuple(links))
    )


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
