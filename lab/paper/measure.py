"""Time and memory of decoding, measured in a separate process."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from lawful.base.errors import LawfulError
from lawful.decoders import Decoder, decode
from lawful.documents.records import Scored
from lawful.results.decoding import Budget
from lawful.rules.rule_set import Rules

_STATUS = Path("/proc/self/status")


@dataclass(frozen=True, slots=True)
class Measured:
    """The answers for each page, with time and memory."""

    labels: list[Any]  # by page: indices of labels
    proven: list[bool]  # by page: whether the search ended with an answer
    tried: list[int]
    seconds: list[list[float]]  # by repeat, by page
    memory: float | None  # growth of peak memory in MiB; None if the system does not report it


def measure(
    pages: Sequence[Scored],
    rules: Rules,
    decoder: Decoder,
    budget: Budget,
    repeats: int,
    patience: float,
) -> Measured:
    """Decodes the pages up to ``repeats`` times; no further repeat after ``patience`` seconds."""
    context = _context()
    ours, theirs = context.Pipe(duplex=False)
    work = (theirs, list(pages), rules, decoder, budget, repeats, patience)
    process = context.Process(target=_work, args=work, daemon=True)
    process.start()
    theirs.close()
    try:
        found = ours.recv()
    except EOFError:
        process.join()
        raise LawfulError(
            f"the process that measured {decoder.name} died with code {process.exitcode}, "
            "perhaps out of memory"
        ) from None
    except BaseException:
        process.kill()
        raise
    finally:
        ours.close()
        process.join()
        process.close()
    if isinstance(found, LawfulError):
        raise found
    measured: Measured = found
    return measured


def _context() -> Any:
    """A context for processes with the package loaded, but none of this process's data."""
    methods = multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    if "forkserver" in methods:
        context.set_forkserver_preload(["lab.paper.measure"])
    return context


def _work(pipe: Connection, *what: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets Ctrl-C and ends this process
    try:
        pipe.send(_decode_all(*what))
    except LawfulError as error:
        pipe.send(error)


def _decode_all(
    pages: list[Scored],
    rules: Rules,
    decoder: Decoder,
    budget: Budget,
    repeats: int,
    patience: float,
) -> Measured:
    for page in pages[:1]:  # warm-up: lazy imports are not measured
        decode(page.document, page.scores, rules, decoder=decoder, budget=Budget(1))
    before = resident("VmRSS")
    labels, proven, tried = [], [], []
    seconds: list[list[float]] = []
    began = perf_counter()
    while len(seconds) < repeats and (not seconds or perf_counter() - began < patience):
        times = []
        for page in pages:
            begin = perf_counter()
            found = decode(page.document, page.scores, rules, decoder=decoder, budget=budget)
            times.append(perf_counter() - begin)
            if not seconds:
                index = {name: i for i, name in enumerate(page.word_scores.labels)}
                labels.append(np.array([index[name] for name in found.labels], dtype=np.int32))
                proven.append(found.status in ("satisfied", "unchecked", "relaxed"))
                tried.append(found.tried)
        seconds.append(times)
    peak = resident("VmHWM")
    memory = None if before is None or peak is None else max(0, peak - before) / 2**20
    return Measured(labels, proven, tried, seconds, memory)


def resident(field: str) -> int | None:
    """``VmRSS`` (now) or ``VmHWM`` (peak) of this process in bytes, on Linux."""
    if not _STATUS.exists():
        return None
    for line in _STATUS.read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return None
