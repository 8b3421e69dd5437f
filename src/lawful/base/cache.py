"""Caches that are bounded in bytes."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, TypeVar

Key = TypeVar("Key")
Item = TypeVar("Item")

ENTRY = 200
"""Bytes of an entry besides what it holds: its key, its place in the dictionary, small numbers."""


class Cache(dict[Key, Item]):
    """Results by key, emptied before they hold more than ``most`` bytes, as ``keep`` counts them.

    A result that is larger than that by itself is not kept.
    """

    __slots__ = ("held", "most")

    def __init__(self, most: int) -> None:
        self.most = most
        self.held = 0

    def keep(self, key: Key, item: Item, size: int = 0) -> Item:
        """Keeps a result, which with its key holds about ``size`` bytes; returns it."""
        size += ENTRY
        if self.held + size > self.most:
            self.clear()
        if size <= self.most:
            self.held += size
            self[key] = item
        return item

    def clear(self) -> None:
        """Forgets all results."""
        super().clear()
        self.held = 0


def size_of_texts(values: Iterable[Any]) -> int:
    """The bytes of the texts among some values."""
    size = 0
    for value in values:
        if isinstance(value, str):
            size += sys.getsizeof(value)
    return size
