"""``python -m lawful.demo`` writes the shipped documents: the same bytes every time."""

from __future__ import annotations

import gzip
from pathlib import Path

from lawful import demo

PAGES = 48


def text() -> str:
    """The content of the shipped file, before compression."""
    return "".join(demo.json_line(example) + "\n" for example in demo.generate(PAGES))


def write(path: Path) -> None:
    """Writes the shipped documents to ``path``."""
    # With a time stamp, the bytes would differ every time.
    path.write_bytes(gzip.compress(text().encode(), mtime=0))


if __name__ == "__main__":
    write(demo.shipped())
