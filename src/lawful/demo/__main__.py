"""``python -m lawful.demo`` writes the shipped documents again: the same bytes each time."""

from __future__ import annotations

import gzip
from pathlib import Path

from lawful import demo

PAGES = 48


def text() -> str:
    """What the shipped file holds, before it is compressed."""
    return "".join(demo.json_line(example) + "\n" for example in demo.generate(PAGES))


def write(path: Path) -> None:
    """Write the shipped documents to ``path``."""
    # A time stamp would make the bytes differ from day to day.
    path.write_bytes(gzip.compress(text().encode(), mtime=0))


if __name__ == "__main__":
    write(demo.shipped())
