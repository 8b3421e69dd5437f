"""How many partial readings the exact search extends on sixty pages: ``partial_readings.csv``.

    python -m tests.search.partial_readings [--write]

prints how the table would change, and with ``--write`` changes it. No answer depends on these
numbers; they show whether the bounds of the search do what they are for.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import TypeAlias

from lawful import Budget
from lawful.decoders.exact import find_best
from lawful.search.problem import Problem
from tests.fixtures.searches import KINDS

TABLE = Path(__file__).with_suffix(".csv")
PAGES = 4  # of each kind
TOO_LONG = ("50 rows",)
BUDGET = Budget(2**14)

Counts: TypeAlias = dict[tuple[str, int], int]
"""Partial readings by the kind of a page and its number."""


def partial_readings(kind: str, page: int) -> int:
    """The number of partial readings that are extended."""
    problem = Problem(*KINDS[kind](page))
    return find_best(problem, BUDGET, problem.judge.plan()).tried


def count() -> Counts:
    """All numbers as they are now."""
    kinds = [kind for kind in KINDS if kind not in TOO_LONG]
    return {(kind, page): partial_readings(kind, page) for kind in kinds for page in range(PAGES)}


def expected() -> Counts:
    """All numbers as they were when the table was written."""
    with TABLE.open(newline="") as lines:
        rows = csv.DictReader(lines)
        return {(row["kind"], int(row["page"])): int(row["readings"]) for row in rows}


def is_close(readings: int, expected: int) -> bool:
    """Whether two numbers differ by no more than the last bits of probabilities explain."""
    return abs(readings - expected) <= max(2, 0.02 * expected)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name}")
    arguments = parser.parse_args()
    before = expected() if TABLE.exists() else {}
    now = count()
    for key, readings in now.items():
        if before.get(key) != readings:
            print(f"{key[0]}, page {key[1]}: {before.get(key, 'new')} -> {readings}")
    print(f"{sum(before.values()):,} -> {sum(now.values()):,} partial readings of {len(now)} pages")
    if arguments.write:
        with TABLE.open("w", newline="") as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(("kind", "page", "readings"))
            writer.writerows((*key, readings) for key, readings in now.items())


if __name__ == "__main__":
    main()
