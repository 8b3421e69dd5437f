"""Mined rules as a rule file, with their figures as comments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from lawful.learn.mining import IMPLIED, Mined
from lawful.learn.proposals import FieldCondition
from lawful.rules.definitions import Rule
from lawful.rules.rule_set import Rules
from lawful.rules.span_rules import Boundaries, Order
from lawful.rules.to_file import rule_data, rules_data, rules_text


def mined_text(found: Sequence[Mined], rules: Rules, comments: Sequence[str] = ()) -> str:
    """A rule file with the fields of ``rules`` and the mined rules, which loads as it is."""
    defaults = replace(rules.defaults, weights={})
    data = rules_data(
        replace(rules, rules=(), words=(), boundaries=None, orders=(), defaults=defaults)
    )
    del data["rules"]
    parts: dict[str, list[Any]] = {"order": [], "rules": []}
    weights: dict[str, float] = {}
    notes: dict[tuple[str, str | int | None], list[str]] = {}
    for each in found:
        rule = each.proposal.rule
        where: tuple[str, str | int | None]
        if isinstance(rule, FieldCondition):
            where = "fields", rule.field
            condition = "in" if rule.pattern is None else "pattern"
            data["fields"][rule.field][condition] = rule.pattern or list(rule.texts)
            weights[f"{rule.field}:{condition}"] = each.weight
        elif isinstance(rule, Boundaries):
            where = "boundaries", None
            data["boundaries"] = {"after": rule.after, "weight": each.weight}
        else:
            key = "rules" if isinstance(rule, Rule) else "order"
            where = key, len(parts[key])
            parts[key].append(_entry(rule, each.weight))
        notes.setdefault(where, []).append(figures_of(each))
    data |= {"weights": weights} if weights else {}
    data |= {key: entries for key, entries in parts.items() if entries}

    def notes_of(key: str, entry: str | int | None) -> Iterable[str]:
        return notes.get((key, entry), ())

    return rules_text(data, comments, notes_of)


def _entry(rule: Rule | Order, weight: float) -> dict[str, Any]:
    if isinstance(rule, Rule):
        return rule_data(replace(rule, weight=weight))
    return {"fields": list(rule.fields), "weight": weight}


def figures_of(each: Mined) -> str:
    """The figures of a mined rule, in words."""
    low, high = each.pages.interval()
    return (
        f"holds on {each.pages.holds:,} of {each.pages.of:,} {each.unit}, {each.pages.value:.1%} "
        f"({low:.1%} to {high:.1%}); held out {each.held_out.holds:,} of {each.held_out.of:,}, "
        f"{each.held_out.value:.1%}; by chance {each.chance.value:.1%}; {how_said(each)}"
    )


def how_said(each: Mined) -> str:
    """Whether the known rules already say it."""
    if not each.said or each.said < 1 - IMPLIED:
        return "new"
    if each.said >= IMPLIED:
        return "said already"
    return f"said in part ({each.said:.0%})"
