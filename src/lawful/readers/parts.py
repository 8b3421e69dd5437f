"""Several documents in one file: at which pages new ones begin.

A page begins a document or goes on with one. What speaks for either is on the page and on those
before it: "page 1 of 2", the document's number, a title below the letterhead, a total on the page
before, a sum that is carried forward. Each has a price in nats, and the division of the pages that
costs the least is found exactly, by dynamic programming over the first page of each part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import inf
from typing import NamedTuple, TypeVar

from lawful.documents.document import Document
from lawful.documents.reading_order import printed_lines

PRIOR = 1.0
"""What a part costs by itself."""
COUNTER = 6.0
"""A page that says that it is another one than it would be."""
NUMBER = 5.0
"""A number that changes within a part, or is that of the part before."""
TITLE = 2.0
"""A title at the top of a page that goes on, or none where a document begins."""
TOTAL = 1.5
"""A part that ends without a total, or that has one before a page with another title."""
CODES = 2.5
"""Pages of one part without a code in common, such as a tax number, or parts with one."""
CARRIED = 4.0
"""A sum that is carried from one part to the next."""

TOP = 14
"""Printed lines at the top of a page in which a title stands."""

T = TypeVar("T")
_OF_IMAGE = re.compile(r"#page=(\d+)$")
_COUNTER = re.compile(
    r"\b(?:page|seite|p[áa]gina|pag|bladzijde|strona|sida|side|s\.|p\.)\.?\s*:?\s*"
    r"(\d{1,3})\s*(?:of|von|de|di|van|sur|z|av|af|/)\s*(\d{1,3})\b",
    re.IGNORECASE,
)
_TITLES = (
    "invoice|credit note|rechnung|gutschrift|stornorechnung|facture|avoir|fattura|nota di credito|"
    "factura|factuur|faktura|receipt|statement|kontoauszug|relev[ée]|order confirmation|"
    "purchase order|delivery note|lieferschein|auftragsbestätigung"
)
_TITLE = re.compile(rf"\b(?:{_TITLES})\b|rechnung\b", re.IGNORECASE)
_NUMBER = re.compile(
    rf"(?:\b(?:{_TITLES})|rechnungs?|beleg|document|dokument)[\s-]*"
    r"(?:no|nr|num|number|nummer|num[ée]ro|número|numero|n°|nº|#|id)[.:°º#\s]*"
    r"((?=[\w./-]*\d)[\w][\w./-]{2,})",
    re.IGNORECASE,
)
_CODE = re.compile(r"\b(?=(?:[A-Z]*\d){5})[A-Z\d]{6,}\b")
_TOTAL = re.compile(
    r"\b(?:total|totals|gesamt\w*|summe|endbetrag|rechnungsbetrag|zahlbetrag|totale|totaal|"
    r"amount due|balance due|montant|net à payer|importe|suma)\b",
    re.IGNORECASE,
)
_CARRIED = re.compile(
    r"\b(?:carried forward|brought forward|übertrag|zwischensumme|continued|à reporter|report|"
    r"suma y sigue|riporto|transport)\b",
    re.IGNORECASE,
)


class _Page(NamedTuple):
    """What a page says about the document that it is of."""

    counter: tuple[int, int] | None  # as in "page 1 of 2"
    numbers: frozenset[str]
    titled: bool
    total: bool
    carried: bool
    codes: frozenset[str]  # words of many digits

    @classmethod
    def of(cls, lines: list[str]) -> _Page:
        text = "\n".join(lines)
        counters = {(int(found[1]), int(found[2])) for found in _COUNTER.finditer(text)}
        counters = {(k, n) for k, n in counters if 1 <= k <= n}
        return cls(
            next(iter(counters)) if len(counters) == 1 else None,
            frozenset(found[1].strip("./-").casefold() for found in _NUMBER.finditer(text)),
            bool(_TITLE.search("\n".join(lines[:TOP]))),
            bool(_TOTAL.search(text)),
            bool(_CARRIED.search(text)),
            frozenset(_CODE.findall(text)),
        )


def parts_of(document: Document) -> list[Document]:
    """The documents that the pages of a file are, each with its pages.

    A part has the id of the file with its pages, as in ``scan.pdf#page=2-3``; pages keep their
    numbers. A file of one page, or with the values of an e-invoice, is one document.
    """
    pages = document.pages
    if pages is None or len(set(pages)) < 2 or document.values or document.pins:
        return [document]
    bounds = [0, *(i for i in range(1, len(pages)) if pages[i] != pages[i - 1]), len(pages)]
    lines = printed_lines(document) if document.boxes is not None else [0] * len(pages)
    seen = [_Page.of(_lines(document, lines, *words)) for words in pairwise(bounds)]
    firsts = [*first_pages(seen), len(seen)]
    if len(firsts) == 2:
        return [document]
    return [_part(document, bounds[first], bounds[last]) for first, last in pairwise(firsts)]


def split_each(found: Iterable[T]) -> Iterator[T | Document]:
    """The parts of each document; what is none is passed on."""
    for each in found:
        if isinstance(each, Document):
            yield from parts_of(each)
        else:
            yield each


def first_pages(pages: list[_Page]) -> list[int]:
    """The first page of each part, of the division that costs the least."""
    best, came = [0.0] + [inf] * len(pages), [0] * (len(pages) + 1)
    for first, page in enumerate(pages):
        cost = best[first] + PRIOR
        if first:
            cost += _price_of_beginning(pages[first - 1], page)
        numbers = page.numbers
        for end in range(first + 1, len(pages) + 1):
            if end - 1 > first:
                cost += _price_of_going_on(pages[first:end], numbers)
                numbers |= pages[end - 1].numbers
            of = page.counter[1] if page.counter else end - first
            if (total := cost + COUNTER / 2 * (of != end - first)) < best[end]:
                best[end], came[end] = total, first
    firsts = [came[-1]]
    while firsts[0]:
        firsts.insert(0, came[firsts[0]])
    return firsts


def _price_of_beginning(before: _Page, page: _Page) -> float:
    price = COUNTER * (page.counter is not None and page.counter[0] != 1)
    price += NUMBER * bool(page.numbers & before.numbers)
    price += TITLE * (not page.titled)
    price += TOTAL * (not before.total)
    price += CODES * bool(page.codes & before.codes)
    return price + CARRIED * (before.carried and not before.total)


def _price_of_going_on(part: list[_Page], numbers: frozenset[str]) -> float:
    page = part[-1]
    price = COUNTER * (page.counter is not None and page.counter[0] != len(part))
    price += NUMBER * bool(page.numbers and numbers and not page.numbers & numbers)
    price += TITLE * page.titled
    price += CODES * bool(page.codes and part[-2].codes and not page.codes & part[-2].codes)
    return price + TOTAL * (page.titled and part[-2].total)


def _lines(document: Document, lines: list[int], start: int, end: int) -> list[str]:
    found: dict[int, list[str]] = {}
    for i in range(start, end):
        found.setdefault(lines[i], []).append(document.words[i])
    return [" ".join(words) for words in found.values()]


def _part(document: Document, start: int, end: int) -> Document:
    """Some words of a document, with all that is known of them."""
    first, last = (_number_of(document, document.page(i) or 0) for i in (start, end - 1))
    pages = str(first) if first == last else f"{first}-{last}"
    return document.taking(range(start, end), id=f"{document.id}#page={pages}")


def _number_of(document: Document, page: int) -> int:
    """The number of a page in its file, of which some pages may have been selected."""
    image = document.images[page] if document.images else None
    known = _OF_IMAGE.search(image or "")
    return int(known[1]) if known else page + 1
