"""A document as text for a language model: its printed lines, with blanks where the page has them.

A long document is cut into windows between lines, if possible between pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from lawful.documents.document import Document
from lawful.documents.reading_order import page_numbers, printed_lines, upright_boxes

WINDOW = 24_000
"""Characters of a window; fewer, if the model says that it cannot read so many."""

MAX_BLANKS = 40
WIDTH = 120  # of the lines of a document without boxes


class Line(NamedTuple):
    """A printed line: its page, its text, and its words."""

    page: int
    text: str
    words: tuple[int, ...]


def lines_of(document: Document) -> list[Line]:
    """The printed lines of a document from top to bottom; words are as far apart as on the page."""
    boxes, pages = upright_boxes(document), page_numbers(document)
    if boxes is None:
        return list(_wrapped(document.words))
    if not document.words:
        return []
    wide = (boxes[:, 2] - boxes[:, 0]) / [max(len(word), 1) for word in document.words]
    lines: dict[int, list[int]] = {}
    for word, line in enumerate(printed_lines(document)):
        lines.setdefault(line, []).append(word)
    middle = (boxes[:, 1] + boxes[:, 3]) / 2
    ordered = sorted(lines.values(), key=lambda words: (pages[words[0]], np.mean(middle[words])))
    left = {p: boxes[pages == p, 0].min() for p in set(pages.tolist())}
    unit = {p: max(float(np.median(wide[pages == p])), 1e-9) for p in left}
    found = []
    for words in ordered:
        page, text = int(pages[words[0]]), ""
        words.sort(key=lambda word: boxes[word, 0])
        for word in words:
            column = round((boxes[word, 0] - left[page]) / unit[page])
            blanks = min(max(column - len(text), 1 if text else 0), MAX_BLANKS)
            text += " " * blanks + document.words[word]
        found.append(Line(page, text, tuple(words)))
    return found


def _wrapped(words: Sequence[str]) -> Iterator[Line]:
    start, width = 0, 0
    for i, word in enumerate(words):
        if i > start and width + len(word) > WIDTH:
            yield Line(0, " ".join(words[start:i]), tuple(range(start, i)))
            start, width = i, 0
        width += len(word) + 1
    if start < len(words):
        yield Line(0, " ".join(words[start:]), tuple(range(start, len(words))))


def windows(lines: Sequence[Line], size: int = WINDOW) -> list[list[Line]]:
    """The lines in runs of at most so many characters; a longer line is a run by itself."""
    found: list[list[Line]] = []
    run: list[Line] = []
    length = 0
    for line in lines:
        while run and length + len(line.text) > size:
            cut = _cut(run, line.page)
            found.append(run[:cut])
            run = run[cut:]
            length = sum(len(each.text) + 1 for each in run)
        run.append(line)
        length += len(line.text) + 1
    return [*found, run] if run or not found else found


def _cut(run: Sequence[Line], page: int) -> int:
    """Where a run ends: before its last page if that begins in its second half, or with it."""
    if run[-1].page != page:
        return len(run)
    first = next(i for i, line in enumerate(run) if line.page == page)
    return first if 2 * first >= len(run) else len(run)


def text_of(lines: Iterable[Line]) -> str:
    """The text of lines, with a mark where a page begins."""
    parts: list[str] = []
    page = None
    for line in lines:
        if page is not None and line.page != page:
            parts.append(f"--- page {line.page + 1} ---")
        parts.append(line.text)
        page = line.page
    return "\n".join(parts)
