"""Places of fields on the page, for rules about them: words, printed lines, pages and boxes."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from lawful.documents.document import Document
from lawful.documents.placed_texts import PlacedTexts
from lawful.documents.reading_order import printed_lines
from lawful.rules.judging.reading import Occurrence, Spans
from lawful.rules.language.expression import Expression, parse


class Place(NamedTuple):
    """Where a field is: its first readable span, and the edges of all its spans."""

    first: int  # the first word of all spans
    last: int  # the boundary after the last one
    start: Decimal | None = None  # the rest: none without a readable span
    end: Decimal | None = None
    line: Decimal | None = None  # from 1, in reading order; none without boxes, as are the edges
    page: Decimal | None = None
    left: Decimal | None = None
    top: Decimal | None = None
    right: Decimal | None = None
    bottom: Decimal | None = None


EDGES = Place._fields[2:]
"""The names of what is known of one span."""


@lru_cache(maxsize=1024)
def parse_where(source: str) -> Expression:
    """A condition over the place of one span, as in ``line <= 5 and left > 300``."""
    return parse(source, dict.fromkeys(EDGES, ("number", False)), Decimal(0))


def line_numbers(document: Document) -> Sequence[int | None] | None:
    """By word, the number of its printed line, from 1, in the order of the lines' first words.

    ``None`` without boxes.
    """
    if document.boxes is None:
        return None
    if isinstance(document, PlacedTexts):
        return document.lines
    found: dict[int, int] = {}
    return [found.setdefault(line, len(found) + 1) for line in printed_lines(document)]


class Places:
    """The places of one document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._lines = line_numbers(document)

    def holds(self, where: str, start: int, end: int) -> bool | None:
        """Whether a span is where a condition says; ``None`` if the document does not say."""
        span = Occurrence(start, end)
        place = self.of((span,), span)
        return parse_where(where).evaluate({name: getattr(place, name) for name in EDGES})

    def of(self, spans: Spans, readable: Occurrence | None) -> Place | None:
        """The place of a field with these spans, the first readable of which is given."""
        if not spans:
            return None
        place = Place(spans[0].start, spans[-1].end)
        if readable is None:
            return place
        start, end, _ = readable
        box = self._document.box(start, end)
        page = self._document.page(start)
        place = place._replace(
            start=Decimal(start),
            end=Decimal(end),
            page=None if page is None else Decimal(int(page)),
        )
        number = None if self._lines is None else self._lines[start]
        if box is None or number is None:
            return place
        left, top, right, bottom = (Decimal(repr(edge)) for edge in box)
        return place._replace(line=Decimal(number), left=left, top=top, right=right, bottom=bottom)
