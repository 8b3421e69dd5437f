"""Readers of labelled documents, by the name of their format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from lawful.base.errors import InputError
from lawful.documents.records import Labelled
from lawful.io.jsonl import read_labelled
from lawful.readers.facturx import read_facturx


class LabelledReader(Protocol):
    """Yields the documents of a data set, of all its splits or of one, in file order.

    Raises an ``InputError`` if files are missing, or that names the file and line that is wrong.
    """

    def __call__(self, path: Path, split: str | None = None) -> Iterator[Labelled]: ...


READERS: dict[str, LabelledReader] = {"facturx": read_facturx, "jsonl": read_labelled}
"""By the name of the format; ``lab.datasets`` adds those of published data sets."""


def reader_named(name: str) -> LabelledReader:
    """The reader of a format; an unknown one raises an ``InputError`` that lists all."""
    if name not in READERS:
        raise InputError(f"unknown format {name!r}; formats: {', '.join(READERS)}")
    return READERS[name]
