"""Limits that hold: the seconds that a call may take, what it took, and how soon it hears Ctrl-C.

    python -m benchmarks.limits [--seconds 0.05,0.5,2] [--cases a,b]

Each case is a document on which some part of decoding takes long when nobody stops it: reading
spans, the graph, sums, settling ambiguous texts, repeated values, corrections, clashes,
alternatives and confidence, or one of the paper's decoders. Every call runs in a process of its
own. ``over`` is what it took beyond what was asked for; the goal is at most 10 % or 20 ms over.
``memory`` is what the process grew by. Last, the same calls without a limit are interrupted after
half a second: ``Ctrl-C`` says how long they took to end.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import threading
from collections.abc import Callable, Mapping
from math import inf
from multiprocessing import get_context
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from benchmarks.search import receipt
from lawful import Budget, Document, Field, Rules, Scores, decode

Given = tuple[Document, Scores, Rules]


class Case(NamedTuple):
    """A problem, and how it is decoded."""

    make: Callable[[], Given]
    options: Mapping[str, Any] = {}


def confused(words: int, *, fields: int = 6, seed: int = 1, tidy: float = 0.0) -> Given:
    """A long document of amounts, any of which may be any field, but for a ``tidy`` share."""
    rng = np.random.default_rng(seed)
    names = [f"f{i}" for i in range(fields)]
    labels = ["O", *(f"{prefix}-{name}" for name in names for prefix in "BI")]
    probs = rng.dirichlet(np.full(len(labels), 0.4), words)
    clear = rng.random(words) < tidy
    probs[clear] = 1e-4
    probs[clear, 0] = 1
    texts = [f"{rng.integers(1, 10**6) / 100:.2f}" for _ in range(words)]
    rules = Rules(
        [*(Field(name, name, "money") for name in names[:-1]),
         Field("items", names[-1], "money", many=True)],
        ["f0 == sum(items)", "f1 == f0 + f2", "f3 == f1 - f4"],
    )  # fmt: skip
    return Document("confused", texts), _scores(probs, labels), rules


def ambiguous(items: int, *, weight: float = 10.0) -> Given:
    """So many amounts that may each be read in two ways, and a total that none of them makes."""
    rng = np.random.default_rng(2)
    labels = ["O", "B-total", "B-item"]
    texts = ["7.77", *(f"{n // 1000}.{n % 1000:03d}" for n in rng.integers(1000, 9999, items))]
    probs = np.full((items + 1, 3), 0.02)
    probs[0, 1] = probs[1:, 2] = 0.96
    rules = Rules(
        [Field("total", "total", "money", ambiguity=0.1),
         Field("items", "item", "money", many=True, ambiguity=0.1)],
        ["total == sum(items)"],
    ).with_defaults(weight=weight)  # fmt: skip
    return Document("ambiguous", texts), _scores(probs, labels), rules


def repeated(values: int) -> Given:
    """Three fields with so many values each, any of which will do."""
    rng = np.random.default_rng(3)
    labels = ["O", "B-a", "B-b", "B-c"]
    texts = [f"{n}.00" for n in rng.permutation(np.arange(1000, 1000 + 9 * values, 3))]
    probs = np.full((len(texts), 4), 0.05)
    probs[np.arange(len(texts)), 1 + np.arange(len(texts)) % 3] = 0.85
    fields = [Field(name, name, "money", repeat="any") for name in "abc"]
    rules = Rules(fields, ["a + b + c == 0.5", "a == b + c + 0.5"])
    return Document("repeated", texts), _scores(probs, labels), rules


def quotients(values: int) -> Given:
    """Ambiguous values, any of which will do, and rules that stay Python."""
    labels = ["O", "B-a", "B-b"]
    texts = [f"{i + 10}.{100 + i * 7 % 900:03d}" for i in range(2 * values)]
    probs = np.full((2 * values, 3), 0.01)
    probs[:values, 1] = probs[values:, 2] = 0.98
    fields = [Field(name, name, "money", repeat="any", ambiguity=0.2) for name in "ab"]
    rules = Rules(fields, [f"a / b == {1000 + j}" for j in range(10)])
    return Document("quotients", texts), _scores(probs, labels), rules


def corrected(words: int) -> Given:
    """A long document whose model is wrong about many words, each of them for a rule."""
    labels = ["O", "B-total", "I-total", "B-x", "I-x"]
    probs = np.full((words, 5), 0.01)
    probs[:, 2] = 0.5  # I where no span is: illegal, so that all of them change
    probs[::2, 0], probs[1::2, 1] = 0.4, 0.4
    rules = Rules([Field("total", "total", "money")], ["total > 0"])
    return Document("corrected", [f"{i}.50" for i in range(words)]), _scores(probs, labels), rules


def clashing(rules: int) -> Given:
    """Hard rules of which only some two cannot hold together."""
    labels = ["O", *(f"B-f{i}" for i in range(rules))]
    rng = np.random.default_rng(4)
    texts = [f"{n}" for n in rng.integers(1, 50, 3 * rules)]
    probs = rng.dirichlet(np.full(len(labels), 0.6), len(texts))
    fields = [Field(f"f{i}", f"f{i}", "money", presence="required") for i in range(rules)]
    checks = [f"f{i} + f{i + 1} + f{(i + 2) % rules} == {i + 7}" for i in range(rules - 1)]
    made = Rules(fields, [*checks, "f0 > 100", "f0 < 90"]).with_defaults(weight=inf)
    return Document("clashing", texts), _scores(probs, labels), made


def unbalanced(items: int) -> Given:
    """A receipt of so many lines that do not add up."""
    document, scores = receipt(items, np.random.default_rng(5), adds_up=False)
    rules = Rules(
        [Field("subtotal", "subtotal", "money"), Field("items", "item", "money", many=True)],
        ["subtotal == sum(items)"],
    )
    return document, scores, rules.with_defaults(weight=inf)


def _scores(probs: np.ndarray, labels: list[str]) -> Scores:
    return Scores.from_probs(probs / probs.sum(axis=1, keepdims=True), labels)


CASES: Mapping[str, Case] = {
    "500 ambiguous amounts": Case(lambda: ambiguous(500)),
    "500 ambiguous amounts, paths": Case(lambda: ambiguous(500), {"decoder": "paths"}),
    "60 ambiguous amounts, hard": Case(lambda: ambiguous(60, weight=inf), {"decoder": "paths"}),
    "graph of 1,000 words": Case(lambda: confused(1000)),
    "graph of 2,000 words": Case(lambda: confused(2000)),
    "2,000 words, 5 % unclear": Case(lambda: confused(2000, tidy=0.95)),
    "sums of 100 items": Case(lambda: unbalanced(100)),
    "sums of 300 items": Case(lambda: unbalanced(300)),
    "corrections of 5,000 words": Case(lambda: corrected(5000)),
    "3 x 60 repeated values": Case(lambda: repeated(60)),
    "3 x 200 repeated values, paths": Case(lambda: repeated(200), {"decoder": "paths"}),
    "10 quotients of 2 x 40 values": Case(lambda: quotients(40)),
    "the same, paths": Case(lambda: quotients(40), {"decoder": "paths"}),
    "clash among 12 rules": Case(lambda: clashing(12)),
    "alternatives, 300 words": Case(lambda: confused(300), {"alternatives": 3}),
    "alternatives, 100 items": Case(lambda: unbalanced(100), {"alternatives": 3}),
    "readings, 300 words": Case(lambda: confused(300), {"decoder": "readings"}),
    "lazyk, 300 words": Case(lambda: confused(300), {"decoder": "lazyk"}),
    "best_first, 300 words": Case(lambda: confused(300), {"decoder": "best_first"}),
    "beam, 2,000 words": Case(lambda: confused(2000), {"decoder": "beam"}),
    "lazy_ilp, 300 words": Case(lambda: confused(300), {"decoder": "lazy_ilp"}),
}


def _measure(pipe: Any, case: Case, seconds: float | None) -> None:
    document, scores, rules = case.make()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if seconds is None:  # to be interrupted
        threading.Timer(0.5, _interrupt, [pipe, os.getpid()]).start()
    budget = Budget(candidates=inf, seconds=seconds)
    began = perf_counter()
    try:
        found = decode(document, scores, rules, budget=budget, **case.options)
        status = f"{found.status} {found.worth:.1f}"
    except KeyboardInterrupt:
        status = "interrupted"
    took = perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    pipe.send((took, (after - before) / 1024, status, perf_counter()))


def _interrupt(pipe: Any, process: int) -> None:
    pipe.send(perf_counter())
    os.kill(process, signal.SIGINT)


def _run(case: Case, seconds: float | None) -> tuple[float, float, str]:
    context = get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_measure, args=(theirs, case, seconds))
    process.start()
    first = ours.recv()
    if isinstance(first, float):  # when the signal was sent
        _, memory, status, ended = ours.recv()
        result = ended - first, memory, status
    else:
        took, memory, status, _ = first
        result = took, memory, status if seconds is not None else "ended by itself"
    process.join()
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description="What was asked for, and what it took.")
    parser.add_argument("--seconds", default="0.05,0.5,2")
    parser.add_argument("--cases", default="", help="Only those whose name has one of these.")
    arguments = parser.parse_args()
    try:
        asked = [float(part) for part in arguments.seconds.split(",")]
    except ValueError:
        parser.error(f"--seconds is {arguments.seconds!r}, expected numbers with commas between")
    wanted = arguments.cases.split(",")
    print(f"{'case':32}" + "".join(f"{s:>7g} s  {'over':>8}  {'memory':>7}" for s in asked)
          + "   Ctrl-C")  # fmt: skip
    worst = 0.0
    for name, case in CASES.items():
        if not any(part in name for part in wanted):
            continue
        print(f"{name:32}", end="", flush=True)
        for seconds in asked:
            took, memory, _ = _run(case, seconds)
            over = took - seconds
            worst = max(worst, over - max(0.1 * seconds, 0.02))
            print(f"{took:7.3f} s  {1e3 * over:5.0f} ms  {memory:4.0f} MB", end="", flush=True)
        took, _, status = _run(case, None)
        print(f"   {1e3 * took:5.0f} ms" + ("" if status == "interrupted" else f" ({status})"))
    print("all within 10 % or 20 ms" if worst <= 0 else f"{1e3 * worst:.0f} ms over the goal")


if __name__ == "__main__":
    main()
