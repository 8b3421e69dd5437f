"""``lawful decode``: from scored documents to decodings."""

from __future__ import annotations

from lawful.batch import Call, Preparation, decode_lines
from lawful.cli.options import (
    Alternatives,
    BadLinesOption,
    Candidates,
    DecoderName,
    Documents,
    FormatOption,
    Mass,
    MaxCost,
    Out,
    PoolOption,
    Quiet,
    RuleFile,
    Seconds,
    Temperature,
    UncheckedOption,
    Workers,
)
from lawful.cli.output import Progress, leave, summarise, write_decodings
from lawful.decoding import Budget
from lawful.io.jsonl import read_lines
from lawful.rules.definitions import Rules

EXAMPLE = "lawful decode scored.jsonl --rules rules.yaml --out decoded.jsonl"


def decode(
    documents: Documents,
    rules: RuleFile,
    out: Out = "-",
    format_: FormatOption = "jsonl",
    decoder: DecoderName = "auto",
    candidates: Candidates = None,
    seconds: Seconds = None,
    mass: Mass = None,
    max_cost: MaxCost = None,
    alternatives: Alternatives = 0,
    temperature: Temperature = 1.0,
    pool: PoolOption = None,
    workers: Workers = 1,
    bad_lines: BadLinesOption = "skip",
    unchecked: UncheckedOption = "fail",
    quiet: Quiet = False,
) -> None:
    """Decode scored documents under rules: labels, field values, checks and corrections."""
    budget = Budget(candidates, seconds, mass, max_cost)
    call = Call(Rules.load(rules), decoder, budget, alternatives)
    preparation = Preparation(pool, temperature)
    with Progress(documents, quiet=quiet) as progress:
        lines = progress.lines(read_lines(documents))
        results = decode_lines(documents, lines, call, preparation, workers=workers)
        tally = write_decodings(
            out, format_, progress.documents(results), call.rules,
            ranked=alternatives > 0, bad_lines=bad_lines,
        )  # fmt: skip
    if not quiet:
        summarise(tally)
    leave(tally, unchecked)
