"""How commands write decodings, what they say of them, and the code they leave with."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from enum import StrEnum
from math import floor, inf
from typing import IO, Annotated

import typer

from lawful.batch import Result
from lawful.cli.options import told
from lawful.cli.tally import Tally
from lawful.decoding import Confidence, Decoding
from lawful.document import BadLine, Scored
from lawful.errors import InputError
from lawful.io.jsonl import decoding_line
from lawful.rules.definitions import Rules


class Format(StrEnum):
    """How results are written."""

    jsonl = "jsonl"
    csv = "csv"
    html = "html"


class BadLines(StrEnum):
    """What a line that cannot be used does."""

    skip = "skip"
    fail = "fail"


class Unchecked(StrEnum):
    """What a document on which no rule could be checked does to the exit code."""

    pass_ = "pass"  # noqa: S105 - no password
    fail = "fail"


UncheckedOption = Annotated[
    Unchecked,
    typer.Option(
        help="Documents on which no rule could be checked: count as satisfied for the exit code "
        "(pass), or not (fail)."
    ),
]


def good(
    results: Iterator[Result], bad_lines: BadLines, tally: Tally
) -> Iterator[tuple[Scored, Decoding]]:
    """The documents that were decoded, counted by status; the others are complained of."""
    for result in results:
        if isinstance(result, BadLine):
            complain(result, bad_lines, tally)
        else:
            tally.add(result[1].status, result[1].checks)
            yield result


def complain(bad: BadLine, bad_lines: BadLines, tally: Tally) -> None:
    """Says what is wrong with a line, and stops where that was asked for."""
    if bad_lines is BadLines.fail:
        raise InputError(f"line {bad.line}: {bad.message}")
    tally["bad lines"] += 1
    told.print(f"line {bad.line}: {bad.message}", style="yellow", markup=False)


def summarise(tally: Tally) -> None:
    """How many documents there were, by what became of them."""
    count = sum(tally.values()) - tally["bad lines"]
    told.print(f"{count:,} document{'s' * (count != 1)}: {str(tally) or 'nothing'}")


def leave(tally: Tally, unchecked: Unchecked) -> None:
    """Leaves with 0 where all are satisfied, 2 where no line could be used, 1 otherwise."""
    nothing_usable = set(tally) == {"bad lines"}
    fine = {"satisfied"} if unchecked is Unchecked.fail else {"satisfied", "unchecked"}
    raise typer.Exit(2 if nothing_usable else 0 if set(tally) <= fine else 1)


def _write_jsonl(
    file: IO[str], results: Iterator[tuple[Scored, Decoding]], rules: Rules, *, ranked: bool
) -> None:
    del rules  # a line has whatever the decoding has
    for _, decoding in results:
        file.write(decoding_line(decoding, ranked=ranked) + "\n")


def _write_csv(
    file: IO[str], results: Iterator[tuple[Scored, Decoding]], rules: Rules, *, ranked: bool
) -> None:
    """One row a document, one column a field; several values are parted by "; "."""
    names = [f.name for f in rules.fields]
    writer = csv.writer(file, lineterminator="\n")
    more = ("margin", "confidence") if ranked else ()
    writer.writerow(
        ["id", "status", "checked", "rules", "optimal", *names, "violated", "unchecked", *more]
    )
    for _, decoding in results:
        cells = (
            "; ".join(
                v.text if v.value is None else str(v.value) for v in decoding.fields.get(n, [])
            )
            for n in names
        )
        violated = "; ".join(f"{c.id}: {c.message}" for c in decoding.violations)
        unchecked = "; ".join(c.id for c in decoding.checks if c.state == "vacuous")
        kind = (decoding.status, decoding.checked, len(decoding.rules), decoding.optimal)
        row = [decoding.id, *kind, *cells, violated, unchecked]
        if ranked:
            sure = (f"{name} {_interval(sure)}" for name, sure in decoding.confidence.items())
            row += [_margin(decoding.margin), "; ".join(sure)]
        writer.writerow(row)


def rounded_down(value: float) -> float:
    """To three decimals, so that "at least" stays true."""
    return floor(1000 * value) / 1000


def _margin(margin: float | None) -> str:
    """Infinity is written as in JSON lines."""
    return "" if margin is None else "Infinity" if margin == inf else f"{rounded_down(margin):.3f}"


def _interval(sure: Confidence) -> str:
    """A probability; from where to where, if that can be seen."""
    low, high = rounded_down(sure.low + 1e-9), 1 - rounded_down(1 - sure.high + 1e-9)
    return f"{low:.3f}" if high - low < 0.0015 else f"{low:.3f}-{high:.3f}"


def _write_html(
    file: IO[str], results: Iterator[tuple[Scored, Decoding]], rules: Rules, *, ranked: bool
) -> None:
    from lawful.report.page import write_report

    del ranked  # a card has whatever the decoding has
    write_report(file, results, rules=rules)


WRITERS = {Format.jsonl: _write_jsonl, Format.csv: _write_csv, Format.html: _write_html}
