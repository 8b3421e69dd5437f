"""Forms of PDF files: what was filled in, as words in the boxes of their fields.

The values of a form are annotations, not part of the page. A field says where it is and what its
value is, but not where each word stands, so words are placed by the size of the field.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, NamedTuple

WIDEST = 0.55
"""Width of a letter, in heights of a line."""

TALLEST = 14.0
"""Height of a line of a field, in points, at most."""

_PASSWORD = 1 << 13
_RIGHT, _CENTRED = 2, 1


class Placed(NamedTuple):
    """A word, and its box in the file's own coordinates: left, bottom, right, top."""

    text: str
    box: tuple[float, float, float, float]


def filled_in(page: Any, raw: Any) -> Iterator[Placed]:
    """The words of a page's fields for text and choices, unless they are hidden or passwords."""
    form = page.formenv
    if form is None:
        return
    for i in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, i)
        if not annotation:
            continue
        try:
            yield from _words(annotation, form, raw)
        finally:
            raw.FPDFPage_CloseAnnot(annotation)


def _words(annotation: Any, form: Any, raw: Any) -> Iterator[Placed]:
    if raw.FPDFAnnot_GetSubtype(annotation) != raw.FPDF_ANNOT_WIDGET:
        return
    hidden = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
    if raw.FPDFAnnot_GetFlags(annotation) & hidden:
        return
    kind = raw.FPDFAnnot_GetFormFieldType(form, annotation)
    is_text = kind == raw.FPDF_FORMFIELD_TEXTFIELD
    if not is_text and kind not in (raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX):
        return
    if is_text and raw.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD:
        return
    place = raw.FS_RECTF()
    if not raw.FPDFAnnot_GetRect(annotation, place):
        return
    left, right = sorted((place.left, place.right))
    bottom, top = sorted((place.bottom, place.top))
    align = ctypes.c_float(0)
    raw.FPDFAnnot_GetNumberValue(annotation, b"Q", align)
    lines = [line.split() for line in _value(annotation, form, raw).splitlines()]
    yield from place_words(lines, (left, bottom, right, top), int(align.value))


def place_words(
    lines: list[list[str]], box: tuple[float, float, float, float], align: int = 0
) -> Iterator[Placed]:
    """Words of lines in the box of a field; ``align`` is 0 for left, 1 for centred, 2 for right."""
    left, bottom, right, top = box
    lines = [line for line in lines if line]
    if not lines:
        return
    high = (top - bottom) / len(lines)
    line_high = min(high, TALLEST)
    for number, words in enumerate(lines):
        middle = top - (number + 0.5) * high
        letters = sum(map(len, words)) + len(words) - 1
        unit = min(WIDEST * line_high, (right - left) / letters)
        free = right - left - letters * unit
        x = left + free * (1.0 if align == _RIGHT else 0.5 if align == _CENTRED else 0.0)
        for word in words:
            end = x + len(word) * unit
            yield Placed(word, (x, middle - line_high / 2, end, middle + line_high / 2))
            x = end + unit


def _value(annotation: Any, form: Any, raw: Any) -> str:
    size = raw.FPDFAnnot_GetFormFieldValue(form, annotation, None, 0)
    if size <= 2:
        return ""
    buffer = (raw.FPDF_WCHAR * (size // 2))()
    raw.FPDFAnnot_GetFormFieldValue(form, annotation, buffer, size)
    return bytes(buffer)[: size - 2].decode("utf-16-le", "replace")
