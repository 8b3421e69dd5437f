"""When two texts say the same: a normal form of numbers, dates, identifiers and other texts.

Letters count without case, accents, blanks and punctuation, legal forms by their short names,
numbers and dates by value in any notation. Digits are never confused: ``1.5 kg`` is not ``15 kg``.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from decimal import Decimal
from functools import lru_cache

from lawful.candidates.grounding.matches import fold
from lawful.values import read, unprinted

_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.(?:[0-9]{1,2}|[0-9]{4,9}))?")
_NUMBER = re.compile(r"[0-9](?:[0-9.,']*[0-9])?")
_LEADING_ZERO = re.compile(r"\W*0[0-9]")
_IDENTIFIER = re.compile(r"[+(]?[\d ()./-]{7,}")  # phone numbers and their like
_BETWEEN_DIGITS = re.compile(r"(?<=[0-9])[^\w]+(?=[0-9])")
_LEGAL_FORMS = {
    "incorporated": "inc", "limited": "ltd", "corporation": "corp", "company": "co",
    "sendirianberhad": "sdnbhd", "gesellschaftmitbeschraenkterhaftung": "gmbh",
    "gesellschaftmitbeschrankterhaftung": "gmbh", "aktiengesellschaft": "ag",
}  # fmt: skip
_LEGAL_ENDING = re.compile(f"({'|'.join(_LEGAL_FORMS)})$")


@lru_cache(maxsize=65_536)
def same(text: str) -> Hashable:
    """Equal for texts that say the same."""
    if _PLAIN.fullmatch(text):
        return Decimal(text) + 0
    if len(text) <= 64 and any(mark.isdigit() for mark in text):
        if not _LEADING_ZERO.match(text):
            # A share of 19 % is 19 in an object of JSON.
            numbers = read(text.removesuffix("%").strip(), "money")
            if numbers:
                # An amount that may mean two numbers is none of them.
                return Decimal(str(numbers[0])) + 0 if len(numbers) == 1 else text.strip()
        dates = read(text, "date")
        if len(dates) == 1:
            return dates[0]
    return _folded(text)


def _folded(text: str) -> str:
    if _IDENTIFIER.fullmatch(text.strip()) and sum(map(str.isdigit, text)) >= 7:
        return fold(text)
    sign = "-" if re.match(r"\s*[-−(]\s*[0-9]", text) else ""
    parts = _BETWEEN_DIGITS.split(_NUMBER.sub(_plain_number, text))
    folded = "-".join(map(fold, parts))
    folded = _LEGAL_ENDING.sub(lambda found: _LEGAL_FORMS[found[0]], folded.replace("&", "and"))
    return sign + folded if folded else text.strip()


def _plain_number(found: re.Match[str]) -> str:
    values = read(found[0], "number") if not found[0].startswith("0") else ()
    if len(values) != 1:
        return found[0]
    return format(unprinted(values[0]).normalize(), "f").replace(".", "p")
