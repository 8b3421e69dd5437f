"""Sections of a decoding: rows that belong together, such as those of a page, nested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from lawful.rules.judging.field_reader import FieldValue

if TYPE_CHECKING:
    from lawful.results.decoding import Decoding

T = TypeVar("T")


class Section(NamedTuple):
    """The values of a section's own fields, and its rows, or the sections that it holds."""

    values: Mapping[str, FieldValue]
    rows: tuple[Mapping[str, FieldValue], ...] = ()
    sections: tuple[Section, ...] = ()


def nested(decoding: Decoding, kind: str) -> list[Section]:
    """The sections of a kind with all that they hold; rows in no section are left out."""
    of, total, numbers = decoding.sections[kind]
    values = decoding.rows(kind)
    if of in decoding.sections:
        sections = _by_number(nested(decoding, of), numbers, total)
        return [Section(own, (), held) for own, held in zip(values, sections, strict=True)]
    rows = _by_number(decoding.rows(of), numbers, total)
    return [Section(own, held) for own, held in zip(values, rows, strict=True)]


def _by_number(each: Sequence[T], numbers: Sequence[int | None], total: int) -> list[tuple[T, ...]]:
    held: list[list[T]] = [[] for _ in range(total)]
    for one, number in zip(each, numbers, strict=True):
        if number is not None:
            held[number - 1].append(one)
    return list(map(tuple, held))
