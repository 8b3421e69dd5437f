"""``lawful choose``: from candidates per field to decodings."""

from __future__ import annotations

from typing import Annotated

import typer

from lawful.base.errors import InputError
from lawful.candidates.candidates import SMOOTHING
from lawful.candidates.choose import without_places
from lawful.cli.groups import Without
from lawful.cli.options import (
    EndOptions,
    Out,
    PassOptions,
    PythonFile,
    RuleFile,
    ScoredOut,
    Workers,
    WriteOptions,
    form_of,
    load_rules,
)
from lawful.cli.output import Progress, leave
from lawful.cli.runs import open_run, write_decodings
from lawful.cli.scored_out import also_scored
from lawful.cli.trust_options import Trusting
from lawful.cli.writers import writer_for
from lawful.io.jsonl import read_lines
from lawful.pipeline.batch import choose_lines
from lawful.pipeline.call import DecodeOptions

EXAMPLE = "lawful choose samples.jsonl --rules rules.yaml --out chosen.jsonl"


def choose(
    context: typer.Context,
    *,
    documents: str = typer.Argument(
        ..., metavar="DOCUMENTS",
        help="JSON lines with samples, candidates, or the response of a service (plain or "
        "gzipped); - reads standard input.",
    ),
    rules: RuleFile,
    python: PythonFile = None,
    out: Out = "-",
    write: Annotated[WriteOptions, Without("images")],
    smoothing: float = typer.Option(
        SMOOTHING,
        help="Votes that each text, and a missing value, get beside those of the samples.",
    ),
    how: Annotated[DecodeOptions, Without("by_field", "temperature", "pool")],
    workers: Workers = 1,
    passing: PassOptions,
    scored_out: ScoredOut = None,
    end: EndOptions,
) -> None:  # fmt: skip
    """Choose among candidates per field under rules: samples, guesses, or results of services."""
    if not 1e-6 <= smoothing <= 1e6:
        raise InputError(f"--smoothing is {smoothing:g}, expected 0.000001 to 1,000,000")
    call = how.call(load_rules(rules, python))
    trusting = Trusting.load(passing, call, (rules, python), more={"--smoothing": smoothing})
    without_places(call.rules)  # raises an error that is about every line
    writer = writer_for(form_of(context), call, write, promise=trusting.promise)
    with (
        open_run(context, writer, rules=call.rules) as output,
        Progress(documents, quiet=end.quiet) as progress,
    ):
        left = output.left(progress.lines(read_lines(documents)))
        chosen = choose_lines(left, call, smoothing=smoothing, workers=workers)
        seen = also_scored(scored_out, chosen, call.rules, output.last_line)
        results = progress.documents(trusting.apply(seen))
        tally = write_decodings(output, results, writer, end.bad_lines)
    leave(tally, end, trusting.promise)
