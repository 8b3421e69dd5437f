"""Receipts as files: a PDF with text, and a photo of it, skewed and noisy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lawful.base.extras import needed
from lawful.documents.document import Document
from lawful.readers.limits import Limits
from lawful.readers.pdf import open_pdf

_MARGIN = 24.0
_ASPECT = 0.6  # width of Courier's letters, in sizes of the font


class Text(NamedTuple):
    """A text on a page: its left end, its baseline from the top, and the size of its font."""

    text: str
    x: float
    y: float
    size: float


def draw_pdf(document: Document, path: Path, scale: float = 0.5) -> None:
    """Writes a document with boxes as a PDF file: each word in its box, in Courier."""
    boxes = document.boxes or ()
    numbers = document.pages or (0,) * len(document)
    right = max((box.x1 for box in boxes), default=0) * scale + _MARGIN
    bottom = max((box.y1 for box in boxes), default=0) * scale + _MARGIN
    pages: list[list[Text]] = [[] for _ in range(max(numbers, default=0) + 1)]
    for word, box, number in zip(document.words, boxes, numbers, strict=True):
        size = (box.x1 - box.x0) * scale / (_ASPECT * max(len(word), 1))
        baseline = (box.y1 - 0.25 * (box.y1 - box.y0)) * scale
        pages[number].append(Text(word, box.x0 * scale, baseline, size))
    path.write_bytes(pdf_of(pages, (right, bottom)))


def pdf_of(
    pages: Iterable[Sequence[Text]], size: tuple[float, float], page_keys: str = ""
) -> bytes:
    """A PDF file of pages with texts, in points; ``page_keys`` are added to every page."""
    width, height = size
    contents = [
        b"".join(
            b"BT /F1 %.2f Tf %.2f %.2f Td (%s) Tj ET\n"
            % (text.size, text.x, height - text.y, _escaped(text.text))
            for text in page
        )
        for page in pages
    ]
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(contents)))
    objects = [
        b"<</Type /Catalog /Pages 2 0 R>>",
        f"<</Type /Pages /Kids [{kids}] /Count {len(contents)}>>".encode(),
        b"<</Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding>>",
    ]
    for i, content in enumerate(contents):
        objects.append(
            f"<</Type /Page /Parent 2 0 R /MediaBox [0 0 {width:.2f} {height:.2f}] "
            f"/Resources <</Font <</F1 3 0 R>>>> /Contents {5 + 2 * i} 0 R {page_keys}>>".encode()
        )
        objects.append(b"<</Length %d>>\nstream\n%s\nendstream" % (len(content), content))
    return pdf_file(objects)


def pdf_file(objects: Sequence[bytes], trailer: bytes = b"") -> bytes:
    """A PDF file of objects, of which the first is the catalogue."""
    parts, starts = [b"%PDF-1.7\n"], []
    for number, each in enumerate(objects, 1):
        starts.append(sum(map(len, parts)))
        parts.append(b"%d 0 obj\n%s\nendobj\n" % (number, each))
    table = b"".join(b"%010d 00000 n \n" % start for start in starts)
    return b"".join(parts) + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<</Size %d /Root 1 0 R %s>>\n"
        b"startxref\n%d\n%%%%EOF\n"
        % (len(objects) + 1, table, len(objects) + 1, trailer, sum(map(len, parts)))
    )


def _escaped(text: str) -> bytes:
    plain = text.encode("cp1252", "replace")
    return plain.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def photograph(pdf: Path, path: Path, *, seed: int = 0, dpi: float = 150) -> None:
    """Writes the first page of a PDF file as a JPEG: skewed, unevenly lit, noisy and blurred."""
    image = needed("PIL.Image", "drawing photos")
    generator = np.random.default_rng(seed)
    limits = Limits()
    with open_pdf(pdf, limits) as opened, opened.page(0) as page:
        pixels, _ = page.render(limits, dpi)
    angle = float(generator.uniform(1.0, 2.5) * generator.choice((-1, 1)))
    sheet = image.fromarray(pixels).convert("L")
    table = image.new("L", (sheet.width + 120, sheet.height + 120), 90)
    table.paste(sheet, (60, 60))
    turned = np.array(table.rotate(angle, resample=image.Resampling.BICUBIC, fillcolor=90), float)
    light = (
        np.linspace(0.75, 1.0, turned.shape[1])[None] * np.linspace(1.0, 0.85, len(turned))[:, None]
    )
    noisy = turned * light + generator.normal(0, 9, turned.shape)
    image.fromarray(noisy.clip(0, 255).astype(np.uint8)).save(path, "JPEG", quality=55)
