"""Texts in a row: at its left end, at its right end, in its middle, or after the text before."""

from __future__ import annotations

from lab.receipts.layout import Cell


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
