"""``lawful decode``: from scored documents to decodings."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import typer

from lawful.base.errors import InputError
from lawful.cli.counts import Tally
from lawful.cli.folders import PARQUET, Files, FolderOutput, is_folder, scored_files
from lawful.cli.groups import DEFAULTS
from lawful.cli.options import (
    Audit,
    BadLinesOption,
    ColumnsOption,
    FormatOption,
    Images,
    KindOption,
    LabelsOption,
    OutOrFolder,
    PythonFile,
    Quiet,
    RawCsv,
    Resume,
    ReviewOut,
    RowsOption,
    RuleFile,
    ScoredFiles,
    TrustFile,
    UncheckedOption,
    Workers,
    form_of,
    load_rules,
)
from lawful.cli.output import Progress, leave, summarise
from lawful.cli.runs import open_run, write_results
from lawful.cli.scored_files import FileDecoder, ParquetOptions
from lawful.cli.trust_options import Trusting
from lawful.cli.writers import writer_for
from lawful.io.jsonl import read_lines
from lawful.pipeline.batch import decode_lines
from lawful.pipeline.call import DecodeOptions

EXAMPLE = "lawful decode scored.jsonl --rules rules.yaml --out decoded.jsonl"


def decode(
    context: typer.Context,
    documents: ScoredFiles,
    rules: RuleFile,
    python: PythonFile = None,
    out: OutOrFolder = "-",
    resume: Resume = None,
    format_: FormatOption = None,
    rows: RowsOption = None,
    raw_csv: RawCsv = False,
    images: Images = False,
    how: DecodeOptions = DEFAULTS,
    labels: LabelsOption = None,
    kind: KindOption = None,
    column: ColumnsOption = None,
    workers: Workers = 1,
    trust: TrustFile = None,
    audit: Audit = 0.0,
    review_out: ReviewOut = None,
    bad_lines: BadLinesOption = "skip",
    unchecked: UncheckedOption = "fail",
    quiet: Quiet = False,
) -> None:
    """Decode scored documents under rules: labels, field values, checks and corrections."""
    form = form_of(context)
    call = how.call(load_rules(rules, python))
    trusting = Trusting.load(trust, call, (rules, python), review_out, audit)
    writer = writer_for(
        form, call.rules, ranked=how.alternatives > 0, raw_csv=raw_csv, rows=rows,
        pictured=lambda _: images, promise=trusting.promise,
    )  # fmt: skip
    files = FileDecoder(
        call, trusting, writer, ParquetOptions.parse(labels, kind, column), workers,
        bad_lines,
    )  # fmt: skip
    path = documents[0]
    if is_folder(out):
        names = Files(scored_files(documents, form), Path(out))
        with (
            open_run(
                context,
                resume=resume,
                rules=call.rules,
                review=review_out,
                folder=partial(FolderOutput, files=names),
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
        tally = _one_parquet_file(files, path, out, resume=resume, review=review_out, quiet=quiet)
    else:
        with (
            open_run(
                context,
                writer.head(),
                resume=resume,
                rules=call.rules,
                pack=writer.pack,
                review=review_out,
            ) as output,
            Progress(path, quiet=quiet) as progress,
        ):
            left = output.left(progress.lines(read_lines(path)))
            decoded = decode_lines(path, left, call, workers=workers)
            results = trusting.apply(progress.documents(decoded))
            tally = write_results(
                output, results, writer.write, writer.foot, bad=writer.bad, bad_lines=bad_lines
            )
    if not quiet:
        summarise(tally, trusting.promise)
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
        raise InputError(f"--review-out {review} is for JSON lines: Parquet has the column passes")
    with Progress(quiet=quiet) as progress:
        return Tally(files.decode(Path(path), Path(out), progress))
