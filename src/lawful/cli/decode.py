"""``lawful decode``: from scored documents to decodings."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import typer

from lawful.base.errors import InputError
from lawful.cli.counts import Tally
from lawful.cli.folders import PARQUET, Files, FolderOutput, is_folder, scored_files
from lawful.cli.options import (
    EndOptions,
    OutOrFolder,
    PassOptions,
    PythonFile,
    RuleFile,
    Workers,
    WriteOptions,
    form_of,
    load_rules,
)
from lawful.cli.output import Progress, leave
from lawful.cli.runs import open_run, write_decodings
from lawful.cli.scored_files import FileDecoder, ParquetOptions
from lawful.cli.trust_options import Trusting
from lawful.cli.writers import writer_for
from lawful.io.jsonl import read_lines
from lawful.pipeline.batch import decode_lines
from lawful.pipeline.call import DecodeOptions

EXAMPLE = "lawful decode scored.jsonl --rules rules.yaml --out decoded.jsonl"


def decode(
    context: typer.Context,
    *,
    documents: list[str] = typer.Argument(
        ..., metavar="FILES",
        help="Scored documents: JSON lines (plain or gzipped, with or without pins), Parquet "
        "files, or folders of these; - reads standard input.",
    ),
    rules: RuleFile,
    python: PythonFile = None,
    out: OutOrFolder = "-",
    write: WriteOptions,
    how: DecodeOptions,
    parquet: ParquetOptions,
    workers: Workers = 1,
    passing: PassOptions,
    end: EndOptions,
) -> None:  # fmt: skip
    """Decode scored documents under rules: labels, field values, checks and corrections."""
    form = form_of(context)
    call = how.call(load_rules(rules, python))
    trusting = Trusting.load(passing, call, (rules, python))
    writer = writer_for(form, call, write, lambda _: write.images, promise=trusting.promise)
    files = FileDecoder(call, trusting, writer, parquet.parsed(), workers, end.bad_lines)
    path = documents[0]
    if is_folder(out):
        names = Files(scored_files(documents, form), Path(out))
        with (
            open_run(
                context, rules=call.rules, folder=partial(FolderOutput, files=names)
            ) as output,
            Progress(quiet=end.quiet) as progress,
        ):
            assert isinstance(output, FolderOutput)  # noqa: S101 - as asked for
            tally = files.decode_all(names, output, progress)
    elif len(documents) > 1 or Path(path).is_dir():
        what = "it is a folder" if len(documents) == 1 else f"there are {len(documents)} files"
        raise InputError(
            f"cannot read {path}: {what}, which needs a folder as --out, such as out/; found {out}"
        )
    elif path.endswith(PARQUET):
        tally = _one_parquet_file(
            files, path, out, resume=write.resume, review=passing.review_out, quiet=end.quiet
        )
    else:
        with (
            open_run(context, writer, rules=call.rules) as output,
            Progress(path, quiet=end.quiet) as progress,
        ):
            left = output.left(progress.lines(read_lines(path)))
            decoded = decode_lines(path, left, call, workers=workers)
            results = trusting.apply(progress.documents(decoded))
            tally = write_decodings(output, results, writer, end.bad_lines)
    leave(tally, end, trusting.promise)


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
