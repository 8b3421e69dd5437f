"""The settings of the service, which its processes share; checked when made."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import isfinite
from pathlib import Path

from lawful.errors import InputError
from lawful.server.limits import BodyLimits

MOST_WORKERS = 64

CONCURRENCY = min(8, 2 * (os.cpu_count() or 1))
"""Documents that a process decodes at a time: most of it is Python, which uses one core."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What ``lawful serve`` was asked for. Limits are for each process."""

    rules: Mapping[str, Path]  # rule files by name
    seconds: float = 2.0  # for decoding a document, at most
    body: BodyLimits = field(default_factory=BodyLimits)
    cells: int = 1_000_000  # words × labels of a document
    concurrency: int = CONCURRENCY
    waiting: int = 64  # requests that wait for their turn
    drain_seconds: float = 10.0
    workers: int = 1
    token: str | None = field(default=None, repr=False)
    origins: tuple[str, ...] = ()  # that browsers may call from
    hosts: tuple[str, ...] | None = None  # that ``Host`` may name; ``None`` is any
    inline_rules: bool = False
    model: str | None = None  # ``None`` is the receipt model, loaded when it is first needed
    file_seconds: float = 30.0  # for reading a file
    pages: int = 50  # of a file

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            least = 0 if each.name in ("waiting", "drain_seconds") else 1e-9
            if number and not (value >= least and isfinite(value)):
                what = each.name.replace("_", "-")
                raise InputError(f"--{what} is {value:g}, expected a number above 0")
        if self.workers > MOST_WORKERS:
            raise InputError(f"--workers is {self.workers}, expected at most {MOST_WORKERS}")
        if "*" in self.origins and self.token is None:
            raise InputError("--allow-origin * lets every web page in: it needs a token")
