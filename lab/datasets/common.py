"""Helpers for data-set readers: lines or a clear message, entities as labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from lawful.base.errors import InputError
from lawful.documents.document import Box
from lawful.io.jsonl import check_line, read_lines

T = TypeVar("T")


def lines_of(file: Path) -> Iterator[tuple[str, bytes]]:
    """The lines of a file, plain or gzipped, each with the words that say where it is."""
    for number, text in read_lines(file):
        where = f"{file}, line {number}"
        try:
            check_line(text)
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
        yield where, text


def decode(decoder: msgspec.json.Decoder[T], text: bytes | str, where: str) -> T:
    """The decoded JSON; if it does not fit, raises an ``InputError`` that starts with ``where``."""
    try:
        return decoder.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{where}: {error}") from None


def choose(splits: Mapping[str, T], split: str | None, path: Path) -> Mapping[str, T]:
    """All splits of a data set, or only ``split``."""
    if split is None:
        return splits
    if split not in splits:
        raise InputError(f"no split {split!r} in {path}; splits: {', '.join(splits)}")
    return {split: splits[split]}


def bio(entities: Iterable[tuple[int, str] | None]) -> tuple[str, ...]:
    """BIO labels of words from their entities (number and type), ``None`` for words in none.

    An entity that is interrupted by other words becomes two, since spans in BIO are contiguous.
    """
    labels = []
    before = None
    for entity in entities:
        inside = entity == before
        labels.append("O" if entity is None else f"{'I' if inside else 'B'}-{entity[1]}")
        before = entity
    return tuple(labels)


def box_around(xs: Sequence[float], ys: Sequence[float], width: float, height: float) -> Box:
    """The smallest box around points, clipped to the page."""
    left, right = (min(max(x, 0), width) for x in (min(xs), max(xs)))
    top, bottom = (min(max(y, 0), height) for y in (min(ys), max(ys)))
    return Box(left, top, right, bottom)
