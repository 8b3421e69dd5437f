"""Files of OCR engines: hOCR, ALTO, and the JSON of Amazon Textract, Azure's layout model, docling.

Each has a reader from bytes to pages. Boxes keep the unit of the file, except for Textract, whose
pages have no size: they are taken to be 612 by 792 points, as letters are. Docling has boxes of
paragraphs and cells, in which the words are placed by their lengths.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from typing import Any

import msgspec

from lawful.base.errors import InputError
from lawful.documents.document import Box
from lawful.readers.misreads import likely_misreads
from lawful.readers.page import Page, Word
from lawful.readers.xml import parse_xml

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
        self._word: tuple[Box, float | None, list[str]] | None = None
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
            sure = re.search(r"\bx_wconf +(\d+)", title)
            self._word, self._inside = (found, float(sure[1]) / 100 if sure else None, []), 0

    def handle_endtag(self, tag: str) -> None:
        if self._word is None:
            return
        if self._inside:
            self._inside -= 1
            return
        box, sure, texts = self._word
        self._word = None
        if not self.pages:
            raise InputError("the hOCR has a word outside of a page")
        self.pages[-1].words.append(_word("".join(texts), box, sure))

    def handle_data(self, data: str) -> None:
        if self._word is not None:
            self._word[2].append(data)


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
            text, sure = each.attributes.get("CONTENT", ""), each.attributes.get("WC")
            there = _box(x, y, x + wide, y + high)
            words.append(_word(text, there, None if sure is None else _float(sure)))
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
    confidence: float | None = None  # in percent


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
            sure = None if block.confidence is None else block.confidence / 100
            pages[block.page - 1].words.append(_word(block.text, there, sure))
    return pages


class _AzureWord(msgspec.Struct):
    content: str
    polygon: list[float | dict[str, float]] = []
    confidence: float | None = None


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
                there = _box(min(xs), min(ys), max(xs), max(ys))
                words.append(_word(word.content, there, word.confidence))
        pages.append(Page(words, (page.width, page.height)))
    return pages


class _Rect(msgspec.Struct):
    l: float  # noqa: E741 - as in the file
    t: float
    r: float
    b: float
    coord_origin: str = "TOPLEFT"


class _Place(msgspec.Struct):
    page_no: int
    bbox: _Rect
    charspan: tuple[int, int] = (0, 0)


class _Cell(msgspec.Struct):
    text: str
    bbox: _Rect | None = None


class _Cells(msgspec.Struct):
    table_cells: list[_Cell] = []


class _Text(msgspec.Struct):
    orig: str  # as printed; ``text`` may have marks of lists taken off
    prov: list[_Place] = []


class _Table(msgspec.Struct):
    data: _Cells
    prov: list[_Place] = []


class _Size(msgspec.Struct):
    width: float
    height: float


class _DoclingPage(msgspec.Struct):
    size: _Size


class _Docling(msgspec.Struct):
    pages: dict[int, _DoclingPage]
    texts: list[_Text] = []
    tables: list[_Table] = []


def read_docling(data: bytes) -> list[Page]:
    """The pages of a docling document: its texts and the cells of its tables.

    Raises an ``InputError`` for documents without places, such as those made of web pages.
    """
    document: _Docling = _decode(data, _Docling)
    pages = {
        number: Page([], (page.size.width, page.size.height))
        for number, page in sorted(document.pages.items())
    }
    found = [
        (text.orig[slice(*place.charspan)] if len(text.prov) > 1 else text.orig, place.page_no, box)
        for text in document.texts
        for place in text.prov
        if (box := place.bbox)
    ]
    for table in document.tables:
        cells = [(cell.text, cell.bbox) for cell in table.data.table_cells if cell.text.strip()]
        if cells and (not table.prov or any(box is None for _, box in cells)):
            raise InputError("a table of the docling document has cells without places")
        found += [(text, table.prov[0].page_no, box) for text, box in cells if box]
    if not found and any(text.orig.strip() for text in document.texts):
        raise InputError("the docling document has no places (prov): it is not of a page")
    for text, number, box in found:
        if number not in pages:
            raise InputError(
                f"the docling document has a text on page {number}, which is not there"
            )
        page = pages[number]
        high = page.size[1]
        ys = (box.t, box.b) if box.coord_origin == "TOPLEFT" else (high - box.t, high - box.b)
        page.words.extend(_spread(text, _box(box.l, ys[0], box.r, ys[1])))
    return list(pages.values())


WIDE = 0.45
"""The width of a letter, as a share of the height of its line."""


def _spread(text: str, box: Box) -> list[Word]:
    """The words of a text in its box, on as many lines as letters of a usual width need."""
    words = text.split()
    length = sum(map(len, words)) + len(words) - 1
    width, height = box.x1 - box.x0, box.y1 - box.y0
    if not words or length <= 0:
        return []
    count = max(1, round((WIDE * length * height / max(width, 1e-9)) ** 0.5))
    found, at = [], 0
    for word in words:
        line = min(at * count // length, count - 1)
        start, end = (min(each * count / length - line, 1.0) for each in (at, at + len(word)))
        y = box.y0 + height * line / count
        there = _box(box.x0 + width * start, y, box.x0 + width * end, y + height / count)
        found.append(_word(word, there, None))
        at += len(word) + 1
    return found


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


def _word(text: str, box: Box, sure: float | None) -> Word:
    """A word with what else it may be, if the engine says how sure it is."""
    return Word(text, box, () if sure is None else likely_misreads(text, sure))


def _box(x0: float, y0: float, x1: float, y1: float) -> Box:
    x0, x1, y0, y1 = *sorted((x0, x1)), *sorted((y0, y1))
    return Box(round(x0, 3), round(y0, 3), round(x1, 3), round(y1, 3))


FORMATS: Mapping[str, Callable[[bytes], list[Page]]] = {
    "hocr": read_hocr,
    "alto": read_alto,
    "textract": read_textract,
    "azure": read_azure,
    "docling": read_docling,
}
"""Readers by the name of their format."""
