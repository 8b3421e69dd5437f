"""Atomic writes: a file appears complete, or not at all."""

from __future__ import annotations

import glob
import gzip
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from lawful.base.errors import InputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """A temporary file in the same folder, which replaces ``path`` if the block succeeds.

    A symbolic link stays a link, and an existing file keeps its permissions.
    """
    target = Path(path).resolve()
    if target.is_dir():
        raise InputError(f"cannot write {path}: it is a folder")
    try:
        _remove_left(target)
        handle, new = _temporary(target)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
    try:
        yield new
        new.chmod(0o666 & ~_umask())  # mkstemp and some libraries create private files
        copy_mode(target, new)
        new.replace(target)
    finally:
        new.unlink(missing_ok=True)
        os.close(handle)


def _temporary(target: Path) -> tuple[int, Path]:
    """A new file next to the target, locked until its descriptor is closed."""
    while True:
        handle, name = tempfile.mkstemp(".tmp", f".{target.name}.", target.parent)
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_SH)
        if os.fstat(handle).st_nlink:
            return handle, Path(name)
        os.close(handle)  # removed by another process before it was locked


def _remove_left(target: Path) -> None:
    """Removes the temporary files of killed processes, which no one has locked."""
    if fcntl is None:
        return
    for left in target.parent.glob(f".{glob.escape(target.name)}.????????.tmp"):
        with suppress(OSError), left.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()


def copy_mode(target: Path, new: Path) -> None:
    """Gives a new file the permissions of the one that it will replace."""
    if target.exists():
        new.chmod(target.stat().st_mode & 0o777)


def is_special(path: Path) -> bool:
    """Whether the path is of a pipe or a device, which cannot be replaced."""
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def atomic_bytes(path: str | Path) -> Iterator[IO[bytes]]:
    """A binary file, written atomically; a pipe or a device is written to directly."""
    target = Path(path)
    if is_special(target):
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
            packed = gzip.GzipFile("", "wb", fileobj=raw, mtime=0)
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
