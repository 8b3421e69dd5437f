"""How commands write decodings, what they say of them, and the code they leave with."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from typing import IO

import typer

from lawful.batch import Result
from lawful.commands.common import told
from lawful.decoding import Decoding
from lawful.errors import InputError
from lawful.readers.jsonl import BadLine, Scored
from lawful.rules.model import Rules
from lawful.writing import decoding_line


class Format(StrEnum):
    """How results are written."""

    jsonl = "jsonl"
    csv = "csv"
    html = "html"


class BadLines(StrEnum):
    """What a line that cannot be used does."""

    skip = "skip"
    fail = "fail"


class States(Counter[str]):
    """How many documents came out how; and of the satisfied, for how many no rule was checked."""

    idle = 0


def good(
    results: Iterator[Result], bad_lines: BadLines, states: States
) -> Iterator[tuple[Scored, Decoding]]:
    """The documents that were decoded, counted by status; the others are complained of."""
    for result in results:
        if isinstance(result, BadLine):
            complain(result, bad_lines, states)
        else:
            decoding = result[1]
            states[decoding.status] += 1
            rules = [check.state for check in decoding.checks]
            states.idle += decoding.status == "satisfied" and set(rules) == {"vacuous"}
            yield result


def complain(bad: BadLine, bad_lines: BadLines, states: Counter[str]) -> None:
    """Says what is wrong with a line, and stops where that was asked for."""
    if bad_lines is BadLines.fail:
        raise InputError(f"line {bad.line}: {bad.message}")
    states["bad lines"] += 1
    told.print(f"line {bad.line}: {bad.message}", style="yellow", markup=False)


def summarise(states: Counter[str]) -> None:
    """How many documents there were, by what became of them."""
    count = sum(states.values()) - states["bad lines"]
    count_idle = getattr(states, "idle", 0)
    idle = f" ({count_idle:,} with no rule checked)" if count_idle else ""
    parts = ", ".join(
        f"{number:,} {state}{idle if state == 'satisfied' else ''}"
        for state, number in states.most_common()
        if number
    )
    told.print(f"{count:,} document{'s' * (count != 1)}: {parts or 'nothing'}")


def leave(states: Counter[str]) -> None:
    """Leaves with 0 where all are satisfied, 2 where no line could be used, 1 otherwise."""
    nothing_usable = set(states) == {"bad lines"}
    raise typer.Exit(2 if nothing_usable else 0 if set(states) <= {"satisfied"} else 1)


def _write_jsonl(
    file: IO[str], results: Iterator[tuple[Scored, Decoding]], rules: Rules, *, ranked: bool
) -> None:
    del rules, ranked  # a line has whatever the decoding has
    for _, decoding in results:
        file.write(decoding_line(decoding) + "\n")


def _write_csv(
    file: IO[str], results: Iterator[tuple[Scored, Decoding]], rules: Rules, *, ranked: bool
) -> None:
    """One row a document, one column a field; several values are parted by "; "."""
    names = [f.name for f in rules.fields]
    writer = csv.writer(file, lineterminator="\n")
    more = ("margin", "confidence") if ranked else ()
    writer.writerow(["id", "status", "optimal", *names, "violated", "unchecked", *more])
    for _, decoding in results:
        cells = (
            "; ".join(
                v.text if v.value is None else str(v.value) for v in decoding.fields.get(n, [])
            )
            for n in names
        )
        violated = "; ".join(f"{c.id}: {c.message}" for c in decoding.violations)
        unchecked = "; ".join(c.id for c in decoding.checks if c.state == "vacuous")
        row = [decoding.id, decoding.status, decoding.optimal, *cells, violated, unchecked]
        if ranked:
            sure = (f"{name} {share:.3f}" for name, share in decoding.confidence.items())
            row += ["" if decoding.margin is None else f"{decoding.margin:.3f}", "; ".join(sure)]
        writer.writerow(row)


def _write_html(
    file: IO[str], results: Iterator[tuple[Scored, Decoding]], rules: Rules, *, ranked: bool
) -> None:
    from lawful.report import write_report

    del rules
    if ranked:
        raise InputError("alternatives are not shown in HTML; ask for jsonl or csv")
    write_report(file, results)


WRITERS = {Format.jsonl: _write_jsonl, Format.csv: _write_csv, Format.html: _write_html}
