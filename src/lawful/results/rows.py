"""The rows of an answer, from the values of its fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from lawful.rules.judging.field_reader import FieldValue
from lawful.rules.judging.rows import Sections


def rows_of(
    fields: Mapping[str, Sequence[FieldValue]],
    names: Sequence[str],
    sections: Sections | None,
    shared: Set[str] = frozenset(),
) -> list[dict[str, FieldValue]]:
    """By row of a kind with these fields, in order, the first readable value of each field.

    Sections may have no value of their own. Rows without a value of ``shared`` fields have that of
    the nearest row before, or else of the first one after.
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
    rows = [found.get(number, {}) for number in numbers]
    for name in [name for name in names if name in shared]:
        own = [row[name] for row in rows if name in row]
        for row in rows if own else ():
            own[0] = row.setdefault(name, own[0])
    return [{name: row[name] for name in names if name in row} for row in rows] if shared else rows
