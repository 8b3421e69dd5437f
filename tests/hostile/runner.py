"""Runs hostile cases in worker processes until one fails.

    python -m tests.hostile 1000000 --workers 2
    python -m tests.hostile --targets values --seed 0 --case 17

A case fails if it ends in anything but an answer or an error that its target allows: in another
exception, a crash, more than ``SECONDS``, or more memory than ``GIGABYTES``. The command that
repeats it is printed. A case depends on its seed, target and number only.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import pkgutil
import random
import resource
import signal
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.connection import wait
from typing import NamedTuple

from lawful.base.errors import LawfulError
from tests import hostile

SECONDS = 30  # per case, on a machine that is busy
GIGABYTES = 4  # of addresses per worker, above what it has once its target is loaded
CHUNK_SECONDS = 1.0

SECONDS_PER_CASE = {
    "arrays": 2e-4,
    "cli": 1e-1,
    "expressions": 1e-2,
    "lines": 1e-3,
    "model_folders": 1e-1,
    "native": 2e-3,
    "npz_files": 3e-3,
    "rule_dictionaries": 1e-2,
    "rule_files": 3e-3,
    "samples": 5e-3,
    "values": 1e-4,
}
"""About how long a case takes; each target gets a number of cases in inverse proportion."""


def targets() -> list[str]:
    """The names of all targets, which are the modules that draw cases."""
    names = (module.name for module in pkgutil.iter_modules(hostile.__path__))
    return sorted(name for name in names if name not in ("__main__", "mutations", "runner", "uses"))


def load(target):
    """The module of a target."""
    return importlib.import_module(f"tests.hostile.{target}")


def drawn(target, seed, number):
    """A case, from its seed, target and number."""
    return load(target).draw(random.Random(f"{seed} {target} {number}"))  # noqa: S311


class Chunk(NamedTuple):
    """Cases of one target, by number."""

    target: str
    seed: int
    numbers: range


class OutOfTimeError(BaseException):
    """A case took too long; not an ``Exception``, so that nothing catches it."""


def run_chunk(chunk: Chunk, begin=lambda number: None) -> Counter[str] | tuple[int, str]:
    """Outcomes by name; or the number of the case that failed, and why."""
    target = load(chunk.target)
    outcomes = Counter()
    for number in chunk.numbers:
        begin(number)
        try:
            case = drawn(chunk.target, chunk.seed, number)
            signal.setitimer(signal.ITIMER_REAL, SECONDS)
            try:
                outcome = target.run(case)
            except LawfulError as error:
                outcome = type(error).__name__
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except (Exception, OutOfTimeError):
            return number, traceback.format_exc()
        outcomes[outcome] += 1
    return outcomes


def _give_up(*_):
    raise OutOfTimeError(f"more than {SECONDS} seconds")


def _work(connection, current, gigabytes):
    """The loop of a worker: takes chunks, returns their outcomes."""
    faulthandler.enable()
    signal.signal(signal.SIGALRM, _give_up)
    limited = set()
    while (chunk := connection.recv()) is not None:
        if chunk.target not in limited:
            limited.add(chunk.target)
            load(chunk.target)
            if gigabytes:
                _limit_memory(gigabytes)
        connection.send(run_chunk(chunk, lambda number: setattr(current, "value", number)))


def _limit_memory(gigabytes):
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - no file on a disk
        used = int(file.read().split()[0]) * resource.getpagesize()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + gigabytes * 2**30, most))


class _Worker:
    def __init__(self, gigabytes):
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.current = context.Value("q", -1, lock=False)
        self.process = context.Process(
            target=_work, args=(theirs, self.current, gigabytes), daemon=True
        )
        self.process.start()
        theirs.close()
        self.chunk = None
        self._seen = (-1, 0.0)

    def take(self, chunk):
        self.chunk = chunk
        self.began = time.monotonic()
        self.current.value = -1
        self.connection.send(chunk)

    def is_stuck(self):
        """Whether one case has been running for far too long, without looking at its signals."""
        if self._seen[0] != self.current.value:
            self._seen = (self.current.value, time.monotonic())
        return self.current.value >= 0 and time.monotonic() - self._seen[1] > 2 * SECONDS

    def end(self):
        self.process.kill()
        self.process.join()


class Failure(NamedTuple):
    """A case that failed, and why."""

    target: str
    seed: int
    number: int
    why: str

    def __str__(self) -> str:
        command = f"python -m tests.hostile --targets {self.target} --seed {self.seed}"
        return f"{self.target}: {self.why}\nrepeat with: {command} --case {self.number}"


def chunks(names, cases, seed) -> Iterator[Chunk]:
    """The cases of all targets, the most to the fastest, in chunks that take turns."""
    seconds = {name: SECONDS_PER_CASE.get(name, 1e-3) for name in names}
    rates = {name: 1 / seconds[name] for name in names}
    counts = {name: max(1, round(cases * rates[name] / sum(rates.values()))) for name in names}
    ranges = []
    for name, count in counts.items():
        size = max(1, min(round(CHUNK_SECONDS / seconds[name]), -(-count // 4)))
        starts = range(0, count, size)
        ranges += [
            (start / count, Chunk(name, seed, range(start, min(start + size, count))))
            for start in starts
        ]
    return (chunk for _, chunk in sorted(ranges, key=lambda each: each[0]))


class Results:
    """Outcomes and seconds by target."""

    def __init__(self) -> None:
        self.outcomes: dict[str, Counter[str]] = {}
        self.seconds: Counter[str] = Counter()

    def add(self, target, outcomes, seconds):
        """Adds the outcomes of a chunk."""
        self.outcomes.setdefault(target, Counter()).update(outcomes)
        self.seconds[target] += seconds

    def __str__(self) -> str:
        lines = [f"{'target':<18}{'cases':>10}{'answers':>10}{'refused':>10}{'seconds':>9}  by"]
        for name, outcomes in sorted(self.outcomes.items()):
            total, answers = outcomes.total(), outcomes["answer"]
            others = ", ".join(
                f"{what} {count:,}" for what, count in outcomes.most_common() if what != "answer"
            )
            lines.append(
                f"{name:<18}{total:>10,}{answers:>10,}{total - answers:>10,}"
                f"{self.seconds[name]:>9.1f}  {others}"
            )
        return "\n".join(lines)


def run_all(work: Iterator[Chunk], workers: int, gigabytes=GIGABYTES) -> Results | Failure:
    """The results of all chunks, or the first failure."""
    results = Results()
    idle = [_Worker(gigabytes) for _ in range(workers)]
    busy: list[_Worker] = []
    everyone = tuple(idle)
    try:
        while True:
            while idle and (chunk := next(work, None)) is not None:
                busy.append(idle.pop())
                busy[-1].take(chunk)
            if not busy:
                return results
            ready = wait([worker.connection for worker in busy], timeout=1)
            for worker in [worker for worker in busy if worker.connection in ready]:
                target, seed, _ = worker.chunk
                try:
                    found = worker.connection.recv()
                except (EOFError, ConnectionError):
                    worker.process.join()
                    why = f"the process died with code {worker.process.exitcode}"
                    return Failure(target, seed, worker.current.value, why)
                if isinstance(found, tuple):
                    return Failure(target, seed, *found)
                results.add(target, found, time.monotonic() - worker.began)
                busy.remove(worker)
                idle.append(worker)
            for worker in busy:
                if worker.is_stuck():
                    why = f"more than {2 * SECONDS} seconds in native code"
                    return Failure(*worker.chunk[:2], worker.current.value, why)
    finally:
        for worker in everyone:
            worker.end()


def main(arguments=None) -> int:
    """Runs cases of all targets; exit code 1 if one fails."""
    parser = argparse.ArgumentParser(prog="tests.hostile", description=__doc__.splitlines()[0])
    parser.add_argument("cases", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--targets", help="names, separated by commas; by default, all")
    parser.add_argument("--seed", type=int, default=0, help="another one draws other cases")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--case", type=int, help="run only the case with this number")
    parser.add_argument("--gigabytes", type=int, default=GIGABYTES, help="per worker; 0: no limit")
    options = parser.parse_args(arguments)
    names = targets() if options.targets is None else options.targets.split(",")
    if unknown := set(names) - set(targets()):
        parser.error(f"unknown target {min(unknown)!r}; targets: {', '.join(targets())}")
    left_out = {name: getattr(load(name), "LEFT_OUT", None) for name in names}
    for name, why in left_out.items():
        if why:
            print(f"left out: {name}: {why}")
    names = [name for name in names if not left_out[name]]
    if options.case is not None:
        for name in names:
            print(f"{name}: {drawn(name, options.seed, options.case)!r:.4000}", flush=True)
        numbers = range(options.case, options.case + 1)
        work = iter([Chunk(name, options.seed, numbers) for name in names])
    else:
        work = chunks(names, options.cases, options.seed)
    began = time.monotonic()
    found = run_all(work, options.workers, options.gigabytes)
    print(found)
    if isinstance(found, Failure):
        return 1
    total = sum(outcomes.total() for outcomes in found.outcomes.values())
    print(f"{total:,} cases, none failed, in {time.monotonic() - began:.0f} s")
    return 0
