"""The process that reads files for the service, one after another: it stays warm between them.

Paths come on standard input and answers go to standard output, each with its length in front: any
number of ``[page, of]``, then what is kept of the file or ``{"error": …}``. A file that takes too
long kills the process: the service starts another.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from struct import Struct
from typing import IO

import msgspec
import numpy as np

from lawful.base.errors import LawfulError
from lawful.documents.document import Document
from lawful.documents.records import FailedDocument
from lawful.pipeline.workers import die_with
from lawful.readers import Limits, Reader
from lawful.readers.cache import Kept, ReadCache
from lawful.readers.many import Item, ReadFile
from lawful.readers.reader import FileDocument

_LENGTH = Struct(">I")

ERROR = b'{"error":'


class HowToRead(msgspec.Struct, frozen=True):
    """How all files are read."""

    seconds: float
    pages: int
    cache: str | None = None
    warm: bool = False  # OCR is loaded at once, not with the first photo
    parent: int = 0  # the process that this one does not outlive


class Unreadable(msgspec.Struct):
    """Why a file cannot be read."""

    error: str


def send(pipe: IO[bytes], message: bytes) -> None:
    """Sends a message."""
    pipe.write(_LENGTH.pack(len(message)) + message)
    pipe.flush()


def receive(pipe: IO[bytes], most: int) -> bytes | None:
    """The next message; ``None`` at the end of all, or if it has more bytes than this."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size or (length := _LENGTH.unpack(head)[0]) > most:
        return None
    found = pipe.read(length)
    return found if len(found) == length else None


def main() -> None:
    """Reads files until standard input ends."""
    how = msgspec.json.decode(sys.argv[1], type=HowToRead)
    limits = Limits(pages=how.pages, seconds=how.seconds)
    cache = None if how.cache is None else ReadCache.open(Path(how.cache))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer

    def tell(page: int, of: int) -> None:
        send(answers, msgspec.json.encode((page, of)))

    die_with(how.parent)
    reader = Reader(limits=limits, cache=cache, progress=tell)
    read = ReadFile(reader).start()
    if how.warm:
        with suppress(LawfulError):  # such as an extra that is not installed
            reader.engine.read(np.eye(64, dtype=np.uint8)[..., None].repeat(3, 2) * 255)
    while (path := receive(sys.stdin.buffer, 2**16)) is not None:
        found = read(Item(0, path=os.fsdecode(path)))
        if isinstance(found, FailedDocument):
            send(answers, msgspec.json.encode(Unreadable(found.message)))
            continue
        assert isinstance(found, Document)  # noqa: S101 - of a file
        file = found if isinstance(found, FileDocument) else FileDocument.of(found, None)
        send(answers, Kept.of(replace(file, images=None), file.invoice, file.notes))


if __name__ == "__main__":
    main()
