"""The values that people have accepted, as tables: read from the reviews, never decoded again.

Reviews alone are needed: neither the documents nor the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from msgspec import UNSET

from lawful.base.extras import needed
from lawful.io.atomic import atomic_path
from lawful.io.csv_cells import csv_line
from lawful.io.jsonl import encode
from lawful.learn.align import Truth
from lawful.results.wire import Value, ValueData
from lawful.review.rows import Outcome, Row
from lawful.review.store import Store

MARK = {"bold": True, "bg_color": "#FFF2CC"}
"""How a value that a person has corrected looks in a spreadsheet."""

REVIEW = ("corrected", "reviewer", "at", "note")
"""The columns after those of fields: the corrected fields, who accepted them, and when."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A document with the values that a person accepted."""

    id: str
    row: Row
    values: dict[str, list[ValueData]]
    kinds: dict[str, list[str]]  # the fields of each kind of rows
    corrected: tuple[str, ...]  # fields that are not as the first answer had them
    is_whole: bool = True  # whether values are known, and not only their texts

    def lines(self, kind: str) -> list[dict[str, ValueData]]:
        """The rows of a kind: by field, its first readable value."""
        found: dict[int, dict[str, ValueData]] = {}
        for name in self.kinds.get(kind, ()):
            for each in self.values.get(name, ()):
                if each.row is not UNSET:
                    line = found.setdefault(each.row, {})
                    if name not in line or line[name].value is None:
                        line[name] = each
        return [found[number] for number in sorted(found)]

    @property
    def truth(self) -> Truth:
        """The values as true ones, to learn from; those of rows by row."""
        columns = {name for names in self.kinds.values() for name in names}
        values = {
            name: tuple(each.text for each in found)
            for name, found in self.values.items()
            if found and name not in columns
        }
        rows = {
            kind: tuple({name: v.text for name, v in line.items()} for line in self.lines(kind))
            for kind in self.kinds
        }
        return Truth(self.id, values, {kind: lines for kind, lines in rows.items() if lines})

    @property
    def review(self) -> tuple[str, ...]:
        """The cells of the columns ``REVIEW``."""
        return "; ".join(self.corrected), self.row.reviewer, self.row.at, self.row.note


def accepted_in(store: Store, keys: Iterable[tuple[str, str]] | None = None) -> Iterator[Accepted]:
    """The documents that are accepted, in the order in which they were.

    Of one id, the words that were reviewed last; with ``keys`` (ids and hashes), only those.
    """
    states = store.states()
    wanted = None if keys is None else set(keys)
    last = {}
    for (id_, hash_), state in sorted(states.items(), key=lambda item: item[1].seq):
        if wanted is None or (id_, hash_) in wanted:
            last[id_] = hash_, state
    done = [(s.seq, id_, hash_) for id_, (hash_, s) in last.items() if s.verdict == "accepted"]
    for _, id_, hash_ in sorted(done):
        rows = store.rows_of(id_, hash_)
        if rows[-1].after is not None:
            yield accepted_of(id_, rows, rows[-1].after)


def accepted_of(id_: str, rows: Sequence[Row], outcome: Outcome) -> Accepted:
    """A document with this outcome of its rows, the last one of which accepted it."""
    first = rows[0].before
    old = {} if first is None else first.fields
    new = outcome.fields
    said = {pin["field"] for pin in rows[-1].pins if pin.get("value") is not None}
    corrected = tuple(n for n in dict.fromkeys((*new, *old)) if new.get(n) != old.get(n))
    values, whole = outcome.values, outcome.values is not None
    if values is None:  # accepted by a version that did not keep them
        values = {
            name: [ValueData(text, None, words=(0, 0)) for text in texts]
            for name, texts in new.items()
        }
    also = tuple(name for name in values if name in said and name not in corrected)
    return Accepted(id_, rows[-1], values, outcome.rows or {}, (*corrected, *also), whole)


def json_lines(found: Sequence[Accepted]) -> Iterator[str]:
    """A line per document: values with their texts and places, rows, who accepted them, when."""
    for each in found:
        record = {
            "id": each.id,
            "reviewer": each.row.reviewer,
            "at": each.row.at,
            "note": each.row.note,
            "fields": {name: values for name, values in each.values.items() if values},
            "rows": {
                kind: [
                    {name: {"text": v.text, "value": v.value} for name, v in line.items()}
                    for line in each.lines(kind)
                ]
                for kind in each.kinds
            },
            "corrected": each.corrected,
        }
        yield encode(record).decode() + "\n"


def csv_lines(found: Sequence[Accepted], kind: str | None, *, raw: bool) -> Iterator[str]:
    """A row per document, or per row of a kind; formulas are quoted unless ``raw``."""
    head, rows = _table(found, kind)
    yield csv_line(head, raw=raw)
    for _, cells, _ in rows:
        yield csv_line(
            ["; ".join(map(str, c)) if isinstance(c, list) else c for c in cells], raw=raw
        )


def write_parquet(path: Path, found: Sequence[Accepted]) -> None:
    """A row per document; a column of numbers, of texts, or of lists of these for each field."""
    pa = needed("pyarrow", "writing Parquet files")
    parquet = needed("pyarrow.parquet", "writing Parquet files")
    head, rows = _table(found, None)
    columns = [list(column) for column in zip(*(cells for _, cells, _ in rows), strict=True)]
    arrays = [_column(pa, column) for column in columns or [[] for _ in head]]
    with atomic_path(path) as new:
        parquet.write_table(pa.table(arrays, names=head), new, compression="zstd")


def _column(pa: Any, cells: list[Any]) -> Any:
    known = [v for cell in cells for v in (cell if isinstance(cell, list) else [cell]) if v != ""]
    number = bool(known) and all(isinstance(each, int | float) for each in known)
    kind = pa.float64() if number else pa.string()

    def plain(value: Any) -> Any:
        return None if value == "" else float(value) if number else str(value)

    if any(isinstance(cell, list) for cell in cells):
        lists = [list(map(plain, c if isinstance(c, list) else [c])) for c in cells]
        return pa.array([[v for v in each if v is not None] for each in lists], pa.list_(kind))
    return pa.array(list(map(plain, cells)), kind)


def write_xlsx(path: Path, found: Sequence[Accepted]) -> None:
    """A sheet of documents, and one for each kind of rows; corrected values are marked."""
    writer = needed("xlsxwriter", "writing spreadsheets")
    kinds = dict.fromkeys(kind for each in found for kind in each.kinds)
    with atomic_path(path) as new:
        book = writer.Workbook(
            str(new), {"strings_to_formulas": False, "strings_to_urls": False, "in_memory": True}
        )
        bold = book.add_format({"bold": True})
        mark, day = book.add_format(MARK), book.add_format({"num_format": "yyyy-mm-dd"})
        marked_day = book.add_format({**MARK, "num_format": "yyyy-mm-dd"})
        for kind in (None, *kinds):
            head, rows = _table(found, kind, columns=False)
            sheet = book.add_worksheet(_sheet_name(kind or "documents", book))
            sheet.write_row(0, 0, head, bold)
            sheet.freeze_panes(1, 1)
            for y, (each, cells, fields) in enumerate(rows, 1):
                for x, cell in enumerate(cells):
                    is_marked = fields[x] in each.corrected
                    value = "; ".join(map(str, cell)) if isinstance(cell, list) else cell
                    if (found_day := _day(value)) is not None:
                        sheet.write_datetime(y, x, found_day, marked_day if is_marked else day)
                    else:
                        sheet.write(y, x, value, mark if is_marked else None)
            sheet.autofit()
        book.close()


def _sheet_name(name: str, book: Any) -> str:
    """A name that spreadsheets allow, and that no sheet has yet."""
    plain = "".join("_" if letter in "[]:*?/\\'" else letter for letter in name)[:28] or "rows"
    taken = {sheet.get_name().lower() for sheet in book.worksheets()}
    return plain if plain.lower() not in taken else f"{plain}_{len(taken)}"


def _day(value: Any) -> date | None:
    if isinstance(value, str) and len(value) == 10:
        with suppress(ValueError):
            return date.fromisoformat(value)
    return None


Table = tuple[list[str], list[tuple[Accepted, list[Any], list[str]]]]
"""The names of columns; and of each row its document, its cells, and the fields of these."""


def _table(found: Sequence[Accepted], kind: str | None, *, columns: bool = True) -> Table:
    """The values as a table; ``columns``: with the fields of rows, as lists."""
    listed = dict.fromkeys(n for each in found for names in each.kinds.values() for n in names)
    many = {n for each in found for n, values in each.values.items() if len(values) > 1} | {*listed}
    if kind is not None:
        fields = list(dict.fromkeys(n for each in found for n in each.kinds.get(kind, ())))
        rows = [
            (each, [each.id, number, *(_cell(line.get(n)) for n in fields)], ["", "", *fields])
            for each in found
            for number, line in enumerate(each.lines(kind), 1)
        ]
        return ["id", kind, *fields], rows
    every = dict.fromkeys(name for each in found for name in each.values)
    fields = [name for name in every if columns or name not in listed]
    rows = [
        (
            each,
            [each.id, *(_cells(each.values.get(n, []), n in many) for n in fields), *each.review],
            ["", *fields, *[""] * len(REVIEW)],
        )
        for each in found
    ]
    return ["id", *fields, *REVIEW], rows


def _cells(values: Sequence[ValueData], many: bool) -> Any:
    if many:
        return [_cell(each) for each in values]
    return _cell(values[0] if values else None)


def _cell(value: ValueData | None) -> Value:
    """A value, or the text that cannot be read as one."""
    if value is None:
        return ""
    return value.text if value.value is None else value.value
