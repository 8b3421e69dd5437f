"""Decodings as objects: dictionaries of the shape of a schema, or objects of a Pydantic model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lawful.decoding import Decoding
from lawful.rules.judge import FieldValue
from lawful.rules.schemas import leaves_of, schema_of


def as_object(decoding: Decoding, model: Any) -> Any:
    """The values of a decoding as an object of a Pydantic model, or as a dictionary.

    ``model`` is the model or JSON Schema that the rules are from (``Rules.from_pydantic``,
    ``Rules.from_json_schema``). Values are decimals, dates and texts; one that cannot be read is
    its text. Missing values are left out, so that the defaults of the model apply; if it has none,
    Pydantic raises its ``ValidationError``.
    """
    found: dict[str, Any] = {}
    rows: dict[tuple[str, ...], dict[int, dict[str, Any]]] = {}
    for leaf in leaves_of(schema_of(model)):
        values = decoding.fields.get(leaf.name, [])
        if leaf.rows is not None:
            here = rows.setdefault(leaf.rows, {})
            for value in values:
                row = here.setdefault(value.row or 0, {})
                _put(row, leaf.path[len(leaf.rows) :], _value(value), again=False)
        elif leaf.many:
            _put(found, leaf.path, [_value(value) for value in values])
        elif values:
            _put(found, leaf.path, _value(_first(values)))
    for path, here in rows.items():
        _put(found, path, [here[number] for number in sorted(here)])
    return found if isinstance(model, Mapping) else model.model_validate(found)


def _first(values: list[FieldValue]) -> FieldValue:
    return next((value for value in values if value.value is not None), values[0])


def _value(value: FieldValue) -> Any:
    return value.text if value.value is None else value.value


def _put(into: dict[str, Any], path: tuple[str, ...], value: Any, *, again: bool = True) -> None:
    for name in path[:-1]:
        into = into.setdefault(name, {})
    if again or path[-1] not in into:
        into[path[-1]] = value
