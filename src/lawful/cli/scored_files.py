"""Files of scored documents decoded one after another: Parquet, or JSON lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from lawful.base.errors import InputError
from lawful.base.extras import needed
from lawful.base.options import option
from lawful.cli.counts import BAD, Tally
from lawful.cli.error_summary import Complaints
from lawful.cli.folders import PARQUET, Files, FolderOutput
from lawful.cli.options import BadLines
from lawful.cli.output import Progress
from lawful.cli.runs import write_decodings
from lawful.cli.terminal import warn
from lawful.cli.trust_options import Trusting
from lawful.cli.writers import Writer, tallied
from lawful.documents.records import FailedDocument
from lawful.io.atomic import atomic_text
from lawful.io.journal import Entry, Output
from lawful.io.jsonl import read_lines
from lawful.pipeline.batch import decode_lines, decode_records
from lawful.pipeline.call import Call, Result
from lawful.results.decoding import Decoding


@dataclass(frozen=True, slots=True)
class ParquetOptions:
    """What Parquet files do not say by themselves: label names, kind of scores, columns."""

    PANEL: ClassVar[str] = "Parquet files"

    labels: Path | None = option(
        None, "--label-names", metavar="FILE", show_default="those in the files",
        help="Label names of Parquet files that lack them: a list in JSON, or one name per line.",
    )  # fmt: skip
    kind: str | None = option(
        None, metavar="KIND", show_default="as the files say",
        help="Kind of the scores in Parquet files: probs, log_probs or logits.",
    )  # fmt: skip
    column: list[str] | None = option(
        None, metavar="NAME=COLUMN", show_default=False,
        help="Read a column of Parquet files under another name, such as words=tokens.",
    )  # fmt: skip

    def parsed(self) -> dict[str, Any]:
        """The same as arguments of ``read_parquet``."""
        pairs = {}
        for pair in self.column or ():
            ours, equals, theirs = pair.partition("=")
            if not equals or not ours or not theirs:
                raise InputError(f"--column {pair}: expected NAME=COLUMN, such as words=tokens")
            pairs[ours] = theirs
        labels = None if self.labels is None else _read_labels(self.labels)
        return {"labels": labels, "kind": self.kind, "columns": pairs}


def _read_labels(path: Path) -> tuple[str, ...]:
    """Label names of a file: a list in JSON, or one per line."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--label-names: cannot read {path}: {error}") from None
    if not text.lstrip().startswith("["):
        return tuple(line for line in text.splitlines() if line)
    try:
        return tuple(msgspec.json.decode(text, type=list[str]))
    except msgspec.DecodeError as error:
        raise InputError(f"--label-names: {path}: {error}") from None


@dataclass(frozen=True, slots=True)
class FileDecoder:
    """Decodes files, each into one output file, which appears when it is complete."""

    call: Call
    trusting: Trusting
    writer: Writer
    parquet: Mapping[str, Any]
    workers: int
    bad_lines: BadLines

    def decode_all(self, files: Files, output: FolderOutput, progress: Progress) -> Tally:
        """Decodes all files that are not done; one that cannot be read is reported."""
        for number, _ in output.left(files.lines()):
            path, name = files.path(number), files.name(number)
            try:
                counts = self.decode(path, files.output(number), progress)
            except InputError as error:
                if self.bad_lines == "fail":
                    raise
                warn(str(error) if str(path) in str(error) else f"{path}: {error}")
                output.enter(Entry(number, counts={BAD: 1}), None)
            else:
                output.enter(Entry(number, counts=dict(counts)), name)
        output.finish(lambda _: "")
        return Tally(output.counts)

    def decode(self, path: Path, out: Path, progress: Progress) -> Counter[str]:
        """Decodes one file, and returns what it counts as."""
        from_parquet = path.suffix == PARQUET
        decoded = self._decoded_rows(path) if from_parquet else self._decoded_lines(path)
        results = self.trusting.apply(progress.documents(decoded))
        name = f"{path}, {'row' if from_parquet else 'line'} {{}}".format
        if out.suffix == PARQUET:
            return self._write_parquet(out, results, name)
        with atomic_text(out) as file:
            file.write(self.writer.head())
            return write_decodings(Output(file), results, self.writer, self.bad_lines, name)

    def _decoded_lines(self, path: Path) -> Iterator[Result]:
        lines = read_lines(path)
        return decode_lines(str(path), lines, self.call, workers=self.workers)

    def _decoded_rows(self, path: Path) -> Iterator[Result]:
        needed("pyarrow", f"reading {path}")
        from lawful.arrow.parquet import read_parquet

        records = read_parquet(path, **self.parquet)
        return decode_records(records, self.call, workers=self.workers)

    def _write_parquet(
        self, out: Path, results: Iterator[Result], name: Callable[[int], str]
    ) -> Counter[str]:
        from lawful.arrow.parquet import write_parquet

        counts: Counter[str] = Counter()
        with Complaints(self.bad_lines, counts, name) as complaints:
            write_parquet(out, self._counted(results, counts, complaints))
        return counts

    def _counted(
        self, results: Iterator[Result], counts: Counter[str], complaints: Complaints
    ) -> Iterator[Decoding | FailedDocument]:
        """The decodings, and the bad lines, which are rows, too; counted as they go by."""
        for result in results:
            if isinstance(result, FailedDocument):
                complaints.add(result)
                yield result
                continue
            decoding = result[1]
            counts.update(tallied(decoding))
            yield decoding
