"""Rule files: YAML, TOML or JSON in, checked ``Rules`` out; errors name the file and the line.

For example:

    presence: keep            # for all fields and rules below, unless they say otherwise
    weight: 10
    fields:
      total:    {label: total.total_price, type: money}
      items:    {label: menu.price, type: money, many: true}
    rules:
      - total == sum(items)
      - {id: round, check: total == round(total), weight: 2}
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lawful.errors import RulesError, did_you_mean, shown
from lawful.rules.definitions import Field, Presence, Repeat, Rule, RuleDefaults
from lawful.rules.lexicons import Lexicon
from lawful.rules.rows import RowKind
from lawful.rules.rule_set import MOST_FIELDS, Rules
from lawful.rules.span_rules import Boundaries, Order, WordRule
from lawful.rules.texts import COMMAS, READERS, Lines, Reader, Where, said_place
from lawful.values import TYPES

MOST_BYTES = 1_000_000

_HERE = Path()
_DEFAULT_KEYS = (
    "presence", "repeat", "weight", "weights", "tolerance", "max_words", "ambiguity", "unchecked",
)  # fmt: skip
_FILE_KEYS = (
    "fields", "rows", "rules", "words", "boundaries", "order", "given", "classes", "scheme",
    *_DEFAULT_KEYS,
)  # fmt: skip
_ROW_KEYS = ("fields", "starts")
_FIELD_KEYS = (
    "label", "type", "many", "default", "presence", "repeat", "max_words", "pattern", "ambiguity",
    "optional", "starts", "ends", "in", "where",
)  # fmt: skip
_WORD_KEYS = ("match", "in", "only", "weight")
_BOUNDARY_KEYS = ("after", "weight")
_ORDER_KEYS = ("fields", "weight", "id")
_RULE_KEYS = ("id", "check", "each", "when", "tolerance", "message", "weight", "unchecked")


def load_rules(path: Path) -> Rules:
    """Rules from a YAML, TOML or JSON file; raises ``RulesError`` with the file and the line."""
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise RulesError(f"{path}: unknown file type; rule files end in {', '.join(READERS)}")
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise RulesError(f"cannot read rule file {path}: {error.strerror}") from None
    return _parsed(content, reader, str(path), path.parent)


def parse_rules(content: bytes, kind: str = "yaml") -> Rules:
    """Rules from the content of a YAML, TOML or JSON file, which may not name other files."""
    reader = READERS.get(f".{kind}")
    if reader is None:
        raise RulesError(f"unknown kind of rules {shown(kind)}; kinds: yaml, toml, json")
    return _parsed(content, reader, "rules", None)


def _parsed(content: bytes, reader: Reader, name: str, folder: Path | None) -> Rules:
    try:
        if len(content) > MOST_BYTES:
            raise RulesError(f"over {MOST_BYTES:,} bytes")
        data, lines = reader(content.decode("utf-8-sig"))
    except RecursionError:
        raise RulesError(f"{name}: nested too deeply") from None
    except ValueError as error:  # from json, tomllib or decoding UTF-8, or one of ours
        line, column = said_place(str(error))
        raise RulesError(f"{name}: {error}", line=line, column=column) from None
    return rules_from(data, name, lines, folder)


def rules_from(
    data: Any, name: str = "rules", lines: Lines | None = None, folder: Path | None = _HERE
) -> Rules:
    """Rules from plain dictionaries and lists, as a file in this folder would hold them.

    Without a folder, they may not name other files.
    """
    return _Loader(name, lines or {}, folder).load(data)


class _Loader:
    def __init__(self, name: str, lines: Lines, folder: Path | None) -> None:
        self.name = name
        self.lines = lines
        self.folder = folder
        self.lexicons: dict[str, Lexicon] = {}  # by path

    def fail(self, message: object, where: Where) -> RulesError:
        found = next(
            (self.lines[where[:n]] for n in range(len(where), -1, -1) if where[:n] in self.lines),
            None,
        )
        if found is None:
            return RulesError(f"{self.name}: {message}")
        _, inside = said_place(str(message))  # of the expression
        column = found.column and inside and found.column + inside - 1
        text = f"{self.name}, line {found.line}: {message}"
        return RulesError(text, line=found.line, column=column)

    def check_keys(self, data: Any, known: tuple[str, ...], what: str, where: Where) -> None:
        if not isinstance(data, dict):
            raise self.fail(f"{what} is {shown(data)}, expected a mapping", where)
        for key in data:
            if key not in known:
                hint = did_you_mean(key, known)
                if data[key] is None and self.lines and not (hint and key.isidentifier()):
                    hint = f"{COMMAS}; "
                raise self.fail(
                    f"unknown key {shown(key)} in {what}; {hint}keys: {', '.join(known)}",
                    (*where, key),
                )

    def load(self, data: Any) -> Rules:
        self.check_keys(data, _FILE_KEYS, "the rule file", ())
        fields, rules = data.get("fields"), data.get("rules", [])
        if not isinstance(fields, dict) or not fields:
            raise self.fail(f"fields is {shown(fields)}, expected a mapping of fields", ("fields",))
        if not isinstance(rules, list):
            raise self.fail(f"rules is {shown(rules)}, expected a list", ("rules",))
        try:
            defaults = RuleDefaults(**{key: data[key] for key in _DEFAULT_KEYS if key in data})
        except RulesError as error:
            wrong = next(((key,) for key in _DEFAULT_KEYS if re.match(rf"{key}\b", str(error))), ())
            raise self.fail(error, wrong) from None
        if len(fields) > MOST_FIELDS:
            raise self.fail(f"{len(fields):,} fields, at most {MOST_FIELDS:,}", ("fields",))
        made_fields = [self.load_field(name, entry) for name, entry in fields.items()]
        made_rules = [self.load_rule(i, entry) for i, entry in enumerate(rules)]
        rows = data.get("rows") or {}
        if not isinstance(rows, dict):
            raise self.fail(f"rows is {shown(rows)}, expected a mapping of rows", ("rows",))
        made_rows = [self.load_rows(name, entry) for name, entry in rows.items()]
        words = data.get("words", [])
        if not isinstance(words, list):
            raise self.fail(f"words is {shown(words)}, expected a list", ("words",))
        made_words = [self.load_words(i, entry) for i, entry in enumerate(words)]
        boundaries = self.load_boundaries(data["boundaries"]) if "boundaries" in data else None
        classes = self.load_classes(data.get("classes", {}))
        orders = self.load_orders(data.get("order", []))
        try:
            return Rules(
                made_fields,
                made_rules,
                scheme=data.get("scheme", "BIO"),
                defaults=defaults,
                rows=made_rows,
                words=made_words,
                boundaries=boundaries,
                given=data.get("given"),
                classes=classes,
                orders=orders,
            )
        except RulesError as error:
            where: Where = next(
                (
                    (key,)
                    for key in ("words", "given", "classes", "order")
                    if str(error).startswith(key)
                ),
                (),
            )
            if error.rule is not None:
                where = ("rules", error.rule, "check")
            elif error.field is not None:
                where = ("fields", error.field, "label")
            elif str(error).startswith("weights"):
                where = ("weights",)
            raise self.fail(error, where) from None

    def load_classes(self, data: Any) -> dict[str, Any]:
        """By name, the name of the scores in documents, which is the same by default."""
        if not isinstance(data, dict):
            raise self.fail(f"classes is {shown(data)}, expected a mapping", ("classes",))
        for name, entry in data.items():
            where: Where = ("classes", name)
            self.check_keys({} if entry is None else entry, ("scores",), f"class {name}", where)
        return {name: (entry or {}).get("scores", name) for name, entry in data.items()}

    def load_field(self, name: Any, entry: Any) -> Field:
        where: Where = ("fields", name)
        self.check_keys(entry, _FIELD_KEYS, f"field {shown(name)}", where)
        if "label" not in entry:
            raise self.fail(f"field {shown(name)} has no label", where)
        for key in ("many", "optional"):
            if not isinstance(entry.get(key, False), bool):
                raise self.fail(
                    f"field {shown(name)}: {key} is {shown(entry[key])}, expected true or false",
                    (*where, key),
                )
        try:
            return Field(name=name, **self.with_lexicon(entry, f"field {shown(name)}: "))
        except RulesError as error:
            raise self.fail(error, where) from None

    def with_lexicon(self, entry: dict[str, Any], where: str) -> dict[str, Any]:
        """The entry with ``lexicon``, as Python calls it, for ``in``; a file is read once."""
        if entry.get("in") is None:
            return {key: value for key, value in entry.items() if key != "in"}
        rest = dict(entry)
        source = rest.pop("in")
        if not isinstance(source, str):
            return {**rest, "lexicon": Lexicon.of(source, where)}
        if self.folder is None:
            raise RulesError(f"{where}in is {shown(source)}, expected a list: no files are read")
        if not _is_below(self.folder / source, self.folder):
            raise RulesError(f"{where}in: {shown(source)} is outside of the rule file's folder")
        if source not in self.lexicons:
            self.lexicons[source] = Lexicon.of(source, where, self.folder)
        return {**rest, "lexicon": self.lexicons[source]}

    def load_words(self, index: int, entry: Any) -> WordRule:
        where: Where = ("words", index)
        self.check_keys(entry, _WORD_KEYS, f"entry {index + 1} of words", where)
        try:
            return WordRule(**{"only": None, **self.with_lexicon(entry, "words: ")})
        except RulesError as error:
            raise self.fail(error, where) from None

    def load_orders(self, entry: Any) -> list[Order]:
        """One order, as fields or as a mapping, or a list of orders."""
        many = isinstance(entry, list) and not any(isinstance(name, str) for name in entry)
        orders = []
        for one in entry if many else [entry]:
            if not isinstance(one, list | dict):
                raise self.fail(f"order is {shown(one)}, expected a list of fields", ("order",))
            order = {"fields": one} if isinstance(one, list) else one
            self.check_keys(order, _ORDER_KEYS, "order", ("order",))
            try:
                orders.append(Order(**{"fields": None, **order}))
            except RulesError as error:
                raise self.fail(error, ("order",)) from None
        return orders

    def load_boundaries(self, entry: Any) -> Boundaries:
        where: Where = ("boundaries",)
        self.check_keys(entry, _BOUNDARY_KEYS, "boundaries", where)
        try:
            return Boundaries(**{"after": None, **entry})
        except RulesError as error:
            raise self.fail(error, where) from None

    def load_rows(self, name: Any, entry: Any) -> RowKind:
        where: Where = ("rows", name)
        self.check_keys(entry, _ROW_KEYS, f"rows {shown(name)}", where)
        try:
            return RowKind(name, entry.get("fields"), entry.get("starts"))
        except RulesError as error:
            raise self.fail(error, where) from None

    def load_rule(self, index: int, entry: Any) -> Rule:
        where: Where = ("rules", index)
        if isinstance(entry, str):
            entry = {"check": entry}
        self.check_keys(entry, _RULE_KEYS, f"rule {index + 1}", where)
        if not isinstance(entry.get("check"), str):
            raise self.fail(
                f"rule {index + 1}: check is {shown(entry.get('check'))}, expected an expression",
                where,
            )
        try:
            return Rule(**entry)
        except RulesError as error:
            raise self.fail(error, where) from None


def _is_below(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # no path: reading it will say so
        return True


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a rule file, for editors."""
    presence = {"enum": list(Presence.__args__)}  # type: ignore[attr-defined]
    repeat = {"enum": list(Repeat.__args__)}  # type: ignore[attr-defined]
    weight = {"anyOf": [{"type": "number", "minimum": 0}, {"const": "hard"}]}
    ambiguity = {
        "anyOf": [{"type": "number", "minimum": 0}, {"const": "never"}],
        "description": "the price in nats of choosing a value that is not the most plausible one",
    }
    unchecked = {
        "type": "number",
        "minimum": 0,
        "description": "the price in nats of a rule that is vacuous because a value is missing",
    }
    tolerance = {"type": "number", "minimum": 0}
    max_words = {"type": "integer", "minimum": 1}
    text = {"type": "string"}
    names = {"type": "array", "items": text}
    lexicon = {"anyOf": [text, names]}
    properties: dict[str, dict[str, Any]] = {
        "label": {**text, "description": "the label's type, without its prefix"},
        "type": {**text, "description": f"one of {', '.join(TYPES)}, or a registered type"},
        "many": {"type": "boolean", "description": "the field is a list of values"},
        "default": {"description": "the value if the field is missing"},
        "presence": presence,
        "repeat": repeat,
        "max_words": max_words,
        "pattern": {**text, "description": "a regular expression for the whole text of a span"},
        "ambiguity": ambiguity,
        "optional": {
            "type": "boolean",
            "description": "the field is missing if the model does not have its label",
        },
        "starts": {**text, "description": "a regular expression, found in a span's first word"},
        "ends": {**text, "description": "a regular expression, found in a span's last word"},
        "in": {**lexicon, "description": "texts of spans: a file with one per line, or a list"},
        "where": {**text, "description": "a condition over a span's place: line <= 5"},
    }
    words = {
        "match": {**text, "description": "a regular expression, found in the words meant"},
        "in": {**lexicon, "description": "the words meant: a file with one per line, or a list"},
        "only": {**names, "description": "the fields that these words may be in"},
        "weight": weight,
    }
    boundaries = {
        "after": {**text, "description": "a regular expression, found in words that spans follow"},
        "weight": weight,
    }
    rule = {
        "id": text,
        "check": {**text, "description": "the condition, as in total == subtotal + tax"},
        "each": {**text, "description": "a kind of rows: the rule is judged on every row"},
        "when": {**text, "description": "the rule applies only where this holds"},
        "tolerance": tolerance,
        "message": {**text, "description": "the message if violated; {field} for its value"},
        "weight": weight,
        "unchecked": unchecked,
    }

    rows = {
        "fields": {**names, "minItems": 1},
        "starts": {**text, "description": "the field that begins a row"},
    }

    order_keys = {"fields": {**names, "minItems": 2}, "weight": weight, "id": text}

    def closed(properties: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }

    order = [{**names, "minItems": 2}, closed(order_keys, ["fields"])]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "lawful rules",
        **closed(
            {
                "fields": {"type": "object", "additionalProperties": closed(properties, ["label"])},
                "rules": {
                    "type": "array",
                    "items": {"anyOf": [text, closed(rule, ["check"])]},
                },
                "rows": {"type": "object", "additionalProperties": closed(rows, ["fields"])},
                "words": {"type": "array", "items": closed(words, ["only"])},
                "boundaries": closed(boundaries, ["after"]),
                "order": {"anyOf": [*order, {"type": "array", "items": {"anyOf": order}}]},
                "given": {
                    "type": "object",
                    "additionalProperties": text,
                    "description": "the types of values that documents are given, by name",
                },
                "classes": {
                    "type": "object",
                    "additionalProperties": {
                        "anyOf": [closed({"scores": text}, []), {"type": "null"}]
                    },
                    "description": "classes of documents; scores is the name of their scores",
                },
                "scheme": text,
                "presence": presence,
                "repeat": repeat,
                "weight": weight,
                "weights": {
                    "type": "object",
                    "additionalProperties": weight,
                    "description": "weights of conditions that fields imply, as in total:agrees",
                },
                "tolerance": tolerance,
                "max_words": max_words,
                "ambiguity": ambiguity,
                "unchecked": unchecked,
            },
            ["fields"],
        ),
    }
