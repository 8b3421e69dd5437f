"""Fields from a JSON Schema or a Pydantic model, and decodings as objects of that shape.

Properties become fields: numbers are amounts, strings of the format ``date`` are dates, arrays are
lists, arrays of objects are rows. A field is named by its property, or by all names that lead to
it, joined by ``_``, if another one has the same name. ``{"lawful": {...}}`` in a property
(``json_schema_extra`` in Pydantic) sets a field's keys, such as ``type``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from typing import Any

import msgspec

from lawful.base.errors import RulesError, shown
from lawful.rules.definitions import Field
from lawful.rules.judging.rows import RowKind

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
    kind: str = "string"  # its type in the schema, or its format if that is date-time
    name: str = ""

    def field(self) -> Field:
        """The field; one that is required, outside of rows, must be present."""
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
    """The JSON Schema of a Pydantic model or a dataclass, or a schema as it is."""
    if isinstance(model, Mapping):
        return model
    if isinstance(model, type) and (is_dataclass(model) or issubclass(model, msgspec.Struct)):
        return msgspec.json.schema(model)
    if not isinstance(model, type) or not hasattr(model, "model_json_schema"):
        raise RulesError(f"{shown(model)} is no Pydantic model, dataclass or JSON Schema")
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
    rows: dict[tuple[str, ...], list[Leaf]] = {}
    for leaf in leaves:
        if leaf.rows is not None:
            rows.setdefault(leaf.rows, []).append(leaf)
    kinds = [
        RowKind(
            "_".join(path),
            tuple(leaf.name for leaf in of_row),
            required=tuple(leaf.name for leaf in of_row if leaf.required),
        )
        for path, of_row in rows.items()
    ]
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
        if not properties and path:
            raise RulesError(f"{where} is an object without properties, whose values have no names")
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
            yield from _walk(schema, inner, path, path, required=True)
        elif of == "array":
            raise RulesError(f"{where} is an array in an array, which fields cannot be")
        else:
            keys = keys or inner.get("lawful")
            yield Leaf(path, _type(of, inner), many=True, keys=keys, texts=_texts(inner), kind=of)
    elif not path:
        raise RulesError(f"the schema is of type {shown(kind)}, expected an object")
    else:
        yield Leaf(path, _type(kind, node), rows=rows, required=required, keys=keys,
                   texts=_texts(node), kind=_kind(kind, node))  # fmt: skip


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
        if all_ := node.get("allOf"):
            node = _together(schema, node, all_, where)
            continue
        some = node.get("anyOf") or node.get("oneOf")
        if not some:
            break
        known = [each for each in some if not _is_null(each)]
        nullable = nullable or len(known) < len(some)
        node = _one_of(schema, known, where)
    kind = node.get("type")
    if isinstance(kind, list):
        nullable = nullable or "null" in kind
        kind = next((each for each in kind if each != "null"), None)
    if kind is None:
        kind = "object" if "properties" in node else "string"
    if kind not in (*_TYPES, "object", "array"):
        raise RulesError(f"{where} is of type {shown(kind)}, which is no type of fields")
    for key in _NO_FIELDS:
        if node.get(key):
            raise RulesError(f"{where} has {key}, which fields cannot have: name its properties")
    return kind, {**node, **own}, nullable


_NO_FIELDS = ("patternProperties", "prefixItems", "additionalItems")


def _together(
    schema: Mapping[str, Any], node: Mapping[str, Any], all_: Any, where: str
) -> dict[str, Any]:
    """A node and those that must hold with it, as one."""
    found = {key: value for key, value in node.items() if key != "allOf"}
    for each in all_:
        part = _referred(schema, each["$ref"], where) if "$ref" in each else each
        if "allOf" in part:
            part = _together(schema, part, part["allOf"], where)
        own = found.get("properties", {})
        names = {**own, **part.get("properties", {}), **own}
        needed = [*found.get("required", ()), *part.get("required", ())]
        found = {**part, **found}
        found |= {"properties": names} if names else {}
        found |= {"required": needed} if needed else {}
    return found


def _one_of(schema: Mapping[str, Any], known: Sequence[Any], where: str) -> Any:
    """The one of several nodes that has the values of all."""
    if len(known) < 2:
        return known[0] if known else {}
    kinds = [_resolved(schema, each, where)[0] for each in known]
    if (len(set(kinds)) > 1 and set(kinds) & {"object", "array"}) or kinds.count("object") > 1:
        raise RulesError(
            f"{where} may be {' or '.join(f'of type {kind}' for kind in kinds)}, and fields can "
            "be one of these only"
        )
    texts = [_texts(each) for each in known]
    if all(texts):
        return {"type": "string", "enum": [text for some in texts for text in some]}
    # A decimal number is a number, or a string of one.
    widest = next(k for k in ("number", "string", "integer", "boolean", *kinds) if k in kinds)
    return known[kinds.index(widest)]


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


def _kind(kind: str, node: Mapping[str, Any]) -> str:
    return "date-time" if node.get("format") == "date-time" else kind


def _type(kind: str, node: Mapping[str, Any]) -> str:
    if kind == "string" and node.get("format") in ("date", "date-time"):
        return "date"
    if kind == "string" and node.get("format") == "decimal":
        return "money"
    return _TYPES[kind]


def _texts(node: Any) -> tuple[str, ...]:
    given = node.get("enum") or ([node["const"]] if "const" in node else [])
    texts = tuple(text for text in given if text is not None)
    return texts if all(isinstance(text, str) for text in texts) else ()
