"""Writers of decodings: JSON lines, a CSV table, an HTML report, a Parquet file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from itertools import starmap
from math import floor, inf
from typing import Any, Protocol

from lawful.base.errors import InputError
from lawful.base.extras import needed
from lawful.cli.counts import (
    BAD,
    PASS,
    REPAIRED,
    REVIEW,
    SURE,
    TRUSTED,
    UNSURE,
    counts_of,
    counts_of_known,
)
from lawful.cli.options import Format, WriteOptions
from lawful.documents.document import Document
from lawful.documents.records import FailedDocument, Scored
from lawful.io.csv_cells import csv_line
from lawful.io.journal import Pack
from lawful.io.jsonl import decoding_line
from lawful.pipeline.call import Call
from lawful.readers.images import picture_of
from lawful.report.page import Report
from lawful.results.decoding import Confidence, Decoding, describe_difference, differences
from lawful.results.promise import Promise, is_promised
from lawful.rules.judging.field_reader import FieldValue
from lawful.rules.judging.rows import RowKind
from lawful.rules.rule_set import Rules

USUAL = WriteOptions()


class Writer(Protocol):
    """The text of an output file: a head, a part for each decoding, and a foot."""

    def head(self) -> str:
        """The text before the first decoding."""
        return ""

    def write(self, scored: Scored, decoding: Decoding) -> tuple[str, dict[str, int]]:
        """The text of a decoding, and what it adds to the counts."""

    def bad(self, line: FailedDocument) -> str:
        """The text of a line that could not be used: nothing, where it has no place."""
        del line
        return ""

    def foot(self, counts: Counter[str]) -> str:
        """The text after the last decoding, with the counts of all."""
        del counts
        return ""

    pack: Pack | None = None
    """Makes a file of the text, if it is not the text itself."""


class JsonWriter(Writer):
    """One JSON object per decoding and line.

    With ``ranked``, lines have keys for alternatives even if there are none.
    """

    def __init__(self, *, ranked: bool) -> None:
        self._ranked = ranked

    def write(self, scored: Scored, decoding: Decoding) -> tuple[str, dict[str, int]]:
        return f"{decoding_line(decoding, ranked=self._ranked)}\n", tallied(decoding)


class ParquetWriter(Writer):
    """One row per document; a line that could not be used is a row with ``error``."""

    def __init__(self) -> None:
        needed("pyarrow", "writing Parquet files")
        from lawful.arrow.parquet import pack_rows, row_line

        self._line, self.pack = row_line, pack_rows

    def write(self, scored: Scored, decoding: Decoding) -> tuple[str, dict[str, int]]:
        return self._line(decoding), tallied(decoding)

    def bad(self, line: FailedDocument) -> str:
        return self._line(line)


class CsvWriter(Writer):
    """One row per document, one column per class and field; several values are separated by "; ".

    No cell is a formula for a spreadsheet, unless the writer is ``raw``.
    """

    def __init__(self, rules: Rules, *, ranked: bool, raw: bool) -> None:
        self._trust = ["trust", "passes", "passes_because"] * bool(rules.needs)
        self._names = [f.name for f in rules.fields]
        self._classes = list(rules.classes)
        self._single = {f.name for f in rules.fields if not f.many}
        self._has_row_checks = any(rule.each is not None for rule in rules.parsed)
        self._ranked = ranked
        self._raw = raw

    def head(self) -> str:
        more = ("margin", "confidence", "alternatives") if self._ranked else ()
        rows = ["row_checks"] * self._has_row_checks
        columns = ("id", "status", "checked", "rules", *rows, "optimal", *self._trust)
        why = ("violated", "unchecked", "repaired")
        return self._row([*columns, *self._classes, *self._names, *why, *more])

    def write(self, scored: Scored, decoding: Decoding) -> tuple[str, dict[str, int]]:
        cells = ("; ".join(map(_cell, decoding.fields.get(n, []))) for n in self._names)
        violated = "; ".join(f"{c.id}: {c.message}" for c in decoding.violations)
        vacuous = (c.id for c in decoding.checks if c.state == "vacuous")
        unchecked = "; ".join(dict.fromkeys(vacuous))
        counts = decoding.counts
        rows = [f"{counts.rows_checked} of {counts.row_checks}"] * self._has_row_checks
        summary = (decoding.status, counts.checked, counts.rules, *rows, decoding.optimal)
        known = decoding.classes
        classes = (known[name].value if name in known else "" for name in self._classes)
        trust = (_trust(getattr(decoding, name)) for name in self._trust)
        repaired = "; ".join(
            f"{name} {value.text} read as {value.read_as}"
            for name, values in decoding.repairs.items()
            for value in values
        )
        row = [decoding.id, *summary, *trust, *classes, *cells, violated, unchecked, repaired]
        if self._ranked:
            sure = (f"{name} {_interval(sure)}" for name, sure in decoding.confidence.items())
            others = (
                ", ".join(starmap(describe_difference, differences(decoding, other, self._single)))
                for other in decoding.alternatives
            )
            row += [_margin(decoding.margin), "; ".join(sure), "; ".join(others)]
        return self._row(row), tallied(decoding)

    def _row(self, cells: list[object]) -> str:
        return csv_line(cells, raw=self._raw)


class RowWriter(CsvWriter):
    """One row per row of a kind, with the document's id, the row's number and its fields.

    Before them are the number and the fields of each section that the row is in. Documents whose
    rules have no such rows have none.
    """

    def __init__(self, kind: RowKind, rules: Rules, *, raw: bool) -> None:
        self._kind = kind
        self._raw = raw
        held = rules.held
        self._outer = [k for k in rules.rows if set(kind.fields) <= set(held[k.name])]

    def head(self) -> str:
        outer = [column for kind in self._outer for column in (kind.name, *kind.fields)]
        return self._row(["id", "status", *outer, self._kind.name, *self._kind.fields])

    def write(self, scored: Scored, decoding: Decoding) -> tuple[str, dict[str, int]]:
        name = self._kind.name
        rows = decoding.rows(name) if name in decoding.row_kinds else []
        text = "".join(
            self._row(
                [
                    decoding.id,
                    decoding.status,
                    *(
                        cell
                        for kind in self._outer
                        for cell in self._section(decoding, kind, number)
                    ),
                    *self._cells(self._kind, number, row),
                ]
            )
            for number, row in enumerate(rows, 1)
        )
        return text, tallied(decoding)

    def _section(self, decoding: Decoding, kind: RowKind, row: int) -> list[Any]:
        """The cells of the section of a kind that a row is in, however deep."""
        of, _, numbers = decoding.sections[kind.name]
        inner = row
        if of != self._kind.name:
            outer = next(each for each in self._outer if each.name == of)
            inner = self._section(decoding, outer, row)[0] or 0
        number = numbers[inner - 1] if inner else None
        values = {} if number is None else decoding.rows(kind.name)[number - 1]
        return self._cells(kind, number, values)

    @staticmethod
    def _cells(kind: RowKind, number: int | None, row: Mapping[str, FieldValue]) -> list[Any]:
        return ["" if number is None else number, *(_cell(row.get(n)) for n in kind.fields)]


class HtmlWriter(Writer):
    """A report with a card for each document."""

    def __init__(
        self,
        rules: Rules,
        pictured: Callable[[Document], bool],
        password: str | None = None,
        promise: Promise | None = None,
    ) -> None:
        """``pictured`` says of which documents the pages are drawn from their images."""
        draw = partial(picture_of, password=password)
        self._report = Report(
            rules=rules, pictures=lambda d: draw if pictured(d) else None, promise=promise
        )

    def head(self) -> str:
        return self._report.head()

    def write(self, scored: Scored, decoding: Decoding) -> tuple[str, dict[str, int]]:
        card, counts = self._report.card(scored, decoding)
        return card, counts | tallied(decoding)

    def bad(self, line: FailedDocument) -> str:
        return self._report.failed(line)

    def foot(self, counts: Counter[str]) -> str:
        return self._report.foot(counts, failed=counts[BAD])


def writer_for(
    form: Format,
    call: Call,
    options: WriteOptions = USUAL,
    pictured: Callable[[Document], bool] = lambda _: False,
    *,
    password: str | None = None,
    promise: Promise | None = None,
) -> Writer:
    """The writer of a format for the decodings of a call.

    ``promise`` is what decodings pass by, if there is one. ``pictured`` says of
    which documents a report draws the images that they name, ``password`` is that of encrypted PDF
    files among them.
    """
    rules, rows, ranked = call.rules, options.rows, call.alternatives > 0
    if rows is not None:
        kinds = {kind.name: (kind, own) for own in call.rule_sets for kind in own.rows}
        if form != "csv" or rows not in kinds:
            known = ", ".join(kinds) or "none"
            raise InputError(
                f"--rows {rows} needs --format csv and a kind of rows of the rule file: {known}"
            )
        return RowWriter(*kinds[rows], raw=options.raw_csv)
    if form == "csv":
        return CsvWriter(rules, ranked=ranked, raw=options.raw_csv)
    if form == "html":
        return HtmlWriter(rules, pictured, password, promise)
    if form == "parquet":
        return ParquetWriter()
    return JsonWriter(ranked=ranked)


def tallied(decoding: Decoding) -> dict[str, int]:
    """What a document adds to the counts of a run."""
    counts = counts_of(decoding.status, decoding.checks) | counts_of_known(decoding.known)
    counts[REPAIRED] = int(bool(decoding.repaired))
    if is_promised(decoding.passes_because):
        counts[PASS if decoding.passes else REVIEW] = 1
    elif decoding.trust is not None:
        counts[SURE if decoding.trust >= TRUSTED else UNSURE] = 1
    return counts


def _cell(value: FieldValue | None) -> str:
    """A value, or the text that cannot be read as one."""
    if value is None:
        return ""
    return value.text if value.value is None else str(value.value)


def _rounded_down(value: float) -> float:
    """Rounded down to three decimals, so that it stays a lower bound."""
    return floor(1000 * value) / 1000


def _trust(value: float | bool | str | None) -> object:
    """Trust as text, and whether it passes, and why, as they are."""
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
