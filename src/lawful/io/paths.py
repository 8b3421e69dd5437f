"""Paths that users give: whether they are there, and what is in them."""

from __future__ import annotations

from pathlib import Path

from lawful.base.errors import InputError


def check_there(path: Path) -> None:
    """Raises an ``InputError`` if the path does not exist."""
    if not path.exists():
        raise InputError(f"cannot read {path}: no such file or folder")


def not_found(data: str, path: Path, *wanted: str) -> InputError:
    """The error to raise for a folder without the files of the data set."""
    return InputError(f"no {data} in {path}: looked for {', '.join(wanted[:-1])} or {wanted[-1]}")


def read_bytes(path: Path) -> bytes:
    """The content of a file; if it cannot be read, raises an ``InputError`` that names it."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:  # a NUL in the name
        raise InputError(f"cannot read {str(path)!r}: {error}") from None
