"""Tables of Markdown, and what stands in them: intervals, and what was fixed and broken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, stdev

import numpy as np


def row(*cells: object) -> None:
    """Prints a row."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def header(*names: str) -> None:
    """Prints the first two rows."""
    row(*names)
    print(f"|{' --- |' * len(names)}")


class Table:
    """Rows of Markdown under the names of the first one's cells."""

    def __init__(self) -> None:
        self._begun = False

    def add(self, cells: Mapping[str, object]) -> None:
        """Prints a row, after the header if it is the first."""
        if not self._begun:
            header(*cells)
        self._begun = True
        row(*cells.values())


def changes(before: Sequence[bool], now: Sequence[bool]) -> tuple[int, int]:
    """How many are fixed, and how many broken."""
    pairs = list(zip(before, now, strict=True))
    return pairs.count((False, True)), pairs.count((True, False))


def interval(scores: Sequence[float], rounds: int = 2000) -> tuple[float, float]:
    """95 % of means of documents drawn again."""
    dice = np.random.default_rng(0)
    means = dice.choice(np.array(scores), (rounds, len(scores))).mean(axis=1)
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


class Spread:
    """Rows by key: the mean of each measure over splits of the data, and its deviation."""

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
                header(*self._keys, *records[0])
            self._printed.add(key)
            row(*key, *(_cell([record[name] for record in records]) for name in records[0]))


def _cell(values: list[float]) -> str:
    deviation = f" ± {stdev(values):.1f}" if len(values) > 1 else ""
    return f"{mean(values):.1f}{deviation}"
