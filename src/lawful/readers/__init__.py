"""Readers: files in, documents out; one small file for each format.

``READERS`` has those that yield documents with their true labels, by the name of the data set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

from lawful.document import Labelled
from lawful.errors import InputError
from lawful.readers.cord import read_cord
from lawful.readers.docile import read_docile
from lawful.readers.jsonl import read_labelled
from lawful.readers.wildreceipt import read_wildreceipt

__all__ = ["READERS", "Reader", "reader_named"]


class Reader(Protocol):
    """Yields the documents of a data set, of all its splits or of one, in the files' order.

    An ``InputError`` says what was looked for and where, or what is wrong in which file and line.
    """

    def __call__(self, path: Path, split: str | None = None) -> Iterator[Labelled]: ...


READERS: Mapping[str, Reader] = {
    "cord": read_cord,
    "wildreceipt": read_wildreceipt,
    "docile": read_docile,
    "jsonl": read_labelled,
}


def reader_named(name: str) -> Reader:
    """The reader of a format, or an ``InputError`` that lists them."""
    if name not in READERS:
        raise InputError(f"unknown format {name!r}; formats: {', '.join(READERS)}")
    return READERS[name]
