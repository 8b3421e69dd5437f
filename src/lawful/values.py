"""Texts read as typed values: money, numbers, dates, and whatever a user registers.

Reading is honest about doubt: ``3.350`` is 3350 on one receipt and 3.35 on another, so every type
gives all plausible readings, the most plausible first, and none when the text is no such value.
Numbers are exact decimals, never binary floats; no text raises an exception or takes long.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation, localcontext
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

from lawful.errors import InputError, RuleFailure, RulesError

Value: TypeAlias = Decimal | date | str
"""What the built-in types give; a registered type of kind ``text`` may give anything else."""

Kind: TypeAlias = Literal["number", "date", "text"]
"""What expressions may do with a value: calculate, compare by time, or compare for equality."""

LONGEST = 64
"""Longer texts are neither numbers nor dates: refused before any work is done on them."""

MOST_DIGITS = 18
"""Longer runs of digits are codes, not amounts; shorter ones fit in 64 bits."""


@dataclass(frozen=True, slots=True)
class ValueType:
    """How to read a text as one kind of value.

    ``read`` gives all plausible readings, the most plausible first, and ``()`` when there is none.
    """

    name: str
    read: Callable[[str], tuple[Value, ...]]
    kind: Kind


MOST_READINGS = 8
"""Ways to read one text that a type may give."""


def read(text: str, type_name: str) -> tuple[Value, ...]:
    """All plausible readings of the text, the most plausible first; empty when there is none."""
    return _read(text, type_name)


@lru_cache(maxsize=65_536)
def _read(text: str, type_name: str) -> tuple[Value, ...]:
    return type_named(type_name).read(text)


def type_named(name: str) -> ValueType:
    """The type of that name, or a ``RulesError`` that lists the known ones."""
    found = TYPES.get(name) if isinstance(name, str) else None
    if found is None:
        raise RulesError(f"unknown type {name!r}; types: {', '.join(TYPES)}")
    return found


def register_type(name: str, parse: Callable[[str], Any], *, kind: Kind = "text") -> None:
    """Make ``parse`` known as a type, in place of an earlier registration of the same name.

    ``parse`` gives a value, a tuple of values (the most plausible first), or ``None`` for a text
    that does not parse; a ``ValueError`` says the same. What it gives must suit ``kind``: whole
    numbers and decimals for ``number``, dates for ``date``.
    """
    if not isinstance(name, str) or not name.strip():
        raise RulesError(f"a type's name is {name!r}, expected a name such as 'iban'")
    if name in BUILT_IN:
        raise RulesError(f"type {name!r} is built in and cannot be replaced; choose another name")
    if kind not in get_args(Kind):
        raise RulesError(f"type {name!r} has kind {kind!r}; kinds: {', '.join(get_args(Kind))}")
    if not callable(parse):
        raise RulesError(f"type {name!r} has {parse!r} for a parser, expected a function of a text")

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
        if len(values) > MOST_READINGS:
            raise RulesError(
                f"type {name!r} gave {len(values)} readings of {text!r}, expected at most "
                f"{MOST_READINGS}"
            )
        return tuple(_checked(value, kind, name) for value in values)

    TYPES[name] = ValueType(name, read_registered, kind)
    _read.cache_clear()


def _checked(value: Any, kind: Kind, name: str) -> Any:
    if kind == "number":
        if isinstance(value, int) and not isinstance(value, bool):
            return Decimal(value)
        if not isinstance(value, Decimal) or not value.is_finite():
            raise RulesError(f"type {name!r} gave {value!r}, expected a finite Decimal or an int")
    if kind == "date":
        if isinstance(value, datetime):
            return value.date()
        if not isinstance(value, date):
            raise RulesError(f"type {name!r} gave {value!r}, expected a date")
    if not isinstance(value, Hashable):
        raise RulesError(f"type {name!r} gave {value!r}, expected a value that can be compared")
    return value


# ---- amounts -------------------------------------------------------------------------------------


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CURRENCIES = _words(
    "$ £ € ¥ ₹ ฿ ₩ ₫ ₱ ₺ ₽ ₪ ₦ ₴ us$ au$ a$ ca$ c$ nz$ hk$ nt$ sg$ u$ sgd$ s$ r$ mx$ usd$ "
    "rp rs rm kr zł kč ft fr sfr r kd dh lei лв руб 元 円 원 บาท "
    "aed ars aud bgn brl cad chf clp cny cop czk dkk egp eur euro gbp hkd huf idr ils inr jpy krw "
    "kwd mxn myr nok nzd php pkr pln ron rub sar sek sgd thb try twd uah usd vnd zar"
)
"""What may stand beside an amount of money, in lower case and without a full stop."""

_SIGNS = {
    # What opens and closes an amount: its signs, the most plausible first. Half a parenthesis
    # is usually a parenthesis whose other half the reader lost.
    **dict.fromkeys(("|", "+|", "[|]", "[|", "|]"), (1,)),
    **dict.fromkeys(("-|", "|-", "(|)", "-(|)", "(-|)", "[-|]", "-[|]", "(-|", "-|)"), (-1,)),
    **dict.fromkeys(("(|", "|)"), (-1, 1)),
}

_SAME_MARKS = str.maketrans(
    {**dict.fromkeys("−–—‐‑‒", "-"), **dict.fromkeys("’‘´ʼ′", "'"), "×": "x"}
)

# A point before the first digit belongs to the amount (.50), but not after letters (Rp.50) or
# other points (....50).
_PRINTED = re.compile(
    r"([^0-9]*?)((?:(?<![^\W\d_])(?<![.,])[.,])?[0-9](?:[0-9.,' ]*[0-9])?)([^0-9]*)"
)
_BEFORE = re.compile(r"[.:=*~·@]*([-+(\[]{0,2})([^-+(\[\]).,:=*~·@]*)[.:]?([-+(\[]{0,2})")
# A dash after a separator stands for the missing cents (5.000,-); alone it is a minus sign.
_AFTER = re.compile(r"([.,]--?)?([-)\]]?)([^-()\[\].,:;=*~·]*)([-)\]]?)[.,:;=*~·]*")

_DECIMALS = re.compile(r"([0-9]*)[.,]([0-9]+)")
_GROUPED = re.compile(
    r"([1-9][0-9]{0,2}([., '])[0-9]{3}(?:\2[0-9]{3})*|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3})"
    r"(?:([.,])([0-9]+))?"
)
_EXACT = Context(prec=100)  # whatever precision the caller has set for its own sums
_NO_SEPARATORS = str.maketrans("", "", "., '")


def _read_money(text: str) -> tuple[Decimal, ...]:
    before, values, after = _split_amount(text)
    if (before and before not in CURRENCIES) or (
        after and after not in CURRENCIES and not _is_tax_flag(after, values)
    ):
        return ()
    return values


def _is_tax_flag(word: str, values: tuple[Decimal, ...]) -> bool:
    """Whether the word ends in a till's tax letter, as in ``12.34 T`` or ``1,99 EUR A``.

    Only cents can have one: ``5A`` and ``3x`` are no amounts.
    """
    currency, flag = word[:-1], word[-1]
    has_cents = all(value.as_tuple().exponent == -2 for value in values)
    return has_cents and "a" <= flag <= "z" and (not currency or currency in CURRENCIES)


def _read_number(text: str) -> tuple[Decimal, ...]:
    before, values, after = _split_amount(text)
    if before in ("", "x") and after in ("", "x", "@"):
        return values
    if before == "" and after == "%":
        return tuple(value.scaleb(-2, _EXACT) for value in values)
    return ()


def _read_integer(text: str) -> tuple[Decimal, ...]:
    if "%" in text:
        return ()
    return tuple(Decimal(int(value)) for value in _read_number(text) if value == int(value))


def _split_amount(text: str) -> tuple[str, tuple[Decimal, ...], str]:
    """The word before an amount, the amount's signed readings, and the word after it.

    No readings when the text is not built like an amount.
    """
    printed = _PRINTED.fullmatch(_plain(text))
    if printed is None:
        return "", (), ""
    before, digits, after = printed.groups()
    values = _unsigned(digits)
    if not (before or after):
        return "", values, ""
    opening = _BEFORE.fullmatch(before.replace(" ", ""))
    closing = _AFTER.fullmatch(after.replace(" ", ""))
    if opening is None or closing is None:
        return "", (), ""
    signs = _SIGNS.get(f"{opening[1]}{opening[3]}|{closing[2]}{closing[4]}", ())
    if closing[1]:
        values = tuple(value for value in values if value.as_tuple().exponent == 0)
    if signs != (1,):
        # Zero has no sign, and copy_negate is exact where a minus would round to the context.
        signed = (v if s > 0 or not v else v.copy_negate() for v in values for s in signs)
        values = tuple(dict.fromkeys(signed))
    return opening[2].lower(), values, closing[3].lower()


def _plain(text: str) -> str:
    """The text in ASCII where that says the same, with single blanks; empty when not a value."""
    if len(text) > LONGEST:
        return ""
    if not text.isascii():
        # ² and ½ would turn into digits that were never part of the amount.
        if any(mark.isnumeric() and not mark.isdecimal() for mark in text):
            return ""
        text = unicodedata.normalize("NFKC", text.translate(_SAME_MARKS)).translate(_SAME_MARKS)
    return " ".join(text.split())


def _unsigned(digits: str) -> tuple[Decimal, ...]:
    """The readings of digits and separators, such as ``1.234,50``."""
    if len(digits) > MOST_DIGITS and len(digits.translate(_NO_SEPARATORS)) > MOST_DIGITS:
        return ()
    if digits.isdigit():
        return (Decimal(digits),)
    if " " in digits:
        digits = re.sub(r" ?([.,']) ?", r"\1", digits)
    if split := _DECIMALS.fullmatch(digits):
        whole, decimals = split.groups()
        readings = [f"{whole}.{decimals}"]
        if len(decimals) == 3 and whole[:1] > "0":
            readings.insert(0, whole + decimals)  # 3.350, or 1071.000 from a careless till
        elif not whole and len(decimals) > 3 and decimals[0] > "0":
            readings.append(decimals)  # .48000, where the point may be a speck
    elif grouped := _GROUPED.fullmatch(digits):
        whole, _, point, decimals = grouped.groups("")
        # 22.000.00: one separator for both, which only two decimals give away.
        regular = not point or point not in whole or len(decimals) == 2
        readings = [f"{whole.translate(_NO_SEPARATORS)}.{decimals}".rstrip(".")] if regular else []
    else:
        readings = []
    return tuple(map(Decimal, readings))


# ---- dates ---------------------------------------------------------------------------------------

MONTHS: Mapping[str, int] = {
    name: number
    for number, names in enumerate(
        [
            "jan january januari janvier janv januar janner enero ene gennaio gen janeiro",
            "feb february februari februar pebruari fevrier fevr fev febrero febbraio fevereiro",
            "mar march maret mars marz maerz mrz marzo marco maart mrt",
            "apr april avril avr abril abr aprile",
            "may mei mai mayo maggio mag maio",
            "jun june juni juin junio giugno giu junho",
            "jul july juli juillet juil julio luglio lug julho",
            "aug august agustus agu agt ags aout agosto ago augustus",
            "sep sept september septembre septiembre setiembre settembre set setembro",
            "oct october oktober okt octobre octubre ottobre ott outubro out",
            "nov november nopember novembre noviembre novembro",
            "dec december desember des decembre dezember dez diciembre dic dicembre dezembro",
        ],
        1,
    )
    for name in names.split()
}
"""Month names, in lower case and without accents: English, Indonesian, French, German, Spanish,
Italian, Portuguese and Dutch."""

_WEEKDAYS = _words(
    "mon monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat saturday "
    "sun sunday senin selasa rabu kamis jumat sabtu minggu lundi mardi mercredi jeudi vendredi "
    "samedi dimanche montag dienstag mittwoch donnerstag freitag samstag sonntag lunes martes "
    "miercoles jueves viernes sabado domingo"
)

_TIME = re.compile(
    r"(?:[ t,;-]+|(?<=[0-9]{4}))(?:[01]?[0-9]|2[0-3])[:h][0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?"
    r" ?(?:[ap]\.?m\.?)? ?(?:z|utc|gmt|[+-][0-9]{2}:?[0-9]{2})?$"
)
_WORD = re.compile(r"([a-z]+)[., ]*")
_SEPARATED_DATE = re.compile(r"([0-9]{1,4}) ?([-/. ]) ?([0-9]{1,2}) ?\2 ?([0-9]{1,4})")
_COMPACT_DATE = re.compile(r"((?:19|20)[0-9]{2})([0-9]{2})([0-9]{2})")
_GAP = r"[ .,/'-]*"
_DAY_MONTH_YEAR = re.compile(
    rf"([0-9]{{1,2}})(?:st|nd|rd|th|er)?{_GAP}(?:de |of )?([a-z]+){_GAP}(?:de |del |of )?"
    r"([0-9]{4}|[0-9]{2})"
)
# DECEMBER2016 has no day: only a gap or a year of four digits can end one.
_MONTH_DAY_YEAR = re.compile(
    rf"([a-z]+){_GAP}([0-9]{{1,2}})(?:st|nd|rd|th)?(?:[ .,/'-]+|(?=[0-9]{{4}}$))"
    r"([0-9]{4}|[0-9]{2})"
)
_YEAR_MONTH_DAY = re.compile(rf"([0-9]{{4}}){_GAP}([a-z]+){_GAP}([0-9]{{1,2}})")


def _read_date(text: str) -> tuple[date, ...]:
    plain = _plain(text).lower()
    if not plain.isascii():
        plain = "".join(c for c in unicodedata.normalize("NFD", plain) if c.isascii())
    plain = _TIME.sub("", plain).strip(" .,;:")
    word = _WORD.match(plain)
    if word is not None and word[1] in _WEEKDAYS:
        plain = plain[word.end() :]
    candidates = _named_date(plain) if re.search("[a-z]", plain) else _numeric_dates(plain)
    dates = (_date(*candidate) for candidate in candidates)
    return tuple(dict.fromkeys(found for found in dates if found is not None))


def _numeric_dates(text: str) -> list[tuple[str, str, str]]:
    """Year, month and day as they may be meant: day first before month first."""
    if compact := _COMPACT_DATE.fullmatch(text):
        return [(compact[1], compact[2], compact[3])]
    separated = _SEPARATED_DATE.fullmatch(text)
    if separated is None:
        return []
    first, _, second, third = separated.groups()
    if len(first) > 2:
        return [(first, second, third)]
    candidates = [(third, second, first), (third, first, second)]
    if len(third) == 2 and not any(_date(*candidate) for candidate in candidates):
        return [(first, second, third)]  # 95-12-31: a short year first, where nothing else fits
    return candidates


def _named_date(text: str) -> list[tuple[str, str, str]]:
    """Year, month and day of a date that spells its month; the month stays a name."""
    if found := _DAY_MONTH_YEAR.fullmatch(text):
        return [(found[3], found[2], found[1])]
    if found := _MONTH_DAY_YEAR.fullmatch(text):
        return [(found[3], found[1], found[2])]
    if found := _YEAR_MONTH_DAY.fullmatch(text):
        return [(found[1], found[2], found[3])]
    return []


def _date(year: str, month: str, day: str) -> date | None:
    """The date, or ``None`` where the calendar has no such day between 1900 and 2099."""
    number = int(year)
    if len(year) == 2:
        number += 1900 if number >= 70 else 2000
    if not 1900 <= number < 2100:
        return None
    try:
        return date(number, MONTHS.get(month) or int(month), int(day))
    except ValueError:
        return None


# ---- the built-in types --------------------------------------------------------------------------


def _read_text(text: str) -> tuple[str, ...]:
    folded = " ".join(text.split())
    return (folded,) if folded else ()


TYPES: dict[str, ValueType] = {
    "money": ValueType("money", _read_money, "number"),
    "number": ValueType("number", _read_number, "number"),
    "integer": ValueType("integer", _read_integer, "number"),
    "date": ValueType("date", _read_date, "date"),
    "text": ValueType("text", _read_text, "text"),
}
"""The known types by name; ``register_type`` adds to them."""

BUILT_IN = frozenset(TYPES)


# ---- printing ------------------------------------------------------------------------------------


def format_value(value: Value) -> str:
    """A value as a message shows it: ``66,000``, ``12.30``, ``2023-12-31``, or the text itself."""
    if isinstance(value, Decimal):
        return f"{value:,f}"
    if isinstance(value, Fraction):  # a quotient that does not come out even
        with localcontext(Context(prec=6)):
            return f"{Decimal(value.numerator) / value.denominator:,f}"
    return value.isoformat() if isinstance(value, date) else str(value)


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
"""Styles to print amounts in; ``read(…, "money")`` reads every one of them back."""


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
