"""``lawful extract``: from documents to field values, with a model and a decoder."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from lawful.batch import Call, Preparation, decode_records, score_records
from lawful.cli.folders import FolderOutput, is_folder
from lawful.cli.inputs import Inputs, first_needed, make_reader
from lawful.cli.options import (
    Alternatives,
    BackendOption,
    BadLinesOption,
    Batch,
    ByField,
    Candidates,
    DecoderName,
    Device,
    FileSeconds,
    FormatOption,
    Images,
    InputsArgument,
    Mass,
    MaxCost,
    MaxPages,
    Model,
    ModelPool,
    OcrOption,
    OutOrFolder,
    Pages,
    Password,
    PythonFile,
    Quiet,
    RawCsv,
    Resume,
    Review,
    ReviewBelow,
    RowsOption,
    Seconds,
    Temperature,
    TrustFile,
    UncheckedOption,
    Workers,
    load_rules,
    rules_option,
)
from lawful.cli.output import Progress, leave, summarise
from lawful.cli.runs import open_run, write_results
from lawful.cli.tagging import UnscoredFile, check_labels, load_tagger
from lawful.cli.trusting import Trusting, setting_of
from lawful.cli.writers import writer_for
from lawful.decoding import Budget
from lawful.models.shipped import MODEL, RULES

EXAMPLE = "lawful extract invoice.pdf scans/ --format csv --out fields.csv"


def extract(
    context: typer.Context,
    documents: InputsArgument,
    rules: Annotated[Path | None, rules_option("Rules (default: the receipt rules)")] = None,
    python: PythonFile = None,
    out: OutOrFolder = "-",
    resume: Resume = None,
    format_: FormatOption = "jsonl",
    rows: RowsOption = None,
    raw_csv: RawCsv = False,
    images: Images = False,
    ocr: OcrOption = "auto",
    pages: Pages = None,
    max_pages: MaxPages = 300,
    file_seconds: FileSeconds = 120.0,
    password: Password = None,
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
    by_field: ByField = False,
    temperature: Temperature = 1.0,
    workers: Workers = 1,
    trust: TrustFile = None,
    review_below: ReviewBelow = None,
    review: Review = None,
    bad_lines: BadLinesOption = "skip",
    unchecked: UncheckedOption = "fail",
    quiet: Quiet = False,
) -> None:
    """Extract field values: read files, score words with a model, then decode under rules."""
    inputs = Inputs(documents)
    reader = make_reader(ocr, pages, max_pages, file_seconds, password, workers)
    if inputs.has_files:
        batch = 1  # so that results do not wait until many files are read
    budget = Budget(candidates, seconds, mass, max_cost)
    rules = rules or RULES
    call = Call(load_rules(rules, python), decoder, budget, alternatives, by_field)
    preparation = Preparation(temperature=temperature)
    setting = setting_of(call, preparation, rules, python)
    trusting = Trusting.load(trust, call.rules, setting, review_below, review)
    tagger = load_tagger(model, device, backend)
    check_labels(call.rules, tagger)
    writer = writer_for(
        format_, call.rules, ranked=alternatives > 0, raw_csv=raw_csv, rows=rows,
        pictured=lambda document: images or inputs.is_file(document.line or 0), password=password,
        trusted=trust is not None, reviewed=review_below is not None,
    )  # fmt: skip
    source = UnscoredFile(tagger, keep_gold=False)
    weights = Path(model or MODEL)
    folder = None
    if is_folder(out):
        files = inputs.outputs(Path(out), format_)
        folder = partial(FolderOutput, files=files, head=writer.head(), foot=writer.foot)
    with (
        open_run(
            context, writer.head(), resume=resume, model=weights, review=review, folder=folder
        ) as output,
        Progress(inputs.only, quiet=quiet) as progress,
    ):
        group = tagger.group_size(batch)
        done = first_needed(output.entries(), group) if inputs.has_files else 0
        lines = output.lines(progress.lines(inputs.lines()))
        left = (line for line in lines if line[0] > done)
        found = inputs.documents(left, reader, workers=workers)
        records = source.records(found, after=output.last_line, batch=batch)
        scored = score_records(partial(tagger.predict, batch=batch, pool=pool), records)
        new = (each for each in scored if (each.line or 0) > output.last_line)
        decoded = decode_records(new, call, preparation, workers=workers)
        results = trusting.apply(progress.documents(decoded))
        tally = write_results(
            output, results, writer.write, writer.foot, bad_lines=bad_lines, name=inputs.name
        )
    if not quiet:
        summarise(tally)
        source.warn_of_boxless()
    leave(tally, unchecked)
