"""The leaves of a JSON object: values, the names that lead to them, and what stands together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, TypeAlias

from lawful.base.errors import InputError, shown
from lawful.rules.rule_set import Rules

Path: TypeAlias = tuple[str | int, ...]
"""The names and numbers that lead to a value: ``("items", 0, "price")``."""

Names: TypeAlias = tuple[str, ...]
"""The names that lead to a value, without the numbers: ``("items", "price")``."""

DEEPEST = 16
MAX_LEAVES = 100_000


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value of an object: a text, a number or a date.

    Leaves of one ``group`` stand together: those of a row, or of an object inside another. Groups
    of one ``chain`` are the rows of a list, in order, with those of the lists inside them. A leaf
    of the outermost object has no group.
    """

    path: Path
    value: Any
    chain: int = 0
    group: int | None = None

    @property
    def names(self) -> Names:
        """The names that lead to the value."""
        return tuple(each for each in self.path if isinstance(each, str))

    @property
    def in_list(self) -> bool:
        """Whether the value is of a list or of a row."""
        return any(isinstance(each, int) for each in self.path)


def is_object(given: Any) -> bool:
    """Whether this is one object: a mapping, or one of Pydantic."""
    return isinstance(given, Mapping) or hasattr(given, "model_dump")


def leaves_of(given: Any, name: str = "object") -> list[Leaf]:
    """All values of an object in order; null, empty texts, true and false are not printed."""
    if hasattr(given, "model_dump"):
        given = given.model_dump()
    if not isinstance(given, Mapping):
        raise InputError(f"{name} is {shown(given)}, expected an object")
    return list(_Walk(name).leaves(given))


class _Walk:
    def __init__(self, name: str) -> None:
        self._name, self._chains, self._groups, self._leaves = name, 0, 0, 0

    def leaves(self, given: Mapping[Any, Any]) -> Iterator[Leaf]:
        yield from self._below(given, (), 0, None)

    def _below(self, given: Any, path: Path, chain: int, group: int | None) -> Iterator[Leaf]:
        if len(path) > DEEPEST:
            raise InputError(f"{self._name}: values are nested more than {DEEPEST} deep")
        if isinstance(given, Mapping):
            if path and group is None:
                chain, group = self._new_chain(), self._new_group()
            for key, value in given.items():
                yield from self._below(value, (*path, str(key)), chain, group)
        elif isinstance(given, list | tuple):
            outermost = group is None
            if outermost:
                chain = self._new_chain()
            for number, value in enumerate(given):
                if outermost or isinstance(value, Mapping):
                    group = self._new_group()
                yield from self._below(value, (*path, number), chain, group)
        elif given is not None and given != "" and not isinstance(given, bool):
            yield self._leaf(given, path, chain, group)

    def _leaf(self, value: Any, path: Path, chain: int, group: int | None) -> Leaf:
        where = f"{self._name}: {'.'.join(map(str, path))}"
        self._leaves += 1
        if self._leaves > MAX_LEAVES:
            raise InputError(f"{self._name} has more than {MAX_LEAVES:,} values")
        if not isinstance(value, str | int | float | Decimal | date):
            raise InputError(f"{where} is {shown(value)}, expected a text, a number or a date")
        if isinstance(value, float | Decimal) and not Decimal(value).is_finite():
            raise InputError(f"{where} is {shown(value)}, expected a finite number")
        return Leaf(path, value, chain, group)

    def _new_chain(self) -> int:
        self._chains += 1
        return self._chains

    def _new_group(self) -> int:
        self._groups += 1
        return self._groups


def fields_of(paths: Sequence[Names], rules: Rules) -> dict[Names, str]:
    """By path, the field of the rules that it leads to, if there is one.

    That is the field named like the path with ``_`` in between, or like its last name, or else the
    one whose label is the path with dots in between, or its last name.
    """
    labels = {f.label: f.name for f in reversed(rules.fields)}
    names = {f.name for f in rules.fields}
    found: dict[Names, str] = {}
    for path in paths:
        wanted = next((name for name in ("_".join(path), path[-1]) if name in names), None)
        wanted = wanted or labels.get(".".join(path)) or labels.get(path[-1])
        if wanted is not None:
            found[path] = wanted
    return found
