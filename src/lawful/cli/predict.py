"""``lawful predict``: from documents to scored documents.

Exit code 0: all documents were scored. 1: a line was bad. 2: no line could be used.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import typer

from lawful.base.errors import InputError
from lawful.cli.commands import flag
from lawful.cli.counts import BAD, SCORED, Tally
from lawful.cli.error_summary import Complaints
from lawful.cli.options import BadLinesOption, LinesOut, ModelOptions, Quiet, Resume
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
    *,
    documents: str = typer.Argument(
        ..., metavar="DOCUMENTS",
        help="Documents as JSON lines with words and boxes, and pins if there are any (plain or "
        "gzipped); - reads standard input.",
    ),
    out: LinesOut = "-",
    resume: Resume = None,
    units: Units = typer.Option("words", help="Score words, or the model's word pieces."),
    npz: bool = flag("--npz", help="Write the scores to an .npz file of the same name as --out."),
    by: ModelOptions,
    bad_lines: BadLinesOption = "skip",
    quiet: Quiet = False,
) -> None:  # fmt: skip
    """Score documents with a model, for lawful decode to read."""
    if npz and out == "-":
        raise InputError("--npz writes a file next to --out, which must be a file then")
    if npz and resume:
        raise InputError("--resume does not work with --npz, which writes both files at the end")
    tagger = load_tagger(by.model, by.device, by.backend)
    source = UnscoredFile(tagger, keep_gold=True)
    score = partial(tagger.predict, batch=by.batch, units=units, pool=by.pool)
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
            open_run(context, model=Path(by.model or receipt_model())) as output,
            Progress(documents, quiet=quiet) as progress,
        ):
            lines = output.lines(progress.lines(read_lines(documents)))
            parsed = parse_documents(lines)
            records = source.records(parsed, after=output.last_line, batch=by.batch)
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
