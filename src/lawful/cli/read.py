"""``lawful read``: from files to documents as JSON lines.

Exit code 0: all files were read. 1: one could not be read. 2: none could be read.
"""

from __future__ import annotations

from typing import Annotated

import typer

from lawful.cli.inputs import Inputs, make_reader
from lawful.cli.options import (
    BadLinesOption,
    FileSeconds,
    MostPages,
    OcrOption,
    Out,
    Quiet,
    Resume,
    Workers,
)
from lawful.cli.output import Progress, summarise
from lawful.cli.runs import open_run, write_results
from lawful.cli.tally import BAD, READ
from lawful.document import BadLine, Document, Labelled
from lawful.io.jsonl import document_line

EXAMPLE = "lawful read invoice.pdf photo.jpg scans/ --out documents.jsonl"


def read(
    context: typer.Context,
    documents: Annotated[
        list[str],
        typer.Argument(
            metavar="FILES",
            help="PDF files, images, hOCR, ALTO, Textract's or Azure's JSON, or folders of them.",
        ),
    ],
    out: Out = "-",
    resume: Resume = None,
    ocr: OcrOption = "auto",
    pages: MostPages = 300,
    file_seconds: FileSeconds = 120.0,
    workers: Workers = 1,
    bad_lines: BadLinesOption = "skip",
    quiet: Quiet = False,
) -> None:
    """Read files into documents: words in reading order, boxes, pages and their sizes."""
    inputs = Inputs(documents, only_files=True)
    reader = make_reader(ocr, pages, file_seconds, workers)
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
    if isinstance(found, BadLine):
        return found
    return (found.document if isinstance(found, Labelled) else found,)


def _line(document: Document) -> tuple[str, dict[str, int]]:
    return f"{document_line(document)}\n", {READ: 1}
