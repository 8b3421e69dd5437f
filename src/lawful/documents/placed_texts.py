"""Texts of candidates as the words of a document, with their places on the page they are from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from lawful.documents.document import Box, Document

NOT_PRINTED = 0.7
"""Probability that a value is wrong that somebody said, and that is printed nowhere."""


@dataclass(frozen=True, slots=True)
class PlacedTexts(Document):
    """A document whose words are candidates, each where its text stands on a page.

    ``lines`` are the numbers of the page's printed lines, ``None`` for a text that is printed
    nowhere: it has no box and no page, so that no rule about its place can be checked.
    ``around`` is that page, and ``places`` are its words at which each text stands.
    """

    lines: tuple[int | None, ...] = field(default=(), compare=False)
    around: Document | None = field(default=None, compare=False)
    places: tuple[tuple[int, ...], ...] = field(default=(), compare=False)

    @classmethod
    def of(
        cls,
        texts: Document,
        boxes: Sequence[Box] | None,
        pages: Sequence[int],
        lines: Sequence[int | None],
        around: Document,
        places: Sequence[tuple[int, ...]],
    ) -> PlacedTexts:
        """The texts with their places; the boxes and pages of those printed nowhere are any."""
        known = {each.name: getattr(texts, each.name) for each in fields(Document)}
        known |= {"boxes": boxes and tuple(boxes), "pages": tuple(pages)}
        return cls(**known, lines=tuple(lines), around=around, places=tuple(places))

    def __reduce__(self) -> tuple[Any, ...]:
        return PlacedTexts, tuple(getattr(self, name) for name in self.__match_args__)

    def box(self, start: int, end: int) -> Box | None:
        """The box around a text."""
        return None if self.lines[start] is None else Document.box(self, start, end)

    def page(self, start: int) -> int | None:
        """The page of a text."""
        return None if self.lines[start] is None else Document.page(self, start)

    def is_printed(self, start: int) -> bool:
        """Whether a text stands on the page."""
        return self.lines[start] is not None
