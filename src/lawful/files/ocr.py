"""OCR of images and of pages without text, by rapidocr.

Its classifier of directions is off: on printed documents it turns short numbers upside down. Its
words are split where it tends to miss a blank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lawful.document import Box
from lawful.extras import needed
from lawful.files.page import Word

FEWEST_WORDS = 10
"""A page of a PDF file with fewer words is read by OCR."""

_AMOUNT = r"[-+]?(?:\d{1,3}(?:[.,' ]\d{3})+|\d+)[.,]\d{2}"
_GLUED = re.compile(
    rf"(?<=[^\W\d_])(?={_AMOUNT}(?!\d))"  # EUR18.00
    rf"|(?<=\d[.,]\d\d)(?=[^\W\d_]{{1,3}}$)"  # 18.00EUR
    r"|(?<=[^\W\d_]:)(?=[^\W_])"  # Date:12.3.
)


class Ocr:
    """The OCR engine, which is loaded when it is first used."""

    def __init__(self, threads: int = -1) -> None:
        """``threads`` is the number of threads for a page; -1 means one per core."""
        self._threads = threads
        self._engine: Any = None

    def words(self, pixels: NDArray[np.uint8], scale: float = 1.0) -> list[Word]:
        """The words of a page of shape (height, width, 3) in RGB; boxes are pixels / ``scale``."""
        if (pixels == pixels[:1, :1]).all():
            return []  # blank
        if self._engine is None:
            self._engine = self._load()
        found = self._engine(np.ascontiguousarray(pixels[:, :, ::-1]), return_word_box=True)
        words: list[Word] = []
        if found.txts is None:  # word_results then has an item that is no line
            return words
        for line in found.word_results:
            for text, _, corners in line:
                if corners is not None and text.strip():
                    places = np.array(corners, float).reshape(-1, 2) / scale
                    x0, y0 = places.min(axis=0)
                    x1, y1 = places.max(axis=0)
                    words += split_word(text.strip(), Box(x0, y0, x1, y1))
        return words

    def _load(self) -> Any:
        rapidocr = needed("rapidocr", "reading images, and PDF pages without text,")
        return rapidocr.RapidOCR(
            params={
                "Global.use_cls": False,
                "Global.log_level": "critical",
                "EngineConfig.onnxruntime.intra_op_num_threads": self._threads,
            }
        )


def split_word(text: str, box: Box) -> Iterator[Word]:
    """The parts of a word, split between a name and an amount, and after a colon.

    Their boxes divide the word's by numbers of letters. Codes such as ``F2022-17`` stay whole, and
    so do times and addresses of web pages.
    """
    parts = [text] if "://" in text else _GLUED.split(text)
    unit = (box.x1 - box.x0) / max(len(text), 1)
    x = box.x0
    for part in parts:
        end = x + len(part) * unit
        yield Word(part, Box(round(x, 2), round(box.y0, 2), round(end, 2), round(box.y1, 2)))
        x = end
