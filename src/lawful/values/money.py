"""Amounts, numbers, percentages: ``1.234,50``, ``Rp 12.000,-``, ``(5.00)``, ``2x``, ``11%``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Context, Decimal

from lawful.values.text import is_long, plain, words

MAX_DIGITS = 18
"""Longer runs of digits are codes, not amounts; shorter ones fit in 64 bits."""

_CODES = words(
    "aed ars aud bgn brl cad chf clp cny cop czk dkk egp eur gbp hkd huf idr ils inr jpy krw "
    "kwd mxn myr nok nzd php pkr pln ron rub sar sek sgd thb try twd uah usd vnd zar"
)
_MEANS = {
    mark: code
    for code, marks in {
        "USD": "$ us$ u$ usd$", "GBP": "£", "EUR": "€ euro", "JPY": "¥ 円", "INR": "₹ rs",
        "THB": "฿ บาท", "KRW": "₩ 원", "VND": "₫", "PHP": "₱", "TRY": "₺", "RUB": "₽ руб",
        "ILS": "₪", "NGN": "₦", "UAH": "₴", "AUD": "au$ a$", "CAD": "ca$ c$", "NZD": "nz$",
        "HKD": "hk$", "TWD": "nt$", "SGD": "sg$ sgd$ s$", "BRL": "r$", "MXN": "mx$", "IDR": "rp",
        "MYR": "rm", "PLN": "zł", "CZK": "kč", "HUF": "ft", "CHF": "fr sfr", "ZAR": "r",
        "KWD": "kd", "AED": "dh", "RON": "lei", "BGN": "лв", "CNY": "元",
    }.items()
    for mark in marks.split()
}  # fmt: skip
"""The most usual meaning of currency signs; ``kr`` may be of four countries."""

CURRENCIES = frozenset((*_CODES, *_MEANS, "kr"))
"""Currencies that may stand next to an amount of money, in lower case, without a full stop."""

_SIGNS = {
    # Marks before|after an amount: its possible signs, the most plausible first. Half a pair of
    # parentheses is usually a pair whose other half OCR lost.
    **dict.fromkeys(("|", "+|", "|+", "[|]", "[|", "|]"), (1,)),
    **dict.fromkeys(("-|", "|-", "(|)", "-(|)", "(-|)", "[-|]", "-[|]", "(-|", "-|)"), (-1,)),
    **dict.fromkeys(("(|", "|)"), (-1, 1)),
}

# A point before the first digit belongs to the amount (.50), but not after letters (Rp.50) or
# other points (....50).
_PRINTED = re.compile(
    r"([^0-9]*?)((?:(?<![^\W\d_])(?<![.,])[.,])?[0-9](?:[0-9.,' ]*[0-9])?)([^0-9]*)"
)
_BEFORE = re.compile(r"[.:=*~·@]*([-+(\[]{0,2})([^-+(\[\]).,:=*~·@]*)[.:]?([-+(\[]{0,2})")
# A dash after a separator stands for the missing cents (5.000,-); alone it is a minus sign.
_AFTER = re.compile(r"([.,]--?)?([-+)\]]?)([^-+()\[\].,:;=*~·]*)([-+)\]]?)[.,:;=*~·]*")

_DECIMALS = re.compile(r"([0-9]*)[.,]([0-9]+)")
_GROUPED = re.compile(
    r"([1-9][0-9]{0,2}([., '])[0-9]{3}(?:\2[0-9]{3})*|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3})"
    r"(?:([.,])([0-9]+))?"
)
_EXACT = Context(prec=100)  # independent of the caller's context
_NO_SEPARATORS = str.maketrans("", "", "., '")


def read_money(text: str) -> tuple[Decimal, ...]:
    """The possible values of an amount, which may have a currency and a till's tax letter."""
    before, values, after = _parse_amount(text)
    if (before and before not in CURRENCIES) or (
        after and after not in CURRENCIES and not _is_tax_flag(after, values)
    ):
        return ()
    return values


def read_currency(text: str) -> str | None:
    """The currency that is printed next to an amount, as its ISO 4217 code.

    A code counts before a sign: ``$ 5 CAD`` is in Canadian dollars.
    """
    before, _, after = _parse_amount(text)
    words = before, after if after in CURRENCIES else after[:-1]  # a till's tax letter
    codes = [word.upper() for word in words if word in _CODES]
    signs = [_MEANS[word] for word in words if word in _MEANS]
    return next(iter((*codes, *signs)), None)


class Printed(Decimal):
    """A number whose printed form counts: its currency, and the number of its decimals."""

    __slots__ = ("currency", "decimals")
    currency: str | None
    decimals: int

    @classmethod
    def of(cls, values: tuple[Decimal, ...], text: str, type_: str) -> tuple[Printed, ...]:
        """The possible values of a text as a type, with how they are printed."""
        currency = read_currency(text) if type_ == "money" else None
        # An integer has no decimals itself, even if it is printed as 10.00.
        printed = values if type_ != "integer" else tuple(_whole_numbers(text))
        found = []
        for value, as_printed in zip(values, printed, strict=True):
            made = cls(value)
            made.currency = currency
            made.decimals = decimals_of(as_printed)
            found.append(made)
        return tuple(found)


def decimals_of(value: Decimal) -> int:
    """The number of decimals that a number is printed with; of a default, as it is written."""
    if isinstance(value, Printed):
        return value.decimals
    return max(0, -int(value.as_tuple().exponent))


def _is_tax_flag(word: str, values: tuple[Decimal, ...]) -> bool:
    """Whether the word ends in a till's tax letter, as in ``12.34 T`` or ``1,99 EUR A``.

    Only amounts with cents can have one: ``5A`` and ``3x`` are not amounts.
    """
    currency, flag = word[:-1], word[-1]
    has_cents = all(value.as_tuple().exponent == -2 for value in values)
    return has_cents and "a" <= flag <= "z" and (not currency or currency in CURRENCIES)


def read_number(text: str) -> tuple[Decimal, ...]:
    """The possible values of a number, a quantity (``2x``) or a percentage: ``11%`` is 0.11."""
    before, values, after = _parse_amount(text)
    if before in ("", "x") and after in ("", "x", "@"):
        return values
    if before == "" and after == "%":
        return tuple(value.scaleb(-2, _EXACT) for value in values)
    return ()


def read_percent(text: str) -> tuple[Decimal, ...]:
    """The possible values of a percentage: ``19 %`` and ``19,00`` are 19.

    Without a sign, ``0.19`` is a factor, which means 19, or else 0.19 percent.
    """
    before, values, after = _parse_amount(text)
    if before not in ("", "%") or (after and after not in _PERCENT):
        return ()
    if not before and not after:
        factors = tuple(value.scaleb(2, _EXACT) for value in values if 0 < value.copy_abs() < 1)
        values = factors + values
    if "-" not in plain(text):
        values = tuple(value.copy_abs() for value in values)  # parentheses are no minus here
    return tuple(sorted(dict.fromkeys(values), key=lambda value: value.copy_abs() > 100))


_PERCENT = words("% percent pct prozent procent pourcent")


def read_integer(text: str) -> tuple[Decimal, ...]:
    """The possible values of a whole number or a quantity."""
    if "%" in text:
        return ()
    return tuple(Decimal(int(value)) for value in _whole_numbers(text))


def _whole_numbers(text: str) -> Iterator[Decimal]:
    return (value for value in read_number(text) if value == int(value))


# A letter between two digits, or a blank after a decimal point and before another digit.
_IN_NO_AMOUNT = re.compile(r"[0-9][^0-9A-Za-z]*[A-Za-z][^0-9]*[0-9]|[0-9][.,][0-9]+ [0-9]")
_LETTER, _DIGIT = re.compile("[A-Za-z]"), re.compile("[0-9]")
MAX_LETTERS = 2 * max(map(len, CURRENCIES)) + 1
"""Letters next to an amount: a currency on both sides, and a tax letter; ``prozent`` has fewer."""


def is_in_no_amount(text: str) -> bool:
    """Whether it is plain that no text with this one in it is an amount, number or percentage."""
    length = len(text)
    return (
        is_long(text)
        or _IN_NO_AMOUNT.search(text) is not None
        or (length > MAX_LETTERS and len(_LETTER.findall(text)) > MAX_LETTERS)
        or (length > MAX_DIGITS and len(_DIGIT.findall(text)) > MAX_DIGITS)
    )


def _parse_amount(text: str) -> tuple[str, tuple[Decimal, ...], str]:
    """The word before an amount, the amount's possible values, and the word after it.

    There are no values if the text does not have the form of an amount.
    """
    printed = _PRINTED.fullmatch(plain(text))
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
    if "+" in after:  # 5,00+ is an amount, 5+ is five or more
        values = tuple(value for value in values if value.as_tuple().exponent == -2)
    if signs != (1,):
        # Zero has no sign, and copy_negate is exact where a minus would round to the context.
        signed = (v if s > 0 or not v else v.copy_negate() for v in values for s in signs)
        values = tuple(dict.fromkeys(signed))
    return opening[2].lower(), values, closing[3].lower()


def _unsigned(digits: str) -> tuple[Decimal, ...]:
    """The possible values of digits and separators, such as ``1.234,50``."""
    if len(digits) > MAX_DIGITS and len(digits.translate(_NO_SEPARATORS)) > MAX_DIGITS:
        return ()
    if digits.isdigit():
        return (Decimal(digits),)
    if " " in digits:
        digits = re.sub(r" ?([.,']) ?", r"\1", digits)
    if plain_decimals := _DECIMALS.fullmatch(digits):
        whole, decimals = plain_decimals.groups()
        values = [f"{whole}.{decimals}"]
        if len(decimals) == 3 and whole[:1] > "0":
            values.insert(0, whole + decimals)  # 3.350, or 1071.000 from a careless till
        elif not whole and len(decimals) > 3 and decimals[0] > "0":
            values.append(decimals)  # .48000, where the point may be a speck
    elif grouped := _GROUPED.fullmatch(digits):
        whole, _, point, decimals = grouped.groups("")
        # 22.000.00: the same separator for both, recognisable only by two decimals.
        regular = not point or point not in whole or len(decimals) == 2
        values = [f"{whole.translate(_NO_SEPARATORS)}.{decimals}".rstrip(".")] if regular else []
    else:
        values = []
    return tuple(map(Decimal, values))
