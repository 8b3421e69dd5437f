"""The characters of a PDF page, and the words that they form.

PDFium gives characters with boxes, in the order in which the file draws them. A word ends at a
blank, at a gap, and where the line or the direction of the text changes.
"""

from __future__ import annotations

import ctypes
import sys
from math import pi
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lawful import _core
from lawful.readers.forms import Placed

GAP = 0.2
"""Distance of characters, in heights of a line, from which they belong to two words."""

MAX_UNKNOWN = 0.2
"""Share of characters without a known meaning from which the text of a page is worth nothing."""

_HYPHEN, _SOFT_HYPHEN, _UNKNOWN = 0x02, 0xAD, 0xFFFD

_FUNCTIONS = (
    "FPDFText_GetUnicode",
    "FPDFText_HasUnicodeMapError",
    "FPDFText_GetLooseCharBox",
    "FPDFText_GetCharAngle",
)

Floats = NDArray[np.float64]


class Characters(NamedTuple):
    """The characters of a page as arrays, each as long as there are characters."""

    text: str
    boxes: Floats  # (characters, 4): left, bottom, right, top, with y up
    turned: NDArray[np.int64]  # quarter turns of its text, clockwise


def read_characters(text_page: Any, raw: Any) -> Characters:
    """All characters of an open text page; those without a known meaning are U+FFFD."""
    there = addresses(raw)
    if there is None:
        codes, unmapped, boxes, angles = _read_one_by_one(text_page, raw)
    else:
        page = ctypes.cast(text_page.raw, ctypes.c_void_p).value or 0
        codes, unmapped, boxes, angles = _core.characters(*there, page, text_page.count_chars())
    codes[codes == _HYPHEN] = ord("-")
    private = (codes >= 0xE000) & (codes <= 0xF8FF)
    codes[unmapped | private | (codes == 0) | (codes >= 0xFFFE)] = _UNKNOWN
    text = codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    return Characters(text, boxes, np.rint(2 * angles / pi).astype(np.int64) % 4)


def words_of(characters: Characters) -> list[Placed]:
    """The words of a page, in the order of the file; none if most have no known meaning.

    The fonts of some files do not say which characters their shapes stand for.
    """
    text = characters.text
    blank = np.fromiter(map(str.isspace, text), np.bool_, len(text))
    printed = len(text) - int(blank.sum())
    if text.count(chr(_UNKNOWN)) > MAX_UNKNOWN * printed:
        return []
    blank |= np.fromiter(map(chr(_SOFT_HYPHEN).__eq__, text), np.bool_, len(text))
    kept = np.flatnonzero(~blank)
    if not len(kept):
        return []
    is_first = np.ones(len(kept), np.bool_)
    is_first[1:] = (np.diff(kept) > 1) | _are_apart(characters, kept)
    starts = np.flatnonzero(is_first)
    ends = np.append(starts[1:], len(kept)) - 1
    boxes = _around(characters.boxes[kept], starts)
    spans = zip(kept[starts].tolist(), (kept[ends] + 1).tolist(), boxes.tolist(), strict=True)
    return [Placed(text[start:end], tuple(box)) for start, end, box in spans]


def addresses(raw: Any) -> tuple[int, int, int, int] | None:
    """Where PDFium's functions are; ``None`` where they cannot be called by that alone."""
    if sys.platform == "win32" and sys.maxsize < 2**32:
        return None  # with another way to call them
    try:
        unicode, unmapped, box, angle = (
            ctypes.cast(getattr(raw, name), ctypes.c_void_p).value or 0 for name in _FUNCTIONS
        )
    except (AttributeError, ctypes.ArgumentError, TypeError):
        return None
    return unicode, unmapped, box, angle


def _read_one_by_one(text_page: Any, raw: Any) -> tuple[Any, Any, Floats, Floats]:
    """The same by four calls through ctypes for each character."""
    count = text_page.count_chars()
    unicode, unmapped, box, angle = (getattr(raw, name) for name in _FUNCTIONS)
    place = raw.FS_RECTF()
    boxes = np.empty((count, 4))
    for i in range(count):
        box(text_page, i, place)
        boxes[i] = place.left, place.bottom, place.right, place.top
    indices = range(count)
    return (
        np.array([unicode(text_page, i) for i in indices], np.uint32),
        np.array([unmapped(text_page, i) == 1 for i in indices], np.bool_),
        boxes,
        np.array([angle(text_page, i) for i in indices], np.float64),
    )


def _are_apart(characters: Characters, kept: NDArray[np.intp]) -> NDArray[np.bool_]:
    """By character but the first, whether it is of another word than the one before it."""
    turned = characters.turned[kept]
    boxes = _along(characters.boxes[kept], turned)
    a, b = boxes[:-1], boxes[1:]
    heights = a[:, 3] - a[:, 1], b[:, 3] - b[:, 1]
    high = np.maximum(np.maximum(*heights), 1e-6)
    low = np.maximum(np.minimum(*heights), 1e-6)
    overlap = np.minimum(a[:, 3], b[:, 3]) - np.maximum(a[:, 1], b[:, 1])
    gap = b[:, 0] - a[:, 2]
    beside = (overlap >= 0.5 * low) & (gap <= GAP * high) & (gap >= -high)
    apart: NDArray[np.bool_] = (turned[:-1] != turned[1:]) | (high > 3 * low) | ~beside
    return apart


def _along(boxes: Floats, turned: NDArray[np.int64]) -> Floats:
    """Boxes as if their text ran to the right."""
    along = boxes.copy()
    x0, y0, x1, y1 = boxes.T
    turns = {1: (-y1, x0, -y0, x1), 2: (-x1, -y1, -x0, -y0), 3: (y0, -x1, y1, -x0)}  # 1: downwards
    for turn, sides in turns.items():
        there = turned == turn
        along[there] = np.stack(sides, axis=1)[there]
    return along


def _around(boxes: Floats, starts: NDArray[np.intp]) -> Floats:
    """The boxes around the characters of words, each from its start to the next one's."""
    least, most = (f.reduceat(boxes, starts, axis=0) for f in (np.minimum, np.maximum))
    return np.hstack([least[:, :2], most[:, 2:]])
