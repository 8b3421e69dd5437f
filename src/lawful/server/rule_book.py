"""The rules of the service by name, and rules that come with a request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from lawful.base.cache import Cache
from lawful.base.errors import InputError, RulesError, did_you_mean, shown
from lawful.candidates.stated import Stated
from lawful.documents.records import Scored
from lawful.learn.trust import Trust, labels_of
from lawful.learn.trust_setting import options_of, setting_of, trust_in_scores
from lawful.pipeline.call import Call, DecodeOptions
from lawful.results.decoding import Decoding
from lawful.rules.compiled.plan import plan_of
from lawful.rules.files import parse_rules
from lawful.rules.rule_set import Rules
from lawful.rules.to_file import rules_data
from lawful.server.problems import HttpProblem

LONGEST_INLINE = 2**16
"""Bytes of rules that come with a request."""


@dataclass(frozen=True, slots=True)
class NamedRules:
    """Rules, the beginning of the SHA-256 of what they say, and which answers under them pass."""

    name: str
    rules: Rules
    hash: str
    trust: Trust | None = None

    @classmethod
    def load(cls, name: str, path: Path, trust: Path | None) -> NamedRules:
        """Compiles the rules of a file, so that no request has to wait for it.

        With ``trust``, a file of ``lawful trust fit`` for these rules, the fields that it was
        fitted for are needed, unless the rules name others. Raises an ``InputError`` if it is of
        other rules, or promises nothing.
        """
        rules = Rules.load(path)
        plan_of(rules)
        if trust is None:
            return cls(name, rules, digest_of(rules))
        setting = setting_of(DecodeOptions().call(rules), path, None)
        model = trust_in_scores(trust, setting["--rules"])
        needing = replace(rules, needs=rules.needs or tuple(model.fields))
        return cls(name, needing, digest_of(rules), model)

    def judged(self, scored: Scored, decoding: Decoding, call: Call) -> Decoding:
        """The decoding with its trust, and whether it passes.

        It stays as it is if trust is about decodings that are made otherwise, or of other scores.
        """
        if self.trust is None or isinstance(scored, Stated):  # no model's values
            return decoding
        if labels_of(scored) != self.trust.labels:
            return decoding
        fitted = self.trust.setting
        if any(fitted.get(name) != now for name, now in options_of(call).items()):
            return decoding
        return self.trust.applied(scored, decoding, call.rules)


@dataclass(frozen=True, slots=True)
class RuleBook:
    """Rules by name. A book does not change: a reload makes another one."""

    entries: Mapping[str, NamedRules]

    @classmethod
    def load(cls, paths: Mapping[str, Path], trust: Mapping[str, Path] | None = None) -> RuleBook:
        """The rules of all files, and trust by their names.

        Raises a ``RulesError`` if one cannot be loaded, an ``InputError`` if trust is of others.
        """
        trust = trust or {}
        if unknown := set(trust) - set(paths):
            raise InputError(f"--trust {min(unknown)}: no rules of this name: {', '.join(paths)}")
        return cls(
            {name: NamedRules.load(name, path, trust.get(name)) for name, path in paths.items()}
        )

    def find(self, name: str | None) -> Rules:
        """The rules of a name; without one, the only ones that there are."""
        return self.entry(name).rules

    def entry(self, name: str | None) -> NamedRules:
        """The same with all that is known of them."""
        known = ", ".join(self.entries)
        if name is None:
            if len(self.entries) == 1:
                return next(iter(self.entries.values()))
            raise HttpProblem(422, f"which rules? Add ?rules=NAME; names: {known}")
        if name not in self.entries:
            hint = did_you_mean(name, self.entries)
            raise HttpProblem(404, f"no rules {shown(name)}; {hint}names: {known}")
        return self.entries[name]

    def describe(self) -> list[dict[str, Any]]:
        """All rules as plain values."""
        return [
            {"name": name, "hash": entry.hash, **description_of(entry.rules)}
            for name, entry in self.entries.items()
        ]


def named_paths(given: Iterable[str], option: str = "--rules") -> dict[str, Path]:
    """Files by name, of ``NAME=FILE`` or ``FILE``, whose name is then that of the file."""
    found: dict[str, Path] = {}
    for each in given:
        name, equals, file = each.partition("=")
        path = Path(file if equals else each)
        name = name if equals else path.stem
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
            raise InputError(f"{option} {each}: {name!r} is no name for rules; write NAME=FILE")
        if name in found:
            raise InputError(f"{option} {each}: there are rules of the name {name!r} already")
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


BYTES_PER_CHARACTER = 400
"""About how many bytes compiled rules take for each one of their text."""

_INLINE: Cache[bytes, Rules] = Cache(2**26)


def _of_inline(content: bytes) -> Rules:
    rules = _INLINE.get(content)
    if rules is None:
        rules = _INLINE.keep(content, _parse(content), BYTES_PER_CHARACTER * len(content))
    return rules


def _parse(content: bytes) -> Rules:
    if content.startswith(b'"'):
        try:
            text = msgspec.json.decode(content, type=str).encode()
        except (msgspec.DecodeError, UnicodeError) as error:
            raise RulesError(f"the rules are no text: {error}") from None
        return parsed(text, "yaml")
    return parsed(content, "json")
