"""Output of commands: results on standard output, messages and progress on standard error."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from lawful.cli.options import Unchecked
from lawful.cli.tally import BAD, Tally
from lawful.cli.terminal import Terminal
from lawful.io.atomic import atomic_text
from lawful.io.jsonl import Line

Item = TypeVar("Item")

messages = Terminal(stderr=True, highlight=False, emoji=False, soft_wrap=True)


def results_console(*, stderr: bool = False) -> Console:
    """A console for tables and text, without markup; 120 columns wide if not a terminal."""
    console = Terminal(stderr=stderr, highlight=False, emoji=False, markup=False)
    if not console.is_terminal:
        console.width = 120  # a file or a pipe
    return console


def say(message: str) -> None:
    """Prints a message."""
    messages.print(message, markup=False)


def warn(message: str) -> None:
    """Prints a warning."""
    messages.print(message, style="yellow", markup=False)


def show_error(message: str) -> None:
    """Prints the error that ends the command."""
    messages.print(f"lawful: {message}", style="red", markup=False)


class Interrupted(Exception):  # noqa: N818 - no error
    """Ctrl-C, with a message about the results that are kept."""


def plural(count: int, noun: str = "document") -> str:
    """A count and its noun, in the plural unless the count is 1."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


class Progress:
    """A progress bar on standard error, if that is a terminal.

    ``lines`` and ``documents`` count items and pass them on unchanged.
    """

    def __init__(self, path: str = "-", *, quiet: bool = False) -> None:
        """With the path of an uncompressed file, the bar shows the share that was read."""
        size = None
        if path != "-" and not path.endswith(".gz") and Path(path).is_file():
            size = Path(path).stat().st_size
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

    def documents(self, items: Iterable[Item]) -> Iterator[Item]:
        """Counts documents."""
        for done, item in enumerate(items, 1):
            rate = f"{done / (self._bar.tasks[0].elapsed or 1e-9):,.0f}"
            self._bar.update(self._task, documents=plural(done), rate=rate)
            yield item


def summarise(tally: Tally) -> None:
    """Prints the number of documents, by status."""
    count = sum(tally.statuses.values()) - tally[BAD]
    say(f"{plural(count)}{f': {tally}' if str(tally) else ''}")
    if tally.reviewed:
        say(tally.reviewed)
    if tally.known:
        say(f"known values that were found: {tally.known}")


def leave(tally: Tally, unchecked: Unchecked) -> None:
    """Exits with 0 if all documents are satisfied, 2 if no line could be used, 1 otherwise."""
    found = set(tally.statuses)
    fine = {"satisfied"} if unchecked == "fail" else {"satisfied", "unchecked"}
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
