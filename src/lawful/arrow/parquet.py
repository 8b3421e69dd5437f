"""Parquet files of scored documents, and of decodings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from lawful.arrow.decodings import SCHEMA, Decoded, to_batch
from lawful.arrow.documents import Record, ScoredReader
from lawful.errors import InputError
from lawful.io.atomic import atomic_path

ROWS = 256
"""Documents that are read at a time."""

ROWS_OF_GROUPS = 4096
"""Decodings of a row group, which are in memory until it is written."""


def read_parquet(
    path: str | Path,
    *,
    labels: Sequence[str] | None = None,
    kind: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Iterator[Record]:
    """Every row of a file as a scored document or a ``BadLine``, in constant memory.

    Raises an ``InputError`` if the file cannot be read, or lacks what is needed.
    """
    row = 0
    try:
        with parquet.ParquetFile(path) as file:
            reader = ScoredReader(file.schema_arrow, labels=labels, kind=kind, columns=columns)
            for batch in file.iter_batches(batch_size=ROWS):
                yield from reader.read(batch, row + 1)
                row += len(batch)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except pa.ArrowException as error:
        raise InputError(f"{path}: unreadable after row {row}: {error}") from None


def write_parquet(path: str | Path, decodings: Iterable[Decoded]) -> int:
    """Writes decodings, atomically, and returns their number."""
    count = 0
    with atomic_path(path) as new, parquet.ParquetWriter(new, SCHEMA, compression="zstd") as file:
        group: list[Decoded] = []
        for decoding in decodings:
            group.append(decoding)
            if len(group) == ROWS_OF_GROUPS:
                file.write_batch(to_batch(group))
                group = []
            count += 1
        if group:
            file.write_batch(to_batch(group))
    return count
