"""A user's own e-invoices: PDF files in Factur-X, ZUGFeRD or Order-X as labelled documents.

The XML is inside such a file, or in one of the same name beside it (``a.pdf`` and ``a.xml``; UBL,
too). It has the values but not their places, so words are labelled by value:

1. A line of the XML belongs to the first printed line after the one before it that has its amount
   and its quantity or its price, and likewise a rate of tax with its basis or tax. Its name is
   labelled if it is printed in the same line, compared as by ``align``.
2. A value of the header labels all its other occurrences. If several labels have the same value
   (what is due is often the gross amount), the first of ``HEADER`` gets them, and the others none.
   A value that a line of the XML has, too, is left out unless that line was found.

Zeros are not labelled, nor is a value that is not printed. So a label is right by value, but a
missing label does not mean that the field is not there. Files without such XML are left out, and so
are damaged and encrypted ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from lawful.base.errors import InputError
from lawful.candidates.grounding.matches import (
    Occurrences,
    Span,
    apart,
    fold,
    is_apart,
    plain_value,
)
from lawful.documents.document import Document
from lawful.documents.records import Labelled
from lawful.io.paths import check_there, not_found
from lawful.readers import Reader, files_in
from lawful.readers.einvoice import TYPES, EInvoice, read_einvoice
from lawful.readers.reader import FileDocument

HEADER = (
    "gross", "net", "tax", "due", "line_total", "allowances", "charges", "prepaid", "rounding",
    "number", "date", "due_date",
)  # fmt: skip
"""Labels of the header; a value that several of them have labels words with the first."""


def read_facturx(path: Path, split: str | None = None) -> Iterator[Labelled]:
    """The e-invoices of a folder and its subfolders, or of one PDF file; there are no splits."""
    check_there(path)
    if split is not None:
        raise InputError(f"no split {split!r} in {path}: e-invoices have no splits")
    files = [path] if path.is_file() else files_in(path)
    found = False
    for file in files:
        if file.suffix.lower() == ".pdf" and (labelled := _read(file)) is not None:
            found = True
            yield labelled
    if not found:
        raise not_found("e-invoice", path, "PDF files with factur-x.xml", "zugferd-invoice.xml")


def _read(file: Path) -> Labelled | None:
    reader = Reader()
    try:
        document = reader.read(file)
        inside = document.invoice if isinstance(document, FileDocument) else None
        invoice = inside or _beside(file, reader)
        return None if invoice is None else label(document, invoice)
    except InputError:
        return None


def _beside(file: Path, reader: Reader) -> EInvoice | None:
    """The e-invoice in the XML file of the same name, if there is one."""
    try:
        other = file.with_suffix(".xml")
        if not other.is_file() or other.stat().st_size > reader.limits.bytes:
            return None
        return read_einvoice(other.read_bytes())
    except (InputError, OSError):
        return None


def label(document: Document, invoice: EInvoice) -> Labelled:
    """The document with the labels of an e-invoice's values, and the rows of its lines."""
    page = _Page(document)
    for kind, rows in (("line", invoice.lines), ("vat", invoice.rates)):
        last = -1
        for row in rows:
            printed = {name: text for name, text in row.items() if name in TYPES}
            last = page.label_row(kind, printed, last)
    for name in HEADER:
        text = invoice.header.get(name, "")
        value = _value(name, text) if text else 0
        if value != 0 and value not in page.elsewhere:
            for span in page.spans(name, text):
                page.set(name, span)
    rows_of = tuple(page.rows) if any(row is not None for row in page.rows) else None
    return Labelled(replace(document, rows=rows_of), tuple(page.labels))


class _Page:
    """A document whose words are being labelled."""

    def __init__(self, document: Document) -> None:
        self.document, self._occurrences = document, Occurrences(document)
        self.labels = ["O"] * len(document)
        self.rows: list[int | None] = [None] * len(document)
        self.elsewhere: set[object] = set()  # amounts of lines that are not in a printed line
        self._lines = list(dict.fromkeys(self._occurrences.lines))

    def label_row(self, kind: str, values: Mapping[str, str], after: int) -> int:
        """Labels a row of values in a printed line; the index of that line, or ``after``."""
        amount = "line.amount" if kind == "line" else "vat.tax"
        if kind == "line":
            self.elsewhere |= {_value(name, text) for name, text in values.items() if text}
        if amount not in values:
            return after
        by_name = {n: self.spans(n, values[n]) for n in (amount, *values) if values[n]}
        for index, line in enumerate(self._lines[after + 1 :], after + 1):
            taken: dict[str, Span] = {}
            for name, spans in by_name.items():
                here = [s for s in spans if self._occurrences.lines[s[0]] == line]
                here = [s for s in here if all(is_apart(s, t) for t in taken.values())]
                if here:
                    taken[name] = max(here, key=lambda span: (not self._is_negative(span), span))
                elif name == amount:
                    break
            needed = {"line.quantity", "line.unit_price", "vat.basis", "vat.rate"} & set(taken)
            if amount in taken and needed:
                number = 1 + max((row for row in self.rows if row is not None), default=-1)
                for name, span in taken.items():
                    self.set(name, span)
                for word, of in enumerate(self._occurrences.lines):
                    if of == line:
                        self.rows[word] = number
                self.elsewhere -= {_value(name, values[name]) for name in taken}
                return index
        return after

    def _is_negative(self, span: Span) -> bool:
        return self.document.words[span[0]].startswith(("-", "(", "−"))

    def spans(self, name: str, text: str) -> list[Span]:
        """The spans without labels that have a value: of any sign; a rate, also as a share."""
        value = _value(name, text)
        if isinstance(value, str):
            found = self._occurrences.find(text, "text")
        else:
            wanted = {value}
            if isinstance(value, Decimal):
                wanted |= {-value} | ({value / 100} if name.endswith("rate") else set())
            spans = (span for span, _ in self._occurrences.having(wanted, TYPES[name]))
            found = apart(spans, key=lambda span: span[1] - span[0])
        return [s for s in found if all(self.labels[i] == "O" for i in range(*s))]

    def set(self, name: str, span: Span) -> None:
        """Labels the words of a span."""
        for i in range(*span):
            self.labels[i] = f"{'I' if i > span[0] else 'B'}-{name}"


def _value(name: str, text: str) -> Any:
    """The value that the XML states: a date, an amount without its sign, or a folded text."""
    if TYPES[name] == "date":
        return date.fromisoformat(text)
    return fold(text) if TYPES[name] == "text" else plain_value(abs(Decimal(text)))
