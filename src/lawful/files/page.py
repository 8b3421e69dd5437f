"""Pages as they are read from files, and documents made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from lawful.document import Box, Document
from lawful.lines import in_reading_order


class Word(NamedTuple):
    """A text and its place on a page."""

    text: str
    box: Box


@dataclass(frozen=True, slots=True)
class Page:
    """Words of a page, its size in the unit of their boxes, and what it can be drawn from."""

    words: list[Word]
    size: tuple[float, float]  # width, height
    image: str | None = None  # a path, with #page=2 for the second page of a file

    def turned(self, degrees: int) -> Page:
        """The page turned clockwise, to which its words belong already."""
        if not degrees or self.image is None:
            return self
        width, height = self.size
        size = self.size if degrees == 180 else (height, width)
        mark = "&" if "#page=" in self.image else "#"
        return replace(self, size=size, image=f"{self.image}{mark}turn={degrees}")


def make_document(
    id_: str, pages: Iterable[Page], values: Mapping[str, tuple[str, ...]] | None = None
) -> Document:
    """The document of pages, with words in reading order; blank words are left out."""
    pages = list(pages)
    words = [
        (clean(word.text), word.box, number)
        for number, page in enumerate(pages)
        for word in page.words
    ]
    kept = [word for word in words if word[0]]
    images = tuple(page.image for page in pages)
    return in_reading_order(
        Document(
            id_,
            tuple(text for text, _, _ in kept),
            tuple(box for _, box, _ in kept),
            tuple(number for _, _, number in kept),
            sizes=tuple(page.size for page in pages),
            images=images if any(images) else None,
            values=values or None,
        )
    )


def clean(text: str) -> str:
    """The text without blanks, control characters and lone surrogates, which no file can hold."""
    pairs = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return "".join(c for c in pairs if c.isprintable() and not c.isspace())
