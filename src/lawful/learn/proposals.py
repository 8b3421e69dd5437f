"""Proposals: rules that may hold in true labels, each with the fields that it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

from lawful.rules.definitions import Rule
from lawful.rules.span_rules import Boundaries, Order

Kind: TypeAlias = Literal[
    "equation", "share", "inequality", "dates", "count", "product", "set", "order", "boundaries",
    "pattern", "texts", "line",
]  # fmt: skip
"""The kinds of rules that are mined."""

MIN_SUPPORT = 10
"""Pages of those that rules are mined on, on which a rule must be checked."""


@dataclass(frozen=True, slots=True)
class FieldCondition:
    """A condition that all spans of a field meet: a pattern, or a list of texts."""

    field: str
    pattern: str | None = None
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """A rule that may hold; ``terms`` is its length, by which shorter rules are preferred.

    Of an equation, that is the number of its terms, where an optional one is a half.
    """

    kind: Kind
    rule: Rule | Order | Boundaries | FieldCondition
    terms: float
    factors: Mapping[str, Fraction] = field(default_factory=dict)  # of the terms of an equation
    refined: frozenset[str] = frozenset()  # terms of the equation that few pages have
    compared: frozenset[str] = frozenset()  # the two numbers of an inequality

    @property
    def core(self) -> dict[str, Fraction]:
        """The factors of the terms that most pages have; the target's is 1."""
        core = {name: factor for name, factor in self.factors.items() if name not in self.refined}
        first = core[max(core)] if core else Fraction(1)
        return {name: factor / first for name, factor in core.items()}

    def has_core_of(self, other: Proposal) -> bool:
        """Whether the core of another equation is among the terms of this one."""
        core = other.core
        shared = [name for name in core if name in self.factors]
        if len(shared) < len(core) or not core:
            return False
        scale = self.factors[shared[0]] / core[shared[0]]
        return all(self.factors[name] == scale * core[name] for name in shared)

    @property
    def text(self) -> str:
        """The rule in one line."""
        rule = self.rule
        if isinstance(rule, Rule):
            each = f" (each {rule.each})" if rule.each else ""
            within = f" (tolerance {rule.tolerance})" if rule.tolerance is not None else ""
            return f"{rule.check}{each}{within}"
        if isinstance(rule, Order):
            return f"order: {', '.join(rule.fields)}"
        if isinstance(rule, Boundaries):
            return f"boundaries after {rule.after}"
        if rule.pattern is not None:
            return f"{rule.field} matches {rule.pattern}"
        return f"{rule.field} in ({', '.join(rule.texts)})"
