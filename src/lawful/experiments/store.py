"""Records in a file: what was measured once need not be measured again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import msgspec

from lawful.errors import InputError
from lawful.io.atomic import atomic_text


class Record(Protocol):
    """Something measured."""

    @property
    def key(self) -> Hashable:
        """What tells it from others, known before it is measured."""


RecordT = TypeVar("RecordT", bound=Record)


class Store(Generic[RecordT]):
    """JSON lines, one a record; the file is whole after each."""

    def __init__(self, path: Path, record_type: type[RecordT]) -> None:
        """A line that is no record, such as one of another version, is not there."""
        if path.is_dir():
            raise InputError(f"{path} is a folder, expected a file of what was measured")
        self._path = path
        self._known: dict[Hashable, RecordT] = {}
        for line in path.read_bytes().splitlines() if path.exists() else ():
            try:
                record = msgspec.json.decode(line, type=record_type)
            except msgspec.DecodeError:
                continue
            self._known[record.key] = record

    def __contains__(self, key: Hashable) -> bool:
        return key in self._known

    def take(self, key: Hashable, measure: Callable[[], RecordT]) -> RecordT:
        """The record of that key: from the file, or measured now and then kept there."""
        if key not in self._known:
            self._known[key] = measure()
            with atomic_text(self._path) as file:
                for record in self._known.values():
                    file.write(msgspec.json.encode(record).decode() + "\n")
        return self._known[key]
