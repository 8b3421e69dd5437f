"""Candidate spans of a document: runs of words of a printed line that a type can read."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from typing import Literal, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lawful.candidates.grounding.matches import fold
from lawful.documents.document import Document
from lawful.documents.reading_order import cell_starts, page_numbers, printed_lines, upright_boxes
from lawful.rules.judging.rows import RowNumbers
from lawful.values import read_in, type_named, unprinted

Ints = NDArray[np.int64]

Per: TypeAlias = Literal["document", "row", "span"]
"""What has at most one value of a field: a document, a row of it, or, of a list, each span."""

LONGEST = {"number": 3, "date": 5, "text": 12}
"""Words of a candidate, at most, by the kind of its type."""

CURRENCY = 3
"""Letters of a word without digits, at most, beside a number."""

DIGITS = {"number": (1, 40), "date": (3, 14), "text": (0, 1000)}
"""The least and the most digits of a value, by kind."""

SHORT = 3
"""Words of a text, at most, that neither begins nor ends where a printed cell does."""

LETTERS, BEGINNING, ENDING, SHAPE, WORD = range(5)
"""The hashes of a word."""


@dataclass(frozen=True, slots=True)
class CandidateSpans:
    """The candidates of one type in a document."""

    kind: str
    starts: Ints
    ends: Ints
    values: Sequence[tuple[Hashable, ...]]  # all that each may mean, the most plausible first


class SpanPage:
    """The words of a document by line and cell, and the candidates among them."""

    def __init__(self, document: Document) -> None:
        self.document = document
        count = len(document)
        known = [_of_word(word) for word in document.words]
        self.folded = [each[0] for each in known]
        self.digit_counts = np.array([each[1] for each in known], np.int64)
        self.digits = self.digit_counts > 0
        hashes = np.array([each[2] for each in known], np.int64).reshape(-1, 5)
        self.hashes = np.concatenate([hashes, np.zeros((1, 5), np.int64)])  # of no word: 0
        self.pages, self.boxes = page_numbers(document), upright_boxes(document)
        self.lines = np.zeros(count, np.int64)
        if self.boxes is not None:
            lines = printed_lines(document)
            order = {line: number for number, line in enumerate(dict.fromkeys(lines))}
            self.lines = np.array([order[line] for line in lines], np.int64)  # from the top
        self.first = cell_starts(document)  # by word, and after the last
        ends = [word.endswith(":") for word in document.words[:-1]]
        self.first[1:count] |= np.array(ends, bool)
        numbers = RowNumbers.of(document)
        self.rows = None if numbers is None else numbers.numbers.astype(np.int64)
        self._found: dict[tuple[str, int], CandidateSpans] = {}

    def __len__(self) -> int:
        return len(self.document)

    def candidates(self, type_name: str, longest: int | None = None) -> CandidateSpans:
        """The candidates of a type, of at most so many words."""
        key = type_name, longest or LONGEST[type_named(type_name).kind]
        if key not in self._found:
            found = self._texts(key[1]) if type_name == "text" else self._typed(*key)
            array = np.fromiter(chain.from_iterable(found), np.int64).reshape(-1, 2)
            kind = type_named(type_name).kind
            self._found[key] = CandidateSpans(kind, array[:, 0], array[:, 1], list(found.values()))
        return self._found[key]

    def groups(self, candidates: CandidateSpans, per: Per) -> Ints:
        """By candidate, a number that those have in common of which one at most is the field.

        Of rows that are neither given nor printed lines, nothing is known before the search.
        """
        if per == "document":
            return 0 * candidates.starts
        if per == "row" and self.rows is not None:
            return self.rows[candidates.starts]
        return np.arange(len(candidates.starts))

    def _texts(self, longest: int) -> dict[tuple[int, int], tuple[str]]:
        """Runs of words within cells: short ones, and those from its beginning or to its end."""
        edges = np.flatnonzero(self.first).tolist()
        found = {}
        for left, right in pairwise(edges):
            for start in range(left, right):
                value = ""
                for end in range(start + 1, min(right, start + longest) + 1):
                    value += self.folded[end - 1]
                    if value and (end - start <= SHORT or start == left or end == right):
                        found[start, end] = (value,)
        return found

    def _typed(self, type_name: str, longest: int) -> dict[tuple[int, int], tuple[Hashable, ...]]:
        """Runs within lines that have a value, but no shorter run inside that has the same."""
        kind, lines, count = type_named(type_name).kind, self.lines, len(self)
        hopeless = type_named(type_name).hopeless or (lambda _: False)
        may = np.array([not hopeless(word) for word in self.document.words], bool)
        if kind == "number":  # words without digits are signs or currencies
            part = self.digits | np.array([len(word) <= CURRENCY for word in self.document.words])
        found: dict[tuple[int, int], tuple[Hashable, ...]] = {}
        digits = np.concatenate([[0], np.cumsum(self.digit_counts)])
        least, most = DIGITS[kind]
        for size in range(1, min(longest, count) + 1):
            here = lines[: count - size + 1] == lines[size - 1 :]
            for step in range(size):
                here = here & may[step : count - size + 1 + step]
                if kind == "number" and size > 1:
                    here &= part[step : count - size + 1 + step]
            total = digits[size:] - digits[:-size]
            for start in np.flatnonzero(here & (total >= least) & (total <= most)).tolist():
                end = start + size
                text = self.document.text(start, end)
                values = tuple(map(unprinted, read_in(self.document.words, text, type_name)))
                if values and not any(
                    found.get((a, b), (None,))[0] == values[0]
                    for a in range(start, end)
                    for b in range(a + 1, end + 1)
                ):
                    found[start, end] = values
        return dict(sorted(found.items()))


@lru_cache(maxsize=65_536)
def _of_word(word: str) -> tuple[str, int, tuple[int, ...]]:
    """The folded word, the number of its digits, and its hashes."""
    folded = fold(word)
    letters = re.sub(r"\d", "9", folded) or word[:2]
    shape = "".join(
        "9" if m.isdigit() else "A" if m.isupper() else "a" if m.isalpha() else m for m in word[:50]
    )
    texts = letters, letters[:4], letters[-5:], re.sub(r"(.)\1+", r"\1", shape), folded or word[:2]
    marks = zip("wpshe", texts, strict=True)
    return folded, sum(m.isdigit() for m in word), tuple(hashed(m + text) for m, text in marks)


def hashed(text: str) -> int:
    """A number for a text, the same everywhere."""
    return crc32(text.encode("utf-8", "surrogatepass"))
