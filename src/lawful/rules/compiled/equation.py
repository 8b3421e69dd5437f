"""Rules as linear equations over fields, from which the search derives lower bounds.

``total == subtotal + tax`` and ``abs(total - sum(items)) <= 1`` are equations. A rule with a
``when``, or with a product of two fields, is not, and the search has no bound for it.
"""

from __future__ import annotations

from decimal import Decimal, Inexact
from typing import NamedTuple

from lawful import _core
from lawful._core import SCALE, TermKind
from lawful.rules.compiled.program import (
    MAX_DECIMALS,
    Assembler,
    NeedsPython,
    constant_value,
    inverse,
    scaled,
)
from lawful.rules.language.comparisons import Comparison
from lawful.rules.language.functions import Abs, Count, Present, Sum, SumOfRows
from lawful.rules.language.nodes import Node
from lawful.rules.language.operands import Constant
from lawful.rules.language.operators import Arithmetic, Conditional, Negation

LARGEST_FACTOR = 10**9
LARGEST_CONSTANT = 2**100


class Term(NamedTuple):
    """A multiple of a field's first value, of a list's sum, or of a field's count."""

    kind: TermKind
    field: int
    lookup: int
    factor: Decimal


def equation_of(program: Assembler) -> _core.Equation | None:
    """The rule as an equation with whole factors; ``None`` if it is not an equation."""
    rule = program.rule
    if rule.when is not None or rule.weight == 0 or program.any or rule.expression is None:
        return None
    try:
        terms, constant, tolerance = _sides(program, rule.expression.root)
    except (NeedsPython, Inexact):
        return None
    if tolerance < 0:  # "abs(x) <= -1" never holds
        return None
    factors = [term.factor for term in terms]
    decimals = max((scaled(number)[1] for number in (*factors, constant)), default=0)
    unit = Decimal(10) ** decimals
    whole = [int(factor * unit) for factor in factors]
    if not terms or decimals > MAX_DECIMALS or max(map(abs, whole)) > LARGEST_FACTOR:
        return None
    unit *= 10**SCALE
    numbers = int(constant * unit), int(tolerance * unit)
    if max(map(abs, numbers)) >= LARGEST_CONSTANT:
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
        early=program.early,
    )


def _sides(program: Assembler, node: Node) -> tuple[list[Term], Decimal, Decimal]:
    """The equation as terms and a constant that sum to 0, and the tolerance."""
    if not isinstance(node, Comparison) or node.left.kind != "number":
        raise NeedsPython
    tolerance = node.tolerance or Decimal()
    if node.sign == "==":
        left, constant = _terms(program, node.left, Decimal(1))
        right, more = _terms(program, node.right, Decimal(-1))
        return left + right, constant + more, tolerance
    if node.sign != "<=" or not isinstance(node.left, Abs):
        raise NeedsPython
    terms, constant = _terms(program, node.left.arguments[0], Decimal(1))
    return terms, constant, tolerance + constant_value(node.right)


def _terms(program: Assembler, node: Node, factor: Decimal) -> tuple[list[Term], Decimal]:
    """One side as terms and a constant, all multiplied by a factor."""
    if node.kind != "number" or node.reads & program.given:
        raise NeedsPython
    if not node.reads:
        return [], factor * constant_value(node)
    if isinstance(node, Arithmetic):
        return _terms_of_arithmetic(program, node, factor)
    if isinstance(node, Negation):
        return _terms(program, node.operand, -factor)
    if len(node.reads) > 1:
        raise NeedsPython
    return [_term(program, node, factor)], Decimal()


def _terms_of_arithmetic(
    program: Assembler, node: Arithmetic, factor: Decimal
) -> tuple[list[Term], Decimal]:
    if node.sign in "+-":
        left, constant = _terms(program, node.left, factor)
        right, more = _terms(program, node.right, -factor if node.sign == "-" else factor)
        return left + right, constant + more
    if node.sign == "/":
        return _terms(program, node.left, factor * inverse(constant_value(node.right)))
    for one, other in ((node.left, node.right), (node.right, node.left)):
        if not one.reads:
            return _terms(program, other, factor * constant_value(one))
    raise NeedsPython


def _term(program: Assembler, node: Node, factor: Decimal) -> Term:
    """A part of an equation that reads one field."""
    planner = program.planner
    (name,) = node.reads
    field = planner.index[name]
    if program.single_name(node) is not None:
        return Term(TermKind.first, field, program.lookup(name, node), factor)
    if isinstance(node, Count):
        return Term(TermKind.count, field, 0, factor)
    if isinstance(node, Sum) and not isinstance(node, SumOfRows):
        return Term(TermKind.sum, field, planner.numbers(field), factor)
    if _is_sum_or_zero(node):
        return Term(TermKind.sum_or_zero, field, planner.numbers(field), factor)
    raise NeedsPython


def _is_sum_or_zero(node: Node) -> bool:
    """Whether the node is ``sum(x) if present(x) else 0``."""
    return (
        isinstance(node, Conditional)
        and isinstance(node.test, Present)
        and isinstance(node.then, Sum)
        and isinstance(node.otherwise, Constant)
        and node.otherwise.value == 0
    )
