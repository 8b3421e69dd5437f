"""Printed lines and reading order: what the boxes of words say about their order.

Models read words in the order in which a person would. OCR engines and PDF files often have them in
another one, so whatever reads files sorts words by ``reading_order``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lawful import _core
from lawful.base.cache import Cache
from lawful.documents.document import UNITS, Box, Document

EDGE = 0.1
"""Share of a word's height, above and below, by which lines may overlap and still be apart."""

DEEPEST = 12
"""Blocks within blocks that are told apart; more are read line by line."""

LEVEL = 0.3
"""Distance of two lines, in usual heights of a word, up to which they count as level."""

MIN_TALL = 0.6
"""Share of a page's words that are higher than wide from which on the page lies on its side."""

MIN_DOWN = 0.75
"""Share of neighbouring words, on such a page, that go down from which on its text runs down."""

MIN_OVERLAP = 0.3
"""Share of the smaller height by which two neighbouring words of a printed line overlap."""

WIDEST_BLANK = 0.8
"""Distance of two words of a cell, at most, in heights of the higher one."""

MAX_COVERED = 0.5
"""Distance by which a word may begin before the end of the one before it, in the same heights."""


def printed_lines(document: Document) -> list[int]:
    """By word, the number of its printed line.

    From left to right, a word is in the line whose last word overlaps most with it in height. The
    lines of a page that was photographed at an angle have a slope in common: it is taken out, and
    lines are found once more. The lines of recent documents are remembered, since the model, rules
    of rows and rules of places all ask for them.
    """
    key = document.boxes or (), document.pages
    found = _LINES.get(key)
    if found is None:
        found = _LINES.keep(key, _printed_lines(*key), BYTES_PER_BOX * len(key[0]))
    return list(found)


BYTES_PER_BOX = 300

_LINES: Cache[tuple[tuple[Box, ...], tuple[int, ...] | None], tuple[int, ...]] = Cache(2**24)


def _printed_lines(boxes: tuple[Box, ...], pages: tuple[int, ...] | None) -> tuple[int, ...]:
    numbers = np.array(pages or (0,) * len(boxes), int)
    places = upright(boxes, numbers)
    lines = np.full(len(places), -1)
    for page in np.unique(numbers[: len(places)]):
        words = np.flatnonzero(numbers == page)
        there = places[words]
        level = _level(there, _slope(there, _lines(there)))
        lines[words] = _lines(level) + lines.max() + 1
    return tuple(lines.tolist())


def cell_starts(document: Document) -> NDArray[np.bool_]:
    """By word, and after the last one, whether a printed cell begins there.

    A cell is a run of words of one line with no more than a blank between them: an entry of a
    table or of a form, or a line of running text. What follows ``:`` or ``#`` is a cell of its own,
    apart from its caption. Without boxes, all words are one cell.
    """
    starts = np.zeros(len(document) + 1, np.bool_)
    starts[[0, -1]] = True
    boxes = upright_boxes(document)
    if boxes is None or len(document) < 2:
        return starts
    x0, y0, x1, y1 = boxes.T
    high = np.maximum(y1[1:] - y0[1:], y1[:-1] - y0[:-1])
    gap = x0[1:] - x1[:-1]
    starts[1:-1] = (gap > WIDEST_BLANK * high) | (gap < -MAX_COVERED * high)
    starts[1:-1] |= np.diff(printed_lines(document)) != 0
    starts[1:-1] |= [word.endswith((":", "#")) for word in document.words[:-1]]
    return starts


def reading_order(boxes: Sequence[Box], pages: Sequence[int] | None = None) -> list[int]:
    """The indices of words in the order in which a person reads them, page by page.

    Words of a printed line stand together, from left to right, and lines from top to bottom: so a
    table is read row by row. Blocks side by side are read one after the other if their lines are
    not level with each other, or if they are columns of running text. The slope of a page that was
    photographed at an angle is taken out first, and a page that lies on its side is turned. Text
    that runs up or down the margin comes last.
    """
    numbers = np.zeros(len(boxes), int) if pages is None else np.array(pages, int)
    places = upright(boxes, numbers)
    order: list[int] = []
    for page in np.unique(numbers):
        words = np.flatnonzero(numbers == page)
        order += [int(words[i]) for i in _order_page(places[words])]
    return order


def page_numbers(document: Document) -> NDArray[np.int64]:
    """By word, the page that it is on; the first one, if pages are not known."""
    return np.array(document.pages or (0,) * len(document), np.int64)


def upright_boxes(document: Document) -> NDArray[np.float64] | None:
    """The boxes of a document, (words, 4), as if no page lay on its side; none without boxes."""
    return None if document.boxes is None else upright(document.boxes, page_numbers(document))


def upright(boxes: Sequence[Box], pages: Sequence[int] | NDArray[np.int_]) -> NDArray[np.float64]:
    """The boxes, (words, 4), with pages turned that lie on their side.

    On such a page most words are higher than wide, and differ in height rather than in width, as
    single digits do not. Whether text runs up or down there follows from the order in which words
    of a line are given; up, unless nearly all go down.
    """
    places = np.array(boxes, float).reshape(-1, 4)
    numbers = np.asarray(pages, int)[: len(places)]
    for page in np.unique(numbers):
        words = np.flatnonzero(numbers == page)
        x0, y0, x1, y1 = places[words].T
        tall = y1 - y0 > x1 - x0
        if len(words) < 5 or tall.mean() < MIN_TALL or not np.std(y1 - y0) > np.std(x1 - x0):
            continue
        beside = np.abs(np.diff(x0)) < np.median(x1 - x0) / 2
        if (np.diff(y0)[beside] > 0).sum() > MIN_DOWN * beside.sum():
            turned = np.stack([y0, x1.max() - x1, y1, x1.max() - x0], axis=1)
        else:
            turned = np.stack([y1.max() - y1, x0, y1.max() - y0, x1], axis=1)
        places[words] = turned
    return places


def in_reading_order(document: Document) -> Document:
    """The document with its words sorted, and all that belongs to words; itself without boxes."""
    if document.boxes is None or document.joins is not None:
        return document
    order = reading_order(document.boxes, document.pages)

    def sort(values: Sequence[Any] | None) -> Any:
        return None if values is None else tuple(values[i] for i in order)

    parts = {name: sort(getattr(document, name)) for name in ("words", *UNITS)}
    return replace(document, **parts)


def _order_page(boxes: NDArray[np.float64]) -> list[int]:
    """The words of a page in reading order."""
    if not len(boxes):
        return []
    wide, high = (boxes[:, 2:] - boxes[:, :2]).T
    middle = float(np.median(high[high > 0])) if (high > 0).any() else 1.0
    upright = (high <= 3 * middle) | (high <= 1.5 * wide)
    words = np.flatnonzero(upright)
    slope = _slope(boxes[words], _lines(boxes[words]))
    page = _Page(_level(boxes, slope), middle)
    rest = sorted(np.flatnonzero(~upright).tolist(), key=lambda i: (boxes[i, 0], boxes[i, 1]))
    return page.order(words) + rest


def _level(boxes: NDArray[np.float64], slope: float) -> NDArray[np.float64]:
    """The boxes as they would be if lines had no slope."""
    level = boxes.copy()
    level[:, [1, 3]] -= slope * boxes[:, [0, 2]].mean(axis=1)[:, None]
    return level


@dataclass(frozen=True, slots=True)
class _Page:
    """A page whose lines are level; ``middle`` is the usual height of a word."""

    boxes: NDArray[np.float64]
    middle: float

    def order(self, words: NDArray[np.int_], depth: int = 0) -> list[int]:
        """The words in reading order: bands from top to bottom.

        ``depth`` is the number of blocks that these words are in, each beside others.
        """
        bands = self._bands(words)
        order: list[int] = []
        start = 0
        while start < len(bands):
            run, cut = self._columns_of_text(bands[start:])
            band = np.concatenate(bands[start : start + run])
            if cut is None or depth == DEEPEST:
                order += self._order_band(band, depth)
            else:
                order += self._sides(band, cut, depth)
            start += run
        return order

    def _sides(self, words: NDArray[np.int_], cut: float, depth: int) -> list[int]:
        is_left = self.boxes[words, 2] <= cut
        sides = words[is_left], words[~is_left]
        return [word for side in sides for word in self.order(side, depth + 1)]

    def _order_band(self, words: NDArray[np.int_], depth: int) -> list[int]:
        """Blocks side by side, unless their lines are level; otherwise line by line."""
        boxes = self.boxes[words]
        lines = _lines(boxes)
        for cut in self._gutters(words) if lines.any() and depth < DEEPEST else ():
            is_left = boxes[:, 2] <= cut
            if not self._are_level(words[is_left], words[~is_left]):
                return self._sides(words, cut, depth)
        heights = line_centres(boxes, lines)
        return [int(i) for i in words[np.lexsort((boxes[:, 0], lines, heights[lines]))]]

    def _bands(self, words: NDArray[np.int_]) -> list[NDArray[np.int_]]:
        """Words between which no horizontal cut is possible, from top to bottom."""
        tops, bottoms = self.boxes[words, 1], self.boxes[words, 3]
        trim = EDGE * (bottoms - tops)  # lines may touch
        tops, bottoms = tops + trim, bottoms - trim
        by_top = np.argsort(tops, kind="stable")
        ends = np.maximum.accumulate(bottoms[by_top])
        cuts = np.flatnonzero(tops[by_top][1:] > ends[:-1]) + 1
        return [words[part] for part in np.split(by_top, cuts) if len(part)]

    def _gutters(self, words: NDArray[np.int_]) -> list[float]:
        """Where a vertical cut crosses no word, the widest gap first."""
        by_left = words[np.argsort(self.boxes[words, 0], kind="stable")]
        ends = np.maximum.accumulate(self.boxes[by_left, 2])[:-1]
        gaps = self.boxes[by_left, 0][1:] - ends
        wide = [int(i) for i in np.argsort(-gaps, kind="stable") if gaps[i] >= self.middle]
        return [float(ends[i] + gaps[i] / 2) for i in wide]

    def _are_level(self, left: NDArray[np.int_], right: NDArray[np.int_]) -> bool:
        """Whether most lines of one side have one at the same height on the other side."""
        boxes = [self.boxes[words] for words in (left, right)]
        sides = [line_centres(each, _lines(each)) for each in boxes]
        few, many = sorted(sides, key=len)
        if len(many) == 1:
            return True
        if len(few) == 1:
            # A number in the middle of a cell of several lines: the cell is read first.
            return bool(np.abs(many - few[0]).min() <= LEVEL * self.middle)
        apart = np.abs(few[:, None] - many[None]).min(axis=1)
        return bool((apart <= LEVEL * self.middle).mean() >= 0.7)

    def _columns_of_text(self, bands: list[NDArray[np.int_]]) -> tuple[int, float | None]:
        """How many bands are read together, and where they are cut into columns, if they are.

        Columns of running text: at least four lines on both sides of a gap that no word crosses,
        most of them nearly as wide as the column, and of several words without wide gaps between
        them. Tables are not like this.
        """
        cuts = self._gutters(bands[0])
        for cut in cuts if len(cuts) <= 3 else ():
            run, low, high, short = 0, -np.inf, np.inf, 0
            for band in bands:
                left = self.boxes[band, 2] <= cut
                low = max(low, self.boxes[band[left], 2].max(initial=-np.inf))
                high = min(high, self.boxes[band[~left], 0].min(initial=np.inf))
                if high - low < self.middle or (run == 8 and short > 4):
                    break
                run += 1
                short += int(min(left.sum(), (~left).sum()) < 4)
            if run < 4 or short > run / 2:  # too few words for columns of text
                continue
            words = np.concatenate(bands[:run])
            is_left = self.boxes[words, 2] <= cut
            if self._is_text(words[is_left]) and self._is_text(words[~is_left]):
                return run, cut
        return 1, None

    def _is_text(self, words: NDArray[np.int_]) -> bool:
        if not len(words):
            return False
        boxes = self.boxes[words]
        lines = _lines(boxes)
        count = int(lines.max()) + 1
        starts, ends = (
            np.array([pick(boxes[lines == n, edge]) for n in range(count)])
            for pick, edge in ((np.min, 0), (np.max, 2))
        )
        full = (ends - starts) >= 0.7 * (ends.max() - starts.min())
        if count < 4 or len(words) < 4 * count or full.mean() < 0.6:
            return False
        order = np.lexsort((boxes[:, 0], lines))
        gaps = boxes[order[1:], 0] - boxes[order[:-1], 2]
        return bool((gaps[np.diff(lines[order]) == 0] < self.middle).mean() >= 0.9)


def line_centres(boxes: NDArray[np.float64], lines: NDArray[np.int_]) -> NDArray[np.float64]:
    """The vertical centre of each line: the median of its words'."""
    centres = (boxes[:, 1] + boxes[:, 3]) / 2
    order = np.lexsort((centres, lines))
    ends = np.cumsum(np.bincount(lines))
    starts = np.append(0, ends[:-1])
    middle = centres[order]
    both: NDArray[np.float64] = (
        middle[(starts + ends - 1) // 2] + middle[(starts + ends) // 2]
    ) / 2
    return both


def _lines(boxes: NDArray[np.float64]) -> NDArray[np.int_]:
    """By word of a page, the number of its line, from 0."""
    order = np.lexsort((boxes[:, 1], boxes[:, 0]))
    return _core.lines(np.ascontiguousarray(boxes), order, MIN_OVERLAP)


def _slope(boxes: NDArray[np.float64], lines: NDArray[np.int_]) -> float:
    """How far lines go down per unit to the right: the median over neighbours, by distance."""
    centres = (boxes[:, :2] + boxes[:, 2:]) / 2
    order = np.lexsort((centres[:, 0], lines))
    steps = np.diff(centres[order], axis=0)
    steps = steps[(np.diff(lines[order]) == 0) & (steps[:, 0] > 0)]
    if not len(steps):
        return 0.0
    slopes = steps[:, 1] / steps[:, 0]
    by_slope = np.argsort(slopes, kind="stable")
    before = np.cumsum(steps[by_slope, 0])
    return float(slopes[by_slope[np.searchsorted(before, before[-1] / 2)]])
