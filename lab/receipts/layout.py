"""Layout of a page: from rows of cells to words with boxes and labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from lawful.documents.document import Box


class Cell(NamedTuple):
    """A text in a row, which belongs to one field or to none.

    ``at`` is the position of the cell's start (``left``) or end (``right``), as a share of the
    width. It has no effect with ``centre``, or with ``next``: directly after the previous cell.
    """

    text: str
    field: str | None = None
    align: Literal["left", "right", "centre", "next"] = "left"
    at: float = 0.0
    continues: bool = False  # whether it continues the span at the end of the row above


Row: TypeAlias = tuple[Cell, ...]


def at_left(text: str, field: str | None = None, at: float = 0.0) -> Cell:
    """A text that starts at this share of the width."""
    return Cell(text, field, "left", at)


def at_right(text: str, field: str | None = None, at: float = 1.0) -> Cell:
    """A text that ends at this share of the width."""
    return Cell(text, field, "right", at)


def centred(text: str, field: str | None = None) -> Cell:
    """A text in the middle of the row."""
    return Cell(text, field, "centre")


def after(text: str, field: str | None = None) -> Cell:
    """A text directly after the one before it."""
    return Cell(text, field, "next")


@dataclass(frozen=True, slots=True)
class Paper:
    """The size of the paper, in pixels; ``height`` is None for a roll."""

    columns: int  # characters per line
    character: int  # width of a character
    margin: int
    height: int | None = None
    tilt: float = 0.0  # slope of lines: pixels down per pixel to the right

    @property
    def width(self) -> int:
        """The width between the margins."""
        return self.columns * self.character


@dataclass(slots=True)
class Print:
    """Words in reading order, with their boxes, pages and labels."""

    words: list[str] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)


def count_words(rows: Iterable[Row]) -> int:
    """The number of words in the rows."""
    return sum(len(cell.text.split()) for row in rows for cell in row)


def set_rows(rows: Iterable[Row], paper: Paper) -> Print:
    """Prints the rows in order; an empty row leaves a gap.

    A cell that would touch the previous one, or a word that would leave the paper, starts a new
    line, so boxes never overlap.
    """
    done = Print()
    letter = 2 * paper.character
    line = letter + paper.character  # so that tilted neighbours stay apart
    page, y = 0, paper.margin
    for row in rows:
        if paper.height is not None and y + line > paper.height - paper.margin:
            page, y = page + 1, paper.margin
        end = -paper.character
        for cell in row:
            words = cell.text.split()
            width = (sum(map(len, words)) + len(words) - 1) * paper.character
            start = _start(cell, width, end, paper)
            if start < end + paper.character:
                y += line
                start = _start(cell, width, -paper.character, paper)
            x = start
            for i, word in enumerate(words):
                if x > start and x + len(word) * paper.character > paper.width:
                    y, x = y + line, start
                end = x + len(word) * paper.character
                left, top = paper.margin + x, y + round(paper.tilt * x)
                done.words.append(word)
                done.boxes.append(Box(left, top, left + end - x, top + letter))
                done.pages.append(page)
                done.labels.append(_label(cell, i))
                x = end + paper.character
        y += line
    return done


def _start(cell: Cell, width: int, end: int, paper: Paper) -> int:
    anchor = round(cell.at * paper.width)
    if cell.align == "left":
        return anchor
    if cell.align == "right":
        return max(0, anchor - width)
    if cell.align == "centre":
        return max(0, (paper.width - width) // 2)
    return end + paper.character


def _label(cell: Cell, i: int) -> str:
    if cell.field is None:
        return "O"
    return f"{'I' if i or cell.continues else 'B'}-{cell.field}"
