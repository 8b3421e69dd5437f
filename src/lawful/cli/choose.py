"""``lawful choose``: from candidates per field to decodings."""

from __future__ import annotations

from typing import Annotated

import typer

from lawful.batch import Call, choose_lines
from lawful.candidates import SMOOTHING
from lawful.choosing import without_places
from lawful.cli.options import (
    Alternatives,
    BadLinesOption,
    CandidateLines,
    Candidates,
    DecoderName,
    FormatOption,
    MaxCost,
    Out,
    PythonFile,
    Quiet,
    RawCsv,
    Resume,
    RowsOption,
    RuleFile,
    Seconds,
    UncheckedOption,
    Workers,
    load_rules,
)
from lawful.cli.output import Progress, leave, summarise
from lawful.cli.runs import open_run, write_results
from lawful.cli.writers import writer_for
from lawful.decoding import Budget
from lawful.errors import InputError
from lawful.io.jsonl import read_lines

EXAMPLE = "lawful choose samples.jsonl --rules rules.yaml --out chosen.jsonl"

Smoothing = Annotated[
    float,
    typer.Option(
        help="Votes that each text, and a missing value, get beside those of the samples."
    ),
]


def choose(
    context: typer.Context,
    documents: CandidateLines,
    rules: RuleFile,
    python: PythonFile = None,
    out: Out = "-",
    resume: Resume = None,
    format_: FormatOption = "jsonl",
    rows: RowsOption = None,
    raw_csv: RawCsv = False,
    smoothing: Smoothing = SMOOTHING,
    decoder: DecoderName = "auto",
    candidates: Candidates = None,
    seconds: Seconds = None,
    max_cost: MaxCost = None,
    alternatives: Alternatives = 0,
    workers: Workers = 1,
    bad_lines: BadLinesOption = "skip",
    unchecked: UncheckedOption = "fail",
    quiet: Quiet = False,
) -> None:
    """Choose among candidates per field under rules: samples, guesses, or results of services."""
    if not 1e-6 <= smoothing <= 1e6:
        raise InputError(f"--smoothing is {smoothing:g}, expected 0.000001 to 1,000,000")
    budget = Budget(candidates, seconds, None, max_cost)
    call = Call(load_rules(rules, python), decoder, budget, alternatives)
    without_places(call.rules)  # raises an error that is about every line
    writer = writer_for(format_, call.rules, ranked=alternatives > 0, raw_csv=raw_csv, rows=rows)
    with (
        open_run(context, writer.head(), resume=resume) as output,
        Progress(documents, quiet=quiet) as progress,
    ):
        lines = output.lines(progress.lines(read_lines(documents)))
        left = (line for line in lines if line[0] > output.last_line)
        results = choose_lines(left, call, smoothing=smoothing, workers=workers)
        tally = write_results(
            output, progress.documents(results), writer.write, writer.foot, bad_lines=bad_lines
        )
    if not quiet:
        summarise(tally)
    leave(tally, unchecked)
