"""Mined rules as a rule file, with their figures as comments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lawful.learning.mining import IMPLIED, Mined
from lawful.learning.proposals import FieldCondition
from lawful.rules.definitions import Rule
from lawful.rules.rule_set import Rules
from lawful.rules.span_rules import Boundaries, Order
from lawful.rules.writing import flow, rule_data, rules_data, scalar


def mined_text(found: Sequence[Mined], rules: Rules, comments: Sequence[str] = ()) -> str:
    """A rule file with the fields of ``rules`` and the mined rules, which loads as it is."""
    data = rules_data(
        Rules(
            rules.fields,
            scheme=rules.scheme,
            defaults=replace(rules.defaults, weights={}),
            rows=rules.rows,
            given=rules.given,
            classes=rules.classes,
        )
    )
    del data["rules"]
    of_fields: dict[str, list[Mined]] = {}
    for each in found:
        if isinstance(rule := each.proposal.rule, FieldCondition):
            of_fields.setdefault(rule.field, []).append(each)
    weights = {
        f"{name}:{'pattern' if each.proposal.kind == 'pattern' else 'in'}": each.weight
        for name, some in of_fields.items()
        for each in some
    }
    lines = [f"# {line}".rstrip() for line in comments]
    for key, value in data.items():
        if key == "fields":
            lines += _fields(value, of_fields)
        elif key == "rows":
            lines += [f"{key}:", *(f"  {name}: {flow(entry)}" for name, entry in value.items())]
        else:
            lines.append(f"{key}: {flow(value)}")
    if weights:
        lines += ["weights:", *(f"  {scalar(name)}: {w:g}" for name, w in weights.items())]
    for each in found:
        if isinstance(rule := each.proposal.rule, Boundaries):
            lines += _comments(each, "")
            lines.append(f"boundaries: {flow({'after': rule.after, 'weight': each.weight})}")
    lines += _listed("order", [each for each in found if isinstance(each.proposal.rule, Order)])
    lines += _listed("rules", [each for each in found if isinstance(each.proposal.rule, Rule)])
    return "\n".join(lines) + "\n"


def _fields(fields: dict[str, Any], found: dict[str, list[Mined]]) -> list[str]:
    lines = ["fields:"]
    for name, entry in fields.items():
        added = dict(entry)
        for each in found.get(name, ()):
            lines += _comments(each, "  ")
            rule = each.proposal.rule
            if isinstance(rule, FieldCondition):
                added |= {"pattern": rule.pattern} if rule.pattern else {"in": list(rule.texts)}
        lines.append(f"  {name}: {flow(added)}")
    return lines


def _listed(key: str, found: list[Mined]) -> list[str]:
    lines = [f"{key}:"] if found else []
    for each in found:
        rule = each.proposal.rule
        lines += _comments(each, "  ")
        data: dict[str, Any] = {}
        if isinstance(rule, Rule):
            data = rule_data(replace(rule, weight=each.weight))
        elif isinstance(rule, Order):
            data = {"fields": list(rule.fields), "weight": each.weight}
        lines.append(f"  - {flow(data)}")
    return lines


def _comments(each: Mined, indent: str) -> list[str]:
    return [f"{indent}# {line}" for line in figures_of(each)]


def figures_of(each: Mined) -> list[str]:
    """The figures of a mined rule, in words."""
    return [
        f"holds on {each.pages.holds:,} of {each.pages.of:,} {each.unit}, {_percent(each)}; "
        f"held out {each.held_out.holds:,} of {each.held_out.of:,}, {each.held_out.value:.1%}; "
        f"by chance {each.chance.value:.1%}; {how_said(each)}",
    ]


def _percent(each: Mined) -> str:
    low, high = each.pages.interval()
    return f"{each.pages.value:.1%} ({low:.1%} to {high:.1%})"


def how_said(each: Mined) -> str:
    """Whether the known rules already say it."""
    if not each.said or each.said < 1 - IMPLIED:
        return "new"
    if each.said >= IMPLIED:
        return "said already"
    return f"said in part ({each.said:.0%})"
