"""Messages of checks: why a rule holds, or does not.

For example: "2,935.23 + 557.69 = 3,492.92", or "total is 60,500, subtotal + tax is 66,000".
"""

from __future__ import annotations

from decimal import localcontext

from lawful.rules.language.arithmetic import EXACT
from lawful.rules.language.comparisons import Comparison
from lawful.rules.language.expression import Expression
from lawful.rules.language.nodes import Environment


def why_violated(expression: Expression, environment: Environment) -> str:
    """The two sides of a comparison that does not hold; of another condition, its values."""
    root = expression.root
    with localcontext(EXACT):
        objections = "; ".join(dict.fromkeys(root.objections(environment)))
    if isinstance(root, Comparison):
        return objections
    return f"{expression.source} does not hold" + f": {objections}" * bool(objections)


def why_satisfied(expression: Expression, environment: Environment) -> str:
    """The arithmetic that holds, with values in place of field names."""
    with localcontext(EXACT):
        return "; ".join(dict.fromkeys(expression.root.facts(environment)))
