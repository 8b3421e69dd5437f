"""Times and memory: of calls, and of other processes."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import process_time
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def timed(call: Callable[[], T]) -> tuple[T, float]:
    """What a call returns, and the milliseconds of the processor that it took."""
    began = process_time()
    found = call()
    return found, 1000 * (process_time() - began)


def percentiles(values: Iterable[float], *shares: float) -> list[float]:
    """The values below which these shares in percent are."""
    return [float(each) for each in np.percentile(list(values), shares)]


def processor_seconds(pids: Sequence[int]) -> float:
    """Processor time of processes so far."""
    stats = (Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids)
    return sum(int(stat[11]) + int(stat[12]) for stat in stats) / os.sysconf("SC_CLK_TCK")


def own_seconds() -> float:
    """Processor time of this process and of those that it started and that have ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def resident(pids: Sequence[int]) -> float:
    """Memory of processes in MiB."""
    pages = (int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
    return sum(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20
