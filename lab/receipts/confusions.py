"""Which digits OCR takes for which: counted on photographed pages of numbers.

    python -m lab.receipts.confusions [--pages 12]

Prints, by digit that was read, how often another one was printed; ``lawful.readers.misreads`` has
those that were seen more than three times.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from lab.receipts.drawing import draw_pdf, photograph
from lawful import Box, Document
from lawful.readers import Reader

COLUMNS, LINES = 7, 34
RESOLUTIONS = (76, 80, 84, 90)


def numbers_page(random: np.random.Generator) -> Document:
    """A page of random amounts, in columns."""
    words, boxes = [], []
    for line in range(LINES):
        for column in range(COLUMNS):
            digits = int(random.integers(3, 7))
            amount = int(random.integers(10 ** (digits - 1), 10**digits))
            words.append(f"{amount / 100:.2f}")
            x, y = 20 + 80 * column, 20 + 22 * line
            boxes.append(Box(x, y, x + 8 * len(words[-1]), y + 12))
    return Document("numbers", tuple(words), tuple(boxes))


def count_confusions(pages: int) -> tuple[Counter[tuple[str, str]], int]:
    """How often a digit (first) was read for another one (second), and all digits compared."""
    random, reader = np.random.default_rng(1), Reader()
    found: Counter[tuple[str, str]] = Counter()
    total = 0
    with TemporaryDirectory() as folder:
        for number in range(pages):
            page, path = numbers_page(random), Path(folder) / "page.pdf"
            draw_pdf(page, path)
            photograph(path, path.with_suffix(".jpg"), seed=number,
                       dpi=RESOLUTIONS[number % len(RESOLUTIONS)])  # fmt: skip
            read = reader.read(path.with_suffix(".jpg")).words
            for text, true in paired(read, page.words):
                for one, other in zip(text, true, strict=True):
                    if one.isdigit() and other.isdigit():
                        total += 1
                        found[one, other] += one != other
    return found, total


def paired(read: tuple[str, ...], printed: tuple[str, ...]) -> list[tuple[str, str]]:
    """Words that stand for each other, of one length, by the order in which all are read."""
    pairs, at = [], 0
    for text in read:
        near = range(at, min(len(printed), at + COLUMNS))
        like = [i for i in near if _shared(text, printed[i]) >= max(3, len(text) - 2)]
        if like:
            best = max(like, key=lambda i: (_shared(text, printed[i]), -i))
            at = best + 1
            if len(text) == len(printed[best]):
                pairs.append((text, printed[best]))
    return pairs


def _shared(one: str, other: str) -> int:
    return sum(a == b for a, b in zip(one, other, strict=False))


def main() -> None:
    """Prints the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pages", type=int, default=12)
    found, total = count_confusions(parser.parse_args().pages)
    wrong = found.total()
    print(f"{total} digits, {wrong} misread")
    for digit in "0123456789":
        some = {o: n for (d, o), n in found.most_common() if d == digit and n > 3}
        print(f'    "{digit}": {some},')


if __name__ == "__main__":
    main()
