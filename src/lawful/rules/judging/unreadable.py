"""Which spans of a document are unreadable: each text is asked for once per type of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lawful.documents.document import Document
from lawful.values import type_named

MAX_BYTES = 2**24
"""Bytes of a table; of longer documents, nothing is remembered."""

_UNREADABLE, _READABLE = 1, 2  # 0: not asked for


class UnreadableSpans:
    """A table of the spans whose texts no value can be read from, by type of values.

    Searches on the same document share it, under any rules with the same fields.
    """

    def __init__(self, document: Document, types: Sequence[str]) -> None:
        self._shape = (len(types), len(document) + 1, len(document) + 1)
        self._document = document
        self._types = types
        self._table: NDArray[np.uint8] | None = None  # flat
        self._has_hopeless = False
        self._first: NDArray[np.intp]  # by field, the first one of its type

    def find(
        self,
        field: NDArray[np.uint32],
        start: NDArray[np.uint32],
        end: NDArray[np.uint32],
        is_readable: Callable[[int, int, int], bool],
    ) -> NDArray[np.bool_]:
        """Of spans of fields, which ones are unreadable.

        ``is_readable`` is asked about each that is not known. All are taken to be readable if the
        document is too long for a table.
        """
        if self._table is None:
            if prod(self._shape) > MAX_BYTES:
                return np.zeros(len(field), np.bool_)
            self._first = np.array([self._types.index(type_) for type_ in self._types], np.intp)
            self._table = np.zeros(prod(self._shape), np.uint8)
        if not self._has_hopeless and (end > start + 1).any():  # single words are sooner read
            self._add_hopeless(self._table.reshape(self._shape))
        place = (self._first[field] * self._shape[1] + start) * self._shape[2] + end
        known: NDArray[np.uint8] = self._table[place]
        if not known.all():
            self._ask(place, np.flatnonzero(known == 0), field, start, end, is_readable)
            known = self._table[place]
        return np.equal(known, _UNREADABLE)

    def _add_hopeless(self, table: NDArray[np.uint8]) -> None:
        """Adds the spans that need not be read: they contain what no value contains."""
        self._has_hopeless = True
        for index, name in enumerate(self._types):
            hopeless = type_named(name).hopeless
            if hopeless is not None and index == self._types.index(name):
                last = np.array(last_ends(self._document, hopeless))
                table[index][np.arange(self._shape[2]) > last[:, None]] = _UNREADABLE

    def _ask(
        self,
        place: NDArray[np.intp],
        at: NDArray[np.intp],
        field: NDArray[Any],
        start: NDArray[Any],
        end: NDArray[Any],
        is_readable: Callable[[int, int, int], bool],
    ) -> None:
        """Asks for the spans ``at`` these indices."""
        table = self._table
        assert table is not None  # noqa: S101 - ``find`` makes it
        spans = zip(field[at].tolist(), start[at].tolist(), end[at].tolist(), strict=True)
        asked = dict(zip(place[at].tolist(), spans, strict=True))  # fields of one type share texts
        for where, span in asked.items():
            table[where] = _READABLE if is_readable(*span) else _UNREADABLE


def last_ends(document: Document, hopeless: Callable[[str], bool]) -> list[int]:
    """By start, the end of the longest span with nothing hopeless in its text.

    A text is hopeless if a part of it is.
    """
    ends: list[int] = []
    end = 0
    for start in range(len(document) + 1):
        end = max(start, end)
        while end < len(document) and not hopeless(document.text(start, end + 1)):
            end += 1
        ends.append(end)
    return ends
