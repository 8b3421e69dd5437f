"""The settings of the service, which its processes share; checked when made."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import isfinite
from pathlib import Path
from typing import ClassVar

from lawful.base.errors import InputError
from lawful.base.options import option, switch

MAX_WORKERS = 64

CONCURRENCY = min(8, 2 * (os.cpu_count() or 1))
"""Documents that a process decodes at a time: most of it is Python, which uses one core."""


READERS = max(2, (os.cpu_count() or 1) // 4)
"""Processes that read files: OCR uses all cores for a page, and a PDF file need not wait for it."""

_ACCESS = "Who may ask"
_LIMITS = "Limits, per process"


@dataclass(frozen=True, slots=True)
class Settings:
    """What ``lawful serve`` was asked for. Limits are for each process."""

    PANEL: ClassVar[str] = "Files"

    rules: Mapping[str, Path] = field(default_factory=dict)  # rule files by name
    trust: Mapping[str, Path] = field(default_factory=dict)  # files of ``lawful trust fit``
    token: str | None = field(default=None, repr=False)
    origins: tuple[str, ...] = ()  # that browsers may call from
    hosts: tuple[str, ...] | None = None  # that ``Host`` may name; ``None`` is any
    by_kind: bool = False  # files without ``rules`` are told to be receipts or invoices
    workers: int = option(1, metavar="N", min=1, rich_help_panel=None, help="Number of processes.")
    inline_rules: bool = switch(
        "--inline-rules", rich_help_panel=_ACCESS, help="Allow documents to bring their own rules."
    )
    seconds: float = option(
        2.0, metavar="S", rich_help_panel=_LIMITS,
        help="Maximum time to decode a document; the best answer so far comes back.",
    )  # fmt: skip
    max_bytes: int = option(
        16 * 2**20, metavar="N", min=1, rich_help_panel=_LIMITS,
        help="Maximum bytes of a body, and of a line of a stream.",
    )  # fmt: skip
    max_cells: int = option(
        1_000_000, metavar="N", min=1, rich_help_panel=_LIMITS,
        help="Maximum words × labels of a document.",
    )  # fmt: skip
    body_seconds: float = option(
        30.0, metavar="S", rich_help_panel=_LIMITS,
        help="Maximum time to wait for a body, and for a line of a stream.",
    )  # fmt: skip
    concurrency: int = option(
        CONCURRENCY, metavar="N", min=1, rich_help_panel=_LIMITS,
        show_default="two per core, at most 8",
        help="Documents that are decoded at the same time.",
    )  # fmt: skip
    waiting: int = option(
        64, metavar="N", min=1, rich_help_panel=_LIMITS,
        help="Requests that may wait for their turn, and streams; more are answered with 503.",
    )  # fmt: skip
    drain_seconds: float = option(
        10.0, metavar="S", rich_help_panel=_LIMITS,
        help="Time for requests to finish after SIGTERM.",
    )  # fmt: skip
    model: str | None = option(
        None, "--model", "-m", metavar="MODEL",
        show_default="the shipped one that knows the rules",
        help="Model for /v1/extract: a folder, or a name on the hub.",
    )  # fmt: skip
    warm: bool = switch("--warm", help="Load models and OCR at the start, not with the first file.")
    readers: int = option(
        READERS, metavar="N", min=1, max=64, show_default="one per four cores, at least 2",
        help="Processes that read files, and stay warm between them.",
    )  # fmt: skip
    cache: Path | None = option(
        None, metavar="FOLDER", show_default="nothing is kept",
        help="Keep in this folder what was read: a file of the same content is read once.",
    )  # fmt: skip
    jobs: Path | None = option(
        None, metavar="FILE", show_default="no jobs",
        help="SQLite database of jobs, which answer long files later: Prefer: respond-async.",
    )  # fmt: skip
    job_seconds: float = option(900.0, metavar="S", help="Maximum time to read the file of a job.")
    job_pages: int = option(
        300, metavar="N", min=1, help="Maximum number of pages of the file of a job."
    )
    file_seconds: float = option(30.0, metavar="S", help="Maximum time to read one file.")
    max_pages: int = option(50, metavar="N", min=1, help="Maximum number of pages of a file.")

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
