"""Writers of decodings: JSON lines, a CSV table, an HTML report."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from math import floor, inf
from typing import IO, Protocol

from lawful.cli.options import Format
from lawful.decoding import Confidence, Decoding
from lawful.document import Scored
from lawful.io.jsonl import decoding_line
from lawful.rules.definitions import Rules


class Writer(Protocol):
    """Writes decodings in one format.

    ``ranked``: alternatives were requested, so the output has a place for them even if none exist.
    """

    def __call__(
        self,
        file: IO[str],
        results: Iterator[tuple[Scored, Decoding]],
        rules: Rules,
        *,
        ranked: bool,
    ) -> None: ...


def _write_jsonl(
    file: IO[str], results: Iterator[tuple[Scored, Decoding]], rules: Rules, *, ranked: bool
) -> None:
    del rules  # a line has all fields of its decoding
    for _, decoding in results:
        file.write(decoding_line(decoding, ranked=ranked) + "\n")


def _write_csv(
    file: IO[str], results: Iterator[tuple[Scored, Decoding]], rules: Rules, *, ranked: bool
) -> None:
    """One row per document, one column per field; several values are separated by "; "."""
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
        summary = (decoding.status, decoding.checked, len(decoding.rules), decoding.optimal)
        row = [decoding.id, *summary, *cells, violated, unchecked]
        if ranked:
            sure = (f"{name} {_interval(sure)}" for name, sure in decoding.confidence.items())
            row += [_margin(decoding.margin), "; ".join(sure)]
        writer.writerow(row)


def _rounded_down(value: float) -> float:
    """Rounded down to three decimals, so that it stays a lower bound."""
    return floor(1000 * value) / 1000


def _margin(margin: float | None) -> str:
    """The margin as text; infinity is written as in JSON lines."""
    if margin is None:
        return ""
    return "Infinity" if margin == inf else f"{_rounded_down(margin):.3f}"


def _interval(sure: Confidence) -> str:
    """A probability, or its interval if the bounds differ after rounding."""
    low, high = _rounded_down(sure.low + 1e-9), 1 - _rounded_down(1 - sure.high + 1e-9)
    return f"{low:.3f}" if high - low < 0.0015 else f"{low:.3f}-{high:.3f}"


def _write_html(
    file: IO[str], results: Iterator[tuple[Scored, Decoding]], rules: Rules, *, ranked: bool
) -> None:
    from lawful.report import write_report

    del ranked  # a card shows the alternatives of its decoding
    write_report(file, results, rules=rules)


WRITERS: Mapping[Format, Writer] = {"jsonl": _write_jsonl, "csv": _write_csv, "html": _write_html}
