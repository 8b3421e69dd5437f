"""``lawful read``: from files to documents as JSON lines.

Exit code 0: all files were read. 1: one could not be read. 2: none could be read.
"""

from __future__ import annotations

import typer

from lawful.cli.counts import BAD, READ
from lawful.cli.inputs import Inputs
from lawful.cli.options import (
    BadLinesOption,
    FileOptions,
    InputsArgument,
    LinesOut,
    Quiet,
    Resume,
    Workers,
)
from lawful.cli.output import Progress, summarise
from lawful.cli.runs import open_run, write_results
from lawful.documents.document import Document
from lawful.documents.reading_order import in_reading_order
from lawful.documents.records import FailedDocument, Labelled
from lawful.io.jsonl import document_line
from lawful.pipeline.workers import Idle

EXAMPLE = "lawful read invoice.pdf photo.jpg scans/ --out documents.jsonl"


def read(
    context: typer.Context,
    documents: InputsArgument,
    out: LinesOut = "-",
    resume: Resume = None,
    *,
    files: FileOptions,
    workers: Workers = 1,
    bad_lines: BadLinesOption = "skip",
    quiet: Quiet = False,
) -> None:
    """Read files into documents: words in reading order, boxes, pages and their sizes.

    Documents as JSON lines are sorted into reading order.
    """
    inputs = Inputs(documents)
    reader = files.reader(workers)
    with (
        open_run(context) as output,
        Progress(files=inputs.files_after(output.last_line), quiet=quiet) as progress,
    ):
        left = output.left(progress.lines(inputs.lines()))
        read = inputs.documents(left, reader, workers=workers)
        found = (_result(each) for each in progress.beats(read) if not isinstance(each, Idle))
        tally = write_results(
            output, progress.documents(found), _line, bad_lines=bad_lines, name=inputs.name
        )
    if not quiet:
        summarise(tally)
    raise typer.Exit(0 if not tally[BAD] else 1 if tally[READ] else 2)


def _result(found: Document | Labelled | FailedDocument) -> tuple[Document] | FailedDocument:
    if isinstance(found, Labelled):
        message = "it has gold labels, which may not stay legal in another order"
        return FailedDocument(found.line or 0, message, found.document.id)
    return found if isinstance(found, FailedDocument) else (in_reading_order(found),)


def _line(document: Document) -> tuple[str, dict[str, int]]:
    return f"{document_line(document)}\n", {READ: 1}
