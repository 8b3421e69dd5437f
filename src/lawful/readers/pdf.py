"""PDF files: words, attachments, and pages as pictures."""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lawful.base.errors import InputError
from lawful.base.extras import needed
from lawful.documents.document import Box
from lawful.readers.characters import read_characters, words_of
from lawful.readers.forms import Placed, filled_in
from lawful.readers.limits import Limits
from lawful.readers.page import Word

DPI = 150
"""Resolution for OCR."""

LONGEST_WORD = 100
"""Characters of a word, for the limit of words."""

MAX_PATHS = 30
"""Shapes on a page from which they may be letters, not only lines of a table."""

PASSWORD_VARIABLE = "LAWFUL_PDF_PASSWORD"  # noqa: S105 - a name, no secret
HOW = f"--password, or the environment variable {PASSWORD_VARIABLE}"
"""How a command is given a password."""


@contextmanager
def open_pdf(path: Path, limits: Limits, password: str | None = None) -> Iterator[Pdf]:
    """An open PDF file; raises an ``InputError`` if it cannot be decrypted, or is damaged.

    ``password`` is tried on encrypted files. How many pages it has is for the caller to limit.
    """
    pdfium = needed("pypdfium2", "reading PDF files")
    limits.check("bytes", path.stat().st_size, "the file")
    try:
        document = pdfium.PdfDocument(path, password)
    except pdfium.PdfiumError as error:
        # PDFium's last error may be that of an earlier file.
        wanted = getattr(error, "err_code", None) == pdfium.raw.FPDF_ERR_PASSWORD
        if wanted and b"/Encrypt" in path.read_bytes():
            why = f"needs a password ({HOW})" if password is None else "has another password"
            raise InputError(f"the PDF is encrypted, and {why}") from None
        raise InputError("the PDF is damaged, or no PDF") from None
    try:
        _open_forms(document, pdfium)
        if not len(document):
            raise InputError("the PDF is damaged: it has no pages")
        yield Pdf(document, pdfium)
    finally:
        document.close()


def _open_forms(document: Any, pdfium: Any) -> None:
    """Has the values of forms read and drawn; before the first page is opened."""
    logger = logging.getLogger("pypdfium2")
    level = logger.level
    logger.setLevel(logging.ERROR)  # of forms in XFA, which stand beside usual ones
    try:
        document.init_forms()
    except pdfium.PdfiumError:
        pass  # the page is there without them
    finally:
        logger.setLevel(level)


@dataclass(frozen=True, slots=True)
class Pdf:
    """An open PDF file."""

    document: Any
    pdfium: Any

    def __len__(self) -> int:
        return len(self.document)

    @contextmanager
    def page(self, number: int) -> Iterator[PdfPage]:
        """A page, from 0; raises an ``InputError`` if it is damaged."""
        try:
            page = self.document[number]
            try:
                yield PdfPage(page, self.pdfium.raw)
            finally:
                page.close()
        except self.pdfium.PdfiumError as error:
            raise InputError(f"page {number + 1} of the PDF is damaged: {error}") from None

    def attachments(self, limits: Limits) -> dict[str, bytes]:
        """The attached files by name; damaged ones, and those above the limit, are left out."""
        found = {}
        for i in range(self.document.count_attachments()):
            try:
                attachment = self.document.get_attachment(i)
                data = bytes(attachment.get_data())
                if len(data) <= limits.bytes:
                    found[attachment.get_name()] = data
            except self.pdfium.PdfiumError:
                continue
        return found


@dataclass(frozen=True, slots=True)
class PdfPage:
    """A page of a PDF file. Boxes and sizes are in points, as it is shown, with y down."""

    page: Any
    raw: Any

    @property
    def size(self) -> tuple[float, float]:
        """Width and height as the page is shown: after its rotation."""
        width, height = self.page.get_size()
        return round(float(width), 2), round(float(height), 2)

    def words(self, limits: Limits) -> list[Word]:
        """The words of the page in the order of the file, and those filled into its form.

        The fonts of some files do not say which characters their shapes stand for: their text has
        no meaning, and is left out.
        """
        printed = self._boxed(self._printed(limits))
        filled = self._boxed(list(filled_in(self.page, self.raw)))
        return printed + [word for word in filled if not _is_among(word, printed)]

    def _printed(self, limits: Limits) -> list[Placed]:
        text = self.page.get_textpage()
        try:
            count = text.count_chars()
            if count > LONGEST_WORD * limits.words:
                raise InputError(f"a page has {count:,} characters: too many words")
            return words_of(read_characters(text, self.raw))
        finally:
            text.close()

    def _boxed(self, placed: list[Placed]) -> list[Word]:
        """Words on the page as it is shown, without those beside it."""
        if not placed:
            return []
        boxes = self._shown(np.array([word.box for word in placed]))
        width, height = self.size
        x0, y0, x1, y1 = boxes.T
        there = (x1 > 0) & (y1 > 0) & (x0 < width) & (y0 < height)  # not beside the page
        cut = np.clip(boxes, 0.0, (width, height) * 2).tolist()
        return [
            Word(placed[i].text, Box(*[round(edge, 2) for edge in cut[i]]))
            for i in np.flatnonzero(there)
        ]

    @property
    def has_drawings(self) -> bool:
        """Whether it has images, or so many lines and shapes that they may be letters."""
        raw = self.raw
        kinds = [each.type for each in self.page.get_objects(max_depth=4)]
        return raw.FPDF_PAGEOBJ_IMAGE in kinds or kinds.count(raw.FPDF_PAGEOBJ_PATH) >= MAX_PATHS

    def _shown(self, corners: NDArray[np.float64]) -> NDArray[np.float64]:
        """Boxes of the file's own coordinates as boxes on the page as it is shown."""
        width, height = self.page.get_size()
        scale = 2**20 / max(width, height, 1)
        across, down = int(width * scale), int(height * scale)

        def place(x: float, y: float) -> NDArray[np.float64]:
            left, top = ctypes.c_int(), ctypes.c_int()
            self.raw.FPDF_PageToDevice(self.page, 0, 0, across, down, 0, x, y, left, top)
            return np.array([left.value / scale, top.value / scale])

        origin = place(0, 0)
        step = 1000.0
        turn = np.stack([place(step, 0) - origin, place(0, step) - origin]) / step
        one, other = corners[:, :2] @ turn + origin, corners[:, 2:] @ turn + origin
        return np.hstack([np.minimum(one, other), np.maximum(one, other)])

    def render(self, limits: Limits, dpi: float = DPI) -> tuple[NDArray[np.uint8], float]:
        """The page as (height, width, 3) in RGB, and its pixels per point.

        The resolution is lower if the page would have more pixels than the limit.
        """
        width, height = self.page.get_size()
        scale = dpi / 72
        area = max(width * height, 1e-6)
        scale = min(scale, sqrt(limits.pixels / area), 20_000 / max(width, height, 1))
        bitmap = self.page.render(scale=scale, rev_byteorder=True, force_bitmap_format=2)
        try:
            pixels = np.array(bitmap.to_numpy())[:, :, :3]
        finally:
            bitmap.close()
        return np.ascontiguousarray(pixels), scale


def _is_among(word: Word, printed: list[Word]) -> bool:
    """Whether a word of a form is printed, too, in the same place."""
    return any(
        other.text == word.text
        and other.box.y0 < (word.box.y0 + word.box.y1) / 2 < other.box.y1
        and max(other.box.x0 - word.box.x1, word.box.x0 - other.box.x1)
        < word.box.x1 - word.box.x0 + word.box.y1 - word.box.y0
        for other in printed
    )
