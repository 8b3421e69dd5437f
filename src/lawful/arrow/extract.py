"""Extraction on record batches: files or documents in, decodings out, with a model in between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

import pyarrow as pa

from lawful.arrow.decode import open_batches, slices
from lawful.arrow.decodings import SCHEMA, to_batch
from lawful.arrow.documents import DocumentReader
from lawful.arrow.lists import plain, texts
from lawful.base.errors import InputError, LawfulError, did_you_mean, shown
from lawful.documents.document import Document
from lawful.documents.records import FailedDocument
from lawful.models.extraction import Extractor, How
from lawful.readers import Item, read_files
from lawful.results.decoding import Decoding
from lawful.rules.rule_set import Rules

ROWS = 32
"""Files or documents of a batch of decodings."""

FILE_NAMES = ("path", "content")
"""Columns of files: a path, and the bytes unless they are read from there."""


class _Batches:
    """What ``lawful.extract`` loads once, for any number of batches."""

    def __init__(self, *, columns: Mapping[str, str] | None = None, **how: Unpack[How]) -> None:
        self._extractor = Extractor.of(**how)
        self._columns = dict(columns or {})

    def extract(self, batch: Any, before: int = 0) -> Any:
        """The decodings of a record batch, with ``SCHEMA``; ``before`` is the rows before it."""
        with ExitStack() as stack:
            return to_batch(map(self._result, self._documents(batch, before + 1, stack)))

    def _result(self, found: Document | FailedDocument) -> Decoding | FailedDocument:
        if isinstance(found, FailedDocument):
            return found
        try:
            result = self._extractor.result(found)
        except LawfulError as error:
            return FailedDocument(found.line or 0, str(error), found.id)
        except Exception as error:  # ends no job: it is about this document
            return FailedDocument(found.line or 0, f"{type(error).__name__}: {error}", found.id)
        return result if isinstance(result, FailedDocument) else result[1]

    def _documents(
        self, batch: Any, first: int, stack: ExitStack
    ) -> Iterator[Document | FailedDocument]:
        names = {name: self._columns.get(name, name) for name in FILE_NAMES}
        if names["path"] not in batch.schema.names:
            rest = {name: column for name, column in self._columns.items() if name != "path"}
            yield from DocumentReader(batch.schema, columns=rest).read(batch, first)
            return
        if unknown := sorted(set(self._columns) - set(FILE_NAMES)):
            raise InputError(
                f"columns: unknown name {shown(unknown[0])}; "
                f"{did_you_mean(unknown[0], FILE_NAMES)}names: {', '.join(FILE_NAMES)}"
            )
        paths = texts(batch.column(names["path"]))
        contents: Any = [None] * len(paths)
        if names["content"] in batch.schema.names:
            contents = plain(batch.column(names["content"]))
        elif "content" in self._columns:
            raise InputError(
                f"no column {names['content']!r}; columns: {', '.join(batch.schema.names)}"
            )
        items = []
        failed: dict[int, str] = {}
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="lawful-")))
        for line, (path, content) in enumerate(zip(paths, contents, strict=True), first):
            data = content.as_py() if content is not None else None
            at = path
            if path is not None and data is not None:
                at = str(folder / f"{line}{Path(path).suffix}")
                try:
                    Path(at).write_bytes(data)
                except (OSError, ValueError) as error:  # a full disk, or a suffix that is no name
                    failed[line] = f"the content cannot be stored: {error}"
            items.append(Item(line, path=at or ""))
        read = read_files(items, self._extractor.reader, workers=self._extractor.workers)
        for item, found, path in zip(items, read, paths, strict=True):
            if item.number in failed:
                yield FailedDocument(item.number, failed[item.number], path)
            else:
                yield _named(found, path)  # type: ignore[arg-type]


def _named(found: Document | FailedDocument, path: str | None) -> Document | FailedDocument:
    """What was read, under the path that the row has."""
    if path is None:
        return FailedDocument(found.line or 0, "path is null, expected that of a file")
    if isinstance(found, FailedDocument):
        return FailedDocument(found.line, found.message, path)
    return found.with_id(path)


def extract_batches(batches: Any, rules: Rules | None = None, **how: Any) -> Iterator[Any]:
    """Extracts field values: one row per file or document, in order, in batches with ``SCHEMA``.

    Rows have the ``path`` of a file, with its bytes as ``content`` unless it is read from there; or
    they are documents without scores, with ``id``, ``words`` and ``boxes``. ``rules``, ``model``,
    ``reader``, ``pool`` and what happens without them are those of ``lawful.extract``: receipts and
    invoices are told apart, and e-invoices have the values of their XML. ``columns`` has other
    names of columns: ``{"content": "bytes"}``. The other options are those of ``decode_batches``.

    A file that cannot be read is a row with ``error``.
    """
    extractor = _Batches(rules=rules, **how)
    parts = slices(open_batches(batches), ROWS)
    return (extractor.extract(some, before) for before, some in parts)


def extract_table(table: Any, rules: Rules | None = None, **how: Any) -> Any:
    """The same of a table, as a table; ``how`` are options of ``extract_batches``."""
    return pa.Table.from_batches(extract_batches(table, rules, **how), SCHEMA)
