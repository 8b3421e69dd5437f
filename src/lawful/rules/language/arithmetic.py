"""Exact arithmetic for rules: decimals, and fractions where decimals would have to be rounded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from decimal import Context, Decimal, DivisionByZero, Inexact, InvalidOperation, Overflow
from fractions import Fraction
from typing import Any, TypeAlias

EXACT = Context(prec=60, traps=[DivisionByZero, Inexact, InvalidOperation, Overflow])
"""The decimal context of rules: a result that would have to be rounded raises ``Inexact``."""

Number: TypeAlias = Decimal | Fraction


def exactly(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The operation in decimals, or in fractions where decimals would have to be rounded."""

    def calculate(a: Number, b: Number) -> Number:
        try:
            result: Number = operation(a, b)
        except (Inexact, TypeError):  # Python does not mix decimals and fractions
            result = operation(Fraction(a), Fraction(b))
        return result

    return calculate


difference = exactly(lambda a, b: a - b)


def shift(day: date, days: Number) -> date:
    """The date ``days`` later; a fraction of a day is dropped."""
    return day + timedelta(days=int(days))


# Python's own minus, abs and sum round to the context's digits; these do not.


def negative(value: Number) -> Number:
    """The number with the opposite sign."""
    return value.copy_negate() if isinstance(value, Decimal) else -value


def absolute(value: Number) -> Number:
    """The number without its sign."""
    return value.copy_abs() if isinstance(value, Decimal) else abs(value)


def total(values: tuple[Decimal, ...]) -> Number:
    """The sum of a list."""
    try:
        return sum(values, Decimal())
    except Inexact:
        return sum(map(Fraction, values), Fraction())


def rounded(value: Number, decimals: int) -> Decimal:
    """The number rounded to ``decimals``; halves go away from zero, as on a bill."""
    unit = Fraction(1, 10**decimals)
    whole = (abs(Fraction(value)) / unit + Fraction(1, 2)).__floor__()
    return Decimal(f"{'-' if value < 0 else ''}{whole}E-{decimals}")


# With a tolerance, equal means close, and the other comparisons follow from that.
COMPARE: Mapping[str, Callable[[Any, Any, Any], bool]] = {
    "==": lambda a, b, slack: a == b if slack is None else absolute(difference(a, b)) <= slack,
    "!=": lambda a, b, slack: a != b if slack is None else not COMPARE["=="](a, b, slack),
    "<": lambda a, b, slack: a < b if slack is None else difference(b, a) > slack,
    "<=": lambda a, b, slack: a <= b if slack is None else difference(a, b) <= slack,
    ">": lambda a, b, slack: a > b if slack is None else difference(a, b) > slack,
    ">=": lambda a, b, slack: a >= b if slack is None else difference(b, a) <= slack,
}
"""Comparisons of two values by sign; the third argument is the tolerance, or ``None``."""
