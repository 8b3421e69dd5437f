"""Atomic writes: a file appears complete, or not at all."""

from __future__ import annotations

import gzip
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from lawful.errors import InputError


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """A temporary file in the same folder, which replaces ``path`` if the block succeeds.

    A symbolic link stays a link, and an existing file keeps its permissions.
    """
    target = Path(path).resolve()
    if target.is_dir():
        raise InputError(f"cannot write {path}: it is a folder")
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
    os.close(handle)
    new = Path(name)
    try:
        yield new
        # mkstemp and some libraries create private files; restore the usual permissions.
        new.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        new.replace(target)
    finally:
        new.unlink(missing_ok=True)


@contextmanager
def atomic_bytes(path: str | Path) -> Iterator[IO[bytes]]:
    """A binary file, written atomically; a pipe or a device is written to directly."""
    target = Path(path)
    if target.exists() and not target.is_file() and not target.is_dir():
        with target.open("wb") as special:
            yield special
    else:
        with atomic_path(path) as new, new.open("wb") as file:
            yield file


@contextmanager
def atomic_text(path: str | Path) -> Iterator[IO[str]]:
    """A UTF-8 text file, written atomically; ``.gz`` is compressed, ``-`` is standard output."""
    if str(path) == "-":
        if sys.stdout is None:
            raise InputError("cannot write to standard output: it is closed")
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")
        yield sys.stdout
        sys.stdout.flush()
        return
    with atomic_bytes(path) as raw:
        if Path(path).resolve().suffix == ".gz":
            packed = gzip.GzipFile(fileobj=raw, mode="wb", mtime=0)
            with packed, io.TextIOWrapper(packed, encoding="utf-8") as text:
                yield text
        else:
            with io.TextIOWrapper(raw, encoding="utf-8", newline="\n") as plain:
                yield plain


def make_folder(path: Path) -> None:
    """Creates the folder and its parents, unless they exist."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        found = "it is a file" if path.is_file() else error.strerror
        raise InputError(f"cannot make the folder {path}: {found}") from None


def _umask() -> int:
    """The process's umask."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
