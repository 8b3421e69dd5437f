"""The amounts of an e-invoice's XML against those that its pages print.

All values of the XML are placed on the pages together, as by ``lawful.ground``. A printed amount
that no number of the XML explains may be the place of an amount that differs from it, at a price:
if the words around it, its row or its column speak for that, the XML and the page differ there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import inf, log10
from typing import Any

from lawful.candidates.grounding.leaves import Leaf, Names, Path, leaves_of
from lawful.candidates.grounding.matches import Match, Occurrences
from lawful.candidates.grounding.page import Page
from lawful.documents.document import Document
from lawful.readers.einvoice import EInvoice
from lawful.rules.judging.checks import Check
from lawful.rules.rule_set import Rules

ALIKE = 3.0
"""Nats that an amount pays that stands where one is printed that differs in a digit, or in two
neighbouring ones that are swapped; less one for each digit before the last zeros: the more there
are, the less it is there by chance."""

IN_ROW = 1.0
"""Nats that an amount of a row pays that stands where another one is, beside others of its row."""

NAMED = 5.0
"""Nats that it pays if the words around the place name it, which is worth 3."""

UNNAMED = 9.0
"""Nats that it pays if none of these is true."""

OFF = 1.0
"""Nats that it pays besides for each power of ten between the two, up to ``MAX_OFF`` powers."""

MAX_OFF = 3.0

AMOUNTS: Mapping[Names, str] = {
    ("line_total",): "total of lines",
    ("allowances",): "total of allowances",
    ("charges",): "total of charges",
    ("net",): "net total",
    ("tax",): "total tax",
    ("gross",): "gross total",
    ("prepaid",): "amount prepaid",
    ("rounding",): "rounding",
    ("due",): "amount due",
    ("line", "unit_price"): "price of line",
    ("line", "amount"): "amount of line",
    ("allowance", "amount"): "amount of allowance",
    ("charge", "amount"): "amount of charge",
    ("vat", "basis"): "basis of VAT rate",
    ("vat", "tax"): "tax of VAT rate",
}
"""The amounts that are compared, in words."""

_CENTS = re.compile(r"[.,]\d\d\D*\Z")


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount of the XML, and where it is printed: its words, or those of another amount there.

    Without ``words``, it is not printed, and no other amount is in its place.
    """

    path: Path
    value: Decimal
    words: tuple[int, ...]
    differs: bool


def place_amounts(invoice: EInvoice, document: Document, rules: Rules | None) -> list[Amount]:
    """The amounts of an e-invoice that are not zero, on the pages of its document."""
    leaves = [leaf for leaf in leaves_of(invoice.object) if not _is_zero(leaf.value)]
    page = Page(document, rules)
    others = unexplained(invoice, page.occurrences)
    lines = page.occurrences.lines
    beside: dict[int | None, list[tuple[Leaf, set[int]]]] = {}  # by group, the lines of its values
    for leaf in leaves:
        there = {lines[match.words[0]] for match in page.occurrences.matches(leaf.value)}
        beside.setdefault(leaf.group, []).append((leaf, there))

    def instead(leaf: Leaf) -> Iterator[Match]:
        """The places of other amounts, and what it costs to stand there."""
        for words, value in others.items() if leaf.names in AMOUNTS else ():
            line, own = lines[words[0]], abs(Decimal(leaf.value))
            in_row = leaf.in_list and any(
                line in there and other.value != leaf.value for other, there in beside[leaf.group]
            )
            sure = in_row and leaf.names[0] == "line"
            named = not sure and page.names(words, leaf)
            price = IN_ROW if sure or (in_row and named) else NAMED if in_row or named else UNNAMED
            off = abs(log10(value / own)) if value else MAX_OFF
            yield Match(
                words, min(price, ALIKE - _same_digits(value, own)) + OFF * min(off, MAX_OFF)
            )

    page.instead = instead
    seekers, placing = page.place(leaves)
    found = []
    for leaf, seeker, at in zip(leaves, seekers, placing.chosen, strict=True):
        if leaf.names in AMOUNTS:
            words = () if at is None else seeker.places[at].words
            found.append(Amount(leaf.path, Decimal(leaf.value), words, words in others))
    return found


def unexplained(invoice: EInvoice, occurrences: Occurrences) -> dict[tuple[int, ...], Decimal]:
    """The printed amounts with cents that are no number of the XML, by their words."""
    by_value = occurrences.all_of("money")
    text = occurrences.document.text
    spans = {span: abs(value) for value, some in by_value.items() for span in some
             if _CENTS.search(text(*span)) and "%" not in text(*span)}  # fmt: skip
    known = {word for span, value in spans.items() if value in invoice.numbers
             for word in range(*span)}  # fmt: skip
    return {
        tuple(range(*span)): value
        for span, value in spans.items()
        if known.isdisjoint(range(*span))
    }


def _same_digits(one: Decimal, other: Decimal) -> float:
    """The digits before the last zeros, if two amounts differ in one or in two swapped ones."""
    a, b = f"{one:.2f}", f"{other:.2f}"
    off = [i for i in range(len(a)) if a[i] != b[i]] if len(a) == len(b) else []
    swapped = (
        len(off) == 2 and off[1] - off[0] <= 2 and [a[i] for i in off] == [b[i] for i in off[::-1]]
    )
    if len(off) != 1 and not swapped:
        return -inf
    return min(len(text.replace(".", "").strip("0")) for text in (a, b))


def check_print(invoice: EInvoice, document: Document, rules: Rules | None) -> Iterator[Check]:
    """A check per amount of the XML: whether the pages print it."""
    if not len(document):
        yield Check("PRINT", "vacuous", "not checked: no page has words")
        return
    for amount in place_amounts(invoice, document, rules):
        name = AMOUNTS[tuple(part for part in amount.path if isinstance(part, str))]
        row = next((part + 1 for part in amount.path if isinstance(part, int)), None)
        what = f"the {name}" + (f" {row}" if row else "")
        text = document.text(min(amount.words), max(amount.words) + 1) if amount.words else ""
        if amount.differs:
            said = f"{what} is {amount.value} in the XML, but {text} on the page"
            yield Check("PRINT", "violated", said, row=row)
        elif amount.words:
            yield Check("PRINT", "satisfied", f"{what} is {text}", row=row)
        else:
            said = f"not checked: {what}, {amount.value} in the XML, is not on the page"
            yield Check("PRINT", "vacuous", said, row=row)


def _is_zero(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"-?0+(\.0+)?", value) is not None
