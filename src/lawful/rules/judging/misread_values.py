"""Values of a text that OCR may have misread: what it reads as printed, and what else it may be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lawful.documents.misreads import Misread
from lawful.values import MAX_VALUES, unprinted

MIN_PRICE = 1.0
"""Nats that a repair costs at least, however unsure the recogniser was: it has to be of use."""


class MisreadValues(tuple[Any, ...]):
    """The possible values of a text, of which the last ones are of other texts, ``readings``."""

    readings: tuple[Misread | None, ...]  # by value: none for one of the text as it is printed

    @classmethod
    def of(
        cls,
        printed: tuple[Any, ...],
        misreads: Sequence[Misread],
        limit: float,
        read: Callable[[str], tuple[Any, ...]],
    ) -> tuple[Any, ...]:
        """The values as printed, and those of misreads up to a price, the cheapest ones.

        A misread has its most plausible value only. A text that has no value as it is printed stays
        without one: a repair replaces a value, and never makes one.
        """
        values, readings = list(printed), [None for _ in printed]
        known = {unprinted(value) for value in printed}
        found: list[Misread | None] = list(readings)
        for misread in sorted(misreads, key=lambda each: each.price):
            if misread.price > limit or len(values) >= MAX_VALUES or not printed:
                break
            if (other := read(misread.text)) and unprinted(other[0]) not in known:
                known.add(unprinted(other[0]))
                values.append(other[0])
                found.append(misread)
        if len(values) == len(printed):
            return printed
        return cls._made(values, found)

    @classmethod
    def _made(cls, values: Sequence[Any], readings: Sequence[Misread | None]) -> MisreadValues:
        made = cls(values)
        made.readings = tuple(readings)
        return made

    def only(self, kept: Sequence[int]) -> MisreadValues:
        """Some of the values, with the numbers that they have here."""
        return self._made([self[i] for i in kept], [self.readings[i] for i in kept])


def reading_of_choice(values: tuple[Any, ...], choice: int) -> str | None:
    """The text that a value is of, if it is not the text as it is printed."""
    misread = values.readings[choice] if isinstance(values, MisreadValues) else None
    return None if misread is None else misread.text


def price_of_choice(values: tuple[Any, ...], choice: int, ambiguity: float) -> float:
    """The price of the choice among a text's possible values; the first one is free.

    Another value of the text as it is printed costs ``ambiguity``, one of another text its price.
    """
    if not choice:
        return 0.0
    if isinstance(values, MisreadValues) and (misread := values.readings[choice]) is not None:
        return max(MIN_PRICE, misread.price)
    return ambiguity
