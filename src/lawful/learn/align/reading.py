"""True values of documents, read from a CSV file or from JSON lines.

    id,total,date                 {"id": "r1", "total": 53.28, "date": "2024-01-31",
    r1,53.28,2024-01-31            "line": [{"name": "Tea", "amount": "8.00"}, ...]}

Keys are names of fields, or their labels. Lists and rows, under the name of their kind, need JSON.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

from lawful.base.errors import InputError, did_you_mean, shown
from lawful.candidates.grounding.matches import possible_values
from lawful.documents.document import Document
from lawful.documents.records import FailedDocument
from lawful.io.jsonl import check_line, read_lines
from lawful.rules.definitions import Field
from lawful.rules.rule_set import Rules
from lawful.values import read

ID = "id"


@dataclass(frozen=True, slots=True)
class Truth:
    """The true values of one document, by name of the field: texts, numbers or dates.

    ``rows`` has, by kind of rows, the values of each row, in the order of print. A field that is
    not mentioned is unknown, not absent.
    """

    id: str
    values: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    rows: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)

    @classmethod
    def of_document(cls, document: Document, rules: Rules) -> Truth:
        """The values that the document brings itself, as an e-invoice does (``values``)."""
        known = document.values or {}
        single = {
            f.name: texts
            for f in rules.fields
            if (texts := known.get(f.label)) and (f.many or len(texts) == 1)
        }
        return cls(document.id, single)


@dataclass(frozen=True, slots=True)
class TruthFile:
    """What a file of true values holds: those of each document, and what could not be used."""

    truths: Mapping[str, Truth]  # by id
    bad: tuple[FailedDocument, ...]
    ignored: tuple[str, ...]  # columns that are no fields


def read_truth(
    path: str | Path, rules: Rules, columns: Mapping[str, str] | None = None
) -> TruthFile:
    """The true values of a ``.csv`` file, or of JSON lines.

    ``columns`` says which column has a field, by name of the field, and under ``id`` which one has
    the documents' ids. Empty cells and nulls are unknown. A row that cannot be used is a
    ``FailedDocument``; a file without usable columns raises an ``InputError``.
    """
    names = _Names.of(rules, columns or {})
    truths: dict[str, Truth] = {}
    lines: dict[str, int] = {}
    bad: list[FailedDocument] = []
    for number, record in (_csv_records if is_csv(path) else _json_records)(path, names):
        if isinstance(record, FailedDocument):
            bad.append(record)
            continue
        try:
            truth = names.truth(record)
            if (first := lines.get(truth.id)) is not None:
                raise InputError(f"a second row of {shown(truth.id)}; the first is {first}")
        except InputError as error:
            bad.append(FailedDocument(number, str(error), _id_of(record, names)))
            continue
        truths[truth.id], lines[truth.id] = truth, number
    if not truths and not bad:
        raise InputError(f"no row in {path}")
    if truths and not names.used:
        known = ", ".join(f.name for f in rules.fields)
        found = ", ".join(sorted(names.ignored)) or "none"
        raise InputError(f"no column of {path} is a field ({found}); fields: {known}")
    return TruthFile(_with_one_order_of_dates(truths, rules), tuple(bad), tuple(names.ignored))


def is_csv(path: str | Path) -> bool:
    """Whether a file of true values is CSV; otherwise it has JSON lines."""
    return str(path).removesuffix(".gz").lower().endswith(".csv")


@dataclass(slots=True)
class _Names:
    """What the keys of a file mean."""

    id: str
    fields: dict[str, Field]  # by key
    kinds: dict[str, dict[str, Field]]  # fields of rows by key, by kind
    used: set[str] = field(default_factory=set)
    ignored: dict[str, None] = field(default_factory=dict)

    @classmethod
    def of(cls, rules: Rules, columns: Mapping[str, str]) -> _Names:
        by_name = {f.name: f for f in rules.fields}
        for name in columns:
            if name != ID and name not in by_name:
                raise InputError(
                    f"columns: {shown(name)} is no field{did_you_mean(name, [ID, *by_name])}"
                )
        keys = {f.label: f for f in reversed(rules.fields)} | by_name
        for name, column in columns.items():
            if name != ID:
                keys[column] = by_name[name]
        kinds = {kind.name: dict(keys) for kind in rules.rows}
        return cls(columns.get(ID, ID), keys, kinds)

    def truth(self, record: Mapping[str, Any]) -> Truth:
        id_ = record.get(self.id)
        if isinstance(id_, int | Decimal) and not isinstance(id_, bool):
            id_ = str(id_)
        if not isinstance(id_, str) or not id_:
            raise InputError(f"{self.id} is {shown(id_)}, expected the id of a document")
        values: dict[str, tuple[Any, ...]] = {}
        rows: dict[str, tuple[Mapping[str, Any], ...]] = {}
        for key, value in record.items():
            if key == self.id or value is None or value == "":
                continue
            if key in self.kinds and not (key in self.fields and not _is_rows(value)):
                rows[key] = tuple(self._row(key, i, row) for i, row in enumerate(_list(key, value)))
                self.used.add(key)
            elif (f := self.fields.get(key)) is None:
                self.ignored[key] = None
            elif f.many:
                values[f.name] = tuple(_checked(f, each) for each in _list(key, value))
                self.used.add(key)
            else:
                values[f.name] = (_checked(f, value),)
                self.used.add(key)
        return Truth(id_, values, rows)

    def _row(self, kind: str, number: int, row: Any) -> dict[str, Any]:
        if not isinstance(row, Mapping):
            raise InputError(f"{kind} {number + 1} is {shown(row)}, expected names and values")
        found = {}
        for key, value in row.items():
            f = self.fields.get(key)
            if f is None:
                self.ignored[f"{kind}.{key}"] = None
            elif value is not None and value != "":
                found[f.name] = _checked(f, value)
        return found


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, Mapping) for each in value)


def _list(key: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(f"{key} is {shown(value)}, expected a list, which needs JSON lines")
    return value


def _checked(f: Field, value: Any) -> Any:
    """The value of a field, if its type can read it."""
    plain = isinstance(value, str | int | Decimal) and not isinstance(value, bool)
    if not plain or not possible_values(value, f.type):
        raise InputError(f"{f.name} is {shown(value)}, expected {f.type}")
    return value


def _id_of(record: Mapping[str, Any], names: _Names) -> str | None:
    found = record.get(names.id)
    return found if isinstance(found, str) and found else None


Records = Iterator[tuple[int, dict[str, Any] | FailedDocument]]


def _csv_records(path: str | Path, names: _Names) -> Records:
    """The rows of a CSV file by the number of their line; the first row has the columns."""
    rows = csv_rows(path)
    _, header = next(rows)
    if names.id not in header:
        raise InputError(f"{path} has no column {names.id!r}; columns: {', '.join(header)}")
    for name in header:
        if (f := names.fields.get(name)) is not None and f.many:
            raise InputError(f"column {name!r} of {path} is a list, which needs JSON lines")
    for number, row in rows:
        if len(row) != len(header):
            found = f"{len(row)} cells, expected {len(header)}"
            yield number, FailedDocument(number, found)
        else:
            yield number, dict(zip(header, row, strict=True))


def csv_rows(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """The columns of a CSV file, then its rows, each with the number of its line."""
    try:
        text = "\n".join(line.decode("utf-8-sig").rstrip("\r\n") for _, line in read_lines(path))
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8: {error}") from None
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text), delimiter=max(",;\t", key=first.count), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        if twice := next((name for name in header if header.count(name) > 1), None):
            raise InputError(f"{path} has two columns {twice!r}")
        yield 1, header
        for row in reader:
            yield reader.line_num, [cell.strip() for cell in row]
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}") from None


def _json_records(path: str | Path, names: _Names) -> Records:
    decoder = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal)
    for number, text in read_lines(path):
        try:
            check_line(text)
            yield number, decoder.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, InputError, RecursionError) as error:
            yield number, FailedDocument(number, str(error))


_TWO_NUMBERS = re.compile(r"([0-9]{1,2})[-/. ]([0-9]{1,2})[-/. ][0-9]{2,4}")


def _with_one_order_of_dates(truths: dict[str, Truth], rules: Rules) -> dict[str, Truth]:
    """Dates such as 03/04/2024, read as all others of their column can be read, if that decides."""
    for f in rules.fields:
        if f.type != "date" or f.many:
            continue
        first = month_first(t.values[f.name][0] for t in truths.values() if f.name in t.values)
        if first is None:
            continue
        for truth in truths.values():
            text = truth.values.get(f.name, (None,))[0]
            if isinstance(text, str) and _TWO_NUMBERS.fullmatch(text.strip()):
                value = _date(text, first)
                values = {**truth.values, f.name: (value,)}
                truths[truth.id] = replace(truth, values=values)
    return truths


def month_first(texts: Iterable[Any]) -> bool | None:
    """Whether the month comes first in all dates; none if that is not clear."""
    found = [_TWO_NUMBERS.fullmatch(text.strip()) for text in texts if isinstance(text, str)]
    pairs = [(int(each[1]), int(each[2])) for each in found if each is not None]
    day, month = any(a > 12 for a, _ in pairs), any(b > 12 for _, b in pairs)
    return month if day != month else None


def _date(text: str, month_first: bool) -> date | str:
    value = read(text, "date")[-1 if month_first else 0]
    return value if isinstance(value, date) else text
