"""Comparison with gold labels, as ``lawful evaluate`` and ``lawful calibrate`` print it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from rich.table import Table

from lawful.base.errors import InputError, LawfulError
from lawful.cli.counts import counted
from lawful.cli.error_summary import Complaints
from lawful.cli.options import BadLinesOption, Quiet, Workers
from lawful.cli.output import Progress, plural
from lawful.cli.terminal import figures
from lawful.documents.records import FailedDocument, Scored
from lawful.documents.scores import Pooling, Scores
from lawful.evaluation.report import percent, without_pins
from lawful.evaluation.scoreboard import Changes, Scoreboard
from lawful.io.jsonl import read_jsonl
from lawful.pipeline.call import Record, bad_line, in_words

Found = TypeVar("Found")
Made = TypeVar("Made")

NO_GOLD = "without gold labels"


class Skipped(Counter[str]):
    """The number of documents left out, by reason."""

    def __str__(self) -> str:
        return ", ".join(counted(count, reason) for reason, count in self.items() if count)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How documents with true labels are gone through, which the results depend on in no way."""

    workers: Workers = 1
    bad_lines: BadLinesOption = "skip"
    quiet: Quiet = False

    def made(
        self,
        results: Iterable[tuple[Scored, Found] | FailedDocument],
        skipped: Skipped,
        make: Callable[[Scored, Found], Made],
    ) -> Iterator[Made]:
        """What is made of each result; one of which nothing can be made is a bad line."""
        with (
            Progress(quiet=self.quiet) as progress,
            Complaints(self.bad_lines, skipped) as complaints,
        ):
            good: Iterator[tuple[Scored, Found]]
            good = complaints.without_bad(progress.documents(results))
            for scored, found in good:
                try:
                    made = make(scored, found)
                except LawfulError as error:
                    complaints.add(bad_line(scored, str(error)))
                    continue
                yield made

    def pages(
        self, path: str, pool: Pooling | None, skipped: Skipped, purpose: str
    ) -> list[Scored]:
        """The documents of a file, with scores of words and true labels, for a ``purpose``."""
        with (
            Progress(quiet=self.quiet) as progress,
            Complaints(self.bad_lines, skipped) as complaints,
        ):
            records = with_gold(map(_of_words, read_jsonl(path, "yield")), skipped)
            merged = in_words(records, pool)
            pages = list(complaints.without_bad(progress.documents(merged)))
        if not pages:
            raise InputError(f"nothing to {purpose} in {path}: {skipped or 'no documents'}")
        return pages


def _of_words(record: Record) -> Record:
    if isinstance(record, FailedDocument) or isinstance(record.scores, Scores):
        return record
    why = "the line has scores of spans, and this command needs scores of words"
    return bad_line(record, why)


def with_gold(records: Iterable[Record], skipped: Skipped) -> Iterator[Record]:
    """The records whose true labels are known, and bad lines; the others are counted.

    Of their pins only the texts are kept (``without_pins``).
    """
    for record in records:
        if isinstance(record, FailedDocument):
            yield record
        elif record.gold is None:
            skipped[NO_GOLD] += 1
        else:
            yield without_pins(record)


def score_table(boards: Mapping[str, Scoreboard]) -> Table:
    """Scoreboards side by side; each but the first is compared with the first."""
    baseline = next(iter(boards.values()))
    table = figures([plural(baseline.pages, "page")], boards)

    def row(name: str, cell: Callable[[Scoreboard], str]) -> None:
        table.add_row(name, *map(cell, boards.values()))

    def change(board: Scoreboard, how: Callable[[Scoreboard], Changes]) -> str:
        return "-" if board is baseline else " / ".join(f"{n:,}" for n in how(baseline))

    row("value F1", lambda b: percent(b.values)[2])
    row("  precision", lambda b: percent(b.values)[0])
    row("  recall", lambda b: percent(b.values)[1])
    row("pages with all values right", lambda b: f"{sum(b.right_pages):,}")
    row("pages fixed / broken / unchanged", lambda b: change(b, b.changed_pages))
    row("values fixed / broken / unchanged", lambda b: change(b, b.changed_values))
    row("rules checked", lambda b: f"{b.checked:,}")
    row("  passed", lambda b: f"{b.passed:,}")
    row("rules vacuous", lambda b: f"{b.unchecked:,}")
    row("pages unchecked", lambda b: f"{b.unchecked_pages:,}")
    row("entity F1", lambda b: percent(b.entities)[2])
    row("pages satisfied or unchecked", lambda b: f"{100 * b.satisfaction:.1f} %")
    row("F1^s, their product", lambda b: f"{100 * b.f1_s:.1f}")
    return table
