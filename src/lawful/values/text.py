"""Plain text: what is printed, in the same few characters and with single blanks."""

from __future__ import annotations

import unicodedata

LONGEST = 64
"""Longer texts are neither numbers nor dates: refused before any work is done on them."""

_SAME_MARKS = str.maketrans(
    {**dict.fromkeys("−–—‐‑‒", "-"), **dict.fromkeys("’‘´ʼ′", "'"), "×": "x"}
)


def words(text: str) -> frozenset[str]:
    """A set of words, written with blanks between them."""
    return frozenset(text.split())


def read_text(text: str) -> tuple[str, ...]:
    """The text with single blanks; no reading of nothing but blanks."""
    folded = " ".join(text.split())
    return (folded,) if folded else ()


def plain(text: str) -> str:
    """The text in ASCII where that says the same, with single blanks; empty when not a value."""
    if len(text) > LONGEST:
        return ""
    if not text.isascii():
        # ² and ½ would turn into digits that were never part of the amount.
        if any(mark.isnumeric() and not mark.isdecimal() for mark in text):
            return ""
        text = unicodedata.normalize("NFKC", text.translate(_SAME_MARKS)).translate(_SAME_MARKS)
    return " ".join(text.split())
