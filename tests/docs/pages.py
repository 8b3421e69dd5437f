"""The pages of the documentation, and the blocks of code in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.helpers import ROOT

DOCS = sorted((ROOT / "docs").glob("*.md"))
"""The pages of the site."""

PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
PAGES += [*DOCS, *sorted((ROOT / "lab" / "results").glob("*.md"))]
"""All pages that people read."""


@dataclass(frozen=True)
class Block:
    """A block of code: its page, the line of its first line, its language and its text."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks(*languages: str, pages: list[Path] = PAGES) -> list[Block]:
    """The blocks of these languages, in order."""
    fence = re.compile(r"^```([^\s`]*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    found = []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for match in fence.finditer(text):
            if match[1] in languages:
                line = text.count("\n", 0, match.start(2)) + 1
                found.append(Block(page, line, match[1], match[2]))
    return found
