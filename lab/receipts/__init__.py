"""Receipts to try lawful on: generated pages, a simulated tagger, and rules.

>>> from lab import receipts
>>> example = next(receipts.generate(1))
>>> example.document.id
'receipt-00000'
>>> len(example.gold) == len(example.document) == len(example.scores)
True
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lab.receipts.dice import Dice
from lab.receipts.drawing import draw_pdf
from lab.receipts.printer import LABELS, SMALLEST, print_receipt
from lab.receipts.tagger import tag
from lawful.base.errors import InputError
from lawful.documents.document import Document
from lawful.documents.records import Scored
from lawful.documents.scores import Scores
from lawful.io.jsonl import scored_line
from lawful.rules.packs import DEMO

__all__ = ["LABELS", "RULES", "draw_receipt", "generate", "json_line", "shipped"]

RULES = DEMO / "rules.yaml"
"""The arithmetic of the generated pages; about 72 % of them obey all rules."""


def generate(
    count: int, *, seed: int = 0, words: tuple[int, int] | None = None, noise: float = 1.0
) -> Iterator[Scored]:
    """Receipts and invoices with gold labels and scores, generated lazily.

    Repeatable: a page depends only on ``seed``, ``words``, ``noise`` and its number, so a longer
    run begins with the pages of a shorter one; on another machine, the probabilities may differ in
    their last bits. The page and its gold labels do not depend on ``noise``. By default, pages have
    about 20 to 450 words; ``words`` is the smallest and the largest size, both included, up to many
    thousands.

    Gold labels are legal BIO. On 72 % of the pages, their amounts obey ``RULES``; on the others, a
    total was rounded, a tip was paid, a price was misprinted or a line is missing. ``noise``
    multiplies the rates of the tagger's mistakes: at 0, the best label of every word is right; at
    1, two pages in five have a wrong amount.
    """
    _check(count, seed, words, noise)
    return (_page(number, seed, words, noise) for number in range(count))


def _page(number: int, seed: int, words: tuple[int, int] | None, noise: float) -> Scored:
    dice = Dice(seed, number)
    page = print_receipt(dice, words)
    document = Document(
        id=f"receipt-{number:05}",
        words=tuple(page.words),
        boxes=tuple(page.boxes),
        pages=tuple(page.pages) if page.pages[-1] else None,
    )
    probabilities = tag(dice, page.words, page.labels, noise)
    return Scored(document, Scores.from_probs(probabilities, LABELS), tuple(page.labels))


def _check(count: int, seed: int, words: tuple[int, int] | None, noise: float) -> None:
    for name, value in (("count", count), ("seed", seed)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise InputError(f"{name} is {value!r}, expected a whole number of 0 or more")
    if words is not None and not (len(words) == 2 and SMALLEST <= words[1] >= words[0]):
        raise InputError(
            f"words is {words!r}, expected (smallest, largest), the largest at least {SMALLEST}"
        )
    if not 0 <= noise < float("inf"):
        raise InputError(f"noise is {noise!r}, expected a number of 0 or more")


def json_line(page: Scored) -> str:
    """A page as a line of JSON, with probabilities rounded to five decimals."""
    return scored_line(page, decimals=5)


def shipped() -> Path:
    """The shipped documents as gzipped JSON lines: ``generate(48)``, rounded."""
    return DEMO / "documents.jsonl.gz"


def draw_receipt(number: int, path: str | Path) -> None:
    """Writes the receipt with this number, from 0, as a PDF file."""
    *_, page = generate(number + 1)
    draw_pdf(page.document, Path(path))
