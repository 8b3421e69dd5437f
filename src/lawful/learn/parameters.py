"""What is learned of rules: their weights, and their prices if they cannot be checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isfinite
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from lawful.rules.definitions import Condition, Field
from lawful.rules.judging.checks import Check
from lawful.rules.rule_set import Rules

Part: TypeAlias = Literal["weight", "unchecked", "order", "condition", "boundaries", "words"]

Vector: TypeAlias = NDArray[np.float64]


class Parameter(NamedTuple):
    """One number of a rule file that is learned, in nats."""

    part: Part
    id: str  # of the rule or the order, or the name of a condition; empty for the others
    default: float

    @property
    def name(self) -> str:
        """What tables call it."""
        if self.part == "unchecked":
            return f"{self.id}, unchecked"
        return self.id or self.part

    @property
    def scale(self) -> float:
        """How far it may usually be from its default, compared with other parameters."""
        return 0.2 if self.part == "unchecked" else 1.0


@dataclass(frozen=True)
class Parameters:
    """The finite weights and prices of a set of rules. Hard rules stay hard, ``kept`` too.

    All boundaries share one weight, and so do all entries of ``words`` if they have the same; words
    of different weights keep them.
    """

    rules: Rules

    @cached_property
    def all(self) -> tuple[Parameter, ...]:
        """The parameters, in the order of the rule file."""
        rules, found = self.rules, list[Parameter]()
        for rule in rules.parsed:
            found.append(Parameter("weight", rule.id, rule.weight))
            found.append(Parameter("unchecked", rule.id, rule.unchecked))
        found += (Parameter("order", o.id or "", o.weight or 0.0) for o in rules.orders)
        for f in rules.fields:
            for condition in get_args(Condition):
                if condition not in ("kept", "pinned", "boundary", "words"):
                    weight = rules.weight_of(f, condition)
                    found.append(Parameter("condition", f"{f.name}:{condition}", weight))
        if (at := rules.boundaries) is not None:
            own = rules.boundary_weight if at.weight is None else at.weight
            found.append(Parameter("boundaries", "", own))
        if (own_weight := self._weight_of_words) is not None:
            found.append(Parameter("words", "", own_weight))
        return tuple(each for each in found if isfinite(each.default))

    @cached_property
    def _weight_of_words(self) -> float | None:
        default = self.rules.defaults.weight
        named = any(name.endswith(":words") for name in self.rules.defaults.weights)
        own = {default if each.weight is None else each.weight for each in self.rules.words}
        return own.pop() if len(own) == 1 and not named else None

    @cached_property
    def _index(self) -> dict[tuple[str, str], int]:
        return {(each.part, each.id): i for i, each in enumerate(self.all)}

    @cached_property
    def defaults(self) -> Vector:
        """The values that the rules have."""
        return np.array([each.default for each in self.all], float)

    @cached_property
    def counting_rules(self) -> Rules:
        """The rules with prices of 1, by which checks tell how often a value was missing."""
        return replace(
            self.rules, rules=tuple(replace(rule, unchecked=1.0) for rule in self.rules.rules)
        )

    def count(self, checks: Sequence[Check]) -> tuple[Vector, float]:
        """How often each parameter is charged by checks of ``counting_rules``; and the rest.

        The rest is what violated conditions cost that are not learned: infinite if hard.
        """
        counts, rest = np.zeros(len(self.all)), 0.0
        orders = {order.id for order in self.rules.orders}
        for check in checks:
            if check.state == "vacuous":
                if (i := self._index.get(("unchecked", check.id))) is not None:
                    counts[i] += check.price if check.decided else 1.0
                continue
            if check.state != "violated":
                continue
            part, id_ = "weight", check.id
            if check.implied:
                condition = check.id.rpartition(":")[2]
                part = {"boundary": "boundaries", "words": "words"}.get(condition, "condition")
                id_ = check.id if part == "condition" else ""
            elif check.id in orders:
                part = "order"
            i = self._index.get((part, id_))
            if i is None:
                rest += check.weight
            else:
                counts[i] += 1
        return counts, rest

    def apply(self, values: Vector) -> Rules:
        """The rules with these weights and prices."""
        by_key = dict(zip(self._index, (float(v) for v in values), strict=True))
        rules = self.rules
        weights = dict(rules.defaults.weights)
        for (part, id_), value in by_key.items():
            if part == "condition" and value != rules.weight_of(*_condition(rules, id_)):
                weights[id_] = value
        boundaries = rules.boundaries
        if boundaries is not None and ("boundaries", "") in by_key:
            boundaries = replace(boundaries, weight=by_key["boundaries", ""])
        words = rules.words
        if ("words", "") in by_key:
            words = tuple(replace(each, weight=by_key["words", ""]) for each in words)
        return replace(
            rules,
            rules=tuple(
                replace(
                    rule,
                    weight=by_key.get(("weight", rule.id or ""), inf),
                    unchecked=by_key["unchecked", rule.id or ""],
                )
                for rule in rules.rules
            ),
            orders=tuple(
                replace(order, weight=by_key.get(("order", order.id or ""), inf))
                for order in rules.orders
            ),
            defaults=replace(rules.defaults, weights=weights),
            boundaries=boundaries,
            words=words,
        )

    def without(self, values: Vector, part: Part, id_: str) -> Vector:
        """The values with those of one rule at zero."""
        left = values.copy()
        parts = ("weight", "unchecked") if part == "weight" else (part,)
        for each in parts:
            if (i := self._index.get((each, id_))) is not None:
                left[i] = 0.0
        return left


def _condition(rules: Rules, name: str) -> tuple[Field, Condition]:
    field_name, _, condition = name.rpartition(":")
    found = next(f for f in rules.fields if f.name == field_name)
    return found, condition  # type: ignore[return-value]
