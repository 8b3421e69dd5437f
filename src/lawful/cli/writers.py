"""Writers of decodings: JSON lines, a CSV table, an HTML report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from itertools import starmap
from math import floor, inf
from typing import Protocol

from lawful.cli.options import Format
from lawful.cli.tally import counts_of, counts_of_known
from lawful.decoding import Confidence, Decoding, describe_difference, differences
from lawful.document import Document, Scored, SpanScored
from lawful.errors import InputError
from lawful.files.images import picture_of
from lawful.io.cells import csv_line
from lawful.io.jsonl import decoding_line
from lawful.known import compare_known
from lawful.report.page import Report
from lawful.rules.judge import FieldValue
from lawful.rules.rows import RowKind
from lawful.rules.rule_set import Rules


class Writer(Protocol):
    """The text of an output file: a head, a part for each decoding, and a foot."""

    def head(self) -> str:
        """The text before the first decoding."""

    def write(self, scored: Scored | SpanScored, decoding: Decoding) -> tuple[str, dict[str, int]]:
        """The text of a decoding, and what it adds to the counts."""

    def foot(self, counts: Counter[str]) -> str:
        """The text after the last decoding, with the counts of all."""


class JsonWriter:
    """One JSON object per decoding and line.

    With ``ranked``, lines have keys for alternatives even if there are none.
    """

    def __init__(self, rules: Rules, *, ranked: bool) -> None:
        self._rules, self._ranked = rules, ranked

    def head(self) -> str:
        return ""

    def write(self, scored: Scored | SpanScored, decoding: Decoding) -> tuple[str, dict[str, int]]:
        known = compare_known(scored.document, decoding, self._rules)
        line = decoding_line(decoding, ranked=self._ranked, known=known)
        return f"{line}\n", counts_of(decoding.status, decoding.checks) | counts_of_known(known)

    def foot(self, counts: Counter[str]) -> str:
        del counts
        return ""


class CsvWriter:
    """One row per document, one column per class and field; several values are separated by "; ".

    No cell is a formula for a spreadsheet, unless the writer is ``raw``.
    """

    def __init__(
        self, rules: Rules, *, ranked: bool, raw: bool, trusted: bool, reviewed: bool
    ) -> None:
        self._trust = ["trust"] * trusted + ["review"] * reviewed
        self._names = [f.name for f in rules.fields]
        self._classes = list(rules.classes)
        self._single = {f.name for f in rules.fields if not f.many}
        self._ranked = ranked
        self._raw = raw

    def head(self) -> str:
        more = ("margin", "confidence", "alternatives") if self._ranked else ()
        columns = ("id", "status", "checked", "rules", "optimal", *self._trust)
        return self._row([*columns, *self._classes, *self._names, "violated", "unchecked", *more])

    def write(self, scored: Scored | SpanScored, decoding: Decoding) -> tuple[str, dict[str, int]]:
        del scored
        cells = ("; ".join(map(_cell, decoding.fields.get(n, []))) for n in self._names)
        violated = "; ".join(f"{c.id}: {c.message}" for c in decoding.violations)
        unchecked = "; ".join(c.id for c in decoding.checks if c.state == "vacuous")
        summary = (decoding.status, decoding.checked, len(decoding.rules), decoding.optimal)
        known = decoding.classes
        classes = (known[name].value if name in known else "" for name in self._classes)
        trust = (_trust(getattr(decoding, name)) for name in self._trust)
        row = [decoding.id, *summary, *trust, *classes, *cells, violated, unchecked]
        if self._ranked:
            sure = (f"{name} {_interval(sure)}" for name, sure in decoding.confidence.items())
            others = (
                ", ".join(starmap(describe_difference, differences(decoding, other, self._single)))
                for other in decoding.alternatives
            )
            row += [_margin(decoding.margin), "; ".join(sure), "; ".join(others)]
        return self._row(row), counts_of(decoding.status, decoding.checks)

    def foot(self, counts: Counter[str]) -> str:
        del counts
        return ""

    def _row(self, cells: list[object]) -> str:
        return csv_line(cells, raw=self._raw)


class RowWriter(CsvWriter):
    """One row per row of a kind, with the document's id, the row's number and its fields."""

    def __init__(self, kind: RowKind, *, raw: bool) -> None:
        self._kind = kind
        self._raw = raw

    def head(self) -> str:
        return self._row(["id", "status", self._kind.name, *self._kind.fields])

    def write(self, scored: Scored | SpanScored, decoding: Decoding) -> tuple[str, dict[str, int]]:
        del scored
        text = "".join(
            self._row([decoding.id, decoding.status, number, *map(_cell, self._cells(row))])
            for number, row in enumerate(decoding.rows(self._kind.name), 1)
        )
        return text, counts_of(decoding.status, decoding.checks)

    def _cells(self, row: Mapping[str, FieldValue]) -> list[FieldValue | None]:
        return [row.get(name) for name in self._kind.fields]


class HtmlWriter:
    """A report with a card for each document."""

    def __init__(
        self, rules: Rules, pictured: Callable[[Document], bool], password: str | None = None
    ) -> None:
        """``pictured`` says of which documents the pages are drawn from their images."""
        draw = partial(picture_of, password=password)
        report = Report(rules=rules, pictures=lambda d: draw if pictured(d) else None)
        self.head, self.write, self.foot = report.head, report.card, report.foot


def writer_for(
    form: Format,
    rules: Rules,
    *,
    ranked: bool,
    raw_csv: bool = False,
    rows: str | None = None,
    pictured: Callable[[Document], bool] = lambda _: False,
    password: str | None = None,
    trusted: bool = False,
    reviewed: bool = False,
) -> Writer:
    """The writer of a format; ``ranked``: alternatives were requested; ``rows``: a kind of rows.

    ``trusted`` and ``reviewed``: decodings have ``trust`` and ``review``. ``pictured`` says of
    which documents a report draws the images that they name, ``password`` is that of encrypted PDF
    files among them.
    """
    if rows is not None:
        kind = next((kind for kind in rules.rows if kind.name == rows), None)
        if form != "csv" or kind is None:
            known = ", ".join(kind.name for kind in rules.rows) or "none"
            raise InputError(
                f"--rows {rows} needs --format csv and a kind of rows of the rule file: {known}"
            )
        return RowWriter(kind, raw=raw_csv)
    if form == "csv":
        return CsvWriter(rules, ranked=ranked, raw=raw_csv, trusted=trusted, reviewed=reviewed)
    if form == "html":
        return HtmlWriter(rules, pictured, password)
    return JsonWriter(rules, ranked=ranked)


def _cell(value: FieldValue | None) -> str:
    """A value, or the text that cannot be read as one."""
    if value is None:
        return ""
    return value.text if value.value is None else str(value.value)


def _rounded_down(value: float) -> float:
    """Rounded down to three decimals, so that it stays a lower bound."""
    return floor(1000 * value) / 1000


def _trust(value: float | bool | None) -> object:
    """Trust as text, and whether to review as it is."""
    return f"{_rounded_down(value):.3f}" if isinstance(value, float) else value


def _margin(margin: float | None) -> str:
    """The margin as text; infinity is written as in JSON lines."""
    if margin is None:
        return ""
    return "Infinity" if margin == inf else f"{_rounded_down(margin):.3f}"


def _interval(sure: Confidence) -> str:
    """A probability, or its interval if the bounds differ after rounding."""
    low, high = _rounded_down(sure.low + 1e-9), 1 - _rounded_down(1 - sure.high + 1e-9)
    return f"{low:.3f}" if high - low < 0.0015 else f"{low:.3f}-{high:.3f}"
