"""The schema of rule files: its keys are those of Python, and what can be read is right by it."""

from __future__ import annotations

from dataclasses import fields

import pytest

from lawful import Field, Rule, RulesError
from lawful.rules import Boundaries, Order, RowKind, RuleDefaults, WordRule
from lawful.rules.file_schema import (
    BOUNDARIES,
    DEFAULTS,
    FIELD,
    FILE,
    ORDER,
    ROWS,
    RULE,
    WORDS,
)
from lawful.rules.files import rules_from


@pytest.mark.parametrize(
    ("schema", "made", "apart"),
    [
        (FIELD, Field, {"name"}), (RULE, Rule, {"reads"}), (WORDS, WordRule, set()),
        (BOUNDARIES, Boundaries, set()), (ORDER, Order, set()), (ROWS, RowKind, {"name"}),
        (DEFAULTS, RuleDefaults, set()),
    ],
)  # fmt: skip
def test_the_keys_of_a_file_are_what_python_can_say(schema, made, apart):
    names = {field.name for field in fields(made)} - apart
    keys = schema.get("properties", schema)
    assert {{"in": "lexicon"}.get(key, key) for key in keys} == names


LIKELY = (
    True, False, 0, 1, -1, 2.5, "", "a", "hard", "never", "money", "keep", "free", "agree",
    "first", "line", "other", "page", "line <= 5", "BIO", "present(a)", [], ["a"], ["a", "b"], [1],
    {}, {"a": 1}, {"a": "hard"},
    {"total:kept": 2}, {"x": {"label": "x"}}, {"x": {}}, {"x": None}, {"after": "x"},
    [{"only": ["a"], "match": "x"}], {"fields": ["a", "b"]}, [["a", "b"], {"fields": ["b", "a"]}],
    {"k": "money"},
    {"line": {"fields": ["a"]}}, [{"check": "present(a)"}], ["present(a)"],
)  # fmt: skip
"""Values of all kinds that rule files have, right somewhere and wrong elsewhere.

The reader takes null where nothing is needed, as if the key were left out; the schema does not."""

BASE = {
    "fields": {"a": {"label": "x", "type": "money", "many": True}, "b": {"label": "y"}},
    "rows": {"line": {"fields": ["a"]}},
}


def a_file(schema, key, value):
    """A rule file in which a part of this schema has this value under a key."""
    one = {key: value}
    if schema is FIELD:
        return {"fields": {"b": {"label": "y"}, "a": {"label": "x", **one}}}
    if schema is ROWS:
        section = {"of": "other", "ends": "a"} if key in ("of", "ends") else {"of": "other"}
        if key in ("of", "ends", "by"):
            other = {"other": {"fields": ["b"]}}
            return BASE | {"rows": other | {"line": {"fields": ["a"], **section, **one}}}
        return BASE | {"rows": {"line": {"fields": ["a"], **one}}}
    part, rest = {
        id(FILE): (None, {}),
        id(RULE): ("rules", {"check": "present(a)"}),
        id(WORDS): ("words", {"only": ["a"]} | ({} if key == "in" else {"match": "x"})),
        id(BOUNDARIES): ("boundaries", {"after": "x"}),
        id(ORDER): ("order", {"fields": ["a", "b"]}),
    }[id(schema)]
    if part is None:
        return one if key == "fields" else BASE | one
    return BASE | {part: [rest | one] if part in ("rules", "words") else rest | one}


PARTS = {
    "file": FILE, "field": FIELD, "rule": RULE, "rows": ROWS, "words": WORDS, "order": ORDER,
    "boundaries": BOUNDARIES,
}  # fmt: skip


@pytest.mark.parametrize(
    ("part", "key"), [(part, key) for part in PARTS for key in PARTS[part]["properties"]]
)
def test_what_the_reader_takes_is_right_by_the_schema(part, key):
    """An editor underlines no file that can be read, and what it underlines is an error."""
    schema = PARTS[part]
    taken = [value for value in LIKELY if not refusal(a_file(schema, key, value))]
    assert taken, f"no example of {key} is right"
    for value in taken:
        assert obeys(schema["properties"][key], value), value


def obeys(schema, value):  # noqa: PLR0911 - a return per kind
    """Whether a value is right by a JSON Schema, as far as ours say it."""
    if "anyOf" in schema:
        return any(obeys(each, value) for each in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return value in schema.get("enum", [schema.get("const")])
    kind = schema.get("type")
    if not isinstance(value, KINDS[kind]) or (isinstance(value, bool) and kind in NUMBERS):
        return False
    if kind in NUMBERS:
        return value >= schema["minimum"]
    if kind == "array" and len(value) < schema.get("minItems", 0):
        return False
    if kind == "array":
        return all(obeys(schema["items"], each) for each in value)
    if kind == "object":
        more, known = schema["additionalProperties"], schema.get("properties", {})
        return {*schema.get("required", ())} <= {*value} and all(
            obeys(known[key], each) if key in known else more and obeys(more, each)
            for key, each in value.items()
        )
    return True


KINDS = {
    "object": dict, "array": list, "string": str, "boolean": bool, "integer": int,
    "number": int | float, "null": type(None), None: object,
}  # fmt: skip
NUMBERS = ("number", "integer")


def refusal(data):
    """Why rules cannot be read; empty if they can."""
    try:
        rules_from(data)
    except RulesError as error:
        return str(error)
    return ""
