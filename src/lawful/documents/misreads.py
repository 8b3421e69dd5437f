"""What a word may read besides what OCR read: other texts of it, each with a price."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any, NamedTuple, TypeAlias

from lawful.base.errors import InputError, shown


class Misread(NamedTuple):
    """Another text that a word may have, and the nats by which the recogniser likes it less."""

    text: str
    price: float


Misreads: TypeAlias = tuple[tuple[Misread, ...], ...]
"""By word, its other texts; mostly none."""


def as_misreads(values: Sequence[Any], words: Sequence[str]) -> Misreads:
    """The same as tuples, the cheapest first; raises an ``InputError`` that names the word."""
    found = []
    for i, (word, some) in enumerate(zip(words, values, strict=True)):
        if isinstance(some, str) or not isinstance(some, Iterable):
            raise InputError(f"misreads of word {i} is {shown(some)}, expected [text, price] pairs")
        ways: dict[str, float] = {}
        for each in some:
            match each:
                case [str(text), int() | float() as price] if isfinite(price) and price >= 0:
                    if text != word:
                        ways[text] = min(float(price), ways.get(text, float(price)))
                case _:
                    raise InputError(
                        f"misread of word {i} is {shown(each)}, expected a text and a price in "
                        "nats, 0 or more"
                    )
        found.append(tuple(sorted((Misread(*way) for way in ways.items()), key=lambda m: m.price)))
    return tuple(found)


def misread_spans(
    words: Sequence[str], joins: Sequence[bool] | None, misreads: Misreads, start: int, end: int
) -> Iterable[Misread]:
    """The other texts of a span in which one word is misread; as printed texts are joined."""
    for i in range(start, end):
        for text, price in misreads[i]:
            parts = [*words[start:i], text, *words[i + 1 : end]]
            marks = ["" if j == start or (joins and joins[j]) else " " for j in range(start, end)]
            yield Misread("".join(map("".join, zip(marks, parts, strict=True))), price)
