"""The rows of an answer, from the values of its fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lawful.rules.judging.field_reader import FieldValue
from lawful.rules.judging.rows import Sections


def rows_of(
    fields: Mapping[str, Sequence[FieldValue]], names: Iterable[str], sections: Sections | None
) -> list[dict[str, FieldValue]]:
    """By row of a kind with these fields, in order, the first readable value of each field.

    Sections may have no value of their own.
    """
    found: dict[int, dict[str, FieldValue]] = {}
    for name in names:
        for value in fields.get(name, ()):
            if value.row is None:
                continue
            row = found.setdefault(value.row, {})
            if name not in row or row[name].value is None:
                row[name] = value
    numbers = sorted(found) if sections is None else range(1, sections.total + 1)
    return [found.get(number, {}) for number in numbers]
