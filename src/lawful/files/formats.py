"""Files of OCR engines: hOCR, ALTO, and the JSON of Amazon Textract and Azure's layout model.

Each has a reader from bytes to pages. Boxes keep the unit of the file, except for Textract, whose
pages have no size: they are taken to be 612 by 792 points, as letters are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from typing import Any

import msgspec

from lawful.document import Box
from lawful.errors import InputError
from lawful.files.page import Page, Word
from lawful.files.xml import parse_xml

LETTER = (612.0, 792.0)


def read_hocr(data: bytes) -> list[Page]:
    """The pages of an hOCR file: ``ocr_page`` and ``ocrx_word`` with ``bbox`` in their titles."""
    parser = _Hocr()
    parser.feed(data.decode("utf-8", "replace"))
    parser.close()
    return parser.pages


class _Hocr(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.pages: list[Page] = []
        self._word: tuple[Box, list[str]] | None = None
        self._inside = 0  # elements that are open in the word

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        classes, title = (given.get("class") or "").split(), given.get("title") or ""
        if self._word is not None:
            self._inside += tag not in ("br", "img")
        elif "ocr_page" in classes:
            box = _bbox(title) or Box(0, 0, 0, 0)
            self.pages.append(Page([], (box.x1, box.y1)))
        elif {"ocrx_word", "ocr_word"} & set(classes) and (found := _bbox(title)):
            self._word, self._inside = (found, []), 0

    def handle_endtag(self, tag: str) -> None:
        if self._word is None:
            return
        if self._inside:
            self._inside -= 1
            return
        box, texts = self._word
        self._word = None
        if not self.pages:
            raise InputError("the hOCR has a word outside of a page")
        self.pages[-1].words.append(Word("".join(texts), box))

    def handle_data(self, data: str) -> None:
        if self._word is not None:
            self._word[1].append(data)


def _bbox(title: str) -> Box | None:
    found = re.search(r"\bbbox +(-?\d+) +(-?\d+) +(-?\d+) +(-?\d+)", title)
    return _box(*map(float, found.groups())) if found else None


def read_alto(data: bytes) -> list[Page]:
    """The pages of an ALTO file, with every ``String`` as a word."""
    root = parse_xml(data)
    if root.name.lower() != "alto":
        raise InputError(f"the root of the XML is {root.name!r}, expected 'alto'")
    pages = []
    for page in root.all("Page"):
        words = []
        for each in page.all("String"):
            x, y, wide, high = (
                _float(each.attributes.get(name)) for name in ("HPOS", "VPOS", "WIDTH", "HEIGHT")
            )
            words.append(Word(each.attributes.get("CONTENT", ""), _box(x, y, x + wide, y + high)))
        size = _float(page.attributes.get("WIDTH")), _float(page.attributes.get("HEIGHT"))
        pages.append(Page(words, size))
    return pages


class _Rectangle(msgspec.Struct, rename="pascal"):
    left: float
    top: float
    width: float
    height: float


class _Geometry(msgspec.Struct, rename="pascal"):
    bounding_box: _Rectangle


class _Block(msgspec.Struct, rename="pascal"):
    block_type: str
    text: str = ""
    geometry: _Geometry | None = None
    page: int = 1


class _Textract(msgspec.Struct):
    blocks: list[_Block] = msgspec.field(name="Blocks")


def read_textract(data: bytes) -> list[Page]:
    """The pages of Amazon Textract's JSON, one answer or a list of them, as for long documents."""
    parts: _Textract | list[_Textract] = _decode(data, _Textract | list[_Textract])
    blocks = [b for part in (parts if isinstance(parts, list) else [parts]) for b in part.blocks]
    count = max((block.page for block in blocks), default=0)
    if not 0 <= count <= 100_000 or any(block.page < 1 for block in blocks):
        raise InputError("pages of Textract's blocks are not numbered from 1")
    pages = [Page([], LETTER) for _ in range(count)]
    for block in blocks:
        if block.block_type == "WORD" and block.geometry is not None:
            box = block.geometry.bounding_box
            x, y = box.left * LETTER[0], box.top * LETTER[1]
            there = _box(x, y, x + box.width * LETTER[0], y + box.height * LETTER[1])
            pages[block.page - 1].words.append(Word(block.text, there))
    return pages


class _AzureWord(msgspec.Struct):
    content: str
    polygon: list[float | dict[str, float]] = []


class _AzurePage(msgspec.Struct):
    width: float = 0.0
    height: float = 0.0
    words: list[_AzureWord] = []


class _AzureResult(msgspec.Struct):
    pages: list[_AzurePage]


class _Azure(msgspec.Struct, rename="camel"):
    analyze_result: _AzureResult | None = None
    pages: list[_AzurePage] | None = None


def read_azure(data: bytes) -> list[Page]:
    """The pages of Azure Document Intelligence's layout JSON, of the service or its SDK."""
    answer: _Azure = _decode(data, _Azure)
    found = answer.analyze_result.pages if answer.analyze_result else answer.pages
    if found is None:
        raise InputError("the JSON has neither analyzeResult nor pages")
    pages = []
    for page in found:
        words = []
        for word in page.words:
            points: list[float] = []
            for point in word.polygon:
                points += point.values() if isinstance(point, dict) else [point]
            if len(points) >= 4:
                xs, ys = points[::2], points[1::2]
                words.append(Word(word.content, _box(min(xs), min(ys), max(xs), max(ys))))
        pages.append(Page(words, (page.width, page.height)))
    return pages


def _decode(data: bytes, type_: Any) -> Any:
    try:
        return msgspec.json.decode(data, type=type_)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"the JSON is not as expected: {error}") from None


def _float(text: str | None) -> float:
    try:
        return float(text or 0)
    except ValueError:
        raise InputError(f"found {text!r} in the XML, expected a number") from None


def _box(x0: float, y0: float, x1: float, y1: float) -> Box:
    x0, x1, y0, y1 = *sorted((x0, x1)), *sorted((y0, y1))
    return Box(round(x0, 3), round(y0, 3), round(x1, 3), round(y1, 3))


FORMATS: Mapping[str, Callable[[bytes], list[Page]]] = {
    "hocr": read_hocr,
    "alto": read_alto,
    "textract": read_textract,
    "azure": read_azure,
}
"""Readers by the name of their format."""
