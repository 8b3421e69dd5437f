"""What files say, kept on disk: a file with the same content is read once.

An entry is named by a hash of all that the result depends on: the content, how it is read, and the
versions of what reads it. It appears as a whole and has a checksum, so that several processes may
use one folder, and a damaged entry is as good as none. Entries are in folders of their own bounds,
each of which loses what was used longest ago when it is full.
"""

from __future__ import annotations

import os
import zlib
from contextlib import suppress
from dataclasses import dataclass
from functools import cache as once
from hashlib import blake2b, file_digest, sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from secrets import token_hex
from time import time
from typing import Any

import msgspec

from lawful import _core
from lawful.base.errors import InputError
from lawful.documents.document import Document
from lawful.io.atomic import make_folder
from lawful.io.document_line import DocumentLine, document_of, record_of
from lawful.readers.einvoice import EInvoice

MAX_BYTES = 2**30
"""Bytes of a cache: some 100,000 photos of receipts, or pages of text."""

_FOLDERS = 64
MAX_UNPACKED = 2**28  # bytes of an entry, unpacked
_CHECK = 16  # bytes of its checksum
_LEFT_SECONDS = 3600.0  # after which a half-written entry is of a process that was killed
_PACKAGES = ("lawful", "pypdfium2", "pillow", "rapidocr", "onnxruntime", "opencv-python", "numpy")


class Kept(msgspec.Struct):
    """What is kept of a file: its document without the file's name, its e-invoice, and notes."""

    document: DocumentLine
    invoice: EInvoice | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, document: Document, invoice: EInvoice | None, notes: tuple[str, ...]) -> bytes:
        """The packed entry of a document, whose id is the file's name."""
        record = record_of(document) | {"id": ""}
        record.pop("values", None)  # are those of the e-invoice
        if document.images is not None:
            start = len(document.id)
            record["images"] = [each and each[start:] for each in document.images]
        plain = msgspec.json.encode({"document": record, "invoice": invoice, "notes": notes})
        packed = zlib.compress(plain, 1)
        return blake2b(packed, digest_size=_CHECK).digest() + packed

    @classmethod
    def parse(cls, entry: bytes) -> Kept:
        """What an entry says; raises a ``ValueError`` if it is damaged."""
        check, packed = entry[:_CHECK], entry[_CHECK:]
        if blake2b(packed, digest_size=_CHECK).digest() != check:
            raise ValueError("damaged")
        try:
            plain = zlib.decompressobj().decompress(packed, MAX_UNPACKED)
        except zlib.error as error:
            raise ValueError("damaged") from error
        return msgspec.json.decode(plain, type=cls)

    def document_as(self, name: str) -> Document:
        """The document of a file of this name."""
        self.document.id = name
        if self.document.images is not None:
            self.document.images = [
                None if each is None else name + each for each in self.document.images
            ]
        return document_of(self.document, None)


@dataclass(frozen=True, slots=True)
class ReadCache:
    """A folder of what was read, of at most ``most`` bytes.

    Only the user may look into it. What cannot be kept, as on a full disk, is read again.
    """

    folder: Path
    most: int = MAX_BYTES

    @classmethod
    def open(cls, folder: Path | None = None) -> ReadCache | None:
        """The cache in a folder, which is made; by default the user's, if there can be one."""
        chosen = folder or default_folder()
        if chosen is None:
            return None
        try:
            make_folder(chosen)
            read = chosen / "read"
            read.mkdir(mode=0o700, exist_ok=True)
        except (InputError, OSError) as error:
            if folder is None:
                return None  # such as a service without a home
            raise InputError(f"--cache {folder} cannot be used: {error}") from None
        return cls(read)

    def place(self, file: Path, how: tuple[Any, ...]) -> Place:
        """Where the result of reading a file in a certain way is kept."""
        before = _stamp(file)
        with file.open("rb") as opened:
            content = file_digest(opened, "sha256").hexdigest()
        name = sha256(repr((content, how, _versions())).encode()).hexdigest()
        folder = self.folder / f"{int(name[:8], 16) % _FOLDERS:02}"
        return Place(folder / name, file, before, self.most // _FOLDERS)


@dataclass(frozen=True, slots=True)
class Place:
    """The place of an entry."""

    path: Path
    file: Path
    stamp: tuple[int, ...]
    most: int

    def find(self) -> Kept | None:
        """What is kept there, if that is whole."""
        with suppress(OSError, ValueError, msgspec.MsgspecError, MemoryError):
            found = Kept.parse(self.path.read_bytes())
            os.utime(self.path)
            return found
        return None

    def keep(
        self, document: Document, invoice: EInvoice | None = None, notes: tuple[str, ...] = ()
    ) -> None:
        """Keeps a document, unless its file has changed since its content was looked at."""
        entry = Kept.of(document, invoice, notes)
        if len(entry) > self.most or _stamp(self.file) != self.stamp:
            return
        new = self.path.with_name(f".{token_hex(8)}.tmp")
        with suppress(OSError):
            self.path.parent.mkdir(mode=0o700, exist_ok=True)
            try:
                with os.fdopen(
                    os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
                ) as f:
                    f.write(entry)
                new.replace(self.path)
            finally:
                new.unlink(missing_ok=True)
            self._make_room()

    def _make_room(self) -> None:
        """Removes the entries of the folder that were used longest ago, beyond its bound."""
        held, entries = 0, []
        for each in os.scandir(self.path.parent):
            with suppress(OSError):  # removed by another process
                stat = each.stat()
                if each.name.endswith(".tmp") and stat.st_mtime < time() - _LEFT_SECONDS:
                    Path(each.path).unlink()
                    continue
                held += stat.st_size
                entries.append((stat.st_mtime, stat.st_size, each.path))
        for _, size, path in sorted(entries):
            if held <= self.most:
                break
            held -= size
            Path(path).unlink(missing_ok=True)


def default_folder() -> Path | None:
    """``lawful`` in the user's folder of caches; ``None`` if there is no such folder."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    if Path(given).is_absolute():
        return Path(given) / "lawful"
    home = Path("~").expanduser()
    return home / ".cache" / "lawful" if home.is_dir() else None


def _stamp(file: Path) -> tuple[int, ...]:
    stat = file.stat()
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns


@once
def _versions() -> tuple[Any, ...]:
    """What reads files: a new version of any part of it may read them otherwise."""
    own = sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        own.update(path.read_bytes())
    core = Path(_core.__file__).stat()
    return own.hexdigest(), core.st_size, *map(_version, _PACKAGES)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
