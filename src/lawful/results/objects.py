"""Values of fields as objects: dictionaries of a schema's shape, or objects of a Pydantic model."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import count
from typing import Any

import msgspec

from lawful.base.errors import InputError
from lawful.rules.judging.field_reader import FieldValue
from lawful.rules.schemas import leaves_of, schema_of

_BOOLEANS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}


def object_of(fields: Mapping[str, list[FieldValue]], model: Any) -> Any:
    """The values of fields as an object of ``model``: see ``Decoding.to_model``."""
    found: dict[str, Any] = {}
    last = max((v.row or 0 for values in fields.values() for v in values), default=0)
    alone = count(last + 1)
    rows: dict[tuple[str, ...], dict[int, dict[str, Any]]] = {}
    for leaf in leaves_of(schema_of(model)):
        values = fields.get(leaf.name, [])
        if leaf.rows is not None:
            here = rows.setdefault(leaf.rows, {})
            for value in values:
                row = here.setdefault(value.row or next(alone), {})
                _put(row, leaf.path[len(leaf.rows) :], _value(value, leaf.kind), again=False)
        elif leaf.many:
            _put(found, leaf.path, [_value(value, leaf.kind) for value in values])
        elif values:
            _put(found, leaf.path, _value(_first(values), leaf.kind))
    for path, here in rows.items():
        _put(found, path, [here[number] for number in sorted(here)])
    if isinstance(model, Mapping):
        return found
    if hasattr(model, "model_validate"):
        return model.model_validate(found)
    try:
        return msgspec.convert(found, model, strict=False)
    except msgspec.ValidationError as error:
        raise InputError(f"the values make no {model.__name__}: {error}") from None


def _first(values: list[FieldValue]) -> FieldValue:
    return next((value for value in values if value.value is not None), values[0])


def _value(value: FieldValue, kind: str) -> Any:
    if kind == "boolean" and value.text.lower() in _BOOLEANS:
        return _BOOLEANS[value.text.lower()]
    if kind == "integer" and value.value is not None:
        return int(value.value)
    if kind == "date-time":  # the value is a day, without the time
        try:
            return datetime.fromisoformat(value.text)
        except ValueError:
            pass
    return value.text if value.value is None else value.value


def _put(into: dict[str, Any], path: tuple[str, ...], value: Any, *, again: bool = True) -> None:
    for name in path[:-1]:
        into = into.setdefault(name, {})
    if again or path[-1] not in into:
        into[path[-1]] = value
