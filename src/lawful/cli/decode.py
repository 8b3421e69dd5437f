"""``lawful decode``: from scored documents to decodings."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import typer

from lawful.batch import Call, Preparation, decode_lines
from lawful.cli.folders import PARQUET, Files, FolderOutput, is_folder, scored_files
from lawful.cli.options import (
    Alternatives,
    BadLinesOption,
    ByField,
    Candidates,
    ColumnsOption,
    DecoderName,
    FormatOption,
    Images,
    KindOption,
    LabelsOption,
    Mass,
    MaxCost,
    OutOrFolder,
    PoolOption,
    PythonFile,
    Quiet,
    RawCsv,
    Resume,
    Review,
    ReviewBelow,
    RowsOption,
    RuleFile,
    ScoredFiles,
    Seconds,
    Temperature,
    TrustFile,
    UncheckedOption,
    Workers,
    load_rules,
)
from lawful.cli.output import Progress, leave, summarise
from lawful.cli.runs import open_run, write_results
from lawful.cli.scored_files import FileDecoder, ParquetOptions
from lawful.cli.tally import Tally
from lawful.cli.trusting import Trusting, setting_of
from lawful.cli.writers import writer_for
from lawful.decoding import Budget
from lawful.errors import InputError
from lawful.io.jsonl import read_lines

EXAMPLE = "lawful decode scored.jsonl --rules rules.yaml --out decoded.jsonl"


def decode(
    context: typer.Context,
    documents: ScoredFiles,
    rules: RuleFile,
    python: PythonFile = None,
    out: OutOrFolder = "-",
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
    labels: LabelsOption = None,
    kind: KindOption = None,
    column: ColumnsOption = None,
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
    files = FileDecoder(
        call, preparation, trusting, writer, ParquetOptions.parse(labels, kind, column), workers,
        bad_lines,
    )  # fmt: skip
    path = documents[0]
    if is_folder(out):
        names = Files(scored_files(documents, format_), Path(out))
        with (
            open_run(
                context, resume=resume, review=review, folder=partial(FolderOutput, files=names)
            ) as output,
            Progress(quiet=quiet) as progress,
        ):
            assert isinstance(output, FolderOutput)  # noqa: S101 - as asked for
            tally = files.decode_all(names, output, progress)
    elif len(documents) > 1 or Path(path).is_dir():
        what = "it is a folder" if len(documents) == 1 else f"there are {len(documents)} files"
        raise InputError(
            f"cannot read {path}: {what}, which needs a folder as --out, such as out/; found {out}"
        )
    elif path.endswith(PARQUET):
        tally = _one_parquet_file(files, path, out, resume=resume, review=review, quiet=quiet)
    else:
        with (
            open_run(context, writer.head(), resume=resume, review=review) as output,
            Progress(path, quiet=quiet) as progress,
        ):
            lines = output.lines(progress.lines(read_lines(path)))
            left = (line for line in lines if line[0] > output.last_line)
            decoded = decode_lines(path, left, call, preparation, workers=workers)
            results = trusting.apply(progress.documents(decoded))
            tally = write_results(output, results, writer.write, writer.foot, bad_lines=bad_lines)
    if not quiet:
        summarise(tally)
    leave(tally, unchecked)


def _one_parquet_file(
    files: FileDecoder, path: str, out: str, *, resume: bool | None, review: str | None, quiet: bool
) -> Tally:
    """Decodes a Parquet file into another, which cannot be resumed."""
    if not out.endswith(PARQUET):
        raise InputError(
            f"{path} is a Parquet file, and --out is {out}: expected a name that ends in "
            f"{PARQUET}, or a folder, such as out/"
        )
    if resume:
        raise InputError(f"--resume needs a folder as --out for Parquet files, and --out is {out}")
    if review is not None:
        raise InputError(f"--review {review} is for JSON lines: Parquet has the column review")
    with Progress(quiet=quiet) as progress:
        return Tally(files.decode(Path(path), Path(out), progress))
