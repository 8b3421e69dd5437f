"""The documents under review, addressed by their place in the input.

Only where each line begins is kept in memory, with the document's id and a hash of what a person
sees of it, so that the input may be larger than memory.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import IO, NamedTuple, TypeAlias

import msgspec

from lawful.base.errors import InputError
from lawful.documents.records import FailedDocument, Scored
from lawful.io.atomic import is_special
from lawful.io.jsonl import (
    BAD_TEXT,
    LineParser,
    check_line,
    encode,
    read_places,
    scored_line,
)
from lawful.review.pictures import Pictured


class ChangedInputError(InputError):
    """The file of documents was changed while it was open, so that lines are not where they were.

    Nothing can be read from it until the review is started again.
    """


Stamp: TypeAlias = tuple[int, int, int, int]


class Slip(NamedTuple):
    """What is known of a document without reading it again."""

    n: int
    line: int
    start: int
    length: int
    id: str
    hash: str  # of what a person sees: words, their places, and values that are given
    words: int
    pages: int
    error: str | None = None


class _Head(msgspec.Struct):
    """The part of a line that a person sees."""

    id: str
    words: list[str]
    boxes: list[list[float]] | None = None
    pages: list[int] | None = None
    joins: list[bool] | None = None
    rows: list[int | None] | None = None
    given: dict[str, str | int | float | None] | None = None

    @property
    def hash(self) -> str:
        seen = (self.words, self.boxes, self.pages, self.joins, self.rows, self.given)
        return sha256(encode(seen)).hexdigest()[:32]


class _Images(msgspec.Struct):
    """The part of a line that says where its pictures are."""

    images: tuple[str | None, ...] | None = None


class Documents:
    """Scored documents of a file of JSON lines, read again whenever one is asked for.

    Safe to use from several threads. A bad line has a slip with an ``error``.
    """

    def __init__(
        self, path: str, file: IO[bytes], slips: list[Slip], stamp: Stamp | None = None
    ) -> None:
        """``file`` has the lines where the slips say; ``path`` is where scores may be next to.

        ``stamp`` is that of the file before the slips were made, if others can change it.
        """
        self.path = path
        self.slips = slips
        self._file = file
        self._lock = threading.Lock()
        self._parser = LineParser(path)
        self._stamp = stamp or _stamp(file)

    @classmethod
    def open(cls, path: str) -> Documents:
        """The documents of a file; a gzipped one, a pipe and standard input are copied first."""
        if path == "-" or is_special(Path(path)) or _is_packed(path):
            return cls.of_lines(path, ((number, text) for number, _, text in read_places(path)))
        file = Path(path).open("rb")  # noqa: SIM115 - open as long as the documents are
        try:
            stamp = _stamp(file)
            slips = list(_slips(read_places(path)))
            if _stamp(path) != stamp:
                raise ChangedInputError(f"{path} was changed while it was being read: try again")
        except BaseException as error:
            file.close()
            if isinstance(error, OSError):  # it was removed
                raise InputError(f"cannot read {path}: {error.strerror}") from None
            raise
        return cls(path, file, slips, stamp)

    @classmethod
    def of_records(cls, records: Iterable[Scored | FailedDocument]) -> Documents:
        """Documents that a model has scored."""
        return cls.of_lines("-", map(_line_of, records))

    @classmethod
    def of_lines(cls, path: str, lines: Iterable[tuple[int, bytes | FailedDocument]]) -> Documents:
        """Documents that are no plain file: kept in a temporary one, which has no name."""
        copy = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the documents are

        def placed() -> Iterator[tuple[int, int, bytes | FailedDocument]]:
            for number, text in lines:
                start = copy.tell()
                if not isinstance(text, FailedDocument):
                    copy.write(text)
                yield number, start, text

        try:
            slips = list(_slips(placed()))
            copy.flush()
        except OSError as error:
            copy.close()
            raise InputError(f"cannot keep a copy of {path}: {error.strerror}") from None
        return cls(path, copy, slips)

    def __len__(self) -> int:
        return len(self.slips)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def text(self, n: int) -> bytes:
        """The line of a document; raises a ``ChangedInputError`` if the file is not as it was."""
        slip = self.slips[n]
        with self._lock:
            if _stamp(self._file) != self._stamp:
                raise ChangedInputError(
                    f"{self.path} was changed after the review had begun: start lawful review again"
                )
            self._file.seek(slip.start)
            return self._file.read(slip.length)

    def pictured(self) -> Iterator[Pictured]:
        """What pictures are found by, of all documents that can be used."""
        decoder = msgspec.json.Decoder(_Images)
        for slip in self.slips:
            if slip.error is None:
                images = decoder.decode(self.text(slip.n)).images
                yield Pictured(slip.id, images, max(slip.pages, len(images or ())))

    def read(self, n: int) -> Scored | FailedDocument:
        """The document with its scores, or why there is none."""
        slip, text = self.slips[n], self.text(n)
        if slip.error is not None:
            return FailedDocument(slip.line, slip.error)
        with self._lock:  # scores next to the file are read at a position
            return self._parser.parse(slip.line, text)


def _is_packed(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            return file.read(2) == b"\x1f\x8b"
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None


def _stamp(file: IO[bytes] | str) -> Stamp:
    """What tells a file from another one in its place, and from itself before it was changed."""
    found = Path(file).stat() if isinstance(file, str) else os.fstat(file.fileno())
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _line_of(record: Scored | FailedDocument) -> tuple[int, bytes | FailedDocument]:
    if isinstance(record, FailedDocument):
        return record.line, record
    return record.line or 0, scored_line(record).encode()


def _slips(places: Iterable[tuple[int, int, bytes | FailedDocument]]) -> Iterator[Slip]:
    decoder = msgspec.json.Decoder(_Head)
    for n, (line, start, text) in enumerate(places):
        if isinstance(text, FailedDocument):
            yield Slip(n, line, start, 0, text.id or f"line {line}", "", 0, 0, text.message)
            continue
        try:
            check_line(text)
            head = decoder.decode(text)
            pages = max(head.pages or (0,)) + 1
        except (*BAD_TEXT, MemoryError) as error:
            yield Slip(n, line, start, len(text), f"line {line}", "", 0, 0, str(error))
            continue
        id_ = sys.intern(head.id)
        yield Slip(n, line, start, len(text), id_, head.hash, len(head.words), pages)
