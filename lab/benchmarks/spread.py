"""Tables of measures with their spread over splits of the data."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import mean, stdev


class Table:
    """Rows of Markdown: by key, the mean of each measure and its standard deviation."""

    def __init__(self, *keys: str) -> None:
        self._keys = keys
        self._records: dict[tuple[str, ...], list[Mapping[str, float]]] = {}
        self._printed: set[tuple[str, ...]] = set()

    def add(self, key: tuple[str, ...], record: Mapping[str, float]) -> None:
        """Adds what was measured on one split."""
        self._records.setdefault(key, []).append(record)

    def print_new(self) -> None:
        """Prints the rows that were not printed before, with the header before the first."""
        for key, records in self._records.items():
            if key in self._printed:
                continue
            if not self._printed:
                names = (*self._keys, *records[0])
                print(f"| {' | '.join(names)} |\n|{' --- |' * len(names)}")
            self._printed.add(key)
            cells = (_cell([record[name] for record in records]) for name in records[0])
            print(f"| {' | '.join((*key, *cells))} |", flush=True)


def _cell(values: list[float]) -> str:
    if len(values) == 1:
        return f"{values[0]:.1f}"
    return f"{mean(values):.1f} ± {stdev(values):.1f}"
