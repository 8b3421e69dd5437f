"""What else a recogniser may have read: the edits of its lattice, as other texts of words.

A recogniser of the CTC kind has, by column of a line, probabilities of characters and of none. Its
text is the most probable character of each column; an edit takes another character in the columns
of one, or none, or puts one where none was. Its price is what the probability falls by, in nats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lawful.documents.misreads import Misread
from lawful.values import read

MAX_PRICE = 4.0
"""Nats up to which an edit, or two of a word, are kept."""

MAX_MISREADS = 3
"""Other texts that are kept for a word, the cheapest ones."""

MAX_OF_PAGE = 20
"""Other texts that are kept for a page: with more of them, some sum holds by chance."""

SHORT = 6
"""Digits that a number without points or commas has at most; longer ones are mostly codes."""

LEAST = 1e-7
"""A probability in place of smaller ones."""

CONFUSED: Mapping[str, Mapping[str, int]] = {
    "0": {"9": 54, "8": 41, "6": 5},
    "1": {"3": 130, "7": 33, "5": 9, "9": 8, "8": 4},
    "2": {"1": 126, "7": 24, "3": 15, "0": 5, "9": 4},
    "3": {"9": 16, "1": 15, "7": 11, "5": 4, "2": 4, "8": 4},
    "4": {"6": 36, "8": 20},
    "5": {"6": 66, "9": 37, "8": 8, "0": 7, "3": 4, "7": 4, "1": 4},
    "6": {"8": 49, "5": 12, "4": 9},
    "8": {"9": 22, "6": 12, "5": 6},
    "9": {"8": 27, "7": 11, "5": 9},
}
"""By digit that was read, how often another one was printed, among 877 of 12,368 digits.

Counted on photographed pages of numbers by ``python -m lab.receipts.confusions``."""

SIGNS = "$€£¥"

_AS = ("money", "number", "date")
_CENTS = re.compile(r"[.,]\d\d(?!\d)")
_MARKED = re.compile(r"\d[.,]\d{2,3}(?!\d)")
_GROUPED = re.compile(r"\D{0,3}\d{1,3}([.,]\d{3})+([.,]\d\d)?")


class Edit(NamedTuple):
    """A change of a text: ``cut`` characters at a place become ``new``."""

    at: int
    cut: int  # 0 or 1
    new: str  # at most one character
    price: float

    def within(self, start: int, end: int) -> bool:
        """Whether it changes a part of the text; a character before the part's first is its own."""
        return start <= self.at < end or (self.cut == 0 and self.at == end)


class Line(str):
    """A text of the recogniser with the edits that it nearly made."""

    __slots__ = ("edits",)
    edits: list[Edit]


class Lattices:
    """The decoding of rapidocr's recogniser, whose texts know their edits besides."""

    def __init__(self, decode: Any) -> None:
        self._decode = decode

    def __getattr__(self, name: str) -> Any:
        return getattr(self._decode, name)

    def __call__(self, preds: NDArray[np.float32], *given: Any, **named: Any) -> Any:
        """The recogniser's lines and words, with ``Line`` in place of texts."""
        lines, words = self._decode(preds, *given, **named)
        found = []
        for columns, (text, sure) in zip(preds, lines, strict=True):
            line = Line(text)
            line.edits = edits_of(columns, self._decode.character, text)
            found.append((line, sure))
        return found, words


def edits_of(columns: NDArray[Any], characters: Sequence[str], text: str) -> list[Edit]:
    """The edits of a line up to ``MAX_PRICE``, of digits and of marks between them.

    ``columns`` has a probability per column and character; the first character is none.
    """
    if not any(map(str.isdigit, text)):
        return []
    best = columns.argmax(axis=1)
    starts = np.flatnonzero(np.diff(best, prepend=-1))
    ends = [*starts[1:].tolist(), len(best)]
    runs = list(zip(starts.tolist(), ends, best[starts].tolist(), strict=True))
    if sum(character != 0 for _, _, character in runs) != len(text):
        return []  # the recogniser has made its text in another way
    rivals = np.argwhere(columns > np.exp(-MAX_PRICE) * columns.max(axis=1)[:, None])
    by_column: dict[int, list[int]] = {}
    for column, character in rivals.tolist():
        by_column.setdefault(column, []).append(character)
    logs = np.log(np.maximum(columns, LEAST))
    cheapest: dict[tuple[int, int, str], float] = {}

    def keep(at: int, cut: int, new: int, price: float) -> None:
        mark = characters[new] if new else ""
        if price <= MAX_PRICE and (not mark or _is_of_amounts(mark)):
            key = at, cut, mark
            cheapest[key] = min(price, cheapest.get(key, price))

    at = 0
    sides = [-1, *(character for _, _, character in runs), -1]
    for (start, end, character), before, after in zip(runs, sides, sides[2:], strict=False):
        own = logs[start:end, character]
        others = {c for column in range(start, end) for c in by_column[column]} - {character}
        if character == 0:
            for new in others:  # where it touches itself, it would be one with it
                there = slice(start + (before == new), end - (after == new))
                if there.start < there.stop:
                    keep(at, 0, new, float((logs[there, 0] - logs[there, new]).min()))
            continue
        nothing = logs[start:end, 0]
        if end - start > 2:  # doubled: none stands between its columns
            keep(at, 0, character, float((own - nothing)[1:-1].min()))
        if end - start > 1:
            for column, beside, place in ((start, before, at), (end - 1, after, at + 1)):
                for new in {*by_column[column]} - {0, character, beside}:
                    keep(place, 0, new, float(logs[column, character] - logs[column, new]))
        if _is_of_amounts(text[at]) or text[at].isalpha():
            keep(at, 1, 0, float((own - nothing).sum()))
            for new in others - {0, before, after}:
                there = logs[start:end, new]
                either = np.maximum(there, nothing)
                keep(at, 1, new, float((own - either).sum() + (either - there).min()))
        at += 1
    return [Edit(*key, round(price, 3)) for key, price in cheapest.items() if price > 0]


def _is_of_amounts(character: str) -> bool:
    """Whether an edit may put this character: a sign of money is easily read as a digit, too."""
    return character in SIGNS or (
        character.isascii() and (character.isdigit() or character in ".,-/:+")
    )


def by_word(line: str, words: Sequence[str]) -> Iterator[list[Edit]]:
    """By word of a line, its edits, with places in the word; all words have all its characters."""
    edits = getattr(line, "edits", [])
    solid = [i for i, character in enumerate(line) if not character.isspace()]
    at = 0
    for word in words:
        places = solid[at : at + len(word)]
        at += len(word)
        if not edits or not places or "".join(line[i] for i in places) != word:
            yield []
            continue
        start, end = places[0], places[-1] + 1
        yield [each._replace(at=each.at - start) for each in edits if each.within(start, end)]


def misreads_of(text: str, edits: Sequence[Edit]) -> tuple[Misread, ...]:
    """The other texts of a word by one edit, or by two, that have another value, the cheapest."""
    if not edits or not any(map(str.isdigit, text)):
        return ()
    ways: dict[str, float] = {}
    for several in (*((each,) for each in edits), *combinations(edits, 2)):
        price = sum(each.price for each in several)
        if price > MAX_PRICE or len({each.at for each in several}) < len(several):
            continue
        other = text
        for each in sorted(several, reverse=True):
            other = other[: each.at] + each.new + other[each.at + each.cut :]
        if other and price < ways.get(other, np.inf):
            ways[other] = price
    found: list[Misread] = []
    for price, other in sorted((price, other) for other, price in ways.items()):
        if (
            (len(found) < MAX_MISREADS or other[0] in SIGNS)
            and not loses_mark(text, other)
            and all(differs(known, other) for known in (text, *(each.text for each in found)))
        ):
            found.append(Misread(other, round(price, 3)))
    return tuple(cheapest_of_word(found))


def cheapest_of_word(found: Sequence[Misread], most: int | None = None) -> list[Misread]:
    """The ``MAX_MISREADS`` cheapest, and the cheapest that begins with a sign of money.

    Of $3.35 that is read as 83.35, other digits may be as likely as the sign.
    """
    most = MAX_MISREADS if most is None else most
    signs = [each for each in found[most:] if each.text[0] in SIGNS]
    has_sign = any(each.text[0] in SIGNS for each in found[:most])
    return [*found[:most], *signs[: not has_sign]]


def with_its_marks(text: str, misreads: Sequence[Misread]) -> str:
    """The text; if points and commas make it no amount, that of the same digits which is one."""
    if _GROUPED.fullmatch(text) and not read(text, "money"):
        for other, _ in misreads:
            if _bare(other) == _bare(text) and read(other, "money"):
                return other
    return text


def cheapest_of_page(
    words: Sequence[tuple[str, Sequence[Misread]]], most: int | None = None
) -> list[tuple[Misread, ...]]:
    """By word, what is left if a page keeps only ``MAX_OF_PAGE`` other texts.

    Those of amounts come first, then those of short numbers, and the cheapest ones of each.
    """
    most = MAX_OF_PAGE if most is None else most
    ways = (
        (_rank(text), each.price, i, each) for i, (text, some) in enumerate(words) for each in some
    )
    kept: list[list[Misread]] = [[] for _ in words]
    for *_, i, each in sorted(ways)[:most]:
        kept[i].append(each)
    return [tuple(some) for some in kept]


def _rank(text: str) -> int:
    """How soon rules may decide about a text: 0 of an amount, 1 of a short number, 2 of others."""
    if not read(text, "money"):
        return 2
    return 0 if _MARKED.search(text) else 1 + (sum(map(str.isdigit, text)) > SHORT)


def likely_misreads(text: str, sure: float) -> tuple[Misread, ...]:
    """The other texts of a word of which only a confidence is known, by ``CONFUSED`` digits.

    One minus the confidence is taken for the probability that one digit is wrong.
    """
    ways = [
        (i, other, count)
        for i, digit in enumerate(text)
        for other, count in CONFUSED.get(digit, {}).items()
    ]
    wrong = min(max(1 - sure, LEAST), 0.5)
    odds = log((1 - wrong) / wrong * max(1, sum(count for *_, count in ways)))
    edits = [Edit(i, 1, other, round(odds - log(count), 3)) for i, other, count in ways]
    return misreads_of(text, [edit for edit in edits if edit.price <= MAX_PRICE])


def differs(text: str, other: str) -> bool:
    """Whether two texts are values that differ: amounts, numbers, dates, or codes of digits."""
    for type_ in _AS:
        if (values := read(other, type_)) and values != read(text, type_):
            return True
    return 2 * sum(map(str.isdigit, other)) >= len(other) and _bare(text) != _bare(other)


def loses_mark(text: str, other: str) -> bool:
    """Whether 12.00 would be 1200, or $12.00 be 512.00.

    Recognisers miss points, and take signs of money for digits, but hardly see any that are not
    there. Amounts that all change so are equal on one page as often as the right ones are.
    """
    if any(sign in text and sign not in other for sign in SIGNS):
        return True
    return _bare(text) == _bare(other) and bool(_CENTS.search(text)) and not _CENTS.search(other)


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, text))
