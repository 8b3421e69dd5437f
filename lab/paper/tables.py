"""Tables of cells, as Markdown and as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

from lab.paper.measurements import Cell
from lab.paper.reported import REPORTED, Reported
from lawful.io.atomic import atomic_text


def markdown(cells: Sequence[Cell]) -> str:
    """One table per set of pages, with the paper's numbers if the rules are the paper's."""
    groups = groupby(cells, key=lambda cell: (cell.outputs, cell.units, cell.semantics))
    return "\n\n".join("\n".join(_table(name, list(some))) for name, some in groups)


def _table(name: tuple[str, str, str], cells: Sequence[Cell]) -> Iterator[str]:
    outputs, units, semantics = name
    yield f"### {outputs}, {units}, semantics: {semantics}\n"
    has_reported = any(map(_reported, cells))
    heads = ["method", "k", "pages", "F1^s", "F1", "satisfied", "unchecked", "value F1",
             "ms per page", "repeats", "MiB",
             *(("paper: F1^s", "ms") if has_reported else ())]  # fmt: skip
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    for cell in cells:
        row = [
            cell.method,
            cell.budget,
            f"{cell.pages:,}",
            f"{100 * cell.f1s:.1f}",
            f"{100 * cell.f1:.1f}",
            f"{100 * cell.satisfied:.1f} %",
            f"{100 * cell.unchecked:.1f} %",
            f"{100 * cell.value_f1:.1f}",
            f"{1000 * cell.seconds:,.2f}"
            + (f" ± {1000 * cell.deviation:,.2f}" if cell.repeats > 1 else ""),
            str(cell.repeats),
            "" if cell.memory is None else f"{cell.memory:.1f}",
        ]
        if has_reported:
            found = _reported(cell)
            row += [f"{found.f1s:.1f}", f"{1000 * found.seconds:,.0f}"] if found else ["", ""]
        yield f"| {' | '.join(row)} |"


def _reported(cell: Cell) -> Reported | None:
    """The paper's cell, which has word pieces and a budget of candidates, or ``None``."""
    if cell.mass is not None or cell.units != "pieces" or cell.semantics != "paper":
        return None
    return REPORTED.get((cell.data, cell.method, cell.candidates))


def write_csv(path: Path, cells: Sequence[Cell]) -> None:
    """All measurements except those by page; ratios between 0 and 1, times in seconds."""
    with atomic_text(path) as file:
        writer: csv.DictWriter[str] | None = None
        for cell in cells:
            row = {name: v for name, v in asdict(cell).items() if not name.startswith("page_")}
            if writer is None:
                writer = csv.DictWriter(file, list(row), lineterminator="\n")
                writer.writeheader()
            writer.writerow(row)
