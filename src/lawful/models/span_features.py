"""Hashed features of candidate spans: what the quick model looks at.

The words left and right, the last one that is letters, the cells above and below, the captions of
the row and of the column, the shape of the text, its place on the page, and what its value has to
do with the others: repeats, rank, sums; and where the words of the field's own name are printed.
They are computed for all candidates at once: a row per candidate, a column per feature, each a
number below ``BUCKETS``.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lawful.candidates.grounding.key_words import alike, concept_of, words_of
from lawful.models.spans import (
    BEGINNING,
    ENDING,
    LETTERS,
    SHAPE,
    WORD,
    CandidateSpans,
    Ints,
    Per,
    SpanPage,
    hashed,
)
from lawful.values.money import CURRENCIES

Rows = NDArray[np.int32]
Columns = list[tuple[str, Ints]]

BUCKETS = 1 << 18
MANY = 15
NOT_OF_ROWS = frozenset(
    ("page", "place", "down", "first time", "repeats", "nth", "last nth", "rank", "low",
     "rank repeats", "rank low", "rank page", "sums rank", "decimals rank", "beside rank")
)  # fmt: skip
LAYOUTS = 3  # least hashes of words
LETTERED = 3  # letters of a caption, at least
HIGHEST = 40  # cells above a cell, at most, up to the heading of its column
ALIGNED = 3.0  # by which right edges of a column differ, in thousandths of the page's width


def mixed(*parts: Ints | int) -> Ints:
    """One hash of several numbers, whose order counts."""
    found = np.zeros(1, np.int64)
    for part in parts:
        found = (found * 1_000_003 + part) & 0xFFFFFFFF
        found = found ^ (found >> 15)
    return found


def hashed_rows(columns: Iterable[tuple[str, Ints]]) -> Rows:
    """The features in columns, named and hashed, as a row per candidate."""
    found = [mixed(hashed(name), part) & (BUCKETS - 1) for name, part in columns]
    return np.stack(found, axis=1).astype(np.int32)


class _Cells(NamedTuple):
    """The printed cells; the last entry of each array stands for no cell."""

    of_word: Ints
    lefts: Ints  # the first word of each
    lines: Ints
    hashes: Ints
    concepts: Ints  # 0: it names none
    above: Ints
    below: Ints
    heading: Ints  # of the column: the first cell above without digits


class Features:
    """The features of the candidates of one document."""

    def __init__(self, page: SpanPage) -> None:
        self.page = page
        self._cells = _cells(page)
        self._by_candidates: dict[tuple[int, bool], Rows] = {}
        lines = page.lines
        in_order = bool((np.diff(lines) >= 0).all())
        self._captions = _captions(page)
        self._line_starts = np.searchsorted(lines, lines) if in_order else np.arange(len(page))

    def of(self, candidates: CandidateSpans, names: Sequence[str], per: Per) -> Rows:
        """The features of candidates of a field with these names: (candidates, features).

        Of a field of rows, the place on the page and the rank of the value say nothing.
        """
        if not len(candidates.starts):
            return np.empty((0, 0), np.int32)
        key = id(candidates), per == "row"  # the page keeps the candidates
        if key not in self._by_candidates:
            columns = self._columns(candidates)
            if per == "row":
                columns = [each for each in columns if each[0] not in NOT_OF_ROWS]
                if candidates.kind != "text":
                    columns += self._in_line(candidates, dict(columns))
            self._by_candidates[key] = hashed_rows(columns)
        return np.concatenate([self._by_candidates[key], self._named(candidates, names)], axis=1)

    @cached_property
    def _patterns(self) -> tuple[Ints, Ints]:
        """By line, and of none after the last two: a hash of its kinds of words; its first word."""
        page, count = self.page, len(self.page)
        lines = int(page.lines.max(initial=-1)) + 1
        texts = [""] * lines
        firsts = np.full(lines + 2, count)
        for at in range(count - 1, -1, -1):
            line = page.lines[at]
            kind = _kind(page.document.words[at])
            if kind != "w" or not texts[line].startswith("w"):
                texts[line] = kind + texts[line]
            firsts[line] = at
        return np.array([*map(hashed, texts), 0, 0], np.int64), firsts

    @cached_property
    def layout(self) -> Ints:
        """What documents of one layout have in common, likely: the least hashes of their words."""
        page = self.page
        words = {
            hash_
            for hash_, digits, text in zip(
                page.hashes[:-1, LETTERS].tolist(), page.digits, page.folded, strict=True
            )
            if not digits and len(text) >= LETTERED
        }
        known = np.array(sorted(words) or [0], np.int64)
        return np.array([mixed(known, seed).min() for seed in range(LAYOUTS)])

    def _word(self, at: Ints, line: Ints, kind: int = LETTERS) -> Ints:
        """The hashes of words, 0 for those that do not stand in this line."""
        return self.page.hashes[self._inside(at, line), kind]

    def _inside(self, at: Ints, line: Ints) -> Ints:
        """The words; that after the last for those that do not stand in this line."""
        count = len(self.page)
        safe = np.clip(at, 0, count - 1)
        return np.where((safe == at) & (self.page.lines[safe] == line), at, count)

    def _before(self, cells: Ints) -> Ints:
        """The cells left of cells in their lines; the last entry for none."""
        there = self._cells.lines[cells - 1] == self._cells.lines[cells]
        return np.where((cells > 0) & there, cells - 1, len(self._cells.lefts))

    def _columns(self, candidates: CandidateSpans) -> Columns:
        page, cells = self.page, self._cells
        starts, ends, kind = candidates.starts, candidates.ends, candidates.kind
        last, line = ends - 1, page.lines[starts]
        left = [self._word(starts - k, line) for k in range(1, 5)]
        right = [self._word(ends + k, line) for k in range(2)]
        cell = cells.of_word[starts]
        before = self._before(cell)
        before2 = np.where(before < len(cells.lefts), self._before(before), before)
        up, down, head = cells.above[cell], cells.below[cell], cells.heading[cell]
        whole = 2 * page.first[starts] + page.first[ends]
        row = self._line_starts[starts]
        begin, shape = self._word(row, line), self._shapes(starts, ends)
        number, final = page.pages[starts], int(page.pages.max())
        where = np.where(number == 0, 0, np.where(number == final, 2, 1))
        columns = [
            ("bias", 0 * starts), ("page", where), ("length", ends - starts),
            ("left", left[0]), ("left2", mixed(*left[:2])), ("left3", mixed(*left[:3])),
            *(("near", each) for each in left),
            *(("beginning", self._word(starts - k, line, BEGINNING)) for k in (1, 2)),
            *(("ending", self._word(starts - k, line, ENDING)) for k in (1, 2)),
            ("cell", cells.hashes[before]), ("cell2", cells.hashes[before2]),
            ("concept", cells.concepts[before]), ("concept up", cells.concepts[up]),
            ("concept head", cells.concepts[head]),
            ("up", cells.hashes[up]), ("up2", cells.hashes[cells.above[up]]),
            ("head", cells.hashes[head]), ("head row", mixed(cells.hashes[head], begin)),
            ("down", cells.hashes[down]),
            ("right", right[0]), ("right2", mixed(*right)),
            ("row", begin), ("row2", mixed(begin, self._word(row + 1, line))),
            ("row beginning", self._word(row, line, BEGINNING)),
            ("shape", shape), ("shape left", mixed(shape, left[0])),
            ("whole", whole), ("whole left", mixed(whole, left[0])),
            *self._places(starts, last, where),
            *self._relations(candidates, where),
        ]  # fmt: skip
        if kind == "text":
            columns += [
                *(("first", page.hashes[starts, hash_]) for hash_ in (LETTERS, SHAPE, WORD)),
                *(("last", page.hashes[last, hash_]) for hash_ in (LETTERS, SHAPE, WORD)),
                ("whole cell", mixed(whole, cells.hashes[before])),
                ("whole up", mixed(whole, cells.hashes[up])),
            ]  # fmt: skip
        else:
            columns += self._called(starts, row)
        return columns

    def _in_line(self, candidates: CandidateSpans, found: Mapping[str, Ints]) -> Columns:
        """The place of a number or a date among those of its line, and what such lines look like.

        ``found`` are other features. Documents of one layout have words in common, so that the
        least hash of all their words is often the same: that is what ``layout`` says.
        """
        starts = candidates.starts
        line = self.page.lines[starts]
        order = np.lexsort((starts, line))
        first = np.searchsorted(line[order], line, "left")
        after = np.searchsorted(line[order], line, "right")
        at = np.empty_like(starts)
        at[order] = np.arange(len(starts))
        nth, last = np.minimum(at - first, MANY), np.minimum(after - 1 - at, MANY)
        patterns, _ = self._patterns
        pattern = patterns[line]
        called = found["caption"]
        place = mixed(nth, last)
        columns: Columns = [
            ("in line", place), ("last in line", last), ("row last", mixed(found["row"], last)),
            ("row in line", mixed(found["row"], place)), ("pattern", mixed(pattern, last)),
            ("pattern row", mixed(pattern, last, found["row"])),
            ("called last", mixed(called, last)), ("called first", mixed(called, nth)),
            ("above", mixed(patterns[line - 1], place)),
            ("below", mixed(patterns[line + 1], place)),
            ("row above", mixed(self._first_of_line(line - 1), last)),
            ("row below", mixed(self._first_of_line(line + 1), last)),
        ]  # fmt: skip
        for number, key in enumerate(self.layout.tolist()):
            columns += [
                (f"layout{number}", mixed(key, last, called)),
                (f"layout pattern{number}", mixed(key, last, pattern)),
                (f"layout place{number}", mixed(key, last, found["row"])),
            ]
        return columns

    def marks(self, candidates: CandidateSpans) -> tuple[Ints, Ints, Ints]:
        """The shapes of candidates, what they are called, and how their lines begin."""
        starts = candidates.starts
        row, called = self.marks_of_words(starts)
        return self._shapes(starts, candidates.ends), called, row

    def marks_of_words(self, words: Ints) -> tuple[Ints, Ints]:
        """How the lines of words begin, and what the words are called."""
        hashes = self.page.hashes[:, LETTERS]
        return self._first_of_line(self.page.lines[words]), hashes[self._captions[words]]

    def _first_of_line(self, lines: Ints) -> Ints:
        """The hashes of the first words of lines, 0 for lines that are not there."""
        _, firsts = self._patterns
        return self.page.hashes[firsts[lines], LETTERS]

    def _called(self, starts: Ints, row: Ints) -> Columns:
        """What a number or a date is called: the last words of letters before it in its line."""
        words, hashes, captions = self.page.folded, self.page.hashes, self._captions
        last = captions[starts]
        concepts = [
            _concept(tuple(words[max(left, at - 3) : at + 1])) if at < len(words) else 0
            for left, at in zip(row.tolist(), last.tolist(), strict=True)
        ]
        return [
            *(("caption", hashes[last, kind]) for kind in (LETTERS, BEGINNING, ENDING)),
            ("caption2", mixed(hashes[last, LETTERS], hashes[captions[last], LETTERS])),
            ("caption concept", np.array(concepts, np.int64)),
        ]

    def _shapes(self, starts: Ints, ends: Ints) -> Ints:
        """The shape of spans, by that of their first four words."""
        shape = self.page.hashes[starts, SHAPE]
        for step in range(1, 4):
            at = np.where(starts + step < ends, starts + step, len(self.page))
            shape = mixed(shape, self.page.hashes[at, SHAPE])
        return shape

    def _places(self, starts: Ints, last: Ints, where: Ints) -> Columns:
        boxes, pages = self.page.boxes, self.page.pages
        if boxes is None:
            return [("place", 10 * starts // max(len(self.page), 1))]
        x0, y0, _, y1 = boxes[starts].T
        wide, high = np.full((2, int(pages.max()) + 1), 1e-6)
        np.maximum.at(wide, pages, boxes[:, 2])
        np.maximum.at(high, pages, boxes[:, 3])
        across = (4 * (x0 + boxes[last, 2]) / wide[pages[starts]]).astype(np.int64)
        down = (16 * y0 / high[pages[starts]]).astype(np.int64)
        usual = float(np.median(boxes[:, 3] - boxes[:, 1])) or 1.0
        size = np.clip(4 * (y1 - y0) / usual, 0, MANY).astype(np.int64)
        return [
            ("place", mixed(where, across, down)), ("down", mixed(where, down)),
            ("across", mixed(where, across)), ("size", size),
        ]  # fmt: skip

    def _relations(self, candidates: CandidateSpans, where: Ints) -> Columns:
        """What the values of candidates have to do with each other."""
        numbers: dict[Hashable, int] = {}
        ids = np.array([numbers.setdefault(each[0], len(numbers)) for each in candidates.values])
        repeats = np.minimum(np.bincount(ids)[ids], 5)
        is_first = np.unique(ids, return_index=True)[1][ids] == np.arange(len(ids))
        columns: Columns = [("repeats", repeats), ("first time", mixed(repeats, 1 * is_first))]
        if candidates.kind == "text":
            return columns
        order = np.arange(len(ids))
        sorted_ids = [numbers[value] for value in sorted(numbers, reverse=True)]  # type: ignore[type-var]
        rank = np.argsort(sorted_ids)[ids]
        low, rank = np.minimum(len(numbers) - 1 - rank, 3), np.minimum(rank, 8)
        columns += [
            ("nth", np.minimum(order, MANY)), ("last nth", np.minimum(order[::-1], MANY)),
            ("rank", rank), ("low", low), ("rank repeats", mixed(rank, repeats)),
            ("rank low", mixed(np.minimum(rank, 2), low)), ("rank page", mixed(rank, where)),
        ]  # fmt: skip
        if candidates.kind == "date":
            lines = self.page.lines[candidates.starts]
            gap = candidates.starts[1:] - candidates.ends[:-1]
            close = np.where((lines[1:] == lines[:-1]) & (gap >= 0), np.minimum(gap, 3), 9)
            beside = mixed(np.append(9, close), np.append(close, 9))
            ends = mixed(beside, np.minimum(rank, 1), np.minimum(low, 1))
            columns += [("beside", beside), ("beside rank", ends)]
        else:
            sums = self._sums(candidates)
            decimals = np.array([_decimals(each[0]) for each in candidates.values], np.int64)
            beside = self._money(candidates)
            columns += [
                ("sums", sums), ("sums rank", mixed(sums, rank)), ("decimals", decimals),
                ("decimals rank", mixed(decimals, rank)), ("currency", beside),
                ("decimals currency", mixed(decimals, beside)),
            ]  # fmt: skip
        return columns

    def _money(self, candidates: CandidateSpans) -> Ints:
        """Whether a currency stands left of candidates, right of them, or both."""
        page, line = self.page, self.page.lines[candidates.starts]
        words = [word.strip(".,:").lower() in CURRENCIES for word in page.document.words]
        known = np.array([*words, False], np.int64)
        left, right = candidates.starts - 1, candidates.ends
        return known[self._inside(left, line)] + 2 * known[self._inside(right, line)]

    def _sums(self, candidates: CandidateSpans) -> Ints:
        """1 for totals of numbers above in the column, 2 for sums of two others, 4 for terms."""
        values = np.array([float(each[0]) for each in candidates.values])  # type: ignore[arg-type]
        amounts = np.round(100 * np.clip(values, -1e14, 1e14)).astype(np.int64)
        found = np.zeros(len(amounts), np.int64)
        known = np.unique(np.abs(amounts[amounts != 0]))[-60:]
        one, other = np.triu_indices(len(known), 1)
        pairs = known[one] + known[other]
        there = np.isin(pairs, known)
        parts = np.union1d(known[one[there]], known[other[there]])
        found += 2 * np.isin(np.abs(amounts), pairs) + 4 * np.isin(np.abs(amounts), parts)
        if self.page.boxes is None:
            return found
        right = self.page.boxes[candidates.ends - 1, 2]
        edges = np.round(1000 / ALIGNED * right / max(float(right.max()), 1e-6))
        for edge in np.unique(edges):
            rows = np.flatnonzero(np.abs(edges - edge) <= 1)
            totals = np.concatenate([[0], np.cumsum(amounts[rows])])
            for place in np.flatnonzero(edges[rows] == edge)[2:]:
                amount = amounts[rows[place]]
                found[rows[place]] |= amount != 0 and amount in totals[place] - totals[: place - 1]
        return found

    def _named(self, candidates: CandidateSpans, names: Sequence[str]) -> Rows:
        """Where the words of a field's name are printed around candidates."""
        page, cells, starts = self.page, self._cells, candidates.starts
        wanted = frozenset(word for name in names for word in words_of(name) if len(word) > 1)
        like = np.array([_is_like(word, wanted) for word in (*page.folded, "")], np.int64)
        codes, line, cell = self._name_codes(like, names), page.lines[starts], cells.of_word[starts]
        left = [like[self._inside(starts - k, line)] for k in range(1, 5)]
        row = self._line_starts[starts]
        of_row = [like[self._inside(row + k, line)] << k for k in range(3)]
        before, up = codes[self._before(cell)], codes[cells.above[cell]]
        return hashed_rows([
            ("named left", left[0] + 2 * left[1]), ("named near", np.maximum.reduce(left)),
            ("named before", before), ("named up", up), ("named both", mixed(before, up)),
            ("named head", codes[cells.heading[cell]]),
            ("named up2", codes[cells.above[cells.above[cell]]]),
            ("named row", np.sum(of_row, axis=0)),
            ("named inside", 2 * like[starts] + like[candidates.ends - 1]),
        ])  # fmt: skip

    def _name_codes(self, like: Ints, names: Sequence[str]) -> Ints:
        """By cell: 3 if it has words of the names, + 1 if it has their concept, + 2 if another."""
        cells = self._cells
        concept = _concept(words_of(names[0]))
        other = np.where(cells.concepts == concept, 1, 2) * (cells.concepts != 0)
        if not concept:
            other[:] = 0
        has = np.append(np.maximum.reduceat(like[:-1], cells.lefts), 0)
        codes: Ints = 3 * has + other
        codes[-1] = 6
        return codes


@lru_cache(maxsize=65_536)
def _kind(word: str) -> str:
    """A word (``w``), or the marks of one with digits, such as ``.,`` of an amount."""
    if not any(map(str.isdigit, word)):
        return "w"
    marks = "".join(mark for mark in word if not mark.isalnum() and mark not in "+-")
    return f"{'a' if any(map(str.isalpha, word)) else '9'}{marks[:4]}"


def _captions(page: SpanPage) -> Ints:
    """By word, and after the last, the nearest one before it in its line that has letters only.

    Currencies do not count: it is what a value is called, whatever stands between.
    """
    count = len(page)
    found = np.full(count + 1, count)
    nearest, line = count, -1
    for at, word in enumerate(page.folded):
        if page.lines[at] != line:
            nearest, line = count, page.lines[at]
        found[at] = nearest
        if len(word) >= LETTERED and not page.digits[at] and word not in CURRENCIES:
            nearest = at
    return found


def _decimals(value: Hashable) -> int:
    """The number of decimals that an amount is printed with, up to 5."""
    return min(max(-int(value.as_tuple().exponent), 0), 5) if isinstance(value, Decimal) else 0


def hopes() -> NDArray[np.float64]:
    """Weights before anything is learned: a value stands beside words of the field's name."""
    weights = np.zeros(BUCKETS)
    for name, codes in (
        ("named left", (1, 3)), ("named near", (1,)), ("named before", (3, 4, 5)),
        ("named up", (3, 4, 5)), ("named head", (3, 4, 5)),
    ):  # fmt: skip
        weights[hashed_rows([(name, np.array(codes))])] = HOPE
    for name in ("named before", "named up", "named head"):
        weights[hashed_rows([(name, np.array([2]))])] = -HOPE / 2
    return weights


HOPE = 1.0
"""Log-odds that a word of the field's name adds."""


@lru_cache(maxsize=65_536)
def _is_like(word: str, wanted: frozenset[str]) -> bool:
    return len(word) > 1 and any(alike(word, each) for each in wanted)


def _concept(words: tuple[str, ...]) -> int:
    found = concept_of(words)
    return 0 if found is None else hashed(found)


@lru_cache(maxsize=65_536)
def _of_cell(folded: tuple[str, ...]) -> tuple[int, int]:
    """The hash and the concept of a cell, by its first words."""
    return hashed("c" + " ".join(re.sub(r"\d", "9", word) for word in folded)), _concept(folded)


def _cells(page: SpanPage) -> _Cells:
    edges = np.flatnonzero(page.first)
    lefts, rights = edges[:-1], edges[1:]
    count = len(lefts)
    known = [
        _of_cell(tuple(page.folded[left : min(right, left + 8)]))
        for left, right in zip(lefts.tolist(), rights.tolist(), strict=True)
    ]
    hashes, concepts = np.array([*known, (0, 0)], np.int64).T
    above, below = np.full((2, count + 1), count)
    if page.boxes is not None:
        _find_neighbours(page, lefts, rights, above, below)
    digits = np.append(np.logical_or.reduceat(page.digits, lefts), False)
    heading = above.copy()
    for _ in range(HIGHEST):
        if not digits[heading].any():
            break
        heading = np.where(digits[heading], above[heading], heading)
    lines = np.append(page.lines[lefts], -1)
    of_word = np.cumsum(page.first[:-1]) - 1
    return _Cells(of_word, lefts, lines, hashes, concepts, above, below, heading)


def _find_neighbours(page: SpanPage, lefts: Ints, rights: Ints, above: Ints, below: Ints) -> None:
    """Fills in the nearest cells above and below that are neither left nor right."""
    assert page.boxes is not None  # noqa: S101 - only called with boxes
    for number in np.unique(page.pages[lefts]):
        cells = np.flatnonzero(page.pages[lefts] == number)
        x0, y0, _, y1 = page.boxes[lefts[cells]].T
        x1 = page.boxes[rights[cells] - 1, 2]
        slack = (y1 - y0)[:, None] / 3
        beside = (x0[:, None] < x1) & (x1[:, None] > x0)
        np.fill_diagonal(beside, False)
        for distance, found in ((y0[:, None] - y1, above), (y0 - y1[:, None], below)):
            far = np.where(beside & (distance > -slack), distance, np.inf)
            nearest = far.argmin(axis=1)
            there = np.isfinite(far[np.arange(len(cells)), nearest])
            found[cells[there]] = cells[nearest[there]]
