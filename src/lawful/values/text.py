"""Text values, and the normal form of texts before they are parsed."""

from __future__ import annotations

import unicodedata

LONGEST = 64
"""Longer texts are neither numbers nor dates, and are not parsed."""

_SAME_MARKS = str.maketrans(
    {**dict.fromkeys("−–—‐‑‒", "-"), **dict.fromkeys("’‘´ʼ′", "'"), "×": "x"}
)


def words(text: str) -> frozenset[str]:
    """The set of words in a text, separated by blanks."""
    return frozenset(text.split())


def read_text(text: str) -> tuple[str, ...]:
    """The text with single blanks; no value for a text of blanks only."""
    folded = " ".join(text.split())
    return (folded,) if folded else ()


def is_long(text: str) -> bool:
    """Whether the text is too long for a number or a date."""
    return len(text) > LONGEST


def plain(text: str) -> str:
    """The text with ASCII equivalents and single blanks; empty if it is no number or date."""
    if is_long(text):
        return ""
    if not text.isascii():
        # ² and ½ would turn into digits that were never part of the amount.
        if any(mark.isnumeric() and not mark.isdecimal() for mark in text):
            return ""
        text = unicodedata.normalize("NFKC", text.translate(_SAME_MARKS)).translate(_SAME_MARKS)
    return " ".join(text.split())
