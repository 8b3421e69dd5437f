"""A file of measurements, so that none is repeated."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import msgspec

from lawful.base.errors import InputError
from lawful.io.atomic import atomic_text


class Record(Protocol):
    """A measurement with a key."""

    @property
    def key(self) -> Hashable:
        """The identity of the measurement, known before it is made."""


RecordT = TypeVar("RecordT", bound=Record)


class Store(Generic[RecordT]):
    """Records in a file of JSON lines, which is written atomically after each new record."""

    def __init__(self, path: Path, record_type: type[RecordT]) -> None:
        """Lines that are no records, such as those of another version, are ignored."""
        if path.is_dir():
            raise InputError(f"{path} is a folder, expected a file of measurements")
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
        """The record with this key: from the file, or measured now and added to it."""
        if key not in self._known:
            self._known[key] = measure()
            with atomic_text(self._path) as file:
                for record in self._known.values():
                    file.write(msgspec.json.encode(record).decode() + "\n")
        return self._known[key]
