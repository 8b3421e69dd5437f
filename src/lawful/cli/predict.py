"""``lawful predict``: from documents to scored documents.

Exit code 0: all documents were scored. 1: a line was bad. 2: no line could be used.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from lawful.base.errors import InputError
from lawful.cli.commands import flag
from lawful.cli.counts import BAD, SCORED, Tally
from lawful.cli.error_summary import Complaints
from lawful.cli.options import (
    BackendOption,
    BadLinesOption,
    Batch,
    Device,
    LinesOut,
    Model,
    ModelPool,
    Quiet,
    Resume,
    UnscoredDocuments,
)
from lawful.cli.output import Progress, summarise
from lawful.cli.runs import open_run, write_results
from lawful.cli.scoring import UnscoredFile, load_tagger
from lawful.documents.records import FailedDocument, Scored
from lawful.io.jsonl import parse_documents, read_lines, scored_line, write_npz
from lawful.models.shipped import receipt_model
from lawful.models.tagger import Units
from lawful.pipeline.batch import score_records
from lawful.pipeline.call import Record

EXAMPLE = "lawful predict documents.jsonl --model my-model --out scored.jsonl"


def predict(
    context: typer.Context,
    documents: UnscoredDocuments,
    out: LinesOut = "-",
    resume: Resume = None,
    model: Model = None,
    units: Annotated[Units, typer.Option(help="Score words, or the model's word pieces.")] = (
        "words"
    ),
    pool: ModelPool = "mean",
    npz: Annotated[
        bool, flag("--npz", help="Write the scores to an .npz file of the same name as --out.")
    ] = False,
    batch: Batch = 32,
    device: Device = None,
    backend: BackendOption = None,
    bad_lines: BadLinesOption = "skip",
    quiet: Quiet = False,
) -> None:
    """Score documents with a model, for lawful decode to read."""
    if npz and out == "-":
        raise InputError("--npz writes a file next to --out, which must be a file then")
    if npz and resume:
        raise InputError("--resume does not work with --npz, which writes both files at the end")
    tagger = load_tagger(model, device, backend)
    source = UnscoredFile(tagger, keep_gold=True)
    score = partial(tagger.predict, batch=batch, units=units, pool=pool)
    if npz:
        tally = Tally()
        with (
            Progress(documents, quiet=quiet) as progress,
            Complaints(bad_lines, tally) as complaints,
        ):
            lines = progress.lines(read_lines(documents))
            records = source.records(parse_documents(lines))
            scored = progress.documents(score_records(score, records))
            tally[SCORED] = write_npz(out, complaints.without_bad(scored))
    else:
        with (
            open_run(context, resume=resume, model=Path(model or receipt_model())) as output,
            Progress(documents, quiet=quiet) as progress,
        ):
            lines = output.lines(progress.lines(read_lines(documents)))
            parsed = parse_documents(lines)
            records = source.records(parsed, after=output.last_line, batch=batch)
            results = map(_result, score_records(score, records))
            tally = write_results(output, progress.documents(results), _line, bad_lines=bad_lines)
    if not quiet:
        summarise(tally)
        source.warn_of_boxless()
    raise typer.Exit(0 if not tally[BAD] else 1 if tally[SCORED] else 2)


def _result(record: Record) -> tuple[Scored] | FailedDocument:
    return record if isinstance(record, FailedDocument) else (record,)


def _line(scored: Scored) -> tuple[str, dict[str, int]]:
    return f"{scored_line(scored)}\n", {SCORED: 1}
