"""Checks in words: what a clerk wants to read about a rule that holds, or does not.

For example: "2,935.23 + 557.69 = 3,492.92", or "total is 60,500, subtotal + tax is 66,000".
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from decimal import localcontext
from typing import Any

from lawful.rules import language
from lawful.rules.language import Environment, Expression
from lawful.values import format_value

LONGEST_LIST = 8
"""A longer list is shown as the sum of so many values."""


def why_violated(expression: Expression, environment: Environment) -> str:
    """What the two sides of a comparison are."""
    tree = expression.tree
    if not isinstance(tree, ast.Compare) or not _is_simple(tree):
        return f"{expression.source} does not hold"
    left, right = expression.node(tree.left), expression.node(tree.comparators[0])
    assert left is not None  # noqa: S101 - a comparison has two sides
    assert right is not None  # noqa: S101
    with localcontext(language.EXACT):
        found, other = (plain(side.evaluate(environment)) for side in (left, right))
    if right.constant:
        sign = language.COMPARISONS[type(tree.ops[0])]
        return f"{left.text} is {found}, expected {'' if sign == '==' else sign + ' '}{other}"
    return f"{left.text} is {found}, {right.text} is {other}"


def why_satisfied(expression: Expression, environment: Environment) -> str:
    """The arithmetic that came out right, with values in the place of names."""
    with localcontext(language.EXACT):
        return "; ".join(dict.fromkeys(_Writer(expression, environment).parts(expression.tree)))


def plain(value: Any) -> str:
    """A value as messages show it."""
    if value is None:
        return "missing"
    if isinstance(value, tuple):
        return ", ".join(map(format_value, value))
    return format_value(value)


def _is_simple(tree: ast.Compare) -> bool:
    """Whether it compares two sides."""
    return len(tree.ops) == 1 and type(tree.ops[0]) in language.COMPARISONS


class _Writer:
    """Writes parts of an expression with their values in one environment."""

    def __init__(self, expression: Expression, environment: Environment) -> None:
        self.expression = expression
        self.environment = environment

    def value(self, node: ast.expr) -> Any:
        typed = self.expression.node(node)
        return None if typed is None else typed.evaluate(self.environment)

    def parts(self, node: ast.expr) -> Iterator[str]:
        """What makes a condition true, one fact after another."""
        if isinstance(node, ast.BoolOp):
            true = [part for part in node.values if self.value(part) is True]
            for part in true[: 1 if isinstance(node.op, ast.Or) else None]:
                yield from self.parts(part)
        elif isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            for left, op, right in zip(operands, node.ops, operands[1:], strict=False):
                yield self.comparison(left, op, right)
        else:
            values = (f"{n} is {plain(self.environment[n])}" for n in self.names(node))
            typed = self.expression.node(node)
            yield ", ".join(values) or ("" if typed is None else typed.text)

    def names(self, node: ast.expr) -> list[str]:
        """The fields that a part reads, in its order."""
        found = (part.id for part in ast.walk(node) if isinstance(part, ast.Name))
        return [name for name in dict.fromkeys(found) if name in self.expression.reads]

    def comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> str:
        sign = language.COMPARISONS.get(type(op))
        if sign is None:
            texts = ast.unparse(right).replace("\\\\", "\\")
            return f"{self.write(left)} {'not ' * isinstance(op, ast.NotIn)}in {texts}"
        sides = [(self.write(side), plain(self.value(side))) for side in (left, right)]
        if sign == "==":
            # The sum first, and then what it comes to.
            sides.sort(key=lambda side: side[0] == side[1])
            sign = "=" if self.value(left) == self.value(right) else "≈"
        (one, first), (other, last) = sides
        before = one if one == first else f"{one} = {first}"
        after = other if other == last else f"{last} = {other}"
        return f"{one} = {after}" if sign == "=" else f"{before} {sign} {after}"

    def write(self, node: ast.expr, *, within: int = 0) -> str:
        """A part with its values; in parentheses where it stands in what binds more tightly."""
        if isinstance(node, ast.BinOp):
            sign = language.OPERATORS[type(node.op)]
            level = 1 if sign in "+-" else 2
            right = level + (sign in "-/")
            left = self.write(node.left, within=level)
            text = f"{left} {sign} {self.write(node.right, within=right)}"
            return f"({text})" if within > level else text
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return f"-{self.write(node.operand, within=2)}"
        if isinstance(node, ast.IfExp):
            return self.write(node.body if self.value(node.test) else node.orelse, within=within)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self.call(node, node.func.id, within)
        if isinstance(node, ast.Constant):
            return str(node.value)
        text = plain(self.value(node))
        return f"({text})" if text.startswith("-") and within else text

    def call(self, node: ast.Call, name: str, within: int) -> str:
        listed = isinstance(node.args[0], ast.Name) and self.environment.get(node.args[0].id)
        if name == "sum" and isinstance(listed, tuple):
            if len(listed) > LONGEST_LIST:
                return f"sum of {len(listed)} values"
            text = " + ".join(map(format_value, listed))
            return f"({text})" if within > 1 and len(listed) > 1 else text
        if name in ("abs", "round", "min", "max") and not isinstance(listed, tuple):
            return f"{name}({', '.join(self.write(argument) for argument in node.args)})"
        return plain(self.value(node))
