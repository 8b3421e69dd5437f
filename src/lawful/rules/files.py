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
from pathlib import Path
from typing import Any

from lawful.base.errors import RulesError, did_you_mean, shown
from lawful.rules.definitions import Field, Rule, RuleDefaults
from lawful.rules.file_schema import (
    BOUNDARIES,
    CLASS,
    DEFAULTS,
    FIELD,
    FILE,
    ORDER,
    ROWS,
    RULE,
    WORDS,
    Schema,
    keys_of,
)
from lawful.rules.judging.rows import RowKind
from lawful.rules.lexicons import Lexicon
from lawful.rules.parsed_text import COMMAS, READERS, Lines, Reader, Where, said_place
from lawful.rules.rule_set import MAX_FIELDS, Rules
from lawful.rules.span_rules import Boundaries, Order, WordRule

MAX_BYTES = 1_000_000

_HERE = Path()
_ELSEWHERE = {"required": "write presence: required; "}


def load_rules(path: Path) -> Rules:
    """Rules from a YAML, TOML or JSON file; raises ``RulesError`` with the file and the line."""
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise RulesError(f"{path}: unknown file type; rule files end in {', '.join(READERS)}")
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
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
        if len(content) > MAX_BYTES:
            raise RulesError(f"over {MAX_BYTES:,} bytes")
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

    def check_keys(self, data: Any, schema: Schema, what: str, where: Where) -> None:
        if not isinstance(data, dict):
            raise self.fail(f"{what} is {shown(data)}, expected a mapping", where)
        known = keys_of(schema)
        for key in data:
            if key not in known:
                hint = _ELSEWHERE.get(key) if schema is FIELD else None
                hint = hint or did_you_mean(key, known)
                if data[key] is None and self.lines and not (hint and key.isidentifier()):
                    hint = f"{COMMAS}; "
                raise self.fail(
                    f"unknown key {shown(key)} in {what}; {hint}keys: {', '.join(known)}",
                    (*where, key),
                )

    def load(self, data: Any) -> Rules:
        self.check_keys(data, FILE, "the rule file", ())
        fields, rules = data.get("fields"), data.get("rules", [])
        if not isinstance(fields, dict) or not fields:
            raise self.fail(f"fields is {shown(fields)}, expected a mapping of fields", ("fields",))
        if not isinstance(rules, list):
            raise self.fail(f"rules is {shown(rules)}, expected a list", ("rules",))
        try:
            defaults = RuleDefaults(**{key: data[key] for key in DEFAULTS if key in data})
        except RulesError as error:
            wrong = next(((key,) for key in DEFAULTS if re.match(rf"{key}\b", str(error))), ())
            raise self.fail(error, wrong) from None
        if len(fields) > MAX_FIELDS:
            raise self.fail(f"{len(fields):,} fields, at most {MAX_FIELDS:,}", ("fields",))
        made_fields = [self.load_field(name, entry) for name, entry in fields.items()]
        made_rules = [self.load_rule(i, entry) for i, entry in enumerate(rules)]
        rows = {} if data.get("rows") is None else data["rows"]
        if not isinstance(rows, dict):
            raise self.fail(f"rows is {shown(rows)}, expected a mapping of rows", ("rows",))
        made_rows = [self.load_rows(name, entry) for name, entry in rows.items()]
        words = data.get("words", [])
        if not isinstance(words, list):
            raise self.fail(f"words is {shown(words)}, expected a list", ("words",))
        made_words = [self.load_words(i, entry) for i, entry in enumerate(words)]
        needs = data.get("needs", [])
        if not isinstance(needs, list):
            raise self.fail(f"needs is {shown(needs)}, expected a list of fields", ("needs",))
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
                needs=needs,
            )
        except RulesError as error:
            where: Where = next(
                (
                    (key,)
                    for key in ("words", "given", "classes", "order", "needs")
                    if str(error).startswith(key)
                ),
                (),
            )
            if kind := re.match(r"rows '(\w+)'(: of)?", str(error)):
                where = ("rows", kind[1], "of" if kind[2] else "fields")
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
            self.check_keys({} if entry is None else entry, CLASS, f"class {name}", where)
        return {name: (entry or {}).get("scores", name) for name, entry in data.items()}

    def load_field(self, name: Any, entry: Any) -> Field:
        where: Where = ("fields", name)
        self.check_keys(entry, FIELD, f"field {shown(name)}", where)
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
        self.check_keys(entry, WORDS, f"entry {index + 1} of words", where)
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
            self.check_keys(order, ORDER, "order", ("order",))
            try:
                orders.append(Order(**{"fields": None, **order}))
            except RulesError as error:
                raise self.fail(error, ("order",)) from None
        return orders

    def load_boundaries(self, entry: Any) -> Boundaries:
        where: Where = ("boundaries",)
        self.check_keys(entry, BOUNDARIES, "boundaries", where)
        try:
            return Boundaries(**{"after": None, **entry})
        except RulesError as error:
            raise self.fail(error, where) from None

    def load_rows(self, name: Any, entry: Any) -> RowKind:
        where: Where = ("rows", name)
        self.check_keys(entry, ROWS, f"rows {shown(name)}", where)
        try:
            return RowKind(name, **{"fields": None, **entry})
        except RulesError as error:
            raise self.fail(error, where) from None

    def load_rule(self, index: int, entry: Any) -> Rule:
        where: Where = ("rules", index)
        if isinstance(entry, str):
            entry = {"check": entry}
        self.check_keys(entry, RULE, f"rule {index + 1}", where)
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
