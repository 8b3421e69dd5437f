"""Files of scored documents decoded one after another: Parquet, or JSON lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from lawful.batch import AnyResult, Call, Preparation, decode_lines, decode_records
from lawful.cli.complaints import Complaints
from lawful.cli.folders import PARQUET, Files, FolderOutput
from lawful.cli.options import BadLines
from lawful.cli.output import Progress, warn
from lawful.cli.runs import write_results
from lawful.cli.tally import AUTOMATIC, BAD, REVIEW, Tally, counts_of
from lawful.cli.trusting import Trusting
from lawful.cli.writers import Writer
from lawful.decoding import Decoding
from lawful.document import BadLine
from lawful.errors import InputError
from lawful.io.atomic import atomic_text
from lawful.io.journal import Entry, Output
from lawful.io.jsonl import read_lines


@dataclass(frozen=True, slots=True)
class ParquetOptions:
    """What Parquet files do not say by themselves: label names, kind of scores, columns."""

    labels: tuple[str, ...] | None = None
    kind: str | None = None
    columns: Mapping[str, str] | None = None

    @classmethod
    def parse(
        cls, labels: Path | None, kind: str | None, columns: list[str] | None
    ) -> ParquetOptions:
        """From the options of the command line."""
        pairs = {}
        for pair in columns or ():
            ours, equals, theirs = pair.partition("=")
            if not equals or not ours or not theirs:
                raise InputError(f"--column {pair}: expected NAME=COLUMN, such as words=tokens")
            pairs[ours] = theirs
        return cls(None if labels is None else _read_labels(labels), kind, pairs)


def _read_labels(path: Path) -> tuple[str, ...]:
    """Label names of a file: a list in JSON, or one per line."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--labels: cannot read {path}: {error}") from None
    if not text.lstrip().startswith("["):
        return tuple(line for line in text.splitlines() if line)
    try:
        return tuple(msgspec.json.decode(text, type=list[str]))
    except msgspec.DecodeError as error:
        raise InputError(f"--labels: {path}: {error}") from None


@dataclass(frozen=True, slots=True)
class FileDecoder:
    """Decodes files, each into one output file, which appears when it is complete."""

    call: Call
    preparation: Preparation
    trusting: Trusting
    writer: Writer
    parquet: ParquetOptions
    workers: int
    bad_lines: BadLines

    def decode_all(self, files: Files, output: FolderOutput, progress: Progress) -> Tally:
        """Decodes all files that are not done; one that cannot be read is reported."""
        for number, _ in output.lines(files.lines()):
            if number <= output.last_line:
                continue
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
        if path.suffix == PARQUET:
            return self._decode_parquet(path, out, progress)
        decoded = decode_lines(
            str(path), read_lines(path), self.call, self.preparation, workers=self.workers
        )
        with atomic_text(out) as file:
            file.write(self.writer.head())
            return write_results(
                Output(file), self.trusting.apply(progress.documents(decoded)), self.writer.write,
                self.writer.foot, bad_lines=self.bad_lines, name=f"{path}, line {{}}".format,
            )  # fmt: skip

    def _decode_parquet(self, path: Path, out: Path, progress: Progress) -> Counter[str]:
        from lawful.arrow.parquet import read_parquet, write_parquet

        given = self.parquet
        records = read_parquet(path, labels=given.labels, kind=given.kind, columns=given.columns)
        decoded = decode_records(records, self.call, self.preparation, workers=self.workers)
        results = self.trusting.apply(progress.documents(decoded))
        counts: Counter[str] = Counter()
        with Complaints(self.bad_lines, counts, f"{path}, row {{}}".format) as complaints:
            write_parquet(out, _counted(results, counts, complaints))
        return counts


def _counted(
    results: Iterator[AnyResult], counts: Counter[str], complaints: Complaints
) -> Iterator[Decoding | BadLine]:
    """The decodings, and the bad lines, which are rows, too; counted as they go by."""
    for result in results:
        if isinstance(result, BadLine):
            complaints.add(result)
            yield result
            continue
        decoding = result[1]
        counts.update(counts_of(decoding.status, decoding.checks))
        if decoding.review is not None:
            counts[REVIEW if decoding.review else AUTOMATIC] += 1
        yield decoding
