"""Output of commands: results on standard output, messages and progress on standard error."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from lawful.cli.counts import BAD, PASS, REVIEW, SURE, TRUSTED, UNSURE, Tally
from lawful.cli.options import EndOptions
from lawful.cli.terminal import messages, results_console, say
from lawful.io.atomic import atomic_text
from lawful.io.jsonl import Line
from lawful.results.promise import Promise

Item = TypeVar("Item")


def plural(count: int, noun: str = "document") -> str:
    """A count and its noun, in the plural unless the count is 1."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


EVERY = 10.0
"""Seconds between two lines of progress, where there is no terminal for a bar."""


class Progress:
    """A progress bar on standard error, or a line every ten seconds if that is no terminal.

    ``lines``, ``beats`` and ``documents`` pass items on unchanged.
    """

    def __init__(self, path: str = "-", *, files: int | None = None, quiet: bool = False) -> None:
        """With the path of an uncompressed file, the bar shows the share that was read.

        ``files`` is the number of files that will be read, if that is known.
        """
        size = None
        if path != "-" and not path.endswith(".gz") and Path(path).is_file():
            size = Path(path).stat().st_size
        self._began = monotonic()
        self._said = None if quiet or messages.is_terminal else self._began
        self._files, self._done = files, 0
        self._bar = Bar(
            TextColumn("{task.fields[documents]}, {task.fields[rate]}/s"),
            BarColumn(),
            TimeRemainingColumn(),
            console=messages,
            transient=True,
            disable=quiet or not messages.is_terminal,
        )
        self._task = self._bar.add_task("", total=size, documents=plural(0), rate="-")

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def lines(self, lines: Iterable[Line]) -> Iterator[Line]:
        """Counts the bytes of lines as they are read."""
        for line in lines:
            self._bar.advance(self._task, len(line[1]))
            yield line

    def beats(self, items: Iterable[Item]) -> Iterator[Item]:
        """Says how far it is when it is time to, also while a document is awaited."""
        for item in items:
            self._look(monotonic())
            yield item

    def documents(self, items: Iterable[Item]) -> Iterator[Item]:
        """Counts documents."""
        for item in items:
            self._done += 1
            now = monotonic()
            self._bar.update(self._task, documents=plural(self._done), rate=self._rate(now))
            self._look(now)
            yield item

    def _rate(self, now: float) -> str:
        speed = self._done / max(now - self._began, 1e-9)
        return f"{speed:,.0f}" if speed >= 10 else f"{speed:.2g}"

    def _look(self, now: float) -> None:
        if self._said is None or now < self._said + EVERY:
            return
        self._said = now
        if self._files is None:
            say(f"{plural(self._done)} so far, {self._rate(now)}/s")
            return
        spent, left = now - self._began, self._files - self._done
        time = f", about {duration(left * spent / self._done)} left" if self._done else ""
        say(f"{self._done:,} of {plural(self._files, 'file')}, {self._rate(now)}/s{time}")


def duration(seconds: float) -> str:
    """A time as people say it: ``8.3 s``, ``4 min 10 s``, ``2 h 05 min``."""
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02} min"


def summarise(tally: Tally, promise: Promise | None = None) -> None:
    """Prints the number of documents, by status, and of those that pass by a promise."""
    count = sum(tally.statuses.values()) - tally[BAD]
    say(f"{plural(count)}{f': {tally}' if str(tally) else ''}")
    if promise is not None:
        say(promise.headline(tally[PASS], tally[PASS] + tally[REVIEW]))
    elif known := tally[SURE] + tally[UNSURE]:
        say(
            f"no promise; by measurements on other documents, trust is at least {TRUSTED:g} in "
            f"{tally[SURE]:,} of {known:,} (lawful trust fit makes a promise)"
        )
    if tally.known:
        say(f"known values that were found: {tally.known}")


def leave(
    tally: Tally, end: EndOptions, promise: Promise | None = None, *more: Callable[[], None]
) -> None:
    """Summarises, calls what says ``more``, and exits.

    With 0 if all documents are satisfied, or pass by a promise; 2 if no line could be used; 1
    otherwise.
    """
    if not end.quiet:
        summarise(tally, promise)
        for say_more in more:
            say_more()
    found = set(tally.statuses)
    if tally[PASS] + tally[REVIEW]:
        raise typer.Exit(1 if tally[REVIEW] or tally[BAD] else 0)
    fine = {"satisfied"} if end.unchecked == "fail" else {"satisfied", "unchecked"}
    raise typer.Exit(2 if found == {BAD} else 0 if found <= fine else 1)


@contextmanager
def reporting(out: str | None) -> Iterator[tuple[Console, Callable[[Mapping[str, Any]], None]]]:
    """A console for tables, and a function that writes a record as JSON to ``out``.

    If the JSON goes to standard output, the tables go to standard error.
    """
    console = results_console(stderr=out == "-")
    if out is None:
        yield console, lambda _: None
        return
    with atomic_text(out) as file:
        yield console, lambda record: print(json.dumps(record, indent=1), file=file)
