"""``lawful extract``: from documents to field values, with a model and a decoder."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from lawful.cli.asking import (
    Calls,
    CallSeconds,
    Llm,
    Price,
    Questions,
    RecordFile,
    ReplayFile,
    Samples,
    SchemaOption,
    ShowOption,
    TaggerOption,
    of_no_model,
)
from lawful.cli.asking import Model as LanguageModel
from lawful.cli.folders import FolderOutput, is_folder
from lawful.cli.groups import DEFAULTS, Without
from lawful.cli.inputs import Inputs, make_reader, open_cache
from lawful.cli.options import (
    Audit,
    BackendOption,
    BadLinesOption,
    Batch,
    CacheOfAnswers,
    Device,
    FileSeconds,
    FormatOption,
    Images,
    InputsArgument,
    MaxPages,
    Model,
    ModelPool,
    NoCache,
    OcrOption,
    OutOrFolder,
    Pages,
    Password,
    PythonFile,
    Quiet,
    RawCsv,
    Resume,
    ReviewOut,
    RowsOption,
    ScoredOut,
    SplitOption,
    TrustFile,
    UncheckedOption,
    Workers,
    form_of,
    load_rules,
    rules_option,
)
from lawful.cli.output import Progress, leave, summarise
from lawful.cli.runs import open_run, write_results
from lawful.cli.scored_out import also_scored
from lawful.cli.scoring import UnscoredFile, load_kind_tagger, load_tagger
from lawful.cli.terminal import warn
from lawful.cli.trust_options import Trusting
from lawful.cli.writers import writer_for
from lawful.models.extraction import check_labels, decode_each
from lawful.models.kinds import CallByKind
from lawful.models.shipped import invoice_model, model_for, rules_for
from lawful.pipeline.batch import decode_records, score_records
from lawful.pipeline.call import DecodeOptions

EXAMPLE = "lawful extract invoice.pdf scans/ --format csv --out fields.csv"


def extract(
    context: typer.Context,
    documents: InputsArgument,
    rules: Annotated[
        Path | None,
        rules_option("Rules (default: of the model, or of what each file is)"),
    ] = None,
    python: PythonFile = None,
    out: OutOrFolder = "-",
    resume: Resume = None,
    format_: FormatOption = None,
    rows: RowsOption = None,
    raw_csv: RawCsv = False,
    images: Images = False,
    ocr: OcrOption = "auto",
    pages: Pages = None,
    max_pages: MaxPages = 300,
    split: SplitOption = False,
    file_seconds: FileSeconds = 120.0,
    password: Password = None,
    cache: CacheOfAnswers = None,
    no_cache: NoCache = False,
    model: Model = None,
    llm: Llm = None,
    schema: SchemaOption = None,
    tagger: TaggerOption = None,
    samples: Samples = 5,
    questions: Questions = 0,
    show: ShowOption = "text",
    record: RecordFile = None,
    replay: ReplayFile = None,
    call_seconds: CallSeconds = 120.0,
    calls: Calls = 8,
    price: Price = None,
    pool: ModelPool = "mean",
    batch: Batch = 32,
    device: Device = None,
    backend: BackendOption = None,
    how: Annotated[DecodeOptions, Without("pool")] = DEFAULTS,
    workers: Workers = 1,
    trust: TrustFile = None,
    audit: Audit = 0.0,
    review_out: ReviewOut = None,
    scored_out: ScoredOut = None,
    bad_lines: BadLinesOption = "skip",
    unchecked: UncheckedOption = "fail",
    quiet: Quiet = False,
) -> None:
    """Extract field values: read files, ask a model what their words are, decode under rules.

    That is a model that scores words, or with --llm a language model.
    """
    form, inputs = form_of(context), Inputs(documents)
    reader = make_reader(
        ocr, pages, max_pages, file_seconds, password, workers, open_cache(cache, off=no_cache)
    )
    if llm or replay:
        asked = LanguageModel(context, rules, python, how, password)
        call, weights = asked.call, None
        trusting = Trusting.load(trust, call, asked.files, review_out, audit, more=asked.setting)
    else:
        of_no_model(context)
        asked = None
        if all(each is None for each in (rules, python, model, trust, rows)):
            call, weights = CallByKind.of_packs(how.call), invoice_model()
            trusting = Trusting.load(trust, call, (weights, None), review_out, audit)
            scorer = load_kind_tagger(device, backend)
        else:
            call = how.call(load_rules(rules := rules or rules_for(model), python))
            weights = Path(model) if model else model_for(call.rules)
            trusting = Trusting.load(trust, call, (rules, python), review_out, audit, weights)
            scorer = load_tagger(model or weights, device, backend)
            check_labels(call.rules, scorer, warn)
        source = UnscoredFile(scorer, keep_gold=False)
    writer = writer_for(
        form, call.rules, ranked=how.alternatives > 0, raw_csv=raw_csv, rows=rows,
        pictured=lambda document: images or inputs.is_file(document.line or 0), password=password,
        promise=trusting.promise,
    )  # fmt: skip
    folder = None
    if is_folder(out):
        files = inputs.outputs(Path(out), form)
        folder = partial(
            FolderOutput, files=files, head=writer.head(), foot=writer.foot, pack=writer.pack
        )
    with (
        open_run(
            context,
            writer.head(),
            resume=resume,
            rules=call.rules,
            pack=writer.pack,
            model=weights,
            review=review_out,
            folder=folder,
        ) as output,
        Progress(inputs.only, files=inputs.files_after(output.last_line), quiet=quiet) as progress,
    ):
        lines = progress.lines(inputs.lines())
        if asked is not None:
            read = inputs.documents(output.left(lines), reader, workers=workers, split=split)
            decoded = asked.results(progress.beats(read), quiet=quiet)
        elif inputs.has_files:  # one by one: scores depend on no other file, and no result waits
            read = inputs.documents(output.left(lines), reader, workers=workers, split=split)
            records = source.records(progress.beats(read))
            decoded = decode_each(
                records, scorer, call, pool=pool, workers=workers, xml=model is None
            )
        else:
            found = inputs.documents(output.lines(lines), reader, split=split)
            records = source.records(found, after=output.last_line, batch=batch)
            scored = score_records(partial(scorer.predict, batch=batch, pool=pool), records)
            new = (each for each in scored if not output.is_done(each.line or 0))
            decoded = decode_records(new, call, workers=workers)
        results = trusting.apply(
            progress.documents(also_scored(scored_out, decoded, call.rules, output.last_line))
        )
        tally = write_results(
            output, results, writer.write, writer.foot, bad=writer.bad, bad_lines=bad_lines,
            name=inputs.name, several=split,
        )  # fmt: skip
    if not quiet:
        summarise(tally, trusting.promise)
        if asked is None:
            source.warn_of_boxless()
        else:
            asked.summarise()
    leave(tally, unchecked)
