"""Fields from a JSON Schema or a Pydantic model, and decodings as objects of that shape.

Properties become fields: numbers are amounts, strings of the format ``date`` are dates, arrays are
lists, arrays of objects are rows. A field is named by its property, or by all names that lead to
it, joined by ``_``, if another one has the same name. ``{"lawful": {...}}`` in a property
(``json_schema_extra`` in Pydantic) sets a field's keys, such as ``type``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lawful.errors import RulesError, shown
from lawful.rules.definitions import Field
from lawful.rules.rows import RowKind

DEEPEST = 8

_TYPES = {"number": "money", "integer": "integer", "boolean": "text", "string": "text"}


@dataclass(frozen=True, slots=True)
class Leaf:
    """A property that is no object: the names that lead to it, and its field."""

    path: tuple[str, ...]
    type: str
    many: bool = False
    rows: tuple[str, ...] | None = None  # the names that lead to the array of objects it is in
    required: bool = False
    keys: Mapping[str, Any] | None = None  # of the field, as the property says
    texts: tuple[str, ...] = ()  # the only texts that it may have
    name: str = ""

    def field(self) -> Field:
        """The field; one that is required, outside of lists, must be present."""
        keys: dict[str, Any] = {"type": self.type, "many": self.many}
        if self.required and not self.many and self.rows is None:
            keys["presence"] = "required"
        if self.texts and self.type == "text":
            keys["lexicon"] = self.texts
        keys |= self.keys or {}
        try:
            return Field(self.name, **{"label": self.name, **keys})
        except TypeError:
            raise RulesError(
                f"property {'.'.join(self.path)}: lawful is {shown(self.keys)}, expected keys of a "
                "field"
            ) from None


def schema_of(model: Any) -> Mapping[str, Any]:
    """The JSON Schema of a Pydantic model, or a schema as it is."""
    if isinstance(model, Mapping):
        return model
    if not isinstance(model, type) or not hasattr(model, "model_json_schema"):
        raise RulesError(f"{shown(model)} is neither a Pydantic model nor a JSON Schema")
    found: Mapping[str, Any] = model.model_json_schema(mode="validation")
    return found


def leaves_of(schema: Mapping[str, Any]) -> list[Leaf]:
    """The properties of a schema that are fields, with their names."""
    found = list(_walk(schema, schema, (), None, required=True))
    if not found:
        raise RulesError("the schema has no properties, expected those of an object")
    last = Counter(leaf.path[-1] for leaf in found)
    return [
        replace(leaf, name=leaf.path[-1] if last[leaf.path[-1]] == 1 else "_".join(leaf.path))
        for leaf in found
    ]


def fields_and_rows(schema: Mapping[str, Any]) -> tuple[list[Field], list[RowKind]]:
    """The fields of a schema, and its kinds of rows, named like their arrays."""
    leaves = leaves_of(schema)
    rows: dict[tuple[str, ...], list[str]] = {}
    for leaf in leaves:
        if leaf.rows is not None:
            rows.setdefault(leaf.rows, []).append(leaf.name)
    kinds = [RowKind("_".join(path), tuple(names)) for path, names in rows.items()]
    return [leaf.field() for leaf in leaves], kinds


def _walk(
    schema: Mapping[str, Any],
    node: Mapping[str, Any],
    path: tuple[str, ...],
    rows: tuple[str, ...] | None,
    *,
    required: bool,
) -> Iterator[Leaf]:
    where = ".".join(path) or "the schema"
    if len(path) > DEEPEST:
        raise RulesError(f"{where}: objects are nested more than {DEEPEST} deep")
    kind, node, nullable = _resolved(schema, node, where)
    required = required and not nullable
    keys = node.get("lawful")
    if kind == "object":
        wanted = node.get("required", ())
        properties = node.get("properties", {})
        if not isinstance(properties, Mapping):
            raise RulesError(f"{where}: properties is {shown(properties)}, expected a mapping")
        for name, inner in properties.items():
            here = required and name in wanted
            yield from _walk(schema, inner, (*path, str(name)), rows, required=here)
    elif kind == "array":
        if rows is not None:
            raise RulesError(f"{where} is an array in an array, which fields cannot be")
        items = node.get("items", {})
        of, inner, _ = _resolved(schema, items, f"the items of {where}")
        if of == "object":
            yield from _walk(schema, inner, path, path, required=False)
        elif of == "array":
            raise RulesError(f"{where} is an array in an array, which fields cannot be")
        else:
            keys = keys or inner.get("lawful")
            yield Leaf(path, _type(of, inner), many=True, keys=keys, texts=_texts(inner))
    elif not path:
        raise RulesError(f"the schema is of type {shown(kind)}, expected an object")
    else:
        yield Leaf(
            path, _type(kind, node), rows=rows, required=required, keys=keys, texts=_texts(node)
        )


def _resolved(
    schema: Mapping[str, Any], node: Any, where: str
) -> tuple[str, Mapping[str, Any], bool]:
    """The type of a node, the node that says so, and whether it may be null."""
    nullable = False
    own: Mapping[str, Any] = {}
    for _ in range(32):
        if not isinstance(node, Mapping):
            raise RulesError(f"{where} is {shown(node)}, expected a schema")
        own = {**{key: value for key, value in node.items() if key == "lawful"}, **own}
        if "$ref" in node:
            node = _referred(schema, node["$ref"], where)
            continue
        some = node.get("anyOf") or node.get("oneOf") or node.get("allOf")
        if not some:
            break
        known = [each for each in some if not _is_null(each)]
        nullable = nullable or len(known) < len(some)
        # A decimal number is a number, or a string of one.
        node = next((e for e in known if _kind(e) == "number"), known[0] if known else {})
    kind = node.get("type")
    if isinstance(kind, list):
        nullable = nullable or "null" in kind
        kind = next((each for each in kind if each != "null"), None)
    if kind is None:
        kind = "object" if "properties" in node else "string"
    if kind not in (*_TYPES, "object", "array"):
        raise RulesError(f"{where} is of type {shown(kind)}, which is no type of fields")
    return kind, {**node, **own}, nullable


def _referred(schema: Mapping[str, Any], reference: Any, where: str) -> Any:
    node: Any = schema
    parts = str(reference).split("/")
    for part in parts[1:]:
        node = node.get(part) if isinstance(node, Mapping) else None
    if parts[0] != "#" or node is None:
        raise RulesError(f"{where}: $ref {shown(reference)} leads nowhere in the schema")
    return node


def _is_null(node: Any) -> bool:
    return isinstance(node, Mapping) and node.get("type") == "null"


def _kind(node: Any) -> Any:
    return node.get("type") if isinstance(node, Mapping) else None


def _type(kind: str, node: Mapping[str, Any]) -> str:
    if kind == "string" and node.get("format") in ("date", "date-time"):
        return "date"
    return _TYPES[kind]


def _texts(node: Mapping[str, Any]) -> tuple[str, ...]:
    texts = node.get("enum") or ([node["const"]] if "const" in node else [])
    return tuple(texts) if texts and all(isinstance(text, str) for text in texts) else ()
