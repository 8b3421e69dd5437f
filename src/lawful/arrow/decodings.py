"""Decodings as record batches: nested columns that Polars, DuckDB, Spark and pandas unnest alike.

Lists are lists of structs, not maps, so that ``select id, unnest(fields)`` works everywhere. Of a
field's value there are the exact ``value`` as text, a ``number`` for arithmetic and a ``date``. A
document that failed has its ``id``, if known, and an ``error``; all else is null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from operator import attrgetter
from typing import Any, TypeAlias

import pyarrow as pa

from lawful.base.errors import InputError, shown
from lawful.documents.labels import Span
from lawful.documents.records import FailedDocument
from lawful.io.jsonl import encode
from lawful.results.decoding import Decoding
from lawful.rules.judging.field_reader import FieldValue

Decoded: TypeAlias = Decoding | FailedDocument

_TEXTS = pa.list_(pa.string())


def _list_of(**fields: Any) -> Any:
    return pa.list_(pa.struct(list(fields.items())))


_VALUE = {
    "name": pa.string(),
    "text": pa.string(),
    "value": pa.string(),
    "number": pa.float64(),
    "date": pa.date32(),
}
_FIELDS = _list_of(
    **_VALUE,
    start=pa.int32(),
    end=pa.int32(),
    page=pa.int64(),
    box=pa.list_(pa.float64()),
    row=pa.int64(),
    choice=pa.int32(),
    read_as=pa.string(),
    confidence=pa.float64(),
    confidence_high=pa.float64(),
)
_SPAN = pa.struct(
    {"label": pa.string(), "start": pa.int32(), "end": pa.int32(), "text": pa.string()}
)

SCHEMA = pa.schema(
    {
        "id": pa.string(),
        "status": pa.string(),
        "checked": pa.int64(),
        "rules": pa.int64(),
        "row_checks": pa.struct({"checked": pa.int64(), "all": pa.int64()}),
        "repaired": pa.int64(),
        "optimal": pa.bool_(),
        "log_prob": pa.float64(),
        "penalty": pa.float64(),
        "bound": pa.float64(),
        "margin": pa.float64(),
        "labels": _TEXTS,
        "fields": _FIELDS,
        "rows": _list_of(kind=pa.string(), fields=_list_of(**_VALUE)),
        # By row of the kind that the sections are of: the number of its section.
        "sections": _list_of(kind=pa.string(), of=pa.string(), numbers=pa.list_(pa.int32())),
        "checks": _list_of(
            id=pa.string(),
            state=pa.string(),
            message=pa.string(),
            price=pa.float64(),
            implied=pa.bool_(),
        ),
        "corrections": _list_of(
            word=pa.int32(), old=pa.string(), new=pa.string(), price=pa.float64(), because=_TEXTS
        ),
        "span_corrections": _list_of(old=_SPAN, new=_SPAN, price=pa.float64(), because=_TEXTS),
        "alternatives": _list_of(
            optimal=pa.bool_(),
            log_prob=pa.float64(),
            penalty=pa.float64(),
            violated=_TEXTS,
            fields=_FIELDS,
            classes=_list_of(name=pa.string(), value=pa.string()),
        ),
        "classes": _list_of(
            name=pa.string(),
            value=pa.string(),
            first=pa.string(),
            price=pa.float64(),
            because=_TEXTS,
            confidence=pa.float64(),
            confidence_high=pa.float64(),
        ),
        "clash": _TEXTS,
        "clash_minimal": pa.bool_(),
        "pins": pa.string(),
        "moved": _list_of(word=pa.int32(), old=pa.string(), new=pa.string(), pinned=pa.bool_()),
        "trust": pa.float64(),
        "passes": pa.bool_(),
        "passes_because": pa.string(),
        "doubts": _list_of(name=pa.string(), value=pa.float64()),
        "setting": pa.string(),
        "known": _list_of(name=pa.string(), known=_TEXTS, found=_TEXTS, right=pa.bool_()),
        "decoder": pa.string(),
        "chosen": pa.string(),
        "stopped_by": pa.string(),
        "tried": pa.int64(),
        "mass": pa.float64(),
        "seconds": pa.float64(),
        "error": pa.string(),
    }
)
"""The columns of decodings, named as the keys of JSON lines; ``confidence`` is in ``fields`` and
``classes``, and ``pins`` are a text in JSON. ``inf`` as a penalty is a hard rule's, as a margin
that of the only answer."""


def to_batch(decodings: Iterable[Decoded]) -> Any:
    """Decodings as a record batch with ``SCHEMA``, one row each, in order."""
    found = list(decodings)
    for each in found:
        if not isinstance(each, Decoded):
            raise InputError(f"found {shown(each)}, expected a Decoding or a FailedDocument")
    try:
        return _batch(found)
    except (pa.ArrowException, UnicodeError, OverflowError) as error:
        if len(found) == 1:
            failed = FailedDocument(0, f"the decoding does not fit into Arrow: {error}")
            return _batch([failed])
    batches = [to_batch([each]) for each in found]  # the others do
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def _batch(found: Sequence[Decoded]) -> Any:
    columns = []
    for column in SCHEMA:
        make = _COLUMNS.get(column.name) or attrgetter(column.name)
        values = [make(each) if isinstance(each, Decoding) else None for each in found]
        columns.append(pa.array(values, column.type))
    columns[0] = pa.array([each.id for each in found], pa.string())
    errors = [None if isinstance(each, Decoding) else each.message for each in found]
    columns[-1] = pa.array(errors, pa.string())
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def _fields(decoding: Decoding) -> list[tuple[Any, ...]]:
    rows = []
    for name, values in decoding.fields.items():
        low, high = decoding.confidence.get(name, (None, None))
        for found in values:
            start, end = found.words
            rows.append(
                (*_value(name, found), start, end, found.page, found.box, found.row,
                 found.choice, found.read_as, low, high)
            )  # fmt: skip
    return rows


def _value(name: str, found: FieldValue) -> tuple[Any, ...]:
    value = found.value
    if value is None:
        return name, found.text, None, None, None
    return name, found.text, str(value), number_of(value), date_of(value)


def number_of(value: Any) -> float | None:
    """A value as a number, if it is one."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        return float(value)
    except OverflowError:  # a whole number beyond all floats
        return None


def date_of(value: Any) -> date | None:
    """A value as a date, if it is one."""
    if isinstance(value, datetime):
        return value.date()
    return value if isinstance(value, date) else None


def _rows(decoding: Decoding) -> list[tuple[Any, ...]]:
    return [
        (kind, [_value(name, found) for name, found in row.items()])
        for kind in decoding.row_kinds
        for row in decoding.rows(kind)
    ]


def _classes(decoding: Decoding) -> list[tuple[Any, ...]]:
    return [
        (name, found.value, found.first, found.price, found.because,
         *decoding.confidence.get(name, (None, None)))
        for name, found in decoding.classes.items()
    ]  # fmt: skip


def _span_corrections(decoding: Decoding) -> list[tuple[Any, ...]]:
    return [
        (_span(each.old, decoding.words), _span(each.new, decoding.words), each.price, each.because)
        for each in decoding.span_corrections
    ]


def _span(span: Span | None, words: Sequence[str]) -> tuple[Any, ...] | None:
    return span and (span.type, span.start, span.end, " ".join(words[span.start : span.end]))


def _alternatives(decoding: Decoding) -> list[tuple[Any, ...]]:
    return [
        (
            other.optimal,
            other.log_prob,
            other.penalty,
            [check.id for check in other.violations],
            _fields(other),
            [(name, found.value) for name, found in other.classes.items()],
        )
        for other in decoding.alternatives
    ]


_COLUMNS: dict[str, Callable[[Decoding], Any]] = {
    "row_checks": lambda d: (d.counts.rows_checked, d.counts.row_checks),
    "bound": lambda d: d.bound if isfinite(d.bound) else None,
    "fields": _fields,
    "rows": _rows,
    "sections": lambda d: [(kind, s.of, s.numbers) for kind, s in d.sections.items()],
    "checks": lambda d: [(c.id, c.state, c.message, c.price, c.implied) for c in d.checks],
    "corrections": lambda d: [(c.word, c.old, c.new, c.price, c.because) for c in d.corrections],
    "span_corrections": _span_corrections,
    "alternatives": _alternatives,
    "classes": _classes,
    "doubts": lambda d: list(d.doubts.items()),
    "pins": lambda d: encode([pin.to_dict() for pin in d.pins]).decode() if d.pins else None,
    "moved": lambda d: d.moved and [(m.word, m.old, m.new, m.pinned) for m in d.moved],
    "error": lambda d: None,
}
"""What is in a column, unless it is the attribute of a decoding of this name."""


_SPARK = {
    pa.string(): "string",
    pa.bool_(): "boolean",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float64(): "double",
    pa.date32(): "date",
}


def spark_schema() -> str:
    """``SCHEMA`` as Spark writes it, for ``DataFrame.mapInArrow``."""
    return ", ".join(f"`{field.name}` {_spark(field.type)}" for field in SCHEMA)


def _spark(type_: Any) -> str:
    if pa.types.is_list(type_):
        return f"array<{_spark(type_.value_type)}>"
    if pa.types.is_struct(type_):
        return f"struct<{', '.join(f'`{part.name}`: {_spark(part.type)}' for part in type_)}>"
    return _SPARK[type_]
