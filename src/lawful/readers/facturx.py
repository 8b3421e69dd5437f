"""A user's own e-invoices: PDF files in Factur-X, ZUGFeRD or Order-X as labelled documents.

The XML is inside such a file, or in one of the same name beside it (``a.pdf`` and ``a.xml``; UBL,
too). It has the values but not their places, so words are labelled by value:

1. A line of the XML belongs to the first printed line after the one before it that has its amount
   and its quantity or its price, and likewise a rate of tax with its basis or tax. Its name is
   labelled if it is printed in the same line, as it is in the XML.
2. A value of the header labels all its other occurrences. If several labels have the same value
   (what is due is often the gross amount), the first of ``HEADER`` gets them, and the others none.
   A value that a line of the XML has, too, is left out unless that line was found.

Zeros are not labelled, nor is a value that is not printed. So a label is right by value, but a
missing label does not mean that the field is not there. Files without such XML are left out, and so
are damaged and encrypted ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from lawful.base.errors import InputError
from lawful.documents.document import Document
from lawful.documents.reading_order import printed_lines
from lawful.documents.records import Labelled
from lawful.io.paths import check_there, not_found
from lawful.readers import Reader, files_in
from lawful.readers.einvoice import TYPES, EInvoice, read_einvoice
from lawful.readers.reader import FileDocument
from lawful.values import read

HEADER = (
    "gross", "net", "tax", "due", "line_total", "allowances", "charges", "prepaid", "rounding",
    "number", "date", "due_date",
)  # fmt: skip
"""Labels of the header; a value that several of them have labels words with the first."""

LONGEST = 3
"""Words of a value, at most; of a text, so many more than in the XML."""

Span = tuple[int, int]


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
        value = _known(name, text)
        if text and value != 0 and value not in page.elsewhere:
            page.label_all(name, text)
    rows_of = tuple(page.rows) if any(row is not None for row in page.rows) else None
    return Labelled(replace(document, rows=rows_of), tuple(page.labels))


@dataclass(slots=True)
class _Page:
    """A document whose words are being labelled."""

    document: Document
    labels: list[str] = field(init=False)
    rows: list[int | None] = field(init=False)
    lines: list[list[int]] = field(init=False)  # the words of each printed line, in order
    elsewhere: set[object] = field(default_factory=set)  # amounts of lines, not in a printed line

    def __post_init__(self) -> None:
        count = len(self.document)
        self.labels, self.rows = ["O"] * count, [None] * count
        by_line: dict[int | None, list[int]] = {}
        for word, line in enumerate(printed_lines(self.document)):
            by_line.setdefault(line, []).append(word)
        self.lines = list(by_line.values())

    def label_row(self, kind: str, values: Mapping[str, str], after: int) -> int:
        """Labels a row of values in a printed line; the index of that line, or ``after``."""
        amount = "line.amount" if kind == "line" else "vat.tax"
        others = [name for name in values if name != amount]
        if kind == "line":
            self.elsewhere |= {_known(name, text) for name, text in values.items()}
        if amount not in values:
            return after
        for index in range(after + 1, len(self.lines)):
            words = self.lines[index]
            taken: dict[str, Span] = {}
            for name in (amount, *others):
                spans = [s for s in self._spans(words, name, values[name]) if _free(s, taken)]
                if spans:
                    taken[name] = max(spans, key=lambda span: (not self._is_negative(span), span))
                elif name == amount:
                    break
            needed = {"line.quantity", "line.unit_price", "vat.basis", "vat.rate"} & set(taken)
            if amount in taken and needed:
                number = 1 + max((row for row in self.rows if row is not None), default=-1)
                for name, span in taken.items():
                    self._set(name, span)
                for word in words:
                    self.rows[word] = number
                self.elsewhere -= {_known(name, values[name]) for name in taken}
                return index
        return after

    def _is_negative(self, span: Span) -> bool:
        return self.document.words[span[0]].startswith(("-", "(", "−"))

    def label_all(self, name: str, text: str) -> None:
        """Labels all occurrences of a value whose words have no label yet."""
        for words in self.lines:
            for span in self._spans(words, name, text):
                self._set(name, span)

    def _spans(self, words: Sequence[int], name: str, text: str) -> list[Span]:
        """The spans of a printed line that have a value, without labels so far."""
        known = _known(name, text)
        found: list[Span] = []
        most = len(text.split()) + LONGEST if TYPES[name] == "text" else LONGEST
        for length in range(1, most + 1):
            for start in words:
                span = (start, start + length)
                inside = set(range(*span)) <= set(words)
                if (
                    inside
                    and _free(span, dict(enumerate(found)))
                    and all(self.labels[i] == "O" for i in range(*span))
                    and known in _values(name, self.document.text(*span))
                ):
                    found.append(span)
        return sorted(found)

    def _set(self, name: str, span: Span) -> None:
        for i in range(*span):
            self.labels[i] = f"{'I' if i > span[0] else 'B'}-{name}"


def _free(span: Span, taken: Mapping[Any, Span]) -> bool:
    return all(span[1] <= start or end <= span[0] for start, end in taken.values())


def _known(name: str, text: str) -> object:
    """The value that the XML states; a text is compared without blanks and case."""
    if TYPES[name] == "date":
        return date.fromisoformat(text) if text else None
    if TYPES[name] == "text":
        return "".join(text.casefold().split())
    return abs(Decimal(text)) if text else None


def _values(name: str, text: str) -> list[object]:
    """The values that a printed text may have."""
    if TYPES[name] == "text":
        return ["".join(text.casefold().split())]
    values = read(text, TYPES[name])
    if TYPES[name] == "date":
        return list(values)
    numbers = [abs(Decimal(value)) for value in values if isinstance(value, Decimal)]
    return [*numbers, *(100 * n for n in numbers if name.endswith("rate") and n < 1)]
