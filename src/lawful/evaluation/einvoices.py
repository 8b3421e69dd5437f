"""The audit of e-invoices: the XML against itself, and against the pages that come with it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from lawful.base.errors import InputError, LawfulError
from lawful.documents.document import Document
from lawful.documents.records import FailedDocument
from lawful.evaluation.en16931 import check_arithmetic
from lawful.evaluation.printed import check_print
from lawful.pipeline.workers import in_order
from lawful.readers.einvoice import EInvoice, read_einvoice
from lawful.readers.many import Item, ReadFile
from lawful.readers.reader import FileDocument, Reader, files_in, kind_of
from lawful.rules.judging.checks import Check
from lawful.rules.packs import rules_named

Status: TypeAlias = Literal["sound", "contradictory", "unchecked"]


@dataclass(frozen=True, slots=True)
class Audit:
    """The checks of one e-invoice, and the values of its header."""

    id: str
    header: Mapping[str, str]
    checks: tuple[Check, ...]

    @property
    def findings(self) -> tuple[Check, ...]:
        """What does not hold."""
        return tuple(check for check in self.checks if check.state == "violated")

    @property
    def unchecked(self) -> tuple[Check, ...]:
        """What could not be checked."""
        return tuple(check for check in self.checks if check.state == "vacuous")

    @property
    def status(self) -> Status:
        """Whether there are findings; ``unchecked`` if nothing could be checked."""
        if self.findings:
            return "contradictory"
        return "unchecked" if len(self.unchecked) == len(self.checks) else "sound"

    def to_dict(self) -> dict[str, Any]:
        """What JSON can hold."""
        checked = len(self.checks) - len(self.unchecked)
        header = {name: self.header.get(name) for name in ("number", "date", "gross")}
        lists = {"findings": self.findings, "unchecked": self.unchecked}
        return {"id": self.id, "status": self.status, **header, "checked": checked} | {
            name: [{"rule": each.id, "message": each.message} for each in checks]
            for name, checks in lists.items()
        }


def audit(document: Document, invoice: EInvoice) -> Audit:
    """The XML against EN 16931's arithmetic, and against the words of the document."""
    checks = [*check_arithmetic(invoice), *check_print(invoice, document, rules_named("invoice"))]
    return Audit(document.id, invoice.header, tuple(checks))


def einvoices_in(paths: Iterable[str]) -> Iterator[str]:
    """The PDF and XML files among paths, and in folders and their subfolders, by name."""
    for path in paths:
        if not Path(path).is_dir():
            yield path
            continue
        found = [str(file) for file in files_in(Path(path), (".pdf", ".xml"))]
        if not found:
            raise InputError(f"no PDF or XML file in {path}")
        yield from found


def audit_files(
    paths: Iterable[str], reader: Reader, *, workers: int = 1
) -> Generator[Audit | FailedDocument | None, None, None]:
    """The audit of each file in order, or why it cannot be read; ``None`` without an e-invoice.

    An XML file with a PDF file of the same name beside it is compared with its pages, unless there
    is an e-invoice inside.
    """
    items = (Item(number, path=path) for number, path in enumerate(paths, 1))
    return in_order(_AuditFile(ReadFile(reader)), items, workers, batch=1, apart=True)


@dataclass(frozen=True, slots=True)
class _AuditFile:
    """The task of workers that audit files, as ``ReadFile`` reads them."""

    reader: ReadFile

    def start(self) -> Callable[[Item], Audit | FailedDocument | None]:
        self.reader.start()
        return self.audit

    def lost(self, item: Item, why: str) -> FailedDocument:
        return self.reader.lost(item, why)

    def audit(self, item: Item) -> Audit | FailedDocument | None:
        try:
            return self._audit(item)
        except (LawfulError, OSError) as error:
            return FailedDocument(item.number, str(error), item.path)
        finally:
            self.reader.set_alarm(0)

    def _audit(self, item: Item) -> Audit | FailedDocument | None:
        path = Path(item.path or "")
        pages = path.with_suffix(".pdf")
        found = None
        if path.suffix.lower() == ".xml" and path.is_file() and kind_of(path) != "einvoice":
            return None  # other XML
        if path.suffix.lower() == ".xml" and pages.is_file():
            found = self.reader.read(item._replace(path=str(pages)))
        if isinstance(found, Document) and not getattr(found, "invoice", None):
            self.reader.reader.limits.check("bytes", path.stat().st_size, "the file")
            invoice = read_einvoice(path.read_bytes())
            found = FileDocument.of(replace(found, id=str(path)), invoice)
        else:
            found = self.reader.read(item)
        if not isinstance(found, FileDocument):
            return found if isinstance(found, FailedDocument) else None
        if found.invoice is None:
            return FailedDocument(item.number, "; ".join(found.notes), item.path)
        self.reader.set_alarm(self.reader.reader.limits.seconds)
        return audit(found, found.invoice)
