"""Settings of fields and rules, checked: weights, prices, tolerances, choices and texts.

Each function raises a ``RulesError`` that begins with ``where``, or returns the setting for use.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from decimal import Context, Decimal, InvalidOperation
from keyword import iskeyword
from math import inf
from numbers import Real
from typing import Any, get_args

from lawful.base.errors import RulesError, shown

HEAVIEST = 1e6
"""Largest finite weight; a user who writes a larger one means ``hard``."""

LARGEST_NUMBER = Decimal("1e18")
SMALLEST_EXPONENT = -18
MAX_WORDS = 1_000_000
_ROOMY = Context(prec=5000)  # rounds no number of a rule file


def as_weight(value: Any, where: str = "") -> float:
    """A weight in nats; ``"hard"`` is infinite."""
    return _as_nats(value, f"{where}weight", "hard")


def as_weights(value: Any) -> dict[str, float]:
    """Weights by name."""
    if not isinstance(value, Mapping):
        raise RulesError(f"weights is {shown(value)}, expected a mapping of names to weights")
    weights = {}
    for name, weight in value.items():
        if not isinstance(name, str):
            raise RulesError(f"weights: {shown(name)} is no name, as in 'total:agrees'")
        weights[name] = as_weight(weight, f"weights: {shown(name)}: ")
    return weights


def as_ambiguity(value: Any, where: str = "") -> float:
    """A price in nats; ``"never"`` is infinite."""
    return _as_nats(value, f"{where}ambiguity", "never")


def as_price(value: Any, name: str, where: str = "") -> float:
    """A finite price in nats."""
    price = _as_nats(value, f"{where}{name}")
    if price == inf:
        raise RulesError(f"{where}{name} is {shown(value)}, expected a number of nats")
    return price


def _as_nats(value: Any, where: str, infinite: str | None = None) -> float:
    if infinite and isinstance(value, str) and value.strip().lower() == infinite:
        return inf
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or (not 0 <= value <= HEAVIEST and value != inf):
        other = f" or {infinite!r}" if infinite else ""
        raise RulesError(
            f"{where} is {shown(value)}, expected a number of nats{other}{_point_hint(value)}"
        )
    return float(value)


def _point_hint(value: Any) -> str:
    """A hint for numbers with a decimal comma."""
    text = value.strip() if isinstance(value, str) else ""
    return f"; write {text.replace(',', '.')}" if re.fullmatch(r"\d*,\d+", text) else ""


def as_decimal(value: Any) -> Decimal:
    """A number, or its text, as a decimal; NaN if it is none."""
    try:
        # An integer of thousands of digits has no text.
        return Decimal(value) if isinstance(value, int) else Decimal(str(value))
    except InvalidOperation:
        return Decimal("NaN")


NUMBER_RANGE = "a number up to 1e18, with up to 18 decimals"


def in_range(number: Decimal) -> bool:
    """Whether a number is ``NUMBER_RANGE``."""
    exponent = number.normalize(_ROOMY).as_tuple().exponent
    return abs(number) <= LARGEST_NUMBER and isinstance(exponent, int) and exponent >= -18


def as_tolerance(value: Any, where: str = "") -> Decimal:
    """A tolerance as an exact decimal, not negative."""
    known = isinstance(value, Real | Decimal | str)
    tolerance = as_decimal(value) if known else Decimal("NaN")
    if isinstance(value, bool) or not tolerance.is_finite() or tolerance < 0:
        raise RulesError(
            f"{where}tolerance is {shown(value)}, expected a number of 0 or more"
            f"{_point_hint(value)}"
        )
    tiny = tolerance != 0 and tolerance.adjusted() < SMALLEST_EXPONENT
    if tiny or tolerance > LARGEST_NUMBER:
        raise RulesError(f"{where}tolerance is {tolerance:.3g}, expected 0, or 1e-18 to 1e18")
    return tolerance


def check_writable(text: str, where: str) -> None:
    """The text can be written to a file: it has no half of a surrogate pair."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise RulesError(f"{where} is {shown(text)}, which is not valid Unicode")


def check_choice(value: Any, choices: Any, where: str) -> None:
    """The value is one of a ``Literal``'s."""
    if not isinstance(value, str) or value not in get_args(choices):
        raise RulesError(
            f"{where} is {shown(value)}, expected one of {', '.join(get_args(choices))}"
        )


def check_max_words(value: Any, where: str = "") -> None:
    """The value is a count of words, or not given."""
    if value is None:
        return
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or not 1 <= value <= MAX_WORDS:
        raise RulesError(
            f"{where}max_words is {shown(value)}, expected a number from 1 to {MAX_WORDS:,}"
        )


def check_new_name(name: Any, taken: Collection[str], where: str) -> None:
    """The name can be used in expressions, and is not ``taken`` by something else."""
    if not isinstance(name, str) or not name.isidentifier() or iskeyword(name):
        raise RulesError(f"{where}: {shown(name)} is no name of letters, digits and _")
    if name in taken:
        raise RulesError(f"{where}: the name {name!r} is defined twice")


def as_names(value: Any, where: str) -> tuple[str, ...]:
    """A list of different names."""
    listed = isinstance(value, Sequence) and not isinstance(value, str)
    if not listed or not all(isinstance(name, str) for name in value):
        raise RulesError(f"{where} is {shown(value)}, expected a list of fields")
    names = tuple(value)
    if len(set(names)) < len(names):
        raise RulesError(f"{where} is {shown(value)}, where a field is named twice")
    return names
