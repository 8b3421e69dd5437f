"""Files that appear whole or not at all."""

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
def whole_file(path: str | Path) -> Iterator[IO[str]]:
    """A text file that appears whole or not at all; ``-`` is standard output, ``.gz`` is packed.

    What is no regular file, such as a pipe or a device, is written to as it is.
    """
    if str(path) == "-":
        if sys.stdout is None:
            raise InputError("cannot write to standard output: it is closed")
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")
        yield sys.stdout
        sys.stdout.flush()
        return
    with whole_bytes(path) as raw:
        if Path(path).resolve().suffix == ".gz":
            packed = gzip.GzipFile(fileobj=raw, mode="wb", mtime=0)
            with packed, io.TextIOWrapper(packed, encoding="utf-8") as text:
                yield text
        else:
            with io.TextIOWrapper(raw, encoding="utf-8", newline="\n") as plain:
                yield plain


@contextmanager
def whole_bytes(path: str | Path) -> Iterator[io.BufferedWriter]:
    """A file of bytes that appears whole or not at all."""
    target = Path(path).resolve()  # a link stays a link
    if target.is_dir():
        raise InputError(f"cannot write {path}: it is a folder")
    if target.exists() and not target.is_file():
        with target.open("wb") as special:
            yield special
        return
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as raw:
            yield raw
        Path(name).chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~umask())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def make_folder(path: Path) -> None:
    """The folder is there, with those above it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        found = "it is a file" if path.is_file() else error.strerror
        raise InputError(f"cannot make the folder {path}: {found}") from None


def umask() -> int:
    """What new files of this process may not be."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
