"""``lawful choose``: from candidates per field to decodings."""

from __future__ import annotations

from typing import Annotated

import typer

from lawful.base.errors import InputError
from lawful.candidates.candidates import SMOOTHING
from lawful.candidates.choose import without_places
from lawful.cli.groups import DEFAULTS, Without
from lawful.cli.options import (
    Audit,
    BadLinesOption,
    CandidateLines,
    FormatOption,
    Out,
    PythonFile,
    Quiet,
    RawCsv,
    Resume,
    ReviewOut,
    RowsOption,
    RuleFile,
    ScoredOut,
    TrustFile,
    UncheckedOption,
    Workers,
    form_of,
    load_rules,
)
from lawful.cli.output import Progress, leave, summarise
from lawful.cli.runs import open_run, write_results
from lawful.cli.scored_out import also_scored
from lawful.cli.trust_options import Trusting
from lawful.cli.writers import writer_for
from lawful.io.jsonl import read_lines
from lawful.pipeline.batch import choose_lines
from lawful.pipeline.call import DecodeOptions

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
    format_: FormatOption = None,
    rows: RowsOption = None,
    raw_csv: RawCsv = False,
    smoothing: Smoothing = SMOOTHING,
    how: Annotated[DecodeOptions, Without("by_field", "temperature", "pool")] = DEFAULTS,
    workers: Workers = 1,
    trust: TrustFile = None,
    audit: Audit = 0.0,
    review_out: ReviewOut = None,
    scored_out: ScoredOut = None,
    bad_lines: BadLinesOption = "skip",
    unchecked: UncheckedOption = "fail",
    quiet: Quiet = False,
) -> None:
    """Choose among candidates per field under rules: samples, guesses, or results of services."""
    if not 1e-6 <= smoothing <= 1e6:
        raise InputError(f"--smoothing is {smoothing:g}, expected 0.000001 to 1,000,000")
    call = how.call(load_rules(rules, python))
    more = {"--smoothing": smoothing}
    trusting = Trusting.load(trust, call, (rules, python), review_out, audit, more=more)
    without_places(call.rules)  # raises an error that is about every line
    writer = writer_for(
        form_of(context), call.rules, ranked=how.alternatives > 0, raw_csv=raw_csv, rows=rows,
        promise=trusting.promise,
    )  # fmt: skip
    with (
        open_run(
            context,
            writer.head(),
            resume=resume,
            rules=call.rules,
            pack=writer.pack,
            review=review_out,
        ) as output,
        Progress(documents, quiet=quiet) as progress,
    ):
        left = output.left(progress.lines(read_lines(documents)))
        chosen = choose_lines(left, call, smoothing=smoothing, workers=workers)
        results = trusting.apply(also_scored(scored_out, chosen, call.rules, output.last_line))
        tally = write_results(
            output, progress.documents(results), writer.write, writer.foot, bad=writer.bad,
            bad_lines=bad_lines,
        )  # fmt: skip
    if not quiet:
        summarise(tally, trusting.promise)
    leave(tally, unchecked)
