"""OCR of images and of pages without text, by rapidocr.

Its classifier of directions is off: on printed documents it turns short numbers upside down. A page
that is turned as a whole shows in lines that stand upright, or in letters that it is not sure of;
it is then read once more in other directions. Words are split where it tends to miss a blank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lawful.base.extras import needed
from lawful.documents.document import Box
from lawful.readers.misreads import Edit, Lattices, by_word, misreads_of
from lawful.readers.page import Word

FEWEST_WORDS = 10
"""A page of a PDF file with fewer words is read by OCR."""

SURE = 0.85
"""Mean confidence of letters below which a page may be upside down: there it is about 0.7."""

MARGIN = 0.1
"""Confidence by which another direction has to be better than the one that the page has."""

MIN_LETTERS = 20
"""Letters of a page from which its direction is judged."""

SIDE = 736
"""Pixels of the shorter side of a page in which lines are looked for: they are read as it is."""

NARROWEST = 64
"""Pixels to which lines are padded, at a height of 48; by itself, rapidocr takes 320."""

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

    def read(self, pixels: NDArray[np.uint8], scale: float = 1.0) -> tuple[list[Word], int]:
        """The words of a page of shape (height, width, 3) in RGB, and how it has to be turned.

        The page is turned clockwise, by 0, 90, 180 or 270 degrees; boxes are those of the turned
        page, in pixels / ``scale``.
        """
        if (pixels == pixels[:1, :1]).all():
            return [], 0  # blank
        best = self._look(pixels)
        if best.letters >= MIN_LETTERS and (best.is_sideways or best.sure < SURE):
            turns = (90, 270) if best.is_sideways else (180,)
            others = [self._look(pixels, turn) for turn in turns]
            best = max([best, *others], key=lambda page: page.rank)
        return list(self._words(best.found, scale)), best.turn

    def _look(self, pixels: NDArray[np.uint8], turn: int = 0) -> _Look:
        if self._engine is None:
            self._engine = self._load()
        turned = np.ascontiguousarray(np.rot90(pixels, -turn // 90)[:, :, ::-1])
        return _Look(self._engine(turned, return_word_box=True), turn)

    @staticmethod
    def _words(found: Any, scale: float) -> Iterator[Word]:
        if found.txts is None:  # word_results then has an item that is no line
            return
        for text, line in zip(found.txts, found.word_results, strict=False):
            edits = by_word(text, [word for word, _, _ in line])
            for (word, _, corners), own in zip(line, edits, strict=True):
                if corners is not None and word.strip():
                    places = np.array(corners, float).reshape(-1, 2) / scale
                    x0, y0 = places.min(axis=0)
                    x1, y1 = places.max(axis=0)
                    yield from split_word(word.strip(), Box(x0, y0, x1, y1), own)

    def _load(self) -> Any:
        rapidocr = needed("rapidocr", "reading images, and PDF pages without text,")
        engine = rapidocr.RapidOCR(
            params={
                "Global.use_cls": False,
                "Global.log_level": "critical",
                "EngineConfig.onnxruntime.intra_op_num_threads": self._threads,
                "Det.limit_side_len": SIDE,  # up to which smaller pages are enlarged
                "Rec.rec_img_shape": [3, 48, NARROWEST],
            }
        )
        engine.text_det = _Detector(engine.text_det or engine._load_det_model())
        recogniser = engine.text_rec or engine._load_rec_model()  # newer versions wait with it
        recogniser.postprocess_op = Lattices(recogniser.postprocess_op)
        return engine


class _Detector:
    """rapidocr's detector of lines, which looks at a smaller copy of large pages."""

    def __init__(self, detect: Any) -> None:
        self._detect = detect

    def __call__(self, pixels: NDArray[np.uint8]) -> Any:
        high, wide = pixels.shape[:2]
        share = SIDE / min(high, wide)
        if share >= 1:
            return self._detect(pixels)
        image = needed("PIL.Image", "reading images")
        size = round(wide * share), round(high * share)
        small = image.fromarray(pixels).resize(size, image.Resampling.BOX)
        found = self._detect(np.asarray(small))
        if found.boxes is not None:
            found.boxes = np.clip(found.boxes / share, 0, (wide - 1, high - 1)).astype(np.float32)
        return found


class _Look:
    """What the engine found on a page in one direction."""

    def __init__(self, found: Any, turn: int) -> None:
        self.found, self.turn = found, turn
        texts = found.txts or ()
        sizes = np.array([len(text) for text in texts], float)
        self.letters = int(sizes.sum())
        total = max(self.letters, 1)
        self.sure = float(sizes @ np.array(found.scores if texts else (), float)) / total
        boxes = np.array(found.boxes if texts else (), float).reshape(-1, 4, 2)
        wide, high = np.ptp(boxes, axis=1).T if len(boxes) else np.zeros((2, 0))
        self.is_sideways = bool(sizes @ (high > 1.5 * wide) > total / 2)

    @property
    def rank(self) -> tuple[bool, float]:
        """The larger, the more likely this is the right direction; as it is, if nearly equal."""
        return not self.is_sideways, self.sure - (MARGIN if self.turn else 0.0)


def split_word(text: str, box: Box, edits: Sequence[Edit] = ()) -> Iterator[Word]:
    """The parts of a word, split between a name and an amount, and after a colon.

    Their boxes divide the word's by numbers of letters; ``edits`` are those of the word. Codes such
    as ``F2022-17`` stay whole, and so do times and addresses of web pages.
    """
    parts = [text] if "://" in text else _GLUED.split(text)
    unit = (box.x1 - box.x0) / max(len(text), 1)
    x, at = box.x0, 0
    for part in parts:
        end = x + len(part) * unit
        own = [e._replace(at=e.at - at) for e in edits if e.within(at, at + len(part))]
        place = Box(round(x, 2), round(box.y0, 2), round(end, 2), round(box.y1, 2))
        yield Word(part, place, misreads_of(part, own))
        x, at = end, at + len(part)
