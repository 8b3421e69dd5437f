"""Messages of checks: why a rule holds, or does not.

For example: "2,935.23 + 557.69 = 3,492.92", or "total is 60,500, subtotal + tax is 66,000".
"""

from __future__ import annotations

from decimal import localcontext

from lawful.rules.arithmetic import EXACT
from lawful.rules.expression import Expression
from lawful.rules.nodes import Environment, plain
from lawful.rules.operators import Comparison, Constant


def why_violated(expression: Expression, environment: Environment) -> str:
    """The two sides of a comparison that does not hold."""
    root = expression.root
    if not isinstance(root, Comparison):
        return f"{expression.source} does not hold"
    left, right = root.left, root.right
    with localcontext(EXACT):
        found, other = (plain(side.evaluate(environment)) for side in (left, right))
    if isinstance(right, Constant):
        sign = "" if root.sign == "==" else f"{root.sign} "
        return f"{left.text} is {found}, expected {sign}{other}"
    return f"{left.text} is {found}, {right.text} is {other}"


def why_satisfied(expression: Expression, environment: Environment) -> str:
    """The arithmetic that holds, with values in place of field names."""
    with localcontext(EXACT):
        return "; ".join(dict.fromkeys(expression.root.facts(environment)))
