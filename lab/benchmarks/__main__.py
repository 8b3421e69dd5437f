"""``make bench``: the streams compared with other implementations, as ratios.

    python -m lab.benchmarks [--quick]

Times are medians over repeats in one process; memory is measured in separate processes. Absolute
times depend on the machine, ratios hardly.
"""

from __future__ import annotations

import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import chain, islice
from statistics import median
from time import perf_counter
from typing import NamedTuple

import numpy as np

import lawful
from lab.benchmarks import peers
from lab.benchmarks.study import study
from lab.benchmarks.tables import Table
from tests.fixtures.rows import SIZES, bio_labels, peaked

MILLION = 1e6


class Row(NamedTuple):
    """One line of the table: our time (or bytes) and a peer's."""

    what: str
    words: int
    labels: int
    k: int
    ours: float
    peer: str | None  # None if all are too slow or too large to run
    theirs: float | None
    unit: str


def timed(*calls: Callable[[], object], repeats: int) -> list[float]:
    """The median time of each call in microseconds, after a warm-up call.

    Fast calls are repeated more often, for at least a tenth of a second.
    """
    medians = []
    for call in calls:
        call()
        times: list[float] = []
        while len(times) < repeats or (sum(times) < 0.1 and len(times) < 1000):
            begin = perf_counter()
            call()
            times.append(perf_counter() - begin)
        medians.append(median(times) * MILLION)
    return medians


def consume(stream: Iterator[object], k: int) -> None:
    """Takes ``k`` items from a stream, one after another."""
    deque(islice(stream, k), maxlen=0)


def assignments(ks: list[int], repeats: int) -> Iterator[Row]:
    """The k best assignments, as arrays and one by one, compared with lazy-k."""
    for words, labels in SIZES:
        probs = peaked(np.random.default_rng(words), words, labels)
        for k in ks:
            theirs, arrays, steps = timed(
                lambda: peers.lazy_k(probs, k),
                lambda: lawful.assignments(probs).take(k),
                lambda: consume(lawful.assignments(probs), k),
                repeats=repeats,
            )
            size = (words, labels, k)
            yield Row("assignments, arrays", *size, arrays / k, "lazy-k", theirs / k, "us each")
            yield Row("assignments, steps", *size, steps / k, "lazy-k", theirs / k, "us each")


def paths(ks: list[int], repeats: int) -> Iterator[Row]:
    """The k best BIO paths, compared with a k-best Viterbi and OpenFst."""
    has_fst = find_spec("pynini") is not None
    for words, labels in SIZES:
        probs = peaked(np.random.default_rng(words), words, labels)
        costs = -np.log(probs)
        scheme = lawful.Scheme.named("BIO", bio_labels(labels))
        n_best = peers.open_fst(costs) if has_fst else None
        for k in ks:
            size = (words, labels, k)
            calls = [lambda: lawful.paths(probs, scheme).take(k)]
            names = []
            if words * labels * k * 4 <= 2**30:  # its back-pointers must fit
                calls.append(lambda: peers.k_best_viterbi(costs, k))
                names.append("k-best Viterbi (NumPy)")
            if n_best is not None and words * k <= 2**22:
                calls.append(lambda: n_best(k))
                names.append("OpenFst n-best")
            ours, *theirs = timed(*calls, repeats=repeats)
            if not names:
                yield Row("paths, arrays", *size, ours / k, None, None, "us each")
            for name, time in zip(names, theirs, strict=True):
                yield Row("paths, arrays", *size, ours / k, name, time / k, "us each")


def first_candidate(repeats: int) -> Iterator[Row]:
    """Time to the first candidate, including checks of the input."""
    for words, labels in SIZES:
        probs = peaked(np.random.default_rng(words), words, labels)
        costs = -np.log(probs)
        scheme = lawful.Scheme.named("BIO", bio_labels(labels))
        size = (words, labels, 1)
        ours, theirs = timed(
            lambda: next(lawful.assignments(probs)),
            lambda: peers.lazy_k(probs, 1),
            repeats=repeats,
        )
        yield Row("first assignment", *size, ours, "lazy-k", theirs, "us")
        (ours,) = timed(lambda: next(lawful.paths(probs, scheme)), repeats=repeats)
        (theirs,) = timed(lambda: peers.pulp_cbc(costs), repeats=repeats)
        yield Row("first legal path", *size, ours, "PuLP+CBC", theirs, "us")


def memory(k: int) -> Iterator[Row]:
    """Peak resident growth per candidate."""

    def measure(method: str, words: int, labels: int, k: int) -> float:
        command = [
            sys.executable,
            "-m",
            "lab.benchmarks.memory",
            method,
            *map(str, (words, labels, k)),
        ]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    for words, labels in SIZES:
        theirs = measure("lazy-k", words, labels, k)
        for method in ("assignments", "paths"):
            ours = measure(method, words, labels, k)
            yield Row(f"memory, {method}", words, labels, k, ours, "lazy-k", theirs, "bytes each")


def main() -> None:
    arguments = study(__doc__, quick=False)
    ks = [2**10] if arguments.quick else [2**10, 2**13, 2**16]
    repeats = 3 if arguments.quick else 5

    table = Table()
    for row in chain(
        assignments(ks, repeats), paths(ks, repeats), first_candidate(repeats), memory(ks[-1])
    ):
        ratio = f"{row.theirs / row.ours:.1f}" if row.theirs and row.ours else "-"
        table.add(row._asdict() | {"ours": f"{row.ours:.3f}", "ratio": ratio})


if __name__ == "__main__":
    main()
