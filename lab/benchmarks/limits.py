"""Time limits: how far calls exceed them, and how quickly calls react to Ctrl-C.

    python -m lab.benchmarks.limits [--seconds 0.05,0.5,2] [--cases a,b]

Each case is a document of ``tests.fixtures.slow``, on which a part of decoding takes long without a
limit. Every call runs in its own process. ``over`` is the time beyond the limit; the goal is at
most 10 % or 20 ms. ``memory`` is the growth of the process. Finally, the same calls without a limit
are interrupted after half a second: ``Ctrl-C`` is the time until they end.
"""

from __future__ import annotations

import os
import resource
import signal
import threading
from math import inf
from multiprocessing import get_context
from time import perf_counter
from typing import Any

from lab.benchmarks.study import Study
from lawful import Budget, decode
from tests.fixtures.slow import CASES, Case


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
        result = took, memory, status if seconds is not None else "ended before"
    process.join()
    return result


def main() -> None:
    parser = Study(__doc__)
    parser.add_argument("--seconds", default="0.05,0.5,2")
    parser.add_argument("--cases", default="", help="Only cases whose name contains one of these.")
    arguments = parser.parse_args()
    try:
        asked = [float(part) for part in arguments.seconds.split(",")]
    except ValueError:
        parser.error(f"--seconds is {arguments.seconds!r}, expected numbers separated by commas")
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
