"""Pages as they are read from files, and documents made of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import NamedTuple

from lawful.documents.document import Box, Document
from lawful.documents.misreads import Misread
from lawful.documents.reading_order import in_reading_order
from lawful.readers.misreads import cheapest_of_page, with_its_marks
from lawful.values import read

_TWO_DATES = re.compile(r"([0-9./]{6,10})([-–—])([0-9./]{6,10})")


class Word(NamedTuple):
    """A text and its place on a page."""

    text: str
    box: Box
    misreads: tuple[Misread, ...] = ()  # what else OCR may have read


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


def make_document(id_: str, pages: Iterable[Page]) -> Document:
    """The document of pages, with words in reading order; blank words are left out."""
    pages = list(pages)
    words = []
    for number, page in enumerate(pages):
        for part in chain.from_iterable(map(split_dates, page.words)):
            others = tuple(Misread(clean(text), price) for text, price in part.misreads)
            words.append((with_its_marks(clean(part.text), others), part.box, number, others))
    kept = [word for word in words if word[0]]
    of_pages = groupby(kept, lambda word: word[2])
    misreads = tuple(
        some
        for _, page in of_pages
        for some in cheapest_of_page([(word[0], word[3]) for word in page])
    )
    images = tuple(page.image for page in pages)
    return in_reading_order(
        Document(
            id_,
            tuple(text for text, *_ in kept),
            tuple(box for _, box, *_ in kept),
            tuple(number for _, _, number, _ in kept),
            sizes=tuple(page.size for page in pages),
            images=images if any(images) else None,
            misreads=misreads if any(misreads) else None,
        )
    )


def clean(text: str) -> str:
    """The text without blanks, control characters and lone surrogates, which no file can hold."""
    if text.isprintable() and " " not in text:
        return text
    pairs = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return "".join(c for c in pairs if c.isprintable() and not c.isspace())


def split_dates(word: Word) -> list[Word]:
    """Two dates and the dash between them, if the word is both: ``01/18/20-01/22/20``."""
    found = _TWO_DATES.fullmatch(word.text)
    if found is None or not (read(found[1], "date") and read(found[3], "date")):
        return [word]
    x0, y0, x1, y1 = word.box
    parts, at = [], 0.0
    for text in found.groups():
        end = at + len(text) / len(word.text)
        if y1 - y0 > x1 - x0:  # the page lies on its side, and text runs up
            box = Box(x0, y1 - end * (y1 - y0), x1, y1 - at * (y1 - y0))
        else:
            box = Box(x0 + at * (x1 - x0), y0, x0 + end * (x1 - x0), y1)
        parts.append(Word(text, box))
        at = end
    return parts
