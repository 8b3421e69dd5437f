"""Rules as the plain values of a rule file: the inverse of reading one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields as dataclass_fields
from decimal import Decimal
from math import inf
from typing import Any

from lawful.base.errors import RulesError
from lawful.rules.definitions import Field, Rule, RuleDefaults
from lawful.rules.lexicons import Lexicon
from lawful.rules.rule_set import Rules

_INFINITE = {"weight": "hard", "ambiguity": "never"}


def rules_data(rules: Rules) -> dict[str, Any]:
    """The rules as ``rules_from`` takes them; what is as by default is left out.

    Lexicons are lists of their texts, since a file may be out of reach for a copy of the rules.
    Raises a ``RulesError`` for a rule that is a Python function, which no file can hold.
    """
    defaults, plain = rules.defaults, RuleDefaults()
    data: dict[str, Any] = {"scheme": rules.scheme}
    data |= _changed(
        {f.name: getattr(defaults, f.name) for f in dataclass_fields(RuleDefaults)},
        {f.name: getattr(plain, f.name) for f in dataclass_fields(RuleDefaults)},
    )
    in_rows = {name for kind in rules.rows for name in kind.fields}
    data["fields"] = {
        f.name: field_data(f, defaults, listed=f.name not in in_rows) for f in rules.fields
    }
    if rules.rows:
        data["rows"] = {
            kind.name: _given(
                fields=list(kind.fields),
                starts=kind.starts,
                required=list(kind.required) or None,
                shared=list(kind.shared) or None,
                of=kind.of,
                ends=kind.ends,
                by=kind.by,
            )
            for kind in rules.rows
        }
    if rules.given:
        data["given"] = dict(rules.given)
    if rules.classes:
        data["classes"] = {name: {"scores": scores} for name, scores in rules.classes.items()}
    if rules.words:
        data["words"] = [
            _given(
                match=each.match,
                **_texts(each.lexicon),
                only=list(each.only),
                weight=_plain("weight", each.weight),
            )
            for each in rules.words
        ]
    if (at := rules.boundaries) is not None:
        data["boundaries"] = _given(after=at.after, weight=_plain("weight", at.weight))
    if rules.orders:
        data["order"] = [
            _given(
                fields=list(order.fields),
                weight=None if order.weight == defaults.weight else _plain("weight", order.weight),
                id=order.id,
            )
            for order in rules.orders
        ]
    if rules.needs:
        data["needs"] = list(rules.needs)
    data["rules"] = [rule_data(rule) for rule in rules.rules]
    return data


def field_data(f: Field, defaults: RuleDefaults, *, listed: bool = True) -> dict[str, Any]:
    """One field; ``listed`` says whether ``many`` is its own, and not that of its rows."""
    own = _given(
        label=f.label,
        type=f.type if f.type != "text" else None,
        many=True if f.many and listed else None,
        default=f.default if isinstance(f.default, Decimal | None) else str(f.default),
        pattern=f.pattern,
        starts=f.starts,
        ends=f.ends,
        where=f.where,
        optional=True if f.optional else None,
        **_texts(f.lexicon),
    )
    settings = ("presence", "repeat", "max_words", "ambiguity", "misreads")
    plain = {name: getattr(defaults, name) for name in settings}
    plain["misreads"] *= f.kind != "text"
    return own | _changed({name: getattr(f, name) for name in settings}, plain)


def rule_data(rule: Rule) -> dict[str, Any]:
    """One rule."""
    if not isinstance(rule.check, str):
        raise RulesError(f"rule {rule.id!r} is a Python function, which no rule file can hold")
    check = " ".join(rule.check.split())
    return _given(
        id=None if rule.id == check else rule.id,
        check=check,
        each=rule.each,
        when=rule.when,
        tolerance=rule.tolerance,
        message=rule.message,
        weight=_plain("weight", rule.weight),
        unchecked=rule.unchecked,
    )


def _texts(lexicon: Lexicon | None) -> dict[str, Any]:
    return {} if lexicon is None else {"in": sorted(lexicon.texts)}


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _changed(values: Mapping[str, Any], plain: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _plain(name, value)
        for name, value in values.items()
        if value is not None and value != plain[name]
    }


def _plain(name: str, value: Any) -> Any:
    """A setting as a file says it."""
    if isinstance(value, Mapping):
        return {key: _plain("weight", each) for key, each in value.items()}
    return _INFINITE[name] if value == inf else value


def flow(data: Any) -> str:
    """Plain values in one line of YAML: ``{check: total == net + tax, weight: 3}``."""
    if isinstance(data, dict):
        inside = ", ".join(f"{scalar(key)}: {flow(value)}" for key, value in data.items())
        return f"{{{inside}}}"
    if isinstance(data, list):
        return f"[{', '.join(map(flow, data))}]"
    return scalar(data)


def scalar(value: Any) -> str:
    """A value as YAML writes it within braces; texts have quotes only if they need them."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, float) and value == float(f"{value:g}"):
        return f"{value:g}"
    if not isinstance(value, str):
        return str(value)
    import yaml

    written: str = yaml.safe_dump(
        [value], default_flow_style=True, width=10**9, allow_unicode=True
    ).strip()
    return written[1:-1]


def rules_text(
    data: Mapping[str, Any],
    comments: Iterable[str] = (),
    notes: Callable[[str, str | int | None], Iterable[str]] = lambda key, entry: (),
) -> str:
    """A rule file: the comments, then each part, with one line per field and per rule.

    ``notes`` gives the comments above an entry, by the key of its part and by its name or its place
    in the list; ``None`` if the part is one line.
    """
    lines = [f"# {line}".rstrip() for line in comments]

    def add(key: str, entry: str | int | None, text: str) -> None:
        indent = "" if entry is None else "  "
        lines.extend(f"{indent}# {note}" for note in notes(key, entry))
        lines.append(f"{indent}{text}")

    for key, value in data.items():
        if isinstance(value, dict) and key in ("fields", "rows", "weights"):
            lines.append(f"{key}:")
            for name, entry in value.items():
                add(key, name, f"{scalar(name)}: {flow(entry)}")
        elif isinstance(value, list) and value:
            lines.append(f"{key}:")
            for place, entry in enumerate(value):
                add(key, place, f"- {flow(entry)}")
        else:
            add(key, None, f"{key}: {flow(value)}")
    return "\n".join(lines) + "\n"
