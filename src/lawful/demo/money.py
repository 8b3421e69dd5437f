"""Amounts as tills print them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from types import MappingProxyType

from lawful.errors import InputError

_EXACT = Context(prec=100)  # whatever precision the caller has set for its own sums


@dataclass(frozen=True, slots=True)
class MoneyStyle:
    """How a till prints amounts.

    ``{}`` in ``printed`` is the bare number, and in ``negative`` what ``printed`` makes of it.
    """

    decimals: int = 0
    thousands: str = ""
    point: str = "."
    printed: str = "{}"
    negative: str = "-{}"


MONEY_STYLES: Mapping[str, MoneyStyle] = MappingProxyType(
    {
        "plain": MoneyStyle(),
        "plain.00": MoneyStyle(2),
        "id": MoneyStyle(0, "."),
        "id,00": MoneyStyle(2, ".", ","),
        "id-comma": MoneyStyle(0, ","),
        "id-dash": MoneyStyle(0, ".", printed="{},-"),
        "rp": MoneyStyle(0, ".", printed="Rp {}"),
        "rp.00": MoneyStyle(2, ",", printed="Rp. {}"),
        "idr": MoneyStyle(0, ".", printed="IDR {}", negative="({})"),
        "us": MoneyStyle(2, ","),
        "us-dollar": MoneyStyle(2, ",", printed="${}"),
        "us-parentheses": MoneyStyle(2, ",", printed="${}", negative="({})"),
        "us-flag": MoneyStyle(2, ",", printed="{} T"),
        "usd": MoneyStyle(2, ",", printed="USD{}"),
        "trailing-minus": MoneyStyle(2, ",", negative="{}-"),
        "id-trailing-minus": MoneyStyle(0, ",", negative="{} -"),
        "brackets": MoneyStyle(0, ",", printed="[{}]"),
        "gb": MoneyStyle(2, ",", printed="£{}"),
        "jp": MoneyStyle(0, ",", printed="¥{}"),
        "my": MoneyStyle(2, ",", printed="RM{}"),
        "eu": MoneyStyle(2, ".", ",", printed="{} €"),
        "eu-minus": MoneyStyle(2, ".", ",", printed="{} €", negative="\N{MINUS SIGN}{}"),
        "fr": MoneyStyle(2, " ", ","),
        "fr-thin": MoneyStyle(2, "\N{NARROW NO-BREAK SPACE}", ",", printed="{}\N{NO-BREAK SPACE}€"),
        "se": MoneyStyle(2, " ", ",", printed="{} kr"),
        "pl": MoneyStyle(2, " ", ",", printed="{} zł"),
        "ch": MoneyStyle(2, "'"),
        "ch-franc": MoneyStyle(2, "’", printed="CHF {}"),
        "kw": MoneyStyle(3, ",", printed="KD {}"),
    }
)
"""Styles to print amounts in; ``values.read(…, "money")`` reads every one of them back."""


def format_money(amount: Decimal, style: str | MoneyStyle) -> str:
    """The amount as a till of that style prints it, rounded half up to the style's decimals."""
    if isinstance(style, str):
        if style not in MONEY_STYLES:
            raise InputError(f"unknown style {style!r}; styles: {', '.join(MONEY_STYLES)}")
        style = MONEY_STYLES[style]
    unit = Decimal((0, (1,), -style.decimals))
    rounded = amount.quantize(unit, ROUND_HALF_UP, _EXACT)
    separators = {",": style.thousands, ".": style.point}
    number = "".join(separators.get(c, c) for c in f"{rounded.copy_abs():,f}")
    printed = style.printed.format(number)
    return style.negative.format(printed) if rounded < 0 else printed
