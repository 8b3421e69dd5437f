"""A page as a printer sets it: rows of cells in, words with boxes and labels out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from lawful.document import Box


class Cell(NamedTuple):
    """A piece of text in a row, all of it of one field or of none.

    ``at`` is where the cell starts (``left``) or ends (``right``), as a share of the width;
    ``centre`` and ``next`` (right behind the cell before) do not use it.
    """

    text: str
    field: str | None = None
    align: Literal["left", "right", "centre", "next"] = "left"
    at: float = 0.0
    continues: bool = False  # the span that the row above ended with


Row: TypeAlias = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Paper:
    """What is printed on, in pixels; ``height`` is None on a roll, which never ends."""

    columns: int  # characters across
    character: int  # width of one
    margin: int
    height: int | None = None
    tilt: float = 0.0  # how far a line sinks for each pixel to the right

    @property
    def width(self) -> int:
        """The width between the margins."""
        return self.columns * self.character


@dataclass(slots=True)
class Print:
    """Words in reading order with what was known when they were printed."""

    words: list[str] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)


def count_words(rows: Iterable[Row]) -> int:
    """How many words these rows will print."""
    return sum(len(cell.text.split()) for row in rows for cell in row)


def set_rows(rows: Iterable[Row], paper: Paper) -> Print:
    """Print the rows in turn; an empty row leaves a gap.

    A cell that would touch the one before it, and a word that would leave the paper, start a new
    line, so that no two boxes overlap.
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
