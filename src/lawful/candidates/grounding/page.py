"""What the places of values cost on a page: by their text, key words, cells, columns and order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lawful.candidates.grounding.key_words import Meaning
from lawful.candidates.grounding.leaves import Leaf, fields_of
from lawful.candidates.grounding.matches import Match, Occurrences, fold
from lawful.candidates.grounding.placing import Place, Placing, Seeker, place
from lawful.candidates.grounding.wording import Wording
from lawful.documents.document import Box, Document
from lawful.documents.reading_order import cell_starts, line_centres, page_numbers, upright_boxes
from lawful.rules.definitions import Field
from lawful.rules.judging.places import Places
from lawful.rules.rule_set import Rules

BEFORE = 3.0
"""Nats that the words before a place weigh, if they name the field."""

ABOVE = 2.0
"""Nats that the words above a place weigh, if those before it say nothing."""

IN_ROW = 0.5
"""Share of these for values of rows, beside which other values of the row stand."""

PART = 0.4
"""Cost of a place that begins, or ends, within a printed cell."""

RIGHT = 0.5
"""Cost of the amount of a row with another number to its right."""

COLUMN = 2.0
"""Cost of a place that is not in the column of its field, at most."""

COLUMN_WIDTH = 3.0
"""Heights of a word that a place is away from its column for all of this cost."""

ORDER = 1.0
"""Nats by which the order of an object's names counts, from its first to its last."""

MISSING = 2.0
"""Cost of a value that is not printed, besides that of its letters."""

PER_LETTER = 1.5
"""Cost of each letter or digit of such a value: a longer one is not met by chance."""

MAX_LETTERS = 6
"""Letters that count, at most."""

WORDS_OF_LINE = 6
"""Words that count as a line where there are no boxes."""

PAGE = 3.0
"""Lines that the first line of a page counts as below the last one of the page before it."""


class Page:
    """A document on which values are looked for."""

    def __init__(self, document: Document, rules: Rules | None) -> None:
        self.document = document
        self.instead: Callable[[Leaf], Iterable[Match]] = lambda _: ()
        """The places of other values where a value may stand, too."""
        self.occurrences = Occurrences(document)
        self._rules = rules
        self._known: dict[Any, list[tuple[Match, float, float, float, float]]] = {}
        self._places = Places(document)
        self._wording = Wording(self.occurrences)
        self._lines = lines_down(self.occurrences)
        self._cells = None if document.boxes is None else cell_starts(document)
        self._boxes = upright_boxes(document)
        self._height = 1.0  # of a usual word
        self._across = np.arange(len(document), dtype=float)
        if self._boxes is not None and len(document):
            _, top, right, bottom = self._boxes.T
            self._height = max(float(np.median(bottom - top)), 1e-9)
            self._across = right / max(float(right.max()), 1e-9)
        self._last_number = self._last_numbers()

    def place(self, leaves: Sequence[Leaf]) -> tuple[list[Seeker], Placing]:
        """The best places of all values together, and what the values look for."""
        seekers = self.seekers(leaves)
        placing = place(seekers)
        in_columns = self.in_columns(leaves, seekers, placing.chosen)
        return (seekers, placing) if in_columns is None else (in_columns, place(in_columns))

    def box(self, words: Sequence[int]) -> Box | None:
        """The box around words, on the page of the first one."""
        document, found = self.document, None
        for word in () if document.boxes is None else words:
            if document.page(word) == document.page(words[0]):
                box = document.boxes[word]  # type: ignore[index]  # there are boxes
                found = box if found is None else found.union(box)
        return found

    def seekers(self, leaves: Sequence[Leaf]) -> list[Seeker]:
        """The values with all places that they may have."""
        fields = self._fields(leaves)
        count = max(len(leaves), 1)
        return [
            self._seeker(leaf, fields.get(leaf.names), k / count) for k, leaf in enumerate(leaves)
        ]

    def in_columns(
        self, leaves: Sequence[Leaf], seekers: Sequence[Seeker], chosen: Sequence[int | None]
    ) -> list[Seeker] | None:
        """The values, with costs of places away from the column of their field; none without any.

        A column is where those values of a field are that can be at one place only, or else where
        all of them were chosen to be.
        """
        if self._boxes is None:
            return None
        fields: dict[tuple[str, ...], list[int]] = {}
        for i, leaf in enumerate(leaves):
            if leaf.in_list:
                fields.setdefault(leaf.names, []).append(i)
        found = list(seekers)
        for members in fields.values():
            placed = [i for i in members if chosen[i] is not None]
            sure = [i for i in placed if len(seekers[i].places) == 1] or placed
            if len(placed) < 2 or len(sure) == len(members):
                continue
            edges = [self._edges(seekers[i].places[chosen[i] or 0]) for i in sure]
            column = np.median(edges, axis=0)
            for i in members:
                off = (np.abs(self._edges(p) - column).min() for p in seekers[i].places)
                costs = [COLUMN * min(float(each) / COLUMN_WIDTH, 1.0) for each in off]
                found[i] = replace(
                    seekers[i],
                    places=tuple(
                        p._replace(cost=p.cost + cost)
                        for p, cost in zip(seekers[i].places, costs, strict=True)
                    ),
                )
        return found if any(a is not b for a, b in zip(found, seekers, strict=True)) else None

    def _fields(self, leaves: Sequence[Leaf]) -> dict[tuple[str, ...], Field]:
        if self._rules is None:
            return {}
        by_name = {f.name: f for f in self._rules.fields}
        names = fields_of(list(dict.fromkeys(leaf.names for leaf in leaves)), self._rules)
        return {path: by_name[name] for path, name in names.items()}

    def _seeker(self, leaf: Leaf, field: Field | None, late: float) -> Seeker:
        later, in_list = ORDER * late, leaf.in_list
        places = [
            Place(match.words, line, cost - later * (across if in_list else down))
            for match, line, cost, across, down in self._matches(leaf, field)
        ]
        letters = min(len(fold(str(leaf.value))), MAX_LETTERS)
        return Seeker(tuple(places), MISSING + PER_LETTER * letters, leaf.group, leaf.chain)

    def _matches(
        self, leaf: Leaf, field: Field | None
    ) -> Iterable[tuple[Match, float, float, float, float]]:
        """Where a value may stand: its line, what that costs, how far right and how far down it is.

        Equal values of a field are looked for once.
        """
        known = (leaf.names, leaf.in_list, type(leaf.value), leaf.value)
        if known not in self._known:
            kind = None if field is None else field.type
            self._known[known] = list(
                self._weighed(self.occurrences.matches(leaf.value, kind), leaf, field)
            )
        return chain(self._known[known], self._weighed(self.instead(leaf), leaf, field))

    def _weighed(
        self, matches: Iterable[Match], leaf: Leaf, field: Field | None
    ) -> Iterator[tuple[Match, float, float, float, float]]:
        meaning, count = Meaning(leaf.names), len(self.document)
        for match in matches:
            word = match.words[0]
            cost = self._cost(match, meaning, leaf) + self._cost_where(match, field)
            yield match, self._lines[word], cost, float(self._across[word]), word / count

    def names(self, words: Sequence[int], leaf: Leaf) -> bool:
        """Whether the words before a place, or those above it, name a value."""
        span, meaning = (words[0], words[-1] + 1), Meaning(leaf.names)
        around = (self._wording.before(span), self._wording.above(span))
        return any(meaning.likeness(each) >= 1 for each in around)

    def _cost(self, match: Match, meaning: Meaning, leaf: Leaf) -> float:
        start, end = match.words[0], match.words[-1] + 1
        cost = match.wrong
        if self._cells is not None:
            cost += PART * (int(not self._cells[start]) + int(not self._cells[end]))
        if leaf.in_list and meaning.is_amount and not self._is_last_number(end - 1):
            cost += RIGHT
        like = BEFORE * meaning.likeness(self._wording.before((start, end)))
        if not like:
            like = ABOVE * meaning.likeness(self._wording.above((start, end)))
        return cost - like * (IN_ROW if leaf.in_list else 1.0)

    def _cost_where(self, match: Match, field: Field | None) -> float:
        """The weight of the field's condition about places, if it does not hold."""
        if field is None or field.where is None or self._rules is None:
            return 0.0
        holds = self._places.holds(field.where, match.words[0], match.words[-1] + 1)
        return self._rules.weight_of(field, "where") if holds is False else 0.0

    def _edges(self, found: Place) -> NDArray[np.float64]:
        """Left edge, middle and right edge of a place, in heights of a usual word."""
        assert self._boxes is not None  # noqa: S101 - only called with boxes
        boxes = self._boxes[list(found.words)]
        left, right = boxes[:, 0].min(), boxes[:, 2].max()
        return np.array([left, (left + right) / 2, right]) / self._height

    def _last_numbers(self) -> dict[int, float]:
        """By line, where its last number ends."""
        found: dict[int, float] = {}
        lines = self.occurrences.lines
        for word, line, across in zip(self.document.words, lines, self._across, strict=True):
            if sum(mark.isdigit() for mark in word) > 1:
                found[line] = max(found.get(line, 0.0), float(across))
        return found

    def _is_last_number(self, word: int) -> bool:
        last = self._last_number.get(self.occurrences.lines[word])
        return last is None or last <= float(self._across[word])


def lines_down(occurrences: Occurrences) -> list[float]:
    """By word, how many lines its line is below the first, by the distance of usual lines.

    Without boxes, a few words count as a line.
    """
    document = occurrences.document
    boxes, pages = upright_boxes(document), page_numbers(document)
    if boxes is None:
        return [i / WORDS_OF_LINE for i in range(len(document))]
    if not len(document):
        return []
    lines = np.array(occurrences.lines, int)
    centres = line_centres(boxes, lines)
    page_of = np.zeros(len(centres), int)
    page_of[lines] = pages
    found = np.zeros(len(centres))
    down = 0.0
    for page in np.unique(pages):
        here = page_of == page
        heights = np.sort(centres[here])
        usual = float(np.median((boxes[:, 3] - boxes[:, 1])[pages == page]))
        gaps = np.diff(heights)
        gaps = gaps[gaps > usual / 2]
        pitch = max(float(np.median(gaps)) if len(gaps) else usual, 1e-9)
        found[here] = (centres[here] - heights[0]) / pitch + down
        down = float(found[here].max()) + PAGE
    return [round(float(each), 1) for each in found[lines]]
