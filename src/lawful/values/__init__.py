"""Texts as typed values: money, numbers, percentages, dates, text, and types that users register.

Texts may be ambiguous: ``3.350`` is 3350 on one receipt and 3.35 on another. So every type gives
all possible values of a text, the most plausible first, and none for a text that is no such value.
Numbers are exact decimals, never binary floats; no text raises an exception or takes long.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Context, Decimal, InvalidOperation, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

from lawful.base.errors import RuleFailure, RulesError, did_you_mean, shown
from lawful.values.dates import dates_among, is_day, read_date, read_day, read_us_date
from lawful.values.money import (
    Printed,
    is_in_no_amount,
    read_integer,
    read_money,
    read_number,
    read_percent,
)
from lawful.values.text import LONGEST, is_long, read_text

Value: TypeAlias = Decimal | date | str
"""The values of the built-in types; a registered type of kind ``text`` may give anything else."""

Kind: TypeAlias = Literal["number", "date", "text"]
"""Kinds of values, which decide the operators: arithmetic, order in time, equality."""


@dataclass(frozen=True, slots=True)
class ValueType:
    """A type of values, and the function that parses texts.

    ``read`` gives the possible values of a text, the most plausible first; ``()`` if there is none.
    ``hopeless`` tells of some texts that neither they nor any longer text with them has a value.
    """

    name: str
    read: Callable[[str], tuple[Value, ...]]
    kind: Kind
    hopeless: Callable[[str], bool] | None = None


MAX_VALUES = 8
"""Maximum number of possible values of one text."""


def read(text: str, type_name: str) -> tuple[Value, ...]:
    """The possible values of a text, the most plausible first; empty if there is none."""
    return _read(text, type_name) if len(text) <= LONGEST else _read.__wrapped__(text, type_name)


def read_in(words: tuple[str, ...], text: str, type_name: str) -> tuple[Value, ...]:
    """The possible values of a text of a document with these words.

    A day without a year has that of the document's other dates.
    """
    values = read(text, type_name)
    if values or type_name not in ("date", "us_date") or not is_day(text):
        return values
    found = read_day(text, dates_among(words))
    return found if type_name == "date" else tuple(reversed(found))


# Texts of up to LONGEST characters take less than 1 KiB each with their values: 64 MiB in all.
@lru_cache(maxsize=65_536)
def _read(text: str, type_name: str) -> tuple[Value, ...]:
    return type_named(type_name).read(text)


def type_named(name: str) -> ValueType:
    """The type of this name; raises a ``RulesError`` that lists the known types."""
    found = TYPES.get(name) if isinstance(name, str) else None
    if found is None:
        hint = ""
        if isinstance(name, str):
            hint = _HINTS.get(name.lower()) or did_you_mean(name, TYPES)
        raise RulesError(f"unknown type {shown(name)}; {hint}types: {', '.join(TYPES)}")
    return found


def register_type(name: str, parse: Callable[[str], Any], *, kind: Kind = "text") -> None:
    """Registers ``parse`` as a type, in place of an earlier registration of the same name.

    ``parse`` returns a value, a tuple of possible values (the most plausible first), or ``None``
    for a text that does not parse; it may also raise ``ValueError``. Values must suit ``kind``:
    ``int`` or ``Decimal`` for ``number``, dates for ``date``.
    """
    if not isinstance(name, str) or not name.strip():
        raise RulesError(f"a type's name is {shown(name)}, expected a name such as 'iban'")
    if name in BUILT_IN:
        raise RulesError(f"type {name!r} is built in and cannot be replaced; choose another name")
    if kind not in get_args(Kind):
        raise RulesError(
            f"type {name!r} has kind {shown(kind)}; kinds: {', '.join(get_args(Kind))}"
        )
    if not callable(parse):
        raise RulesError(f"type {name!r} has parser {shown(parse)}, expected a function of a text")

    def read_registered(text: str) -> tuple[Value, ...]:
        try:
            found = parse(text)
        except (ValueError, InvalidOperation):  # as int(), Decimal() and date.fromisoformat() do
            return ()
        except Exception as error:
            raise RuleFailure(
                f"type {name!r} failed on {text!r}: {type(error).__name__}: {error}"
            ) from error
        values = found if isinstance(found, tuple) else () if found is None else (found,)
        if len(values) > MAX_VALUES:
            raise RulesError(
                f"type {name!r} gave {len(values)} possible values of {text!r}, expected at most "
                f"{MAX_VALUES}"
            )
        return tuple(_checked(value, kind, name) for value in values)

    TYPES[name] = ValueType(name, read_registered, kind)
    _read.cache_clear()


def _checked(value: Any, kind: Kind, name: str) -> Any:
    if kind == "number":
        if isinstance(value, int) and not isinstance(value, bool):
            return Decimal(value)
        if not isinstance(value, Decimal) or not value.is_finite():
            raise RulesError(
                f"type {name!r} gave {shown(value)}, expected a finite Decimal or an int"
            )
    if kind == "date":
        if isinstance(value, datetime):
            return value.date()
        if not isinstance(value, date):
            raise RulesError(f"type {name!r} gave {shown(value)}, expected a date")
    if not isinstance(value, Hashable):
        raise RulesError(f"type {name!r} gave {shown(value)}, expected a hashable value")
    return value


TYPES: dict[str, ValueType] = {
    "money": ValueType("money", read_money, "number", is_in_no_amount),
    "number": ValueType("number", read_number, "number", is_in_no_amount),
    "percent": ValueType("percent", read_percent, "number", is_in_no_amount),
    "integer": ValueType("integer", read_integer, "number", is_in_no_amount),
    "date": ValueType("date", read_date, "date", is_long),
    "us_date": ValueType("us_date", read_us_date, "date", is_long),
    "text": ValueType("text", read_text, "text"),
}
"""The known types by name; ``register_type`` adds to them."""

BUILT_IN = frozenset(TYPES)

_OTHER_WORDS = {
    "money": "amount price currency total",
    "number": "decimal float double numeric quantity",
    "integer": "int",
    "percent": "percentage rate",
    "date": "datetime day",
    "text": "string str",
}
_CODES = ("bic", "ean", "iban", "isin", "luhn", "vat_id")
_HINTS: dict[str, str] = {
    **{
        word: f"did you mean {name!r}? "
        for name, some in _OTHER_WORDS.items()
        for word in some.split()
    },
    **{
        code: f"write type: text, and a rule with check: {code}(name of the field); "
        for code in _CODES
    },
}
"""What people who write another type may mean."""


def identity(value: Any) -> Any:
    """A key that tells apart values that rules can tell apart: also numbers by their print."""
    if isinstance(value, Printed):
        return value, value.decimals, value.currency
    return tuple(map(identity, value)) if isinstance(value, tuple) else value


def unprinted(value: Any) -> Any:
    """The value itself, without its printed form."""
    return Decimal(value) if isinstance(value, Printed) else value


def format_value(value: Value) -> str:
    """A value as a message shows it: ``66,000``, ``12.30``, ``2023-12-31``, or the text itself."""
    if isinstance(value, Decimal):
        return f"{value:,f}"
    if isinstance(value, Fraction):  # a quotient that does not come out even
        with localcontext(Context(prec=6)):
            return f"{Decimal(value.numerator) / value.denominator:,f}"
    return value.isoformat() if isinstance(value, date) else str(value)
