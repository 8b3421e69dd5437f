"""Comparison with gold labels, as ``lawful evaluate`` and ``lawful calibrate`` print it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from rich.table import Table

from lawful.cli.output import plural
from lawful.cli.tally import counted
from lawful.document import Scored, SpanScored
from lawful.evaluation import Changes, Counts, Scoreboard

T = TypeVar("T")

NO_GOLD = "without gold labels"


class Skipped(Counter[str]):
    """The number of documents left out, by reason."""

    def __str__(self) -> str:
        return ", ".join(counted(count, reason) for reason, count in self.items() if count)


def with_gold(records: Iterable[T], skipped: Skipped) -> Iterator[T]:
    """The records whose true labels are known, and bad lines; the others are counted."""
    for record in records:
        if isinstance(record, Scored | SpanScored) and record.gold is None:
            skipped[NO_GOLD] += 1
        else:
            yield record


def boards_record(boards: Mapping[str, Scoreboard]) -> dict[str, Any]:
    """Scoreboards as plain values; each but the first with its changes against the first."""
    first, *others = boards
    baseline = boards[first]
    results: dict[str, Any] = {first: baseline.record()}
    for name in others:
        board = boards[name]
        results[name] = board.record() | {
            "against": first,
            "changed_pages": board.changed_pages(baseline)._asdict(),
            "changed_values": board.changed_values(baseline)._asdict(),
        }
    return {"pages": baseline.pages, "gold_satisfied": baseline.gold_satisfied, "results": results}


def score_table(boards: Mapping[str, Scoreboard]) -> Table:
    """Scoreboards side by side; each but the first is compared with the first."""
    baseline = next(iter(boards.values()))
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(plural(baseline.pages, "page"))
    for name in boards:
        table.add_column(name, justify="right")

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


def percent(counts: Counts) -> tuple[str, ...]:
    """Precision, recall and F1 in percent; dashes if nothing was found and nothing is true."""
    if not counts.found and not counts.true:
        return ("-",) * 3
    return tuple(f"{100 * x:.1f}" for x in (counts.precision, counts.recall, counts.f1))
