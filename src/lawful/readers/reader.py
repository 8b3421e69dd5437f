"""Files as documents: PDF files, images, and what OCR engines write."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from lawful.base.errors import InputError, MissingExtraError
from lawful.documents.document import Document
from lawful.readers.cache import ReadCache
from lawful.readers.einvoice import START, EInvoice, find_einvoice, is_einvoice, read_einvoice
from lawful.readers.formats import FORMATS
from lawful.readers.images import SUFFIXES, frame_of, open_image
from lawful.readers.limits import Limits
from lawful.readers.ocr import FEWEST_WORDS, Ocr
from lawful.readers.page import Page, make_document
from lawful.readers.pdf import Pdf, PdfPage, open_pdf
from lawful.readers.selection import Selection

OcrMode: TypeAlias = Literal["auto", "always", "never"]

IN_FOLDERS = (".pdf", *SUFFIXES, ".hocr")
"""Endings of the files that are read from folders."""

_KINDS = {
    ".pdf": "pdf",
    **dict.fromkeys(SUFFIXES, "image"),
    **dict.fromkeys((".hocr", ".html", ".htm"), "hocr"),
    **dict.fromkeys((".alto", ".xml"), "alto"),
}
_STARTS = {
    "textract": re.compile(rb'"Blocks"|"DocumentMetadata"'),
    "azure": re.compile(rb'"analyzeResult"|"modelId"'),
    "docling": re.compile(rb'"DoclingDocument"'),
}


def kind_of(path: Path) -> str | None:
    """``pdf``, ``image``, ``einvoice``, or the format of an OCR engine; ``None`` for other files.

    Decided by the name; for XML, and for JSON, which may be lines of documents, by the beginning.
    """
    suffix = path.suffix.lower()
    if suffix not in (".json", ".xml") or not path.is_file():
        return _KINDS.get(suffix)
    with path.open("rb") as file:
        start = file.read(START)
    if suffix == ".xml":
        return "einvoice" if is_einvoice(start) else "alto"
    return next((kind for kind, pattern in _STARTS.items() if pattern.search(start)), None)


def files_in(folder: Path, endings: tuple[str, ...] | None = IN_FOLDERS) -> Iterator[Path]:
    """The files of a folder and its subfolders with these endings, by name; no hidden ones.

    Without ``endings``, all of them.
    """
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(where, name)
            wanted = endings is None or path.suffix.lower() in endings
            if wanted and not name.startswith(".") and path.is_file():
                yield path


@dataclass(frozen=True, slots=True)
class FileDocument(Document):
    """A document with the e-invoice of its file, and notes on what of the file cannot be read."""

    invoice: EInvoice | None = field(default=None, compare=False, repr=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return FileDocument, tuple(getattr(self, name) for name in self.__match_args__)

    @classmethod
    def of(cls, document: Document, invoice: EInvoice | None, *notes: str) -> FileDocument:
        """The document with an e-invoice, whose values it has, and with notes."""
        known = {each.name: getattr(document, each.name) for each in fields(Document)}
        known["values"] = invoice.values if invoice else None
        return cls(**known, invoice=invoice, notes=notes)


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads files into documents: words in reading order, boxes, pages, sizes and images.

    ``ocr`` says which pages of PDF files are read by OCR: those with hardly any words, all, or
    none. ``pages`` selects pages of every file, such as ``Selection("1-3,last")``; the limit of
    pages is for those. ``password`` opens encrypted PDF files. Boxes are points of PDF pages, and
    pixels of images. ``cache`` keeps what was read, but nothing of files with a password.
    ``progress`` is told how many pages are read, and how many there are.
    """

    ocr: OcrMode = "auto"
    limits: Limits = field(default_factory=Limits)
    pages: Selection | None = None
    password: str | None = field(default=None, repr=False)
    engine: Ocr = field(default_factory=Ocr, compare=False)
    cache: ReadCache | None = field(default=None, compare=False)
    progress: Callable[[int, int], None] | None = field(default=None, compare=False)

    def read(self, path: str | Path) -> Document:
        """The document of a file, whose id is the path as it is given.

        Raises an ``InputError`` that does not name the file, as callers do, or a
        ``MissingExtraError``.
        """
        file = Path(path)
        name = os.fsencode(path).decode("utf-8", "replace")  # may be written, whatever its bytes
        if not file.is_file():
            raise InputError("it is no file" if file.exists() else "there is no such file")
        try:
            kind = kind_of(file)
            if kind in ("pdf", "image"):
                document = self._read_once(file, name, kind)
            elif kind is not None:
                self.limits.check("bytes", file.stat().st_size, "the file")
                if kind == "einvoice":
                    document = Document(name, (), boxes=(), pages=())
                    return FileDocument.of(document, read_einvoice(file.read_bytes()))
                pages = FORMATS[kind](file.read_bytes())
                document = make_document(name, [pages[i] for i in self._selected(len(pages))])
            else:
                raise InputError(
                    "it is of no known kind: its name ends neither in .pdf nor in that of an "
                    f"image ({', '.join(SUFFIXES)}), nor is it hOCR, ALTO, Textract's, Azure's, "
                    "docling's, or an e-invoice in XML"
                )
        except OSError as error:
            raise InputError(f"it cannot be read: {error.strerror or error}") from None
        self.limits.check("words", len(document), "the document")
        return document

    def _read_once(self, file: Path, name: str, kind: str) -> Document:
        """The document of a PDF file or an image, as the cache has it, or else as it is read."""
        read = self._read_pdf if kind == "pdf" else self._read_image
        self.limits.check("bytes", file.stat().st_size, "the file")
        if self.cache is None or self.password is not None:
            return read(file, name)
        place = self.cache.place(file, (kind, self.ocr, self.pages, self.limits.pixels))
        if (kept := place.find()) is None:
            document = read(file, name)
            if isinstance(document, FileDocument):
                place.keep(document, document.invoice, document.notes)
            else:
                place.keep(document)
            return document
        document = kept.document_as(name)
        self.limits.check("pages", len(document.sizes or ()), "the file")
        if kept.invoice is None and not kept.notes:
            return document
        return FileDocument.of(document, kept.invoice, *kept.notes)

    def _selected(self, count: int) -> list[int]:
        """The pages to read of a file with so many, from 0."""
        selected = list(range(count)) if self.pages is None else self.pages.pages(count)
        self.limits.check("pages", len(selected), "the file")
        return selected

    def _progressing(self, pages: list[int]) -> Iterator[int]:
        for done, page in enumerate(pages):
            if self.progress is not None:
                self.progress(done, len(pages))
            yield page

    def _read_pdf(self, file: Path, name: str) -> Document:
        pages: list[Page] = []
        missing: MissingExtraError | None = None
        with open_pdf(file, self.limits, self.password) as pdf:
            for number in self._progressing(self._selected(len(pdf))):
                with pdf.page(number) as page:
                    made = Page(page.words(self.limits), page.size, f"{name}#page={number + 1}")
                    if self._needs_ocr(page, len(made.words)):
                        try:
                            scan = self._page_by_ocr(page, made)
                            made = max(made, scan, key=lambda each: len(each.words))
                        except MissingExtraError as error:
                            missing = error
                    pages.append(made)
            invoice, notes = self._einvoice(pdf)
        # Without the extra, a page that is blank or nearly so does not spoil the others.
        if missing and (self.ocr == "always" or all(len(p.words) < FEWEST_WORDS for p in pages)):
            raise missing
        document = make_document(name, pages)
        return FileDocument.of(document, invoice, *notes) if invoice or notes else document

    def _einvoice(self, pdf: Pdf) -> tuple[EInvoice | None, list[str]]:
        """The e-invoice inside a PDF file, if there is any; or why it cannot be read."""
        try:
            return find_einvoice(pdf.attachments(self.limits)), []
        except InputError as error:
            return None, [str(error)]

    def _needs_ocr(self, page: PdfPage, words: int) -> bool:
        """Whether a page has too few words, and something else that may be text."""
        few = words == 0 or (words < FEWEST_WORDS and page.has_drawings)
        return self.ocr == "always" or (self.ocr == "auto" and few)

    def _page_by_ocr(self, page: PdfPage, made: Page) -> Page:
        pixels, scale = page.render(self.limits)
        words, turn = self.engine.read(pixels, scale)
        return replace(made, words=words).turned(turn)

    def _read_image(self, file: Path, name: str) -> Document:
        if self.ocr == "never":
            raise InputError("it is an image, which needs OCR, and OCR is off")
        pages = []
        with open_image(file, self.limits) as opened:
            for number in self._progressing(self._selected(getattr(opened, "n_frames", 1))):
                pixels = frame_of(opened, number, self.limits)
                height, width, _ = pixels.shape
                where = f"{name}#page={number + 1}" if number else name
                words, turn = self.engine.read(pixels)
                pages.append(Page(words, (width, height), where).turned(turn))
        return make_document(name, pages)
