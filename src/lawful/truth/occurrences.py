"""Where a value is printed: all spans of words that carry it, compared by type.

Numbers and dates are equal if their values are. Texts are equal without regard to case, accents,
punctuation and blanks; if a text is printed nowhere so, also with a few wrong letters, as OCR makes
them, but never with other digits.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from lawful.document import Document
from lawful.lines import printed_lines
from lawful.values import read, type_named

Span: TypeAlias = tuple[int, int]
"""Half-open: the first word, and the one after the last."""

LONGEST = {"number": 3, "date": 5, "text": 5}
"""Words of a value, at most, by kind; ``text`` is that of registered types."""

MOST_EXTRA = 3
"""Words that a printed text may have more than the known one."""

WRONG = 0.15
"""Share of letters that may be wrong in a text of at least ``LEAST_LETTERS``."""

LEAST_LETTERS = 6


class Occurrences:
    """Finds values among the words of one document.

    Words of a number or a date stand in one printed line, if the document has boxes.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self._by_value: dict[str, dict[Any, list[Span]]] = {}

    @cached_property
    def lines(self) -> Sequence[int]:
        """By word, the number of its printed line; all words are in one without boxes."""
        if self.document.boxes is None:
            return [0] * len(self.document)
        return printed_lines(self.document)

    def find(self, value: Any, type_name: str) -> list[Span]:
        """The spans that carry a value, a text or a number, in the order of words.

        Spans do not overlap: of those that do, the one that is printed like the value counts, or
        else the shortest. A number that is printed nowhere is looked for with the other sign.
        """
        if type_name == "text":
            return self._find_text(str(value))
        values = possible_values(value, type_name)
        found = self._with_values(values, type_name)
        if not found and type_named(type_name).kind == "number":
            found = self._with_values({-each for each in values}, type_name)
        like = fold(str(value))
        return apart(found, key=lambda span: (self._folded_text(span) != like, span[1] - span[0]))

    def all_of(self, type_name: str) -> dict[Any, list[Span]]:
        """By value of a type, the spans that may have it; only the shortest spans of a number."""
        if type_name not in self._by_value:
            found: dict[Any, list[Span]] = {}
            longest = LONGEST[type_named(type_name).kind]
            for start in range(len(self.document)):
                for end in range(start + 1, min(start + longest, len(self.document)) + 1):
                    if self.lines[end - 1] != self.lines[start]:
                        break
                    text = self.document.text(start, end)
                    for value in read(text, type_name):
                        found.setdefault(plain_value(value), []).append((start, end))
                        if "%" in text and isinstance(value, Decimal) and type_name == "number":
                            found.setdefault(plain_value(100 * value), []).append((start, end))
            self._by_value[type_name] = found
        return self._by_value[type_name]

    def _with_values(self, values: Iterable[Any], type_name: str) -> list[Span]:
        by_value = self.all_of(type_name)
        return sorted({span for value in values for span in by_value.get(value, ())})

    def _folded_text(self, span: Span) -> str:
        return "".join(self._folded[span[0] : span[1]])

    @cached_property
    def _folded(self) -> list[str]:
        return [fold(word) for word in self.document.words]

    @cached_property
    def _letters(self) -> Any:
        """Running counts of characters, (words + 1, 37): those of a span are a difference."""
        counts = np.zeros((len(self._folded) + 1, 37), np.int32)
        for i, word in enumerate(self._folded):
            for mark in word:
                counts[i + 1, _slot(mark)] += 1
        return counts.cumsum(axis=0)

    def _find_text(self, text: str) -> list[Span]:
        wanted = fold(text)
        if not wanted:
            return []
        allowed = int(len(wanted) * WRONG) if len(wanted) >= LEAST_LETTERS else 0
        near = self._near(wanted, len(text.split()), allowed)
        exact = [span for span in near if self._folded_text(span) == wanted]
        if exact or not allowed:
            return apart(exact, key=lambda span: span[1] - span[0])
        found = {}
        for span in near:
            other = self._folded_text(span)
            if _digits(other) == _digits(wanted):
                wrong = distance(wanted, other, allowed)
                if wrong <= allowed:
                    found[span] = wrong
        fewest = min(found.values(), default=0)
        best = [span for span, wrong in found.items() if wrong == fewest]
        return apart(best, key=lambda span: span[1] - span[0])

    def _near(self, wanted: str, words: int, allowed: int) -> list[Span]:
        """Spans whose characters, in any order, are nearly those wanted."""
        target = np.zeros(37, np.int32)
        for mark in wanted:
            target[_slot(mark)] += 1
        counts = self._letters
        found: list[Span] = []
        for length in range(1, min(words + MOST_EXTRA, len(self.document)) + 1):
            differ = np.abs(counts[length:] - counts[:-length] - target).sum(axis=1)
            starts = np.flatnonzero(differ <= 2 * allowed)
            found += [(int(start), int(start) + length) for start in starts]
        # No empty word at either end: it would belong to any span beside it.
        return [s for s in found if self._folded[s[0]] and self._folded[s[1] - 1]]


def possible_values(value: Any, type_name: str) -> set[Any]:
    """The values that a text may have; a number or a date is what it is."""
    if isinstance(value, date):
        return {value}
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        if type_named(type_name).kind == "number":
            return {plain_value(Decimal(str(value)))}
        value = str(value)
    return {plain_value(each) for each in read(str(value), type_name)}


def plain_value(value: Any) -> Any:
    """The value without its printed form, so that 12.30 is 12.3."""
    return Decimal(value).normalize() + 0 if isinstance(value, Decimal) else value


def apart(spans: Iterable[Span], key: Any) -> list[Span]:
    """Spans that do not overlap, chosen by the smallest key first; in the order of words."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda span: (key(span), span)):
        if all(span[1] <= start or end <= span[0] for start, end in found):
            found.append(span)
    return sorted(found)


def fold(text: str) -> str:
    """A text as it is compared: letters and digits only, without case and accents."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
        text = "".join(mark for mark in text if not unicodedata.combining(mark))
    return "".join(mark for mark in text.casefold() if mark.isalnum())


def distance(one: str, other: str, most: int) -> int:
    """The number of letters to insert, delete or replace; ``most + 1`` if there are more."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        now = [i]
        for j, b in enumerate(other, 1):
            now.append(min(before[j] + 1, now[-1] + 1, before[j - 1] + (a != b)))
        if min(now) > most:
            return most + 1
        before = now
    return min(before[-1], most + 1)


def _digits(text: str) -> str:
    return "".join(mark for mark in text if mark.isdigit())


def _slot(mark: str) -> int:
    if "a" <= mark <= "z":
        return ord(mark) - 97
    return 26 + int(mark) if mark.isascii() and mark.isdigit() else 36
