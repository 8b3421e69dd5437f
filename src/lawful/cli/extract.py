"""``lawful extract``: from documents to field values, with a model and a decoder."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

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
    Quiet,
    Seconds,
    Temperature,
    UncheckedOption,
    UnscoredDocuments,
    Workers,
    rules_option,
)
from lawful.cli.output import Progress, leave, summarise, write_decodings
from lawful.cli.tagging import UnscoredFile, load_tagger
from lawful.decoding import Budget
from lawful.models.shipped import RULES
from lawful.rules.definitions import Rules

EXAMPLE = "lawful extract documents.jsonl --format csv --out fields.csv"


def extract(
    documents: UnscoredDocuments,
    rules: Annotated[Path | None, rules_option("Rules (default: the receipt rules)")] = None,
    out: Out = "-",
    format_: FormatOption = "jsonl",
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
    call = Call(Rules.load(rules or RULES), decoder, budget, alternatives)
    preparation = Preparation(temperature=temperature)
    tagger = load_tagger(model, device, backend)
    call.rules.scheme_for(tagger.labels)  # fails early if the model lacks a label of the rules
    source = UnscoredFile(documents, tagger, keep_gold=False)
    with Progress(quiet=quiet) as progress:
        scored = score_records(partial(tagger.predict, batch=batch, pool=pool), source)
        results = decode_records(scored, call, preparation, workers=workers)
        tally = write_decodings(
            out, format_, progress.documents(results), call.rules,
            ranked=alternatives > 0, bad_lines=bad_lines,
        )  # fmt: skip
    if not quiet:
        summarise(tally)
        source.warn_of_boxless()
    leave(tally, unchecked)
