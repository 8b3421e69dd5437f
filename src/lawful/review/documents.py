"""The documents under review, addressed by their place in the input.

Only where each line begins is kept in memory, with the document's id and a hash of what a person
sees of it, so that the input may be larger than memory.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import IO, NamedTuple, TypeAlias

import msgspec

from lawful.base.errors import InputError, LawfulError
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
from lawful.pipeline.workers import Idle
from lawful.review.pictures import Pictured

POLL = 0.1
"""Seconds between two looks for documents that are still being read."""

CLOSING = 3.0
"""Seconds to wait for the document that is being read when the review ends."""


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

    Safe to use from several threads. A bad line has a slip with an ``error``. Documents of other
    files arrive one by one after ``start``: as long as some are ``coming``, ``slips`` grows.
    """

    def __init__(self, path: str, file: IO[bytes], stamp: Stamp | None = None) -> None:
        """``file`` has the lines where the slips say; ``path`` is where scores may be next to.

        ``stamp`` is that of the file before the slips were made, if others can change it.
        """
        self.path = path
        self.slips: list[Slip] = []
        self.coming = False
        self.expected: int | None = None  # documents and bad lines, if it is known
        self.failure: str | None = None  # why no more documents came
        self.score: Callable[[int, Scored], Scored] | None = None  # instead of their own scores
        self._file = file
        self._lock = threading.Lock()
        self._parser = LineParser(path)
        self._stamp = stamp
        self._hashes: dict[str, set[str]] = {}
        self._closed = threading.Event()
        self._reading: threading.Thread | None = None

    @classmethod
    def open(cls, path: str) -> Documents:
        """The documents of a file; a gzipped one, a pipe and standard input are copied first."""
        if path == "-" or is_special(Path(path)) or _is_packed(path):
            found = cls(path, _copy(path))
            for number, _, text in read_places(path):
                found._add(number, text)
            return found
        file = Path(path).open("rb")  # noqa: SIM115 - open as long as the documents are
        try:
            stamp = _stamp(file)
            found = cls(path, file, stamp)
            for number, start, text in read_places(path):
                found._list(number, start, text)
            if _stamp(path) != stamp:
                raise ChangedInputError(f"{path} was changed while it was being read: try again")
        except BaseException as error:
            file.close()
            if isinstance(error, OSError):  # it was removed
                raise InputError(f"cannot read {path}: {error.strerror}") from None
            raise
        return found

    @classmethod
    def arriving(
        cls, records: Generator[Scored | FailedDocument | Idle, None, None], expected: int | None
    ) -> Documents:
        """Documents that are read and scored by a thread, so many of them if that is known."""
        found = cls("-", _copy("the documents"))
        found.coming, found.expected = True, expected
        found._reading = threading.Thread(
            target=found._add_all, args=(records,), daemon=True, name="documents"
        )
        return found

    def start(self) -> None:
        """Begins to take documents that arrive."""
        if self._reading is not None:
            self._reading.start()

    def _add_all(self, records: Generator[Scored | FailedDocument | Idle, None, None]) -> None:
        try:
            with closing(records):
                for record in records:
                    if self._closed.is_set():
                        break
                    if isinstance(record, FailedDocument):
                        self._add(record.line, record)
                    elif not isinstance(record, Idle):
                        self._add(record.line or 0, scored_line(record).encode())
        except (LawfulError, OSError, ValueError) as error:  # ValueError: closed meanwhile
            self.failure = str(error)
        finally:
            self.coming = False

    def _add(self, line: int, text: bytes | FailedDocument) -> None:
        """Keeps a line in the copy, which nobody else can change."""
        try:
            with self._lock:
                start = self._file.seek(0, os.SEEK_END)
                if not isinstance(text, FailedDocument):
                    self._file.write(text)
        except OSError as error:
            raise InputError(f"cannot keep a copy of {self.path}: {error.strerror}") from None
        self._list(line, start, text)

    def _list(self, line: int, start: int, text: bytes | FailedDocument) -> None:
        slip = _slip(len(self.slips), line, start, text)
        self._hashes.setdefault(slip.id, set()).add(slip.hash)
        self.slips.append(slip)

    def __len__(self) -> int:
        return len(self.slips)

    def close(self) -> None:
        """Closes the file, and reads no more."""
        self._closed.set()
        if self._reading is not None and self._reading.is_alive():
            self._reading.join(CLOSING)
        self._file.close()

    def hashes(self, id_: str) -> set[str]:
        """Those of the documents with an id."""
        return self._hashes.get(id_, set())

    def each(self) -> Iterator[Slip]:
        """All slips; waits for those that are coming."""
        n = 0
        while True:
            coming = self.coming
            while n < len(self.slips):
                yield self.slips[n]
                n += 1
            if not coming or self._closed.wait(POLL):
                return

    def text(self, n: int) -> bytes:
        """The line of a document; raises a ``ChangedInputError`` if the file is not as it was."""
        slip = self.slips[n]
        with self._lock:
            if self._stamp is not None and _stamp(self._file) != self._stamp:
                raise ChangedInputError(
                    f"{self.path} was changed after the review had begun: start lawful review again"
                )
            self._file.seek(slip.start)
            return self._file.read(slip.length)

    def pictured(self) -> Iterator[Pictured]:
        """What pictures are found by, of all documents that can be used."""
        decoder = msgspec.json.Decoder(_Images)
        for slip in self.each():
            if slip.error is None:
                images = decoder.decode(self.text(slip.n)).images
                yield Pictured(slip.id, images, max(slip.pages, len(images or ())))

    def read(self, n: int) -> Scored | FailedDocument:
        """The document with its own scores, or why there is none."""
        slip, text = self.slips[n], self.text(n)
        if slip.error is not None:
            return FailedDocument(slip.line, slip.error)
        with self._lock:  # scores next to the file are read at a position
            return self._parser.parse(slip.line, text)

    def scored(self, n: int) -> Scored | FailedDocument:
        """The document as it is scored now."""
        found = self.read(n)
        if self.score is None or isinstance(found, FailedDocument):
            return found
        return self.score(n, found)

    def line(self, n: int) -> bytes:
        """The line of a document as it is scored now."""
        if self.score is None or isinstance(found := self.scored(n), FailedDocument):
            return self.text(n)
        return scored_line(found).encode()


def _copy(path: str) -> IO[bytes]:
    """A temporary file, which has no name."""
    try:
        return tempfile.TemporaryFile()
    except OSError as error:
        raise InputError(f"cannot keep a copy of {path}: {error.strerror}") from None


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


def _slip(n: int, line: int, start: int, text: bytes | FailedDocument) -> Slip:
    if isinstance(text, FailedDocument):
        return Slip(n, line, start, 0, text.id or f"line {line}", "", 0, 0, text.message)
    try:
        check_line(text)
        head = _HEADS.decode(text)
        pages = max(head.pages or (0,)) + 1
    except (*BAD_TEXT, MemoryError) as error:
        return Slip(n, line, start, len(text), f"line {line}", "", 0, 0, str(error))
    return Slip(n, line, start, len(text), sys.intern(head.id), head.hash, len(head.words), pages)


_HEADS = msgspec.json.Decoder(_Head)
