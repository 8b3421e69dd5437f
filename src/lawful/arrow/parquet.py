"""Parquet files of scored documents, and of decodings."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any
from zlib import compress, decompress

import pyarrow as pa
from pyarrow import parquet

from lawful.arrow.decodings import SCHEMA, Decoded, to_batch
from lawful.arrow.documents import Record, ScoredReader
from lawful.base.errors import InputError
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
    """Every row of a file as a scored document or a ``FailedDocument``, in constant memory.

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


def write_parquet(path: str | Path, decodings: Iterable[Decoded]) -> None:
    """Writes decodings, atomically."""
    rest = iter(decodings)
    with atomic_path(path) as new, _opened(new) as file:
        while group := list(islice(rest, ROWS_OF_GROUPS)):
            file.write_batch(to_batch(group))


def row_line(decoding: Decoded) -> str:
    """A row as a line of text, of which ``pack_rows`` makes files: an unfinished run has such."""
    return b64encode(compress(to_batch([decoding]).serialize(), 1)).decode() + "\n"


def pack_rows(lines: Iterable[bytes], path: Path) -> None:
    """Writes a file of the rows of lines."""
    rest = iter(lines)
    with _opened(path) as file:
        while group := list(islice(rest, ROWS_OF_GROUPS)):
            rows = [pa.py_buffer(decompress(b64decode(line))) for line in group]
            batches = [pa.ipc.read_record_batch(row, SCHEMA) for row in rows]
            file.write_table(pa.Table.from_batches(batches, SCHEMA).combine_chunks())


def _opened(path: Path) -> Any:
    return parquet.ParquetWriter(path, SCHEMA, compression="zstd")
