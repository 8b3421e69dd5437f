"""The rules of the service by name, and rules that come with a request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from lawful.errors import InputError, RulesError, did_you_mean, shown
from lawful.rules.files import parse_rules
from lawful.rules.plan import plan_of
from lawful.rules.rule_set import Rules
from lawful.rules.writing import rules_data
from lawful.server.problems import HttpProblem

LONGEST_INLINE = 2**16
"""Bytes of rules that come with a request."""


@dataclass(frozen=True, slots=True)
class NamedRules:
    """Rules, and the beginning of the SHA-256 of what they say."""

    rules: Rules
    hash: str

    @classmethod
    def of(cls, rules: Rules) -> NamedRules:
        """Compiles the rules, so that no request has to wait for it."""
        plan_of(rules)
        return cls(rules, digest_of(rules))


@dataclass(frozen=True, slots=True)
class RuleBook:
    """Rules by name. A book does not change: a reload makes another one."""

    entries: Mapping[str, NamedRules]

    @classmethod
    def load(cls, paths: Mapping[str, Path]) -> RuleBook:
        """The rules of all files; raises a ``RulesError`` if one cannot be loaded."""
        return cls({name: NamedRules.of(Rules.load(path)) for name, path in paths.items()})

    def find(self, name: str | None) -> Rules:
        """The rules of a name; without one, the only ones that there are."""
        known = ", ".join(self.entries)
        if name is None:
            if len(self.entries) == 1:
                return next(iter(self.entries.values())).rules
            raise HttpProblem(422, f"which rules? Add ?rules=NAME; names: {known}")
        if name not in self.entries:
            hint = did_you_mean(name, self.entries)
            raise HttpProblem(404, f"no rules {shown(name)}; {hint}names: {known}")
        return self.entries[name].rules

    def describe(self) -> list[dict[str, Any]]:
        """All rules as plain values."""
        return [
            {"name": name, "hash": entry.hash, **description_of(entry.rules)}
            for name, entry in self.entries.items()
        ]


def named_paths(given: Iterable[str]) -> dict[str, Path]:
    """Rule files by name, of ``NAME=FILE`` or ``FILE``, whose name is then that of the file."""
    found: dict[str, Path] = {}
    for each in given:
        name, equals, file = each.partition("=")
        path = Path(file if equals else each)
        name = name if equals else path.stem
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
            raise InputError(f"--rules {each}: {name!r} is no name for rules; write NAME=FILE")
        if name in found:
            raise InputError(f"--rules {each}: there are rules of the name {name!r} already")
        found[name] = path
    return found


def description_of(rules: Rules) -> dict[str, Any]:
    """The fields and the rules, as plain values."""
    return {
        "scheme": rules.scheme,
        "fields": [
            {
                "name": each.name,
                "label": each.label,
                "type": each.type,
                "many": bool(each.many),
                "presence": each.presence,
            }
            for each in rules.fields
        ],
        "rules": [rule.id for rule in rules.parsed],
    }


def digest_of(rules: Rules) -> str:
    """The same for rules that say the same, wherever they come from."""
    return sha256(msgspec.json.encode(rules_data(rules), enc_hook=str)).hexdigest()[:16]


def parsed(content: bytes, kind: str) -> Rules:
    """Rules that came with a request; a problem with line and column if they are wrong."""
    try:
        return parse_rules(content, kind)
    except RulesError as error:
        raise HttpProblem(422, str(error), line=error.line, column=error.column) from None


class _Document(msgspec.Struct):
    rules: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_find_inline = msgspec.json.Decoder(_Document)


def inline_rules(document: bytes, *, allowed: bool) -> Rules | None:
    """The rules in the key ``rules`` of a document, if it has one and if that is allowed.

    They are an object as in a rule file, or the text of a YAML file.
    """
    if b'"rules"' not in document:  # most documents; written in another way, the key is unknown
        return None
    try:
        raw = _find_inline.decode(document).rules
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None  # no document at all, which the parser of documents says better
    if raw is msgspec.UNSET:
        return None
    if not allowed:
        raise HttpProblem(
            403, "the document has rules, and the service runs without --inline-rules"
        )
    content = bytes(raw)
    if len(content) > LONGEST_INLINE:
        detail = f"the document's rules have more than {LONGEST_INLINE:,} bytes, the maximum"
        raise HttpProblem(413, detail)
    return _of_inline(content)


@lru_cache(maxsize=64)
def _of_inline(content: bytes) -> Rules:
    if content.startswith(b'"'):
        try:
            text = msgspec.json.decode(content, type=str).encode()
        except (msgspec.DecodeError, UnicodeError) as error:
            raise RulesError(f"the rules are no text: {error}") from None
        return parsed(text, "yaml")
    return parsed(content, "json")
