"""Documents per second, share satisfied and F1 of every decoder on generated receipts.

    python -m lab.benchmarks.decoders [--pages 1000] [--ilp-pages 20] [--out build/decoders.json]

Each decoder has its default budget, which is close to the paper's.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

from lab import receipts as demo
from lawful import Rules, Scored, decode
from lawful.decoders import DECODERS
from lawful.evaluation.scoreboard import Scoreboard


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    decoder: str
    candidates: int | None
    pages: int
    pages_per_second: float
    median_ms: float
    worst_ms: float
    satisfied: float
    unchecked: float  # no rule could be checked
    value_f1: float
    entity_f1: float

    def __str__(self) -> str:
        return (
            f"{self.decoder:<12}{self.candidates or 0:>10,}{self.pages:>7,}"
            f"{self.pages_per_second:>10.1f}{self.median_ms:>11.2f}{self.worst_ms:>11.1f}"
            f"{self.satisfied:>11.1%}{self.unchecked:>11.1%}{self.value_f1:>10.1%}"
            f"{self.entity_f1:>11.1%}"
        )


def measure(name: str, pages: list[Scored], rules: Rules) -> Row:
    """Decodes the pages one after another in this process."""
    board = Scoreboard(rules)
    times = []
    for page in pages:
        begin = perf_counter()
        decoding = decode(page.document, page.scores, rules, decoder=name)
        times.append(perf_counter() - begin)
        board.add(page, decoding)
    return Row(
        decoder=name,
        candidates=DECODERS[name].default_budget.candidates,
        pages=len(pages),
        pages_per_second=len(pages) / sum(times),
        median_ms=1000 * median(times),
        worst_ms=1000 * max(times),
        satisfied=board.statuses["satisfied"] / board.pages,
        unchecked=board.statuses["unchecked"] / board.pages,
        value_f1=board.values.f1,
        entity_f1=board.entities.f1,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument(
        "--ilp-pages", type=int, default=20, help="lazy_ilp takes a second per page"
    )
    parser.add_argument("--out", type=Path, default=Path("build/decoders.json"))
    arguments = parser.parse_args()
    rules = Rules.load(demo.RULES)
    pages = list(demo.generate(arguments.pages, seed=11))
    header = ("decoder", "candidates", "pages", "pages/s", "median ms", "worst ms", "satisfied",
              "unchecked", "value F1", "entity F1")  # fmt: skip
    print("{:<12}{:>10}{:>7}{:>10}{:>11}{:>11}{:>11}{:>11}{:>10}{:>11}".format(*header))
    rows = []
    for name in DECODERS:
        some = pages[: arguments.ilp_pages] if name == "lazy_ilp" else pages
        rows.append(measure(name, some, rules))
        print(rows[-1], flush=True)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps([asdict(row) for row in rows], indent=1))
    print(f"written to {arguments.out}")


if __name__ == "__main__":
    main()
