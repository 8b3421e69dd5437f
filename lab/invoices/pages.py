"""Generated pages of all kinds, as the model learns from them: with noise, in reading order."""

from __future__ import annotations

from typing import NamedTuple

from lab.invoices.invoice import print_invoice
from lab.invoices.others import print_other
from lab.receipts.dice import Dice
from lab.receipts.labels import renamed
from lab.receipts.noise import Noise, photographed
from lab.receipts.tills import print_page
from lawful.documents.records import Labelled

SHARES = (("invoice", 0.75), ("receipt", 0.12), ("other", 0.13))
PRINTERS = {"invoice": print_invoice, "receipt": print_page, "other": print_other}


class Example(NamedTuple):
    """A page and its kind."""

    page: Labelled
    kind: str


def example(seed: int, number: int, kind: str | None = None) -> Example:
    """A generated page, which depends only on the seed and its number; receipts have no labels."""
    dice = Dice(seed, number)
    kind = kind or dice.weighted(SHARES)
    printed = PRINTERS[kind](dice)
    noise = None if kind == "receipt" else sheet_noise(dice)
    page = photographed(dice, printed, f"{kind}-{seed}-{number}", noise)
    return Example(renamed(page, {}) if kind == "receipt" else page, kind)


def sheet_noise(dice: Dice) -> Noise:
    """Most invoices are PDF files with text; some are scans."""
    if dice.chance(0.75):
        glue = dice.weighted(((0.0, 8.0), (0.04, 1.0)))
        return Noise(
            glue, 0.0, 0.0, 0.0, dice.between(0, 0.04), dice.weighted(((0.0, 9.0), (0.03, 1.0)))
        )
    drawn = Noise.drawn(dice)
    return Noise(
        min(drawn.glue, 0.5),
        drawn.swap,
        drawn.swap_amounts,
        drawn.drop,
        min(drawn.shake, 0.1),
        drawn.split,
    )
