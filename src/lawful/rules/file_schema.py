"""What a rule file may hold, as JSON Schema: for editors, and for the keys that are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, get_args

from lawful.rules.definitions import Presence, Repeat
from lawful.values import TYPES

Schema: TypeAlias = Mapping[str, Any]


def _closed(properties: Mapping[str, Schema], *required: str) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _text(description: str) -> Schema:
    return {"type": "string", "description": description}


_NAME: Schema = {"type": "string"}
_NAMES: Schema = {"type": "array", "items": _NAME}
_TEXTS = [_NAME, _NAMES]
_ONE, _TWO = {**_NAMES, "minItems": 1}, {**_NAMES, "minItems": 2}
_NUMBER: Schema = {"type": "number", "minimum": 0}
_WEIGHT: Schema = {"anyOf": [_NUMBER, {"const": "hard"}]}
_UNCHECKED: Schema = {
    **_NUMBER,
    "description": "the price in nats of a rule that is vacuous because a value is missing",
}
_PRESENCE: Schema = {"enum": list(get_args(Presence))}
_REPEAT: Schema = {"enum": list(get_args(Repeat))}
_MAX_WORDS: Schema = {"type": "integer", "minimum": 1}
_AMBIGUITY: Schema = {
    "anyOf": [_NUMBER, {"const": "never"}],
    "description": "the price in nats of choosing a value that is not the most plausible one",
}
_MISREADS: Schema = {
    **_NUMBER,
    "description": "nats up to which a value may be one that OCR nearly read; 0 is never",
}

FIELD = _closed(
    {
        "label": _text("the label's type, without its prefix"),
        "type": _text(f"one of {', '.join(TYPES)}, or a registered type"),
        "many": {"type": "boolean", "description": "the field is a list of values"},
        "default": {"description": "the value if the field is missing"},
        "presence": _PRESENCE,
        "repeat": _REPEAT,
        "max_words": _MAX_WORDS,
        "pattern": _text("a regular expression for the whole text of a span"),
        "ambiguity": _AMBIGUITY,
        "misreads": _MISREADS,
        "optional": {
            "type": "boolean",
            "description": "the field is missing if the model does not have its label",
        },
        "starts": _text("a regular expression, found in a span's first word"),
        "ends": _text("a regular expression, found in a span's last word"),
        "in": {
            "anyOf": _TEXTS,
            "description": "texts of spans: a file with one per line, or a list",
        },
        "where": _text("a condition over a span's place: line <= 5"),
    },
    "label",
)

RULE = _closed(
    {
        "id": _NAME,
        "check": _text("the condition, as in total == subtotal + tax"),
        "each": _text("a kind of rows: the rule is judged on every row"),
        "when": _text("the rule applies only where this holds"),
        "tolerance": _NUMBER,
        "message": {
            "anyOf": [_NAME, {"type": "object", "additionalProperties": _NAME}],
            "description": "the message if violated, or one per language (en, de, fr); {field} for "
            "its value, {left} and {right} for the sides of a comparison",
        },
        "weight": _WEIGHT,
        "unchecked": _UNCHECKED,
    },
    "check",
)

ROWS = _closed(
    {
        "fields": _ONE,
        "starts": _text("the field that begins a row"),
        "required": {**_NAMES, "description": "the fields that every row should have"},
        "shared": {
            **_NAMES,
            "description": "the fields that a row without a value has from a row before it",
        },
        "of": _text("the kind of rows that its sections hold"),
        "ends": _text("the field that ends a section, with its printed line"),
        "by": {"enum": ["page"], "description": "each section is a page"},
    },
    "fields",
)

WORDS = _closed(
    {
        "match": _text("a regular expression, found in the words meant"),
        "in": {
            "anyOf": _TEXTS,
            "description": "the words meant: a file with one per line, or a list",
        },
        "only": {**_NAMES, "description": "the fields that these words may be in"},
        "weight": _WEIGHT,
    },
    "only",
)

BOUNDARIES = _closed(
    {
        "after": _text("a regular expression, found in words that spans follow"),
        "weight": _WEIGHT,
    },
    "after",
)

ORDER = _closed({"fields": _TWO, "weight": _WEIGHT, "id": _NAME}, "fields")

CLASS = _closed({"scores": _NAME})

DEFAULTS: Mapping[str, Schema] = {
    "presence": _PRESENCE,
    "repeat": _REPEAT,
    "weight": _WEIGHT,
    "weights": {
        "type": "object",
        "additionalProperties": _WEIGHT,
        "description": "weights of conditions that fields imply, as in total:agrees",
    },
    "tolerance": _NUMBER,
    "max_words": _MAX_WORDS,
    "ambiguity": _AMBIGUITY,
    "unchecked": _UNCHECKED,
    "misreads": _MISREADS,
}
"""The settings of a file, which hold for all its fields and rules."""

_ORDERS = [_TWO, ORDER]

FILE = _closed(
    {
        "fields": {"type": "object", "additionalProperties": FIELD},
        "rules": {"type": "array", "items": {"anyOf": [_NAME, RULE]}},
        "rows": {"type": "object", "additionalProperties": ROWS},
        "words": {"type": "array", "items": WORDS},
        "boundaries": BOUNDARIES,
        "order": {"anyOf": [*_ORDERS, {"type": "array", "items": {"anyOf": _ORDERS}}]},
        "given": {
            "type": "object",
            "additionalProperties": _NAME,
            "description": "the types of values that documents are given, by name",
        },
        "classes": {
            "type": "object",
            "additionalProperties": {"anyOf": [CLASS, {"type": "null"}]},
            "description": "classes of documents; scores is the name of their scores",
        },
        "needs": {
            **_NAMES,
            "description": "the fields, or kinds of rows, that decide whether a document passes",
        },
        "scheme": _NAME,
        **DEFAULTS,
    },
    "fields",
)


def keys_of(schema: Schema) -> tuple[str, ...]:
    """The keys that a mapping may have."""
    return tuple(schema["properties"])


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a rule file, for editors."""
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": dialect, "title": "lawful rules", **FILE}
