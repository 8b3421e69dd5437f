"""The demo's files: two receipts as PDF and a photo of a third one, read and decoded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from lawful import demo
from lawful.decoders import decode
from lawful.decoding import Decoding, how_checked
from lawful.demo.drawing import draw_pdf, photograph
from lawful.document import Document, Scored
from lawful.errors import MissingExtraError
from lawful.files import Reader
from lawful.files.images import picture_of
from lawful.io.atomic import atomic_text, make_folder
from lawful.models.tagger import Tagger
from lawful.report.page import write_report
from lawful.rules.rule_set import Rules
from lawful.values import format_value, read

PRINTED, PHOTOGRAPHED = (0, 17), (2,)
"""Numbers of the receipts that are PDF files, and of those that are photos."""


def show_files(console: Console, out: Path, rules: Rules, tagger: Tagger) -> None:
    """Draws receipts as files next to ``out``, extracts their fields, and writes a report."""
    folder = out.with_name(f"{out.stem}-files")
    found: list[tuple[Scored, Decoding]] = []
    table = Table("file", "words", "total printed", "total found", "", box=None, padding=(0, 1))
    try:
        for path, page in _draw(folder):
            document = Reader().read(path)
            scored = next(iter(tagger.predict([document])))
            decoding = decode(scored.document, scored.scores, rules)
            found.append((scored, decoding))
            answer = {format_value(v.value) for v in decoding.fields.get("total", []) if v.value}
            how = f"{decoding.status}, {how_checked(decoding.rules)}"
            table.add_row(path.name, str(len(document)), _total(page), "; ".join(answer), how)
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


def draw_receipt(number: int, path: str | Path) -> None:
    """Writes one of the demo's receipts, which are numbered from 0, as a PDF file."""
    *_, page = demo.generate(number + 1)
    draw_pdf(page.document, Path(path))


def _draw(folder: Path) -> Iterator[tuple[Path, Scored]]:
    """The files, each with the receipt that it shows."""
    make_folder(folder)
    pages = list(demo.generate(max(*PRINTED, *PHOTOGRAPHED) + 1))
    for number in (*PRINTED, *PHOTOGRAPHED):
        page = pages[number]
        path = folder / f"{page.document.id}.pdf"
        draw_pdf(page.document, path)
        if number in PHOTOGRAPHED:
            photo = path.with_suffix(".jpg")
            photograph(path, photo, seed=number)
            path.unlink()
            path = photo
        yield path, page


def _total(page: Scored) -> str:
    """The true total of a receipt."""
    document: Document = page.document
    start = (page.gold or ()).index("B-total")
    end = start + 1
    while end < len(document) and (page.gold or ())[end] == "I-total":
        end += 1
    return format_value(read(document.text(start, end), "money")[0])
