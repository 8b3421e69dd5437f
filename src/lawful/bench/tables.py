"""Tables of cells, as Markdown and as CSV."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from lawful.bench.cells import Cell
from lawful.bench.reported import REPORTED
from lawful.readers.jsonl import whole_file


def markdown(cells: Sequence[Cell]) -> str:
    """The table as people read it; with the paper's own numbers where the rules are the paper's."""
    beside = any((cell.data, cell.method, cell.candidates) in REPORTED for cell in cells)
    heads = ["outputs", "units", "method", "k", "pages", "F1^s", "F1", "satisfied", "value F1",
             "ms a page", "repeats", "MiB"]  # fmt: skip
    if beside:
        heads += ["paper: F1^s", "paper: ms"]
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    for cell in cells:
        row = [
            cell.outputs,
            cell.units,
            cell.method,
            cell.budget,
            f"{cell.pages:,}",
            f"{100 * cell.f1s:.1f}",
            f"{100 * cell.f1:.1f}",
            f"{100 * cell.satisfied:.1f} %",
            f"{100 * cell.value_f1:.1f}",
            f"{1000 * cell.seconds:,.2f} ± {1000 * cell.deviation:,.2f}",
            str(cell.repeats),
            "" if cell.memory is None else f"{cell.memory:.1f}",
        ]
        if beside:
            row += _reported(cell)
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def _reported(cell: Cell) -> list[str]:
    """The paper decodes word pieces with candidates for a budget, so only those rows are its."""
    found = REPORTED.get((cell.data, cell.method, cell.candidates))
    if found is None or cell.mass is not None or cell.units != "pieces":
        return ["", ""]
    return [f"{found.f1s:.1f}", f"{1000 * found.seconds:,.0f}"]


def write_csv(path: Path, cells: Sequence[Cell]) -> None:
    """All that a cell has but what it has by page; ratios between 0 and 1, times in seconds."""
    with whole_file(path) as file:
        writer: csv.DictWriter[str] | None = None
        for cell in cells:
            row = {name: v for name, v in asdict(cell).items() if not name.startswith("page_")}
            if writer is None:
                writer = csv.DictWriter(file, list(row), lineterminator="\n")
                writer.writeheader()
            writer.writerow(row)
