"""``python -m lab.receipts`` makes what ``lawful demo`` ships: the same every time."""

from __future__ import annotations

import gzip
from pathlib import Path

from lab import receipts
from lab.receipts.drawing import draw_pdf, photograph
from lawful.rules.packs import DEMO

PAGES = 48
PRINTED, PHOTOGRAPHED = (0, 17, 21), (2,)
"""Numbers of the receipts that are PDF files, and of those that are photos."""


def text() -> str:
    """The content of the shipped file, before compression."""
    return "".join(receipts.json_line(example) + "\n" for example in receipts.generate(PAGES))


def write(path: Path) -> None:
    """Writes the shipped documents to ``path``."""
    # With a time stamp, the bytes would differ every time.
    path.write_bytes(gzip.compress(text().encode(), mtime=0))


def draw(folder: Path) -> None:
    """Draws the shipped files into a folder."""
    pages = list(receipts.generate(max(*PRINTED, *PHOTOGRAPHED) + 1))
    for number in (*PRINTED, *PHOTOGRAPHED):
        path = folder / f"{pages[number].document.id}.pdf"
        draw_pdf(pages[number].document, path)
        if number in PHOTOGRAPHED:
            photograph(path, path.with_suffix(".jpg"), seed=number)
            path.unlink()


if __name__ == "__main__":
    write(receipts.shipped())
    draw(DEMO)
