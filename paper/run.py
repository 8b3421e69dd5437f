"""The paper's table of results, again: every method and budget, and lawful's decoders beside them.

    python -m paper.run cord-l2 wild-l2text --units pieces --out build/paper
    python -m paper.run documents.jsonl.gz --rules rules.yaml

For scored documents with gold labels: F1^s (entity micro-F1 times the share of pages that satisfy
all rules), F1, the share, and the time a page, mean and deviation over repeats. As in the paper, a
rule with a missing field passes, the first value of a field counts, rules are hard, and only pages
whose true labels satisfy the rules are used; ``--all-pages`` takes all of them, ``--semantics
lawful`` the rules as their file has them.

A finished cell is kept in the folder ``--out`` and not measured again. Written there, too: the
table as Markdown and CSV.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from math import inf
from pathlib import Path
from statistics import mean, pstdev
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from lawful import Budget, Decoder, Decoding, Rules, Scored, decode
from lawful.decoders.search import Chunk, Problem, walk
from lawful.evaluation import Scoreboard, gold_obeys
from paper.baselines import lazyk
from paper.documents import load

PAPER: Mapping[str, Any] = {"presence": "free", "repeat": "first", "weight": inf}
SECONDS = 60.0
"""A page, for any method: the paper's integer programs may take longer than anybody waits."""


@dataclass(frozen=True, slots=True)
class Enumerated:
    """A method that enumerates assignments in Python, judged as ``lazyk`` is."""

    name: str
    module: str  # "published" for the pseudo-code of the paper, or the peer's package
    exact: ClassVar[bool] = True
    default_budget: ClassVar[Budget] = Budget(candidates=2**13)

    def decode(self, problem: Problem, budget: Budget) -> Decoding:
        chunks = self._chunks(np.exp(problem.scores.log_probs))
        return walk(self.name, problem, chunks, budget, legal=False, complete=lambda: True)

    def _chunks(self, probs: np.ndarray) -> Iterator[Chunk]:
        for labels, log_prob in self._all(probs):
            yield np.array([labels]), np.array([log_prob])

    def _all(self, probs: np.ndarray) -> Iterator[tuple[Any, float]]:
        if self.module == "published":
            yield from lazyk(probs)
            return
        from lazyk import lazyk as peer  # the package lazy-k

        words = np.arange(len(probs))
        for labels in peer(probs):
            yield labels, float(np.log(probs[words, labels]).sum())


def powers(first: int, last: int) -> list[int]:
    """Powers of two."""
    return [2**exponent for exponent in range(first, last + 1)]


METHODS: Mapping[str, tuple[str | Decoder, list[int]]] = {
    "argmax": ("argmax", [1]),
    "beam": ("beam", powers(1, 5)),
    "best_first": ("best_first", powers(4, 8)),
    "lazy_ilp": ("lazy_ilp", powers(0, 4)),
    "lazyk": ("lazyk", [2**e for e in (5, 6, 7, 9, 11, 13, 15, 16)]),
    "published": (Enumerated("published", "published"), powers(5, 9)),
    "lazy-k": (Enumerated("lazy-k", "lazyk"), [2**5, 2**9, 2**13]),
    "paths": ("paths", [2**0, 2**5, 2**9, 2**13]),
    "readings": ("readings", [2**5, 2**9, 2**13]),
    "exact": ("exact", [2**9, 2**13, 2**17]),
    "auto": ("auto", [2**17]),
}
"""By name, the decoder and its budgets of candidates."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One method with one budget on one set of pages."""

    outputs: str
    units: str
    semantics: str
    method: str
    candidates: int
    pages: int
    f1s: float
    f1: float
    satisfied: float
    value_f1: float
    seconds: float
    deviation: float  # of the seconds a page, over repeats

    @property
    def key(self) -> tuple[Any, ...]:
        return (
            self.outputs, self.units, self.semantics, self.method, self.candidates, self.pages,
        )  # fmt: skip


def measure(
    pages: list[Scored], rules: Rules, decoder: str | Decoder, candidates: int, repeats: int
) -> tuple[Scoreboard, list[float]]:
    """Decodes the pages some times over: what came out, and by repeat the seconds a page."""
    seconds = []
    board = Scoreboard(rules)
    budget = Budget(candidates=candidates, seconds=SECONDS)
    for repeat in range(repeats):
        taken = 0.0
        for page in pages:
            begin = perf_counter()
            found = decode(page.document, page.scores, rules, decoder=decoder, budget=budget)
            taken += perf_counter() - begin
            if repeat == 0:
                board.add(page, found)
        seconds.append(taken / len(pages))
    return board, seconds


def kept_cells(file: Path) -> dict[tuple[Any, ...], Cell]:
    """What was measured before."""
    if not file.exists():
        return {}
    cells = (Cell(**json.loads(line)) for line in file.read_text().splitlines())
    return {cell.key: cell for cell in cells}


def write_tables(cells: list[Cell], folder: Path) -> str:
    """The table as Markdown, and both files."""
    lines = [
        "| outputs | decoder | k | F1^s | F1 | satisfied | value F1 | ms a page |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {c.outputs} | {c.method} | {c.candidates:,} | {100 * c.f1s:.1f} | {100 * c.f1:.1f} "
        f"| {c.satisfied:.1%} | {100 * c.value_f1:.1f} "
        f"| {1000 * c.seconds:.2f} ± {1000 * c.deviation:.2f} |"
        for c in cells
    ]
    text = "\n".join(lines)
    (folder / "table.md").write_text(text + "\n")
    with (folder / "table.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(asdict(cells[0])) if cells else [])
        writer.writeheader()
        writer.writerows(map(asdict, cells))
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("documents", nargs="+", help="files, or names of real outputs")
    parser.add_argument("--rules", type=Path, help="for files")
    parser.add_argument("--methods", default=",".join(METHODS), help="default: %(default)s")
    parser.add_argument("--units", choices=("pieces", "words"), default="pieces")
    parser.add_argument("--semantics", choices=("paper", "lawful"), default="paper")
    parser.add_argument("--all-pages", action="store_true")
    parser.add_argument("--pages", type=int, help="the first so many; all of them by default")
    parser.add_argument("--slow-pages", type=int, default=10, help="for lazy_ilp; %(default)s")
    parser.add_argument("--repeats", type=int, default=3, help="%(default)s")
    parser.add_argument("--out", type=Path, default=Path("build/paper"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    store = arguments.out / "cells.jsonl"
    known = kept_cells(store)
    if unknown := set(arguments.methods.split(",")) - set(METHODS):
        raise SystemExit(f"unknown method {min(unknown)!r}; methods: {', '.join(METHODS)}")
    cells = []
    for title, given, file_rules in load(arguments.documents, arguments.rules, arguments.units):
        rules = file_rules.with_defaults(**PAPER) if arguments.semantics == "paper" else file_rules
        pages = [p for p in given if arguments.all_pages or gold_obeys(p, rules)]
        pages = list(islice(pages, arguments.pages))
        print(f"{title}: {len(pages)} of {len(given)} pages", file=sys.stderr)
        make = partial(Cell, title, arguments.units, arguments.semantics)
        for method in arguments.methods.split(","):
            decoder, budgets = METHODS[method]
            some = pages[: arguments.slow_pages] if method == "lazy_ilp" else pages
            for candidates in budgets:
                key = make(method, candidates, len(some), 0, 0, 0, 0, 0, 0).key
                if key not in known:
                    board, seconds = measure(some, rules, decoder, candidates, arguments.repeats)
                    known[key] = make(
                        method, candidates, len(some), board.f1_s, board.entities.f1,
                        board.satisfaction, board.values.f1, mean(seconds), pstdev(seconds),
                    )  # fmt: skip
                    with store.open("a") as file:
                        file.write(json.dumps(asdict(known[key])) + "\n")
                print(known[key], file=sys.stderr)
                cells.append(known[key])
    print(write_tables(cells, arguments.out))


if __name__ == "__main__":
    main()
