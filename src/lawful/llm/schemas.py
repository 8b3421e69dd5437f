"""What a language model is asked for: a JSON Schema, from a file, a Pydantic model or rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from lawful.base.errors import InputError, RulesError, did_you_mean, shown
from lawful.rules.definitions import Rule
from lawful.rules.python_files import module_of, rules_of
from lawful.rules.rule_set import Rules
from lawful.rules.schemas import schema_of

Schema: TypeAlias = Mapping[str, Any]

_LEFT_OUT = {"lawful", "title", "default", "examples", "pattern", "$schema", "$id"}
_PLAIN = {"money": "number", "number": "number", "integer": "integer", "percent": "number"}


def load_schema(given: str) -> tuple[Schema, Rules]:
    """The schema of ``invoice.py:Invoice`` or of a JSON file, and rules with its fields.

    The rules of a Python file are those that it defines (``lawful.Rule``, ``@lawful.rule``); those
    of a JSON Schema are its key ``lawful``: ``{"rules": ["total == subtotal + tax"]}``.
    """
    file, name = schema_file(given), given.rpartition(":")[2]
    if str(file) != given:
        model, rules = _model(file, name)
        schema = schema_of(model)
    elif given.endswith(".py"):
        raise InputError(f"--schema {given} names no class: write {given}:Invoice")
    else:
        schema = _json(file)
        keys = schema.get("lawful", {})
        listed = keys.get("rules") if isinstance(keys, Mapping) else None
        if keys and not (isinstance(listed, list) and all(isinstance(r, str) for r in listed)):
            raise InputError(
                f'{given}: lawful is {shown(keys)}, expected {{"rules": ["total == net + tax"]}}'
            )
        rules = tuple(map(Rule, listed or ()))
    try:
        return schema, Rules.from_json_schema(schema, rules)
    except RulesError as error:
        raise RulesError(f"{given}: {error}") from None


def schema_file(given: str) -> Path:
    """The file of ``invoice.py:Invoice``, or the JSON file itself."""
    file, colon, _ = given.rpartition(":")
    return Path(file if colon and file.endswith(".py") else given)


def _model(path: Path, name: str) -> tuple[Any, tuple[Rule, ...]]:
    found = vars(module_of(path.absolute()))
    if name not in found:
        classes = [n for n, each in found.items() if hasattr(each, "model_json_schema")]
        hint = did_you_mean(name, classes)
        raise InputError(
            f"{path} has no {name}; {hint}its Pydantic models: "
            f"{', '.join(n for n in classes if n != 'BaseModel') or 'none'}"
        )
    return found[name], tuple(rules_of(path.absolute()))


def _json(path: Path) -> dict[str, Any]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except OSError as error:
        raise InputError(f"cannot read the schema {path}: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}; expected a JSON Schema, or file.py:Class") from None


def schema_of_rules(rules: Rules) -> Schema:
    """A schema that asks for the fields of rules, which need no schema then."""
    rows = {name: kind for kind in rules.rows for name in kind.fields}
    found: dict[str, Any] = {}
    for f in rules.fields:
        leaf: dict[str, Any] = {"type": _PLAIN.get(f.type, "string")}
        leaf |= {"format": "date"} if f.type == "date" else {}
        if f.name in rows:
            items = {"type": "object", "properties": {}}
            row = found.setdefault(rows[f.name].name, {"type": "array", "items": items})
            row["items"]["properties"][f.name] = leaf
        else:
            found[f.name] = {"type": "array", "items": leaf} if f.many else leaf
    return {"type": "object", "properties": found}


def asked(schema: Schema) -> Schema:
    """The schema as servers enforce it: every property is there, and null if it is not printed."""
    found: Schema = _strict(schema)
    return found


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(each) for each in node]
    if not isinstance(node, Mapping):
        return node
    found = {name: node[name] for name in node if name not in _LEFT_OUT}
    for name in ("properties", "$defs", "definitions"):
        if isinstance(found.get(name), Mapping):
            found[name] = {key: _strict(inner) for key, inner in found[name].items()}
    for name in ("items", "anyOf", "oneOf", "allOf", "additionalProperties"):
        if name in found:
            found[name] = _strict(found[name])
    if isinstance(found.get("properties"), Mapping):
        found["properties"] = {key: _or_null(e) for key, e in found["properties"].items()}
        found |= {"required": list(found["properties"]), "additionalProperties": False}
    return found


def _or_null(node: Any) -> Any:
    """The node, or null; lists and objects are empty instead."""
    null = {"type": "null"}
    if not isinstance(node, Mapping) or node.get("type") in ("array", "object"):
        return node
    if "anyOf" in node:
        return node if null in node["anyOf"] else {**node, "anyOf": [*node["anyOf"], null]}
    if "$ref" in node or "enum" in node or "const" in node:
        return {"anyOf": [node, null]}
    kind = node.get("type")
    if isinstance(kind, str):
        return node if kind == "null" else {**node, "type": [kind, "null"]}
    return node


def part_of(schema: Schema, paths: Sequence[tuple[str, ...]]) -> Schema:
    """The schema of only those properties that paths lead to."""
    return {"type": "object", **_part(schema, schema, paths)} | (
        {"$defs": schema["$defs"]} if "$defs" in schema else {}
    )


def _part(schema: Schema, node: Schema, paths: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for name, inner in node.get("properties", {}).items():
        below = [path[1:] for path in paths if path and path[0] == name]
        if not below:
            continue
        within = _object(schema, inner)
        whole = within is None or not all(below)
        properties[name] = (
            inner if whole else {"type": "object", **_part(schema, within or {}, below)}
        )
    return {"properties": properties}


def _object(schema: Schema, node: Any) -> Schema | None:
    """The object that a node is; none if it is a list or a value."""
    for each in (node, *node.get("anyOf", ())):
        reference = str(each.get("$ref", "")).split("/")
        found = schema.get(reference[1], {}).get(reference[2]) if len(reference) == 3 else each
        if isinstance(found, Mapping) and "properties" in found:
            return found
    return None
