"""Columns of lists, texts and numbers as NumPy arrays, without a Python object per number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Lists:
    """A column of lists: entry ``i`` is ``values[starts[i]:ends[i]]``, unless it is null."""

    values: Any  # a pyarrow array
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    nulls: NDArray[np.bool_] | None  # none: no entry is null

    @classmethod
    def of(cls, column: Any) -> Lists:
        """The lists of a pyarrow array: lists, large lists, views or lists of a fixed size."""
        column = plain(column)
        nulls = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
        if pa.types.is_fixed_size_list(column.type):
            size = column.type.list_size
            starts = (np.arange(len(column), dtype=np.int64) + column.offset) * size
            ends = starts + size
        else:
            offsets = column.offsets.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
            is_view = hasattr(column, "sizes")
            starts = offsets if is_view else offsets[:-1]
            ends = offsets + column.sizes.to_numpy() if is_view else offsets[1:]
        # A batch may be a small part of a large column: the rest is never looked at.
        first = int(starts.min(initial=2**62)) if len(starts) else 0
        used = column.values.slice(first, max(0, int(ends.max(initial=0)) - first))
        return cls(used, starts - first, ends - first, nulls)

    def is_null(self, row: int) -> bool:
        """Whether an entry is null."""
        return self.nulls is not None and bool(self.nulls[row])

    def split(self, values: Sequence[T]) -> list[tuple[T, ...] | None]:
        """These values, which are those of the column in Python, by entry; ``None`` if null."""
        whole = tuple(values)
        found: list[tuple[T, ...] | None] = [
            whole[start:end]
            for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        ]
        for row in () if self.nulls is None else np.flatnonzero(self.nulls):
            found[row] = None
        return found

    def width(self) -> int | None:
        """The length of all entries, if these are equally long, adjacent and not null."""
        widths = self.ends - self.starts
        if not len(widths) or (widths != widths[0]).any() or not self.are_adjacent():
            return None
        return int(widths[0])

    def are_adjacent(self) -> bool:
        """Whether every entry begins where the one before ends, and none is null."""
        return self.nulls is None and bool((self.starts[1:] == self.ends[:-1]).all())


def is_list(type_: Any) -> bool:
    """Whether a type is one of the kinds of lists."""
    kinds = ("list", "large_list", "fixed_size_list", "list_view", "large_list_view")
    tests = (getattr(pa.types, f"is_{kind}", None) for kind in kinds)  # views are newer
    return any(test is not None and test(type_) for test in tests)


def is_number(type_: Any) -> bool:
    """Whether a type is of floating-point or whole numbers."""
    return bool(pa.types.is_floating(type_) or pa.types.is_integer(type_))


def is_text(type_: Any) -> bool:
    """Whether a type is of texts."""
    kinds = ("string", "large_string", "string_view")
    tests = (getattr(pa.types, f"is_{kind}", None) for kind in kinds)
    return any(test is not None and test(type_) for test in tests)


def plain(column: Any) -> Any:
    """The storage of an extension array, or the values of a dictionary array."""
    if isinstance(column, pa.ExtensionArray):
        return plain(column.storage)
    if isinstance(column, pa.DictionaryArray):
        return plain(column.dictionary_decode())
    return column


def plain_type(type_: Any) -> Any:
    """The type that ``plain`` gives a column of this type."""
    if isinstance(type_, pa.BaseExtensionType):
        return plain_type(type_.storage_type)
    if pa.types.is_dictionary(type_):
        return plain_type(type_.value_type)
    return type_


def texts(column: Any) -> list[str | None]:
    """The texts of a column; numbers are written out."""
    found: list[str | None] = _as_texts(column).to_numpy(zero_copy_only=False).tolist()
    return found


def names(column: Any) -> list[str | None]:
    """The texts of a column of few different ones, such as labels: each is one object."""
    encoded = _as_texts(column).dictionary_encode(null_encoding="encode")
    different = encoded.dictionary.to_numpy(zero_copy_only=False)
    found: list[str | None] = different[encoded.indices.to_numpy()].tolist()
    return found


def _as_texts(column: Any) -> Any:
    column = plain(column)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return column
    return column.cast(pa.large_string())


def numbers(column: Any) -> NDArray[Any]:
    """The numbers of a column; without a copy, unless there are nulls, which become NaN."""
    found: NDArray[Any] = plain(column).to_numpy(zero_copy_only=False)
    return found
