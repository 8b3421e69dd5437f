"""Amounts as text, in the styles of receipts."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal

_EXACT = Context(prec=100)  # independent of the caller's decimal context


@dataclass(frozen=True, slots=True)
class MoneyStyle:
    """A format of amounts.

    ``{}`` is the bare number in ``printed``, and the text of ``printed`` in ``negative``.
    """

    decimals: int = 0
    thousands: str = ""
    point: str = "."
    printed: str = "{}"
    negative: str = "-{}"


def format_money(amount: Decimal, style: MoneyStyle) -> str:
    """The amount as text, rounded half up to the style's decimals."""
    unit = Decimal((0, (1,), -style.decimals))
    rounded = amount.quantize(unit, ROUND_HALF_UP, _EXACT)
    separators = {",": style.thousands, ".": style.point}
    number = "".join(separators.get(c, c) for c in f"{rounded.copy_abs():,f}")
    printed = style.printed.format(number)
    return style.negative.format(printed) if rounded < 0 else printed
