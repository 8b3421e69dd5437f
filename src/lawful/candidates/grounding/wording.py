"""What is printed around the places of a document: the words before them, and above them."""

from __future__ import annotations

import numpy as np

from lawful.candidates.grounding.matches import Occurrences, Span, fold
from lawful.documents.document import Document
from lawful.documents.reading_order import page_numbers, upright_boxes

BEFORE = 5
"""Words before a place that may be its key words."""


class Wording:
    """Key words of places, as folded words: those before them in their line, and those above."""

    def __init__(self, occurrences: Occurrences) -> None:
        document: Document = occurrences.document
        self._words = [fold(word) for word in document.words]
        self._is_text = np.array([any(m.isalpha() for m in w) for w in self._words], bool)
        self._ends_caption = [word.rstrip().endswith(":") for word in document.words]
        self._lines = np.array(occurrences.lines, int)
        self._pages, self._boxes = page_numbers(document), upright_boxes(document)
        left = np.arange(len(document)) if self._boxes is None else self._boxes[:, 0]
        order = np.lexsort((left, self._lines))
        self._rank = np.empty(len(document), int)
        self._rank[order] = np.arange(len(document))
        self._order = order.tolist()
        self._above: dict[int, tuple[str, ...]] = {}

    def before(self, span: Span) -> tuple[str, ...]:
        """The words before a place, in its line, as far as they are no values themselves."""
        line, rank = self._lines[span[0]], int(self._rank[span[0]])
        found: list[str] = []
        for at in range(rank - 1, max(-1, rank - 1 - BEFORE), -1):
            word = self._order[at]
            if self._lines[word] != line:
                break
            text = self._words[word]
            if text and not self._is_text[word] and len(text) > 1 and found:
                break
            if text and not self._is_text[word] and len(text) > 2:
                break
            if text:
                found.append(text)
        return tuple(reversed(found))

    def above(self, span: Span) -> tuple[str, ...]:
        """The words of the nearest text above a place: the heading of its column, or a caption."""
        if self._boxes is None:
            return ()
        start = span[0]
        if start not in self._above:
            self._above[start] = self._find_above(start, span[1])
        return self._above[start]

    def _find_above(self, start: int, end: int) -> tuple[str, ...]:
        boxes = self._boxes
        assert boxes is not None  # noqa: S101 - only called with boxes
        x0, x1, y0 = boxes[start, 0], boxes[end - 1, 2], boxes[start, 1]
        high = boxes[start, 3] - y0
        over = (boxes[:, 0] < x1) & (boxes[:, 2] > x0) & (boxes[:, 3] <= y0 + high / 3)
        over &= self._is_text & (self._pages == self._pages[start])
        found = np.flatnonzero(over)
        if not len(found):
            return ()
        nearest = int(found[boxes[found, 3].argmax()])
        line = self._lines[nearest]
        height = boxes[nearest, 3] - boxes[nearest, 1]
        words = [nearest]
        for step in (-1, 1):
            at = int(self._rank[nearest]) + step
            edge = boxes[nearest]
            while 0 <= at < len(self._order) and self._lines[self._order[at]] == line:
                other = boxes[self._order[at]]
                gap = edge[0] - other[2] if step < 0 else other[0] - edge[2]
                if gap > height or len(words) > BEFORE:
                    break
                words.append(self._order[at])
                edge = other
                at += step
        words.sort(key=self._rank.__getitem__)
        return tuple(self._words[word] for word in words if self._words[word])
