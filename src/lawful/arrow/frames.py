"""Decodings as a pandas data frame."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Any, Literal

from lawful.base.errors import InputError, shown
from lawful.base.extras import needed
from lawful.documents.records import FailedDocument
from lawful.results.decoding import Decoding

By = Literal["document", "field"]


def to_frame(decodings: Iterable[Decoding | FailedDocument], *, by: By = "document") -> Any:
    """Decodings as a ``pandas.DataFrame`` with one row per document, or one per field value.

    By document, there is a column for each class and field, which has the first readable value:
    numbers as floats, dates as dates. By field, there is a row for every value, with its exact
    ``value`` as text, ``number`` and ``date``, and its words, page and row. A document that failed
    is a row with ``error``; one without values has no row by field.
    """
    pandas = needed("pandas", "to_frame")
    found = list(decodings)
    for each in found:
        if not isinstance(each, Decoding | FailedDocument):
            raise InputError(f"found {shown(each)}, expected a Decoding or a FailedDocument")
    if by == "document":
        return pandas.DataFrame(columns_of(found))
    if by == "field":
        return _fields(pandas, found)
    raise InputError(f"by is {shown(by)}, expected document or field")


def columns_of(found: Iterable[Decoding | FailedDocument]) -> dict[str, list[Any]]:
    """The columns of a frame by document, for pandas or Polars."""
    rows: list[dict[str, Any]] = []
    for each in found:
        if isinstance(each, FailedDocument):
            rows.append({"id": each.id, "error": str(each)})
            continue
        row: dict[str, Any] = {
            "id": each.id,
            "status": each.status,
            "optimal": each.optimal,
            "log_prob": each.log_prob,
            "penalty": each.penalty,
            "violated": ", ".join(check.id for check in each.violations),
            "error": None,
        }
        # A field may have the name of a column: then the column is meant, and by="field" has it.
        values = {name: found.value for name, found in each.classes.items()}
        for name in each.fields:
            readable = (value for value in each.values(name) if value is not None)
            values[name] = _plain(next(readable, None))
        rows.append(values | row)
    first = ["id", "status", "optimal", "log_prob", "penalty", "violated", "error"]
    others = dict.fromkeys(name for row in rows for name in row if name not in first)
    return {name: [row.get(name) for row in rows] for name in (*first, *others)}


def _fields(pandas: Any, found: list[Decoding | FailedDocument]) -> Any:
    rows: list[dict[str, Any]] = []
    for each in found:
        if isinstance(each, FailedDocument):
            rows.append({"id": each.id, "error": str(each)})
            continue
        for name, values in each.fields.items():
            for value in values:
                plain = _plain(value.value)
                rows.append(
                    {
                        "id": each.id,
                        "status": each.status,
                        "field": name,
                        "text": value.text,
                        "value": None if value.value is None else str(value.value),
                        "number": plain if isinstance(plain, float) else None,
                        "date": plain if isinstance(plain, date) else None,
                        "start": value.words[0],
                        "end": value.words[1],
                        "page": value.page,
                        "row": value.row,
                        "error": None,
                    }
                )
    columns = (
        "id", "status", "field", "text", "value", "number", "date", "start", "end", "page", "row",
        "error",
    )  # fmt: skip
    return pandas.DataFrame(rows, columns=columns)


def _plain(value: Any) -> Any:
    """A value as pandas computes with it: numbers are floats."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return value
    try:
        return float(value)
    except OverflowError:
        return value
