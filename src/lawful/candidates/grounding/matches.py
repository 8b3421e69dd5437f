"""Where a value is printed: all spans of words that carry it, compared by type.

Numbers and dates are equal if their values are. Texts are equal without regard to case, accents,
punctuation and blanks; if a text is printed nowhere so, also with a few wrong letters, as OCR makes
them, but never with other digits. A text that is a number or a date is not printed as another one
of the same digits: 5.00 is not 500.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from lawful.documents.document import Document
from lawful.documents.reading_order import printed_lines
from lawful.values import BUILT_IN, read, read_in, type_named

Span: TypeAlias = tuple[int, int]
"""Half-open: the first word, and the one after the last."""

LONGEST = {"number": 3, "date": 5, "text": 5}
"""Words of a value, at most, by kind; ``text`` is that of registered types."""

MAX_EXTRA = 3
"""Words that a printed text may have more than the known one."""

WRONG = 0.15
"""Share of letters that may be wrong in a text of at least ``MIN_LETTERS``."""

MIN_LETTERS = 6

WRONG_LETTER = 1.5
SIGN = 3.0
UNUSUAL = 6.0
PERCENT = 1.0
"""Costs of a wrong letter, of another sign, of a reading that is not the most plausible one, and of
a percentage, which may be 19 or 0.19."""

BROKEN = 1.0
"""Cost of a text whose words do not follow each other."""

MAX_BETWEEN = 15
"""Words between two parts of such a text, at most."""

DATE_DIGITS = 14
"""Digits of a date, at most; it may have a time."""


class Match(NamedTuple):
    """Words that carry a value, in order, and the cost of what differs: letters, sign, reading."""

    words: tuple[int, ...]
    wrong: float


class Occurrences:
    """Finds values among the words of one document.

    Words of a number or a date stand in one printed line, if the document has boxes.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self._by_value: dict[str, dict[Any, list[Span]]] = {}
        self._matches: dict[Any, list[Match]] = {}

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

    def matches(self, value: Any, type_name: str | None = None) -> list[Match]:
        """The spans that carry a value of JSON, with what is not as expected about each.

        Without a type, a number is one in any notation, and a text that is not printed as it is may
        be a date or a number, printed otherwise.
        """
        key = (type(value), value, type_name)
        if key not in self._matches:
            self._matches[key] = list(self._find_matches(value, type_name))
        return self._matches[key]

    def _find_matches(self, value: Any, type_name: str | None) -> Iterator[Match]:
        is_text = isinstance(value, str)
        if is_text and type_name in (None, "text"):
            wanted, text = fold(value), self.document.text
            if spans := [s for s in self._find_text(value) if not _is_other(value, text(*s))]:
                for span in spans:
                    other = self._folded_text(span)
                    wrong = distance(wanted, other, len(wanted)) if other != wanted else 0
                    yield Match(tuple(range(*span)), WRONG_LETTER * wrong)
                return
            words = self.document.words
            broken = [
                found
                for found in self._find_broken(wanted)
                if not _is_other(value, " ".join(words[i] for i in found))
            ]
            if broken:
                yield from (Match(found, BROKEN) for found in broken)
                return
        types = (type_name,) if type_name not in (None, "text") else (
            ("date",) if isinstance(value, date)
            else ("money", "number", "percent") if not is_text
            else _types_of(value)
        )  # fmt: skip
        found: dict[Span, float] = {}
        like = fold(str(value))
        for name in types:
            values = possible_values(value, name)
            signed = {-each: SIGN for each in values} if type_named(name).kind == "number" else {}
            for each, cost in {**signed, **dict.fromkeys(values, 0.0)}.items():
                for span, place in self.having({each}, name):
                    if "%" in self.document.text(*span):
                        price = cost + PERCENT
                    else:
                        price = cost + UNUSUAL * (place + (name == "percent"))
                    found[span] = min(found.get(span, price), price)
        kept = apart(found, key=lambda s: (found[s], self._folded_text(s) != like, s[1] - s[0]))
        yield from (Match(tuple(range(*span)), found[span]) for span in kept)

    def nearest(self, value: Any) -> str | None:
        """The text of the page that is most like a value that it does not have.

        It has most of the digits of a number or a date, in order, or most letters of a text.
        """
        dated = isinstance(value, date) or _types_of(str(value)) == ("date",)
        if isinstance(value, str) and not dated and not possible_values(value, "number"):
            return self._nearest_text(fold(value))
        values = possible_values(value, "date" if dated else "number")
        forms = {_core(str(each) if dated else f"{each:f}").replace("-", "") for each in values}
        best, least = None, (0.5, 0)
        for digits, span in self._digit_spans(LONGEST["date" if dated else "number"]):
            for form in forms:
                other = digits if dated else _core(digits)
                most = max(len(form), len(other), 1)
                wrong = distance(form, other, most) / most, span[1] - span[0]
                if wrong < least:
                    best, least = span, wrong
        return None if best is None else self.document.text(*best)

    def _nearest_text(self, wanted: str) -> str | None:
        counts, words = self._letters, len(self._folded)
        target = np.zeros(37, np.int32)
        for mark in wanted:
            target[_slot(mark)] += 1
        found: list[tuple[int, Span]] = []
        for length in range(1, min(len(wanted) // 3 + 2, 12, words) + 1):
            differ = np.abs(counts[length:] - counts[:-length] - target).sum(axis=1)
            start = int(differ.argmin())
            found.append((int(differ[start]), (start, start + length)))
        spans = [span for _, span in sorted(found)[:3]]
        wrong = {s: distance(wanted, self._folded_text(s), len(wanted)) for s in spans}
        best = min(wrong, key=wrong.__getitem__, default=None)
        if best is None or wrong[best] > len(wanted) / 2:
            return None
        return self.document.text(*best)

    def all_of(self, type_name: str) -> dict[Any, list[Span]]:
        """By value of a type, the spans that may have it; only the shortest spans of a number."""
        if type_name not in self._by_value:
            found: dict[Any, list[Span]] = {}
            longest = LONGEST[type_named(type_name).kind]
            for start in range(len(self.document)):
                for end in range(start + 1, min(start + longest, len(self.document)) + 1):
                    if self.lines[end - 1] != self.lines[start]:
                        break
                    for value in self._values_of((start, end), type_name):
                        found.setdefault(value, []).append((start, end))
            self._by_value[type_name] = found
        return self._by_value[type_name]

    def _with_values(self, values: Iterable[Any], type_name: str) -> list[Span]:
        return sorted({span for span, _ in self.having(values, type_name)})

    def having(self, values: Iterable[Any], type_name: str) -> Iterator[tuple[Span, int]]:
        """Spans that have one of the values, and the place of that value among those they have.

        Only spans with the digits of a value are read, unless a user's type reads them.
        """
        wanted = set(values)
        if type_name not in BUILT_IN or type_name in self._by_value:
            by_value = self.all_of(type_name)
            yield from dict.fromkeys((span, 0) for v in wanted for span in by_value.get(v, ()))
            return
        for span in dict.fromkeys(span for value in wanted for span in self._with_digits(value)):
            found = self._values_of(span, type_name)
            if here := [found.index(value) for value in wanted if value in found]:
                yield span, min(here)

    def _values_of(self, span: Span, type_name: str) -> list[Any]:
        """What a span may be; a percentage is also its number in percent."""
        text = self.document.text(*span)
        found = []
        for value in read_in(self.document.words, text, type_name):
            found.append(plain_value(value))
            if "%" in text and isinstance(value, Decimal) and type_name == "number":
                found.append(plain_value(100 * value))
        return found

    def _with_digits(self, value: Any) -> Iterable[Span]:
        """The spans that have the digits of a number or a date, in any notation."""
        if isinstance(value, date):
            day, month, year = str(value.day), str(value.month), f"{value.year % 100:02}"
            return [
                span
                for digits, span in self._digits_of_dates
                if day in digits and (year in digits or (len(digits) <= 4 and month in digits))
            ]
        return self._by_digits.get(_core(f"{value:f}"), ())

    @cached_property
    def _by_digits(self) -> dict[str, list[Span]]:
        """By digits without the zeros around them, spans that may be a number."""
        found: dict[str, list[Span]] = {}
        for digits, span in self._digit_spans(LONGEST["number"]):
            found.setdefault(_core(digits), []).append(span)
        return found

    @cached_property
    def _digits_of_dates(self) -> list[tuple[str, Span]]:
        return [
            each for each in self._digit_spans(LONGEST["date"]) if 3 <= len(each[0]) <= DATE_DIGITS
        ]

    def _digit_spans(self, longest: int) -> Iterator[tuple[str, Span]]:
        """The digits of all spans of a line that have some and are not too long."""
        digits = [_digits(word) for word in self._folded]
        lines = self.lines
        for start in range(len(digits)):
            total = ""
            for end in range(start + 1, min(start + longest, len(digits)) + 1):
                if lines[end - 1] != lines[start]:
                    break
                total += digits[end - 1]
                if total:
                    yield total, (start, end)

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
        exact = self._printed_so(wanted)
        allowed = int(len(wanted) * WRONG) if len(wanted) >= MIN_LETTERS else 0
        if exact or not allowed:
            return apart(exact, key=lambda span: span[1] - span[0])
        found = {}
        for span in self._near(wanted, len(text.split()), allowed):
            other = self._folded_text(span)
            if _digits(other) == _digits(wanted):
                wrong = distance(wanted, other, allowed)
                if wrong <= allowed:
                    found[span] = wrong
        fewest = min(found.values(), default=0)
        best = [span for span, wrong in found.items() if wrong == fewest]
        return apart(best, key=lambda span: span[1] - span[0])

    def _printed_so(self, wanted: str) -> list[Span]:
        """The spans that are folded to just this text, with no empty word at either end."""
        joined, starts, ends = self._joined
        found = []
        at = joined.find(wanted)
        while at >= 0:
            if (start := starts.get(at)) is not None and (end := ends.get(at + len(wanted))):
                found.append((start, end))
            at = joined.find(wanted, at + 1)
        return found

    @cached_property
    def _joined(self) -> tuple[str, dict[int, int], dict[int, int]]:
        """The folded text of the document; by place in it, the word that starts or has ended."""
        starts, ends, at = {}, {}, 0
        for i, word in enumerate(self._folded):
            if word:
                starts[at] = i
                at += len(word)
                ends[at] = i + 1
        return "".join(self._folded), starts, ends

    def _find_broken(self, wanted: str) -> list[tuple[int, ...]]:
        """Words of a text that goes on in a lower line, after words of other columns."""
        if len(wanted) < MIN_LETTERS:
            return []
        found = []
        for start, word in enumerate(self._folded):
            if word and len(word) < len(wanted) and wanted.startswith(word):
                found += self._goes_on(wanted[len(word) :], (start,))
        return found

    def _goes_on(self, wanted: str, words: tuple[int, ...]) -> list[tuple[int, ...]]:
        """The words with those that complete them: the next one, or else one of a lower line."""
        if not wanted:
            return [words]
        last = words[-1]
        for at in range(last + 1, min(last + 1 + MAX_BETWEEN, len(self._folded))):
            word = self._folded[at]
            beside = at == last + 1 or self.lines[at] != self.lines[last]
            if (
                word
                and beside
                and wanted.startswith(word)
                and (rest := self._goes_on(wanted[len(word) :], (*words, at)))
            ):
                return rest
        return []

    def _near(self, wanted: str, words: int, allowed: int) -> list[Span]:
        """Spans whose characters, in any order, are nearly those wanted."""
        target = np.zeros(37, np.int32)
        for mark in wanted:
            target[_slot(mark)] += 1
        counts = self._letters
        found: list[Span] = []
        for length in range(1, min(words + MAX_EXTRA, len(self.document)) + 1):
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


def _types_of(text: str) -> tuple[str, ...]:
    """The types other than text that a text may be of."""
    if not any(mark.isdigit() for mark in text):
        return ()
    if possible_values(text, "date"):
        return ("date",)
    return tuple(name for name in ("money", "number", "percent") if possible_values(text, name))


def _is_other(value: str, text: str) -> bool:
    """Whether a text is a number or a date, and another text of the same digits is not that one.

    Codes such as 1234567890 may be printed in groups; what has a point or is a date may not.
    """
    for names in (("date",), ("money", "number", "percent")):
        mine, its = (
            {abs(each) if isinstance(each, Decimal) else each
             for name in names for each in possible_values(some, name)}
            for some in (value, text)
        )  # fmt: skip
        if mine and mine.isdisjoint(its):
            is_code = value.isdigit() or any(map(str.isalpha, value))
            return bool(its) or not is_code
    return False


def apart(spans: Iterable[Span], key: Any) -> list[Span]:
    """Spans that do not overlap, chosen by the smallest key first; in the order of words."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda span: (key(span), span)):
        if all(is_apart(span, other) for other in found):
            found.append(span)
    return sorted(found)


def is_apart(one: Span, other: Span) -> bool:
    """Whether two spans have no word in common."""
    return one[1] <= other[0] or other[1] <= one[0]


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


def _core(digits: str) -> str:
    """The digits of a number without its sign, its point, and the zeros around them."""
    return digits.lstrip("-").replace(".", "").strip("0")


def _slot(mark: str) -> int:
    if "a" <= mark <= "z":
        return ord(mark) - 97
    return 26 + int(mark) if mark.isascii() and mark.isdigit() else 36
