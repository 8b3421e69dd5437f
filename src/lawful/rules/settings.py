"""Settings of fields and rules, checked: weights, prices, tolerances, choices and texts.

Each function raises a ``RulesError`` that begins with ``where``, or returns the setting for use.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from math import inf
from typing import Any, get_args

from lawful.errors import RulesError

HEAVIEST = 1e6
"""Largest finite weight; a user who writes a larger one means ``hard``."""

LARGEST_TOLERANCE = Decimal("1e18")
SMALLEST_EXPONENT = -18


def as_weight(value: Any, where: str = "") -> float:
    """A weight in nats; ``"hard"`` is infinite."""
    return _as_nats(value, f"{where}weight", "hard")


def as_ambiguity(value: Any, where: str = "") -> float:
    """A price in nats; ``"never"`` is infinite."""
    return _as_nats(value, f"{where}ambiguity", "never")


def as_unchecked(value: Any, where: str = "") -> float:
    """A price in nats."""
    price = _as_nats(value, f"{where}unchecked")
    if price == inf:
        raise RulesError(f"{where}unchecked is {value!r}, expected a number of nats")
    return price


def _as_nats(value: Any, where: str, infinite: str | None = None) -> float:
    if infinite and isinstance(value, str) and value.strip().lower() == infinite:
        return inf
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or (not 0 <= value <= HEAVIEST and value != inf):
        other = f" or {infinite!r}" if infinite else ""
        raise RulesError(
            f"{where} is {value!r}, expected a number of nats{other}{_point_hint(value)}"
        )
    return float(value)


def _point_hint(value: Any) -> str:
    """A hint for numbers with a decimal comma."""
    text = value.strip() if isinstance(value, str) else ""
    return f"; write {text.replace(',', '.')}" if re.fullmatch(r"\d*,\d+", text) else ""


def as_tolerance(value: Any, where: str = "") -> Decimal:
    """A tolerance as an exact decimal, not negative."""
    try:
        # An integer of thousands of digits has no text.
        tolerance = Decimal(value) if isinstance(value, int) else Decimal(str(value))
    except InvalidOperation:
        tolerance = Decimal("NaN")
    if isinstance(value, bool) or not tolerance.is_finite() or tolerance < 0:
        raise RulesError(
            f"{where}tolerance is {value!r}, expected a number of 0 or more{_point_hint(value)}"
        )
    tiny = tolerance != 0 and tolerance.adjusted() < SMALLEST_EXPONENT
    if tiny or tolerance > LARGEST_TOLERANCE:
        raise RulesError(f"{where}tolerance is {tolerance:.3g}, expected 0, or 1e-18 to 1e18")
    return tolerance


def check_writable(text: str, where: str) -> None:
    """The text can be written to a file: it has no half of a surrogate pair."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise RulesError(f"{where} is {text!r}, which is not valid Unicode")


def check_choice(value: Any, choices: Any, where: str) -> None:
    """The value is one of a ``Literal``'s."""
    if value not in get_args(choices):
        raise RulesError(f"{where} is {value!r}, expected one of {', '.join(get_args(choices))}")


def check_max_words(value: Any, where: str = "") -> None:
    """The value is a count of words, or not given."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise RulesError(f"{where}max_words is {value!r}, expected a number of 1 or more")
