"""The demo's files: two receipts as PDF and a photo of a third one, read and decoded."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.table import Table

from lawful.base.errors import MissingExtraError
from lawful.decoders import decode
from lawful.documents.document import Document
from lawful.documents.records import Scored
from lawful.io.atomic import atomic_text, make_folder
from lawful.models.tagger import Tagger
from lawful.readers import Reader
from lawful.readers.images import picture_of
from lawful.report.page import write_report
from lawful.results.decoding import Decoding
from lawful.rules.packs import DEMO
from lawful.rules.rule_set import Rules
from lawful.values import format_value, read

FILES = ("receipt-00000.pdf", "receipt-00017.pdf", "receipt-00002.jpg")


def show_files(
    console: Console, out: Path, rules: Rules, tagger: Tagger, pages: Mapping[str, Scored]
) -> None:
    """Copies receipts as files next to ``out``, extracts their fields, and writes a report.

    ``pages`` are the receipts that they show, by id.
    """
    folder = out.with_name(f"{out.stem}-files")
    make_folder(folder)
    found: list[tuple[Scored, Decoding]] = []
    table = Table("file", "words", "total printed", "total found", "", box=None, padding=(0, 1))
    try:
        for name in FILES:
            path = Path(shutil.copy(DEMO / name, folder))
            document = Reader().read(path)
            scored = next(iter(tagger.predict([document])))
            decoding = decode(scored.document, scored.scores, rules)
            found.append((scored, decoding))
            answer = {format_value(v.value) for v in decoding.fields.get("total", []) if v.value}
            how = f"{decoding.status}, {decoding.counts}"
            table.add_row(
                path.name, str(len(document)), _total(pages[path.stem]), "; ".join(answer), how
            )
    except MissingExtraError as error:
        console.print(f"\nleft out: {'a photo' if found else 'files'}; {error}", markup=False)
    if not found:
        return
    console.print(f"\nfrom files to fields, by the same model; the files are in {folder}:")
    console.print(table)
    report = folder / "report.html"
    with atomic_text(report) as file:
        write_report(file, found, title="lawful demo: files", rules=rules, pictures=picture_of)
    console.print(f"report with pictures of the pages: {report}", markup=False)


def _total(page: Scored) -> str:
    """The true total of a receipt."""
    document: Document = page.document
    start = (page.gold or ()).index("B-total")
    end = start + 1
    while end < len(document) and (page.gold or ())[end] == "I-total":
        end += 1
    return format_value(read(document.text(start, end), "money")[0])
