"""What the readers of data sets share: files found or missed aloud, entities as labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from lawful.document import Box
from lawful.errors import InputError

T = TypeVar("T")


def check_there(path: Path) -> None:
    """Something is there, or an ``InputError`` says that nothing is."""
    if not path.exists():
        raise InputError(f"cannot read {path}: no such file or folder")


def not_found(data: str, path: Path, *wanted: str) -> InputError:
    """What to raise where a folder is there, but not what makes it the data set."""
    return InputError(f"no {data} in {path}: looked for {', '.join(wanted[:-1])} or {wanted[-1]}")


def read_bytes(path: Path) -> bytes:
    """A file's content, or an ``InputError`` that names it."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None


def decode(decoder: msgspec.json.Decoder[T], text: bytes | str, where: str) -> T:
    """JSON as the reader expects it, or an ``InputError`` that says where it is not."""
    try:
        return decoder.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{where}: {error}") from None


def choose(splits: Mapping[str, T], split: str | None, path: Path) -> Mapping[str, T]:
    """All splits of a data set, or the one that was asked for."""
    if split is None:
        return splits
    if split not in splits:
        raise InputError(f"no split {split!r} in {path}; splits: {', '.join(splits)}")
    return {split: splits[split]}


def bio(entities: Iterable[tuple[int, str] | None]) -> tuple[str, ...]:
    """BIO labels of words that are in an entity, given by its number and type, or in none.

    An entity that other words interrupt begins anew behind them: BIO cannot say otherwise.
    """
    labels = []
    before = None
    for entity in entities:
        inside = entity == before
        labels.append("O" if entity is None else f"{'I' if inside else 'B'}-{entity[1]}")
        before = entity
    return tuple(labels)


def box_around(xs: Sequence[float], ys: Sequence[float], width: float, height: float) -> Box:
    """The smallest box around some points, cut off at the edges of the page."""
    left, right = (min(max(x, 0), width) for x in (min(xs), max(xs)))
    top, bottom = (min(max(y, 0), height) for y in (min(ys), max(ys)))
    return Box(left, top, right, bottom)
