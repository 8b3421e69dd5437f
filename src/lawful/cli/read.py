"""``lawful read``: from files to documents as JSON lines.

Exit code 0: all files were read. 1: one could not be read. 2: none could be read.
"""

from __future__ import annotations

import typer

from lawful.cli.inputs import Inputs, make_reader
from lawful.cli.options import (
    BadLinesOption,
    FileSeconds,
    InputsArgument,
    MaxPages,
    OcrOption,
    Out,
    Pages,
    Password,
    Quiet,
    Resume,
    Workers,
)
from lawful.cli.output import Progress, summarise
from lawful.cli.runs import open_run, write_results
from lawful.cli.tally import BAD, READ
from lawful.document import BadLine, Document, Labelled
from lawful.io.jsonl import document_line
from lawful.lines import in_reading_order

EXAMPLE = "lawful read invoice.pdf photo.jpg scans/ --out documents.jsonl"


def read(
    context: typer.Context,
    documents: InputsArgument,
    out: Out = "-",
    resume: Resume = None,
    ocr: OcrOption = "auto",
    pages: Pages = None,
    max_pages: MaxPages = 300,
    file_seconds: FileSeconds = 120.0,
    password: Password = None,
    workers: Workers = 1,
    bad_lines: BadLinesOption = "skip",
    quiet: Quiet = False,
) -> None:
    """Read files into documents: words in reading order, boxes, pages and their sizes.

    Documents as JSON lines are sorted into reading order.
    """
    inputs = Inputs(documents)
    reader = make_reader(ocr, pages, max_pages, file_seconds, password, workers)
    with open_run(context, resume=resume) as output, Progress(quiet=quiet) as progress:
        lines = output.lines(progress.lines(inputs.lines()))
        left = (line for line in lines if line[0] > output.last_line)
        found = map(_result, inputs.documents(left, reader, workers=workers))
        tally = write_results(
            output, progress.documents(found), _line, bad_lines=bad_lines, name=inputs.name
        )
    if not quiet:
        summarise(tally)
    raise typer.Exit(0 if not tally[BAD] else 1 if tally[READ] else 2)


def _result(found: Document | Labelled | BadLine) -> tuple[Document] | BadLine:
    if isinstance(found, Labelled):
        message = "it has gold labels, which may not stay legal in another order"
        return BadLine(found.line or 0, message, found.document.id)
    return found if isinstance(found, BadLine) else (in_reading_order(found),)


def _line(document: Document) -> tuple[str, dict[str, int]]:
    return f"{document_line(document)}\n", {READ: 1}
