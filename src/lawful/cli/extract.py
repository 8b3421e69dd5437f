"""``lawful extract``: from documents to field values, with a model and a decoder."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from lawful.cli.asking import AskOptions, of_no_model
from lawful.cli.asking import Model as LanguageModel
from lawful.cli.folders import FolderOutput, is_folder
from lawful.cli.groups import Without
from lawful.cli.inputs import Inputs
from lawful.cli.options import (
    AskedFileOptions,
    EndOptions,
    InputsArgument,
    ModelOptions,
    OutOrFolder,
    PassOptions,
    PythonFile,
    ScoredOut,
    Workers,
    WriteOptions,
    form_of,
    load_rules,
    rules_option,
)
from lawful.cli.output import Progress, leave
from lawful.cli.runs import open_run, write_decodings
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
    *,
    write: WriteOptions,
    files: AskedFileOptions,
    by: ModelOptions,
    asking: AskOptions,
    how: Annotated[DecodeOptions, Without("pool")],
    workers: Workers = 1,
    passing: PassOptions,
    scored_out: ScoredOut = None,
    end: EndOptions,
) -> None:
    """Extract field values: read files, ask a model what their words are, decode under rules.

    That is a model that scores words, or with --llm a language model.
    """
    form, inputs = form_of(context), Inputs(documents)
    reader = files.reader(workers)
    if asking.llm or asking.replay:
        asked = LanguageModel(context, rules, python, how, files.password)
        call, weights = asked.call, None
        trusting = Trusting.load(passing, call, asked.files, more=asked.setting)
    else:
        of_no_model(context)
        asked = None
        if all(each is None for each in (rules, python, by.model, passing.trust)):
            call, weights = CallByKind.of_packs(how.call), invoice_model()
            trusting = Trusting.load(passing, call, (weights, None))
            scorer = load_kind_tagger(by.device, by.backend)
        else:
            call = how.call(load_rules(rules := rules or rules_for(by.model), python))
            weights = Path(by.model) if by.model else model_for(call.rules)
            trusting = Trusting.load(passing, call, (rules, python), weights=weights)
            scorer = load_tagger(by.model or weights, by.device, by.backend)
            check_labels(call.rules, scorer, warn)
        source = UnscoredFile(scorer, keep_gold=False)
    writer = writer_for(
        form, call, write, lambda document: write.images or inputs.is_file(document.line or 0),
        password=files.password, promise=trusting.promise,
    )  # fmt: skip
    folder = None
    if is_folder(out):
        outputs = inputs.outputs(Path(out), form)
        folder = partial(
            FolderOutput, files=outputs, head=writer.head(), foot=writer.foot, pack=writer.pack
        )
    with (
        open_run(context, writer, rules=call.rules, model=weights, folder=folder) as output,
        Progress(
            inputs.only, files=inputs.files_after(output.last_line), quiet=end.quiet
        ) as progress,
    ):
        lines = progress.lines(inputs.lines())
        if asked is not None:
            read = inputs.documents(output.left(lines), reader, workers=workers, split=files.split)
            decoded = asked.results(progress.beats(read), quiet=end.quiet)
        elif inputs.has_files:  # one by one: scores depend on no other file, and no result waits
            read = inputs.documents(output.left(lines), reader, workers=workers, split=files.split)
            records = source.records(progress.beats(read))
            decoded = decode_each(
                records, scorer, call, pool=by.pool, workers=workers, xml=by.model is None
            )
        else:
            found = inputs.documents(output.lines(lines), reader, split=files.split)
            records = source.records(found, after=output.last_line, batch=by.batch)
            scored = score_records(partial(scorer.predict, batch=by.batch, pool=by.pool), records)
            new = (each for each in scored if not output.is_done(each.line or 0))
            decoded = decode_records(new, call, workers=workers)
        seen = also_scored(scored_out, decoded, call.rules, output.last_line)
        results = trusting.apply(progress.documents(seen))
        tally = write_decodings(
            output, results, writer, end.bad_lines, inputs.name, several=files.split
        )
    more = source.warn_of_boxless if asked is None else asked.summarise
    leave(tally, end, trusting.promise, more)
