"""``lawful einvoice``: the audit of e-invoices.

Exit code 0: no finding. 1: findings, or a file that cannot be read. 2: no e-invoice was audited.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from html import escape
from typing import Annotated, Literal, get_args

import typer

from lawful.base.errors import InputError
from lawful.cli.error_summary import Complaints
from lawful.cli.groups import Without
from lawful.cli.options import (
    ENDINGS,
    BadLinesOption,
    FileOptions,
    Out,
    Quiet,
    Workers,
    ending_format,
)
from lawful.cli.output import Progress, plural
from lawful.cli.terminal import say
from lawful.documents.records import FailedDocument
from lawful.evaluation.einvoices import Audit, audit_files, einvoices_in
from lawful.io.atomic import atomic_text
from lawful.io.csv_cells import csv_line
from lawful.io.jsonl import encode
from lawful.report.page import page_head, style_sheet

EXAMPLE = "lawful einvoice invoices/ --format html --out audit.html"

READING = FileOptions(ocr="never", no_cache=True)
Form = Literal["jsonl", "csv", "html"]
_COLUMNS = ("id", "status", "number", "checked", "unchecked", "rule", "finding")


def einvoice(
    documents: list[str] = typer.Argument(
        ..., metavar="FILES",
        help="E-invoices: PDF files with XML inside or beside them, XML files, or folders.",
    ),
    out: Out = "-",
    format_: Form | None = typer.Option(
        None, "--format", show_default="by the end of --out's name, otherwise jsonl",
        help="Output format: JSON lines, a CSV table of findings, or an HTML page.",
    ),
    files: Annotated[FileOptions, Without("pages", "cache", "no_cache")] = READING,
    workers: Workers = 1,
    bad_lines: BadLinesOption = "skip",
    quiet: Quiet = False,
) -> None:  # fmt: skip
    """Audit e-invoices: the XML against the page and against the arithmetic of EN 16931."""
    ending = ending_format(out, get_args(Form))
    form = format_ or ending or "jsonl"
    if form == "parquet" or (format_ and ending not in (None, format_)):
        raise InputError(
            f"--out {out}: expected a name for {format_ or 'jsonl, csv or html'}, such as "
            f"x{next(end for end, name in ENDINGS.items() if name == (format_ or 'html'))}"
        )
    paths = list(einvoices_in(documents))
    reader = files.reader(workers)
    tally: Counter[str] = Counter()
    names = dict(enumerate(paths, 1))
    with (
        atomic_text(out) as file,
        Progress(quiet=quiet) as progress,
        Complaints(bad_lines, Counter(), lambda number: names[number]) as complaints,
        closing(audit_files(paths, reader, workers=workers)) as results,
    ):
        file.write(_HEADS[form])
        for result in progress.documents(results):
            if result is None:
                tally["without"] += 1
                continue
            if isinstance(result, FailedDocument):
                tally["bad"] += 1
                complaints.add(result)
            else:
                tally[result.status] += 1
                tally["findings"] += len(result.findings)
                tally["checks"] += len(result.checks) - len(result.unchecked)
                tally["not checked"] += len(result.unchecked)
            file.write("".join(_WRITERS[form](result)))
        file.write(f"<p>{escape(_summary(tally))}</p>\n</main>\n" if form == "html" else "")
    if not quiet:
        say(_summary(tally))
    audited = tally["sound"] + tally["contradictory"] + tally["unchecked"]
    raise typer.Exit(2 if not audited else int(bool(tally["findings"] + tally["bad"])))


def _summary(tally: Counter[str]) -> str:
    """What was audited, found and not checked, in a sentence each."""
    parts = [plural(tally[name], f"{name} e-invoice") for name in ("sound", "contradictory")]
    found = f"{', '.join(parts)} with {plural(tally['findings'], 'finding')}"
    more = (
        ("unchecked", "unchecked e-invoice"),
        ("bad", "unreadable file"),
        ("without", "other file"),
    )
    found += "".join(f", {plural(tally[name], what)}" for name, what in more if tally[name])
    return f"{found}; {tally['checks']:,} checks, and {tally['not checked']:,} not possible"


def _lines(result: Audit | FailedDocument) -> Iterator[str]:
    if isinstance(result, FailedDocument):
        yield encode({"id": result.id, "error": result.message}).decode() + "\n"
    else:
        yield encode(result.to_dict()).decode() + "\n"


def _table(result: Audit | FailedDocument) -> Iterator[str]:
    """A row per finding; one without a rule for a file that has none."""
    if isinstance(result, FailedDocument):
        yield csv_line((result.id, "error", "", "", "", "", result.message))
        return
    left = len(result.unchecked)
    start = (result.id, result.status, result.header.get("number", ""),
             len(result.checks) - left, left)  # fmt: skip
    for finding in result.findings or (None,):
        yield csv_line((*start, *((finding.id, finding.message) if finding else ("", ""))))


def _card(result: Audit | FailedDocument) -> Iterator[str]:
    """The findings of a file as a part of a page, and what could not be checked, folded."""
    yield f"<section>\n<h2>{escape(result.id or '')}</h2>\n"
    if isinstance(result, FailedDocument):
        yield f'<p class="sign violated">{escape(result.message)}</p>\n</section>\n'
        return
    sign = {"sound": "satisfied", "contradictory": "violated", "unchecked": "vacuous"}
    number = escape(result.header.get("number", ""))
    checked = len(result.checks) - len(result.unchecked)
    yield f'<p><span class="sign {sign[result.status]}">{result.status}</span>: '
    yield f"invoice {number}, {plural(checked, 'check')}</p>\n<ul>\n"
    for each in result.findings:
        yield f"<li><b>{escape(each.id)}</b> {escape(each.message)}</li>\n"
    yield "</ul>\n"
    if result.unchecked:
        yield f"<details><summary>{len(result.unchecked)} not checked</summary>\n<ul>\n"
        yield from (f"<li>{escape(f'{c.id} {c.message}')}</li>\n" for c in result.unchecked)
        yield "</ul>\n</details>\n"
    yield "</section>\n"


_HEADS = {
    "jsonl": "",
    "csv": csv_line(_COLUMNS),
    "html": page_head("Audit of e-invoices", style_sheet()) + "<main>\n",
}
_WRITERS = {"jsonl": _lines, "csv": _table, "html": _card}
