"""Texts at places on pages, in points, with a label for each word."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from lab.receipts.layout import Print
from lawful.documents.document import Box

NARROW, WIDE = frozenset("ijlt.,:;'|!/()[]I "), frozenset("mwMW@%")

Segment: TypeAlias = tuple[str, str | None]
"""A text and its field, or none."""


@dataclass(slots=True)
class Sheet:
    """The pages of a document; ``y`` goes down."""

    width: float = 595
    height: float = 842
    tight: bool = True  # whether boxes are as high as their letters
    stretch: float = 1.0  # of letters
    page: int = 0
    printed: Print = field(default_factory=Print)

    def wide(self, text: str, size: float) -> float:
        """The width of a text."""
        ems = sum(
            0.29 if c in NARROW else 0.85 if c in WIDE else 0.66 if c.isupper() else 0.53
            for c in text
        )
        return ems * size * self.stretch

    def put(
        self,
        x: float,
        y: float,
        text: str,
        field: str | None = None,
        size: float = 9,
        align: Literal["left", "right", "centre"] = "left",
        *,
        continues: bool = False,
    ) -> float:
        """Prints a text with its baseline at ``y``; returns where it ends."""
        return self.run(x, y, [(text, field)], size, align, continues=continues)

    def run(
        self,
        x: float,
        y: float,
        segments: Iterable[Segment],
        size: float = 9,
        align: Literal["left", "right", "centre"] = "left",
        *,
        continues: bool = False,
    ) -> float:
        """Prints segments one after the other; returns where the next word would begin."""
        segments = [(text, name) for text, name in segments if text.strip()]
        blank = 0.29 * size * self.stretch
        if align != "left":
            full = (
                sum(sum(self.wide(w, size) + blank for w in text.split()) for text, _ in segments)
                - blank
            )
            x -= full if align == "right" else full / 2
        for text, name in segments:
            for i, word in enumerate(text.split()):
                end = x + self.wide(word, size)
                self._word(word, x, y, end, size, name, i > 0 or continues)
                x = end + blank
        return x

    def _word(
        self, word: str, x: float, y: float, end: float, size: float, name: str | None, inside: bool
    ) -> None:
        top, bottom = y - 0.75 * size, y + 0.2 * size
        if self.tight:
            low = not any(c.isupper() or c.isdigit() or c in "bdfhkltäöüß!|/()%€$" for c in word)
            top = y - (0.53 if low else 0.72) * size
            bottom = y + (0.2 if any(c in "gjpqy,;()" for c in word) else 0.01) * size
        done = self.printed
        done.words.append(word)
        done.boxes.append(Box(round(x, 1), round(top, 1), round(end, 1), round(bottom, 1)))
        done.pages.append(self.page)
        done.labels.append("O" if name is None else f"{'I' if inside else 'B'}-{name}")

    def wrap(self, text: str, size: float, width: float) -> list[str]:
        """The text in lines that are not wider than this."""
        lines: list[str] = []
        for word in text.split():
            longer = f"{lines[-1]} {word}" if lines else word
            if lines and self.wide(longer, size) <= width:
                lines[-1] = longer
            else:
                lines.append(word)
        return lines
