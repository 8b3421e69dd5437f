"""``lawful decode``: from scored documents to decodings."""

from __future__ import annotations

import typer

from lawful.batch import Call, Preparation, decode_lines
from lawful.cli.options import (
    Alternatives,
    BadLinesOption,
    ByField,
    Candidates,
    DecoderName,
    Documents,
    FormatOption,
    Images,
    Mass,
    MaxCost,
    Out,
    PoolOption,
    PythonFile,
    Quiet,
    RawCsv,
    Resume,
    Review,
    ReviewBelow,
    RowsOption,
    RuleFile,
    Seconds,
    Temperature,
    TrustFile,
    UncheckedOption,
    Workers,
    load_rules,
)
from lawful.cli.output import Progress, leave, summarise
from lawful.cli.runs import open_run, write_results
from lawful.cli.trusting import Trusting, setting_of
from lawful.cli.writers import writer_for
from lawful.decoding import Budget
from lawful.io.jsonl import read_lines

EXAMPLE = "lawful decode scored.jsonl --rules rules.yaml --out decoded.jsonl"


def decode(
    context: typer.Context,
    documents: Documents,
    rules: RuleFile,
    python: PythonFile = None,
    out: Out = "-",
    resume: Resume = None,
    format_: FormatOption = "jsonl",
    rows: RowsOption = None,
    raw_csv: RawCsv = False,
    images: Images = False,
    decoder: DecoderName = "auto",
    candidates: Candidates = None,
    seconds: Seconds = None,
    mass: Mass = None,
    max_cost: MaxCost = None,
    alternatives: Alternatives = 0,
    by_field: ByField = False,
    temperature: Temperature = 1.0,
    pool: PoolOption = None,
    workers: Workers = 1,
    trust: TrustFile = None,
    review_below: ReviewBelow = None,
    review: Review = None,
    bad_lines: BadLinesOption = "skip",
    unchecked: UncheckedOption = "fail",
    quiet: Quiet = False,
) -> None:
    """Decode scored documents under rules: labels, field values, checks and corrections."""
    budget = Budget(candidates, seconds, mass, max_cost)
    call = Call(load_rules(rules, python), decoder, budget, alternatives, by_field)
    preparation = Preparation(pool, temperature)
    setting = setting_of(call, preparation, rules, python)
    trusting = Trusting.load(trust, call.rules, setting, review_below, review)
    writer = writer_for(
        format_, call.rules, ranked=alternatives > 0, raw_csv=raw_csv, rows=rows,
        pictured=lambda _: images, trusted=trust is not None, reviewed=review_below is not None,
    )  # fmt: skip
    with (
        open_run(context, writer.head(), resume=resume, review=review) as output,
        Progress(documents, quiet=quiet) as progress,
    ):
        lines = output.lines(progress.lines(read_lines(documents)))
        left = (line for line in lines if line[0] > output.last_line)
        decoded = decode_lines(documents, left, call, preparation, workers=workers)
        results = trusting.apply(progress.documents(decoded))
        tally = write_results(output, results, writer.write, writer.foot, bad_lines=bad_lines)
    if not quiet:
        summarise(tally)
    leave(tally, unchecked)
