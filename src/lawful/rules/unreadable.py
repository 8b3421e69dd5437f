"""Which spans of a document are known to be unreadable, so that searches need not ask again."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_BYTES = 2**24
"""Bytes of a table; of longer documents, nothing is remembered."""


class UnreadableSpans:
    """A table of the spans whose texts no value can be read from, by type of values.

    Searches on the same document share it, under any rules with the same fields.
    """

    def __init__(self, words: int, types: Sequence[str]) -> None:
        self._words = words
        self._types = types
        self._table: NDArray[np.bool_] | None = None
        self._first: NDArray[np.intp]

    def __bool__(self) -> bool:
        """Whether a span is known."""
        return self._table is not None

    def add(self, field: int, start: int, end: int) -> None:
        """Notes that a span is unreadable as a field's type."""
        if self._table is None:
            shape = (len(self._types), self._words + 1, self._words + 1)
            if prod(shape) > MOST_BYTES:
                return
            self._first = np.array([self._types.index(type_) for type_ in self._types], np.intp)
            self._table = np.zeros(shape, np.bool_)
        self._table[self._first[field], start, end] = True

    def known(
        self, field: NDArray[Any], start: NDArray[Any], end: NDArray[Any]
    ) -> NDArray[np.bool_]:
        """Of spans of fields, which ones are known to be unreadable."""
        if self._table is None:
            return np.zeros(len(field), np.bool_)
        found: NDArray[np.bool_] = self._table[self._first[field], start, end]
        return found
