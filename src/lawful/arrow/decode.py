"""Decoding of record batches, in this process or in workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import pyarrow as pa

from lawful.arrow.decodings import SCHEMA, to_batch
from lawful.arrow.documents import Record, ScoredReader
from lawful.base.errors import InputError, shown
from lawful.documents.records import FailedDocument
from lawful.documents.scores import Pooling
from lawful.pipeline.batch import checked_workers
from lawful.pipeline.call import Call, Options, bad_line, decode_one
from lawful.pipeline.workers import in_order
from lawful.results.decoding import Decoding
from lawful.rules.rule_set import Rules

ROWS = 1024
"""Documents of a batch of decodings, so that memory does not depend on the batches of the input."""

ROWS_OF_WORKERS = 16
"""Documents that a worker decodes at a time."""


def decode_batches(
    batches: Any,
    rules: Rules,
    *,
    labels: Sequence[str] | None = None,
    kind: str | None = None,
    columns: Mapping[str, str] | None = None,
    pool: Pooling | None = None,
    workers: int = 1,
    **options: Unpack[Options],
) -> Iterator[Any]:
    """Decodes scored documents: one row per document, in order, in batches with ``SCHEMA``.

    ``batches`` is an Arrow table or stream of any library (anything with ``__arrow_c_stream__``),
    or an iterable of record batches; ``lawful.arrow.documents`` lists the columns. ``labels`` are
    the names of the scores' columns, ``kind`` is ``probs``, ``log_probs`` or ``logits``, and
    ``columns`` has other names of columns: ``{"words": "tokens"}``. The other options are those of
    ``lawful.decode_many`` and ``lawful decode``.

    A document that cannot be read or decoded is a row with ``error``. An ``InputError`` is raised
    only for what is wrong for all: an unknown option, or a column that is missing.
    """
    call = Call(rules, pool=pool, **options)
    how = {"labels": labels, "kind": kind, "columns": columns}
    source = slices(open_batches(batches), ROWS if workers == 1 else ROWS_OF_WORKERS)
    return _decoded(source, how, call, checked_workers(workers))


def decode_table(table: Any, rules: Rules, **how: Any) -> Any:
    """The decodings of a table, as a table; ``how`` are options of ``decode_batches``.

    A record batch is fine, too.
    """
    return pa.Table.from_batches(decode_batches(table, rules, **how), SCHEMA)


def open_batches(batches: Any) -> Iterator[Any]:
    """The record batches of a table, a stream, a batch, or an iterable of batches."""
    if isinstance(batches, pa.Table | pa.RecordBatchReader):
        return iter(batches.to_batches() if isinstance(batches, pa.Table) else batches)
    if hasattr(batches, "__arrow_c_stream__"):
        return iter(pa.RecordBatchReader.from_stream(batches))
    if isinstance(batches, Iterable) and not isinstance(batches, str | bytes | Mapping):
        return (each for some in batches for each in _each(some))
    return _each(batches)


def _each(given: Any) -> Iterator[Any]:
    """The record batches of an item of an iterable."""
    if isinstance(given, pa.RecordBatch):
        return iter([given])
    if hasattr(given, "__arrow_c_stream__"):
        return open_batches(given)
    if hasattr(given, "__arrow_c_array__"):
        return iter([pa.record_batch(given)])
    raise InputError(f"found {shown(given)}, expected an Arrow table, stream or record batch")


def slices(batches: Iterable[Any], rows: int) -> Iterator[tuple[int, Any]]:
    """Parts of batches, with the number of rows before each."""
    before = 0
    for batch in batches:
        for start in range(0, len(batch), rows):
            yield before + start, batch.slice(start, rows)
        before += len(batch)


def _results(records: Iterable[Record], call: Call) -> Iterator[Decoding | FailedDocument]:
    for record in records:
        try:
            result = decode_one(record, call)
        except Exception as error:  # ends no job: it is about this document
            result = bad_line(record, f"{type(error).__name__}: {error}")
        yield result if isinstance(result, FailedDocument) else result[1]


def _decoded(
    slices: Iterator[tuple[int, Any]], how: dict[str, Any], call: Call, workers: int
) -> Iterator[Any]:
    readers = _Readers(how)
    if workers == 1:
        for before, some in slices:
            yield to_batch(_results(readers.of(some).read(some, before + 1), call))
        return
    task = _DecodeSlice(call, how)
    checked = (item for item in slices if readers.of(item[1]))
    for result in in_order(task, checked, workers, batch=1):
        if isinstance(result, _Lost):
            yield from _one_by_one(task, result)
        else:
            yield result


class _Readers:
    """A reader per schema; the batches of an iterable may differ."""

    def __init__(self, how: dict[str, Any]) -> None:
        self._how = how
        self._schema: Any = None
        self._reader: ScoredReader | None = None

    def of(self, batch: Any) -> ScoredReader:
        """The reader of a batch; raises an ``InputError`` if columns are missing."""
        if self._reader is None or not batch.schema.equals(self._schema, check_metadata=True):
            self._schema = batch.schema
            self._reader = ScoredReader(batch.schema, **self._how)
        return self._reader


@dataclass(frozen=True, slots=True)
class _Lost:
    """A slice whose worker died."""

    before: int
    slice: Any
    why: str


@dataclass(frozen=True, slots=True)
class _DecodeSlice:
    """The task of workers that decode slices: Arrow in, Arrow out."""

    call: Call
    how: dict[str, Any]

    def start(self) -> Callable[[tuple[int, Any]], Any]:
        readers = _Readers(self.how)

        def decode(item: tuple[int, Any]) -> Any:
            before, some = item
            return to_batch(_results(readers.of(some).read(some, before + 1), self.call))

        return decode

    def lost(self, item: tuple[int, Any], why: str) -> _Lost:
        return _Lost(*item, why)


def _one_by_one(task: _DecodeSlice, lost: _Lost) -> Iterator[Any]:
    """Decodes a slice once more, row by row, so that only the row that kills workers is lost."""
    rows = ((lost.before + i, lost.slice.slice(i, 1)) for i in range(len(lost.slice)))
    for result in in_order(task, rows, 1, batch=1, apart=True):
        if isinstance(result, _Lost):
            reader = ScoredReader(result.slice.schema, **task.how)
            record = reader.read(result.slice, result.before + 1)[0]
            yield to_batch([bad_line(record, result.why)])
        else:
            yield result
