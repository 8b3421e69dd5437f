"""``lawful extract``: from documents to field values, with a model and a decoder."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from lawful.batch import Call, Preparation, decode_records, score_records
from lawful.cli.options import (
    Alternatives,
    BackendOption,
    BadLinesOption,
    Batch,
    Candidates,
    DecoderName,
    Device,
    FormatOption,
    Mass,
    MaxCost,
    Model,
    ModelPool,
    Out,
    PythonFile,
    Quiet,
    RawCsv,
    Resume,
    RowsOption,
    Seconds,
    Temperature,
    UncheckedOption,
    UnscoredDocuments,
    Workers,
    load_rules,
    rules_option,
)
from lawful.cli.output import Progress, leave, summarise
from lawful.cli.runs import open_run, write_results
from lawful.cli.tagging import UnscoredFile, load_tagger
from lawful.cli.writers import writer_for
from lawful.decoding import Budget
from lawful.io.jsonl import read_lines
from lawful.models.shipped import MODEL, RULES

EXAMPLE = "lawful extract documents.jsonl --format csv --out fields.csv"


def extract(
    context: typer.Context,
    documents: UnscoredDocuments,
    rules: Annotated[Path | None, rules_option("Rules (default: the receipt rules)")] = None,
    python: PythonFile = None,
    out: Out = "-",
    resume: Resume = None,
    format_: FormatOption = "jsonl",
    rows: RowsOption = None,
    raw_csv: RawCsv = False,
    model: Model = None,
    pool: ModelPool = "mean",
    batch: Batch = 32,
    device: Device = None,
    backend: BackendOption = None,
    decoder: DecoderName = "auto",
    candidates: Candidates = None,
    seconds: Seconds = None,
    mass: Mass = None,
    max_cost: MaxCost = None,
    alternatives: Alternatives = 0,
    temperature: Temperature = 1.0,
    workers: Workers = 1,
    bad_lines: BadLinesOption = "skip",
    unchecked: UncheckedOption = "fail",
    quiet: Quiet = False,
) -> None:
    """Extract field values: score words with a model, then decode under rules."""
    budget = Budget(candidates, seconds, mass, max_cost)
    call = Call(load_rules(rules or RULES, python), decoder, budget, alternatives)
    preparation = Preparation(temperature=temperature)
    tagger = load_tagger(model, device, backend)
    call.rules.scheme_for(tagger.labels)  # fails early if the model lacks a label of the rules
    writer = writer_for(format_, call.rules, ranked=alternatives > 0, raw_csv=raw_csv, rows=rows)
    source = UnscoredFile(tagger, keep_gold=False)
    with (
        open_run(context, writer.head(), resume=resume, model=Path(model or MODEL)) as output,
        Progress(documents, quiet=quiet) as progress,
    ):
        lines = output.lines(progress.lines(read_lines(documents)))
        records = source.records(lines, after=output.last_line, batch=batch)
        scored = score_records(partial(tagger.predict, batch=batch, pool=pool), records)
        left = (each for each in scored if (each.line or 0) > output.last_line)
        results = decode_records(left, call, preparation, workers=workers)
        tally = write_results(
            output, progress.documents(results), writer.write, writer.foot, bad_lines=bad_lines
        )
    if not quiet:
        summarise(tally)
        source.warn_of_boxless()
    leave(tally, unchecked)
