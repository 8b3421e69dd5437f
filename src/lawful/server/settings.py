"""The settings of the service, which its processes share; checked when made."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import isfinite
from pathlib import Path

from lawful.base.errors import InputError
from lawful.server.body_limits import BodyLimits

MAX_WORKERS = 64

CONCURRENCY = min(8, 2 * (os.cpu_count() or 1))
"""Documents that a process decodes at a time: most of it is Python, which uses one core."""


READERS = max(2, (os.cpu_count() or 1) // 4)
"""Processes that read files: OCR uses all cores for a page, and a PDF file need not wait for it."""


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
    trust: Mapping[str, Path] = field(default_factory=dict)  # files of ``lawful trust fit``
    by_kind: bool = False  # files without ``rules`` are told to be receipts or invoices
    model: str | None = None  # ``None`` is the shipped one for the rules
    warm: bool = False  # models, and a process that reads files, are loaded at the start
    readers: int = READERS  # processes that read files
    file_seconds: float = 30.0  # for reading a file
    pages: int = 50  # of a file
    cache: Path | None = None  # of what was read; ``None`` keeps nothing
    jobs: Path | None = None  # the database of jobs; ``None`` has none
    job_seconds: float = 900.0  # for reading the file of a job
    job_pages: int = 300

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            least = 0 if each.name in ("waiting", "drain_seconds") else 1e-9
            if number and not (value >= least and isfinite(value)):
                what = each.name.replace("_", "-")
                raise InputError(f"--{what} is {value:g}, expected a number above 0")
        if self.workers > MAX_WORKERS:
            raise InputError(f"--workers is {self.workers}, expected at most {MAX_WORKERS}")
        if "*" in self.origins and self.token is None:
            raise InputError("--allow-origin * lets every web page in: it needs a token")
