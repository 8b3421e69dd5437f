"""Checks: the outcome of one rule on the values of one reading, with its price and its message."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import localcontext
from itertools import islice, product
from math import inf, prod
from operator import attrgetter
from time import perf_counter
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from lawful.base.errors import RuleFailure
from lawful.rules.judging import wording
from lawful.rules.language.arithmetic import EXACT
from lawful.rules.language.comparisons import Comparison
from lawful.rules.language.expression import Expression
from lawful.rules.language.nodes import Environment, plain
from lawful.rules.parsed_rule import LEFT, RIGHT, ParsedRule

State: TypeAlias = Literal["satisfied", "violated", "vacuous"]

Outcome: TypeAlias = Literal["satisfied", "violated", "missing", "idle", "undecided"]
"""The outcome of a rule. ``missing`` (a value is missing), ``idle`` (the rule does not apply) and
``undecided`` (more combinations of values than are tried, or out of time) are vacuous."""

_STATES: Mapping[Outcome, State] = {
    "satisfied": "satisfied",
    "violated": "violated",
    "missing": "vacuous",
    "idle": "vacuous",
    "undecided": "vacuous",
}

MAX_COMBINATIONS = 2**12
"""Combinations of values tried for a rule under ``repeat: any``; beyond, it is undecided."""

_BETWEEN_LOOKS = 32  # combinations between two looks at the clock


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of one rule: satisfied, violated or vacuous.

    ``price`` is the cost of this outcome in nats: the weight of a violated rule, or the
    ``unchecked`` price of a vacuous one. ``implied`` checks are not about a rule, but about a
    condition that a field implies, such as ``presence`` or ``max_words``. A rule that is judged on
    every row has a check per row, and one for all rows on which a value is missing. ``fields`` are
    those that it is about: what to look at, or to ask for again, if it is violated.
    """

    id: str
    state: State
    message: str
    weight: float = inf
    price: float = 0.0
    implied: bool = False
    decided: bool = True  # false: vacuous because of too many combinations, or out of time
    row: int | None = None  # the number of the row, from 1, if the rule is about rows
    unchecked_rows: int = 0  # of a check for all rows on which a value is missing: how many
    fields: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return Check, _PARTS_OF_CHECKS(self)

    def __str__(self) -> str:
        return f"{self.state} {self.id}" + (f": {self.message}" if self.message else "")


_PARTS_OF_CHECKS = attrgetter(*Check.__match_args__)


class RuleCounts(NamedTuple):
    """How many rules were checked and hold; a rule of many rows, or an order, counts once.

    A rule is checked if it could be judged at all: on one row, if it is about rows. It holds if it
    is checked and nothing violates it. A row check is a rule on one row.
    """

    rules: int = 0
    checked: int = 0
    hold: int = 0
    row_checks: int = 0
    rows_checked: int = 0

    @classmethod
    def of(cls, checks: Iterable[Check]) -> RuleCounts:
        """Counts the rules of these checks; those that fields imply are no rules."""
        states: dict[str, set[State]] = {}
        all_rows = rows_checked = 0
        for check in checks:
            if check.implied:
                continue
            states.setdefault(check.id, set()).add(check.state)
            all_rows += (check.row is not None) + check.unchecked_rows
            rows_checked += check.row is not None and check.state != "vacuous"
        checked = [each for each in states.values() if each != {"vacuous"}]
        hold = sum("violated" not in each for each in checked)
        return cls(len(states), len(checked), hold, all_rows, rows_checked)

    @classmethod
    def summed(cls, totals: Counter[str]) -> RuleCounts:
        """The numbers over all documents whose ``totals`` were added up."""
        return cls(*(totals[f"counted {name}"] for name in cls._fields))

    @property
    def totals(self) -> dict[str, int]:
        """What a document adds to totals, by name."""
        return {f"counted {name}": number for name, number in self._asdict().items()}

    @property
    def broken(self) -> int:
        """The number of rules that something violates."""
        return self.checked - self.hold

    @property
    def unchecked(self) -> int:
        """The number of rules that could not be checked at all."""
        return self.rules - self.checked

    def in_words(self, then: str = "") -> str:
        """How many rules were checked, what ``then`` adds, and on how many rows."""
        if not self.rules:
            return "no rules"
        text = f"{self.checked:,} of {self.rules:,} rules checked{then}"
        if self.row_checks:
            text += f", {self.rows_checked:,} of {self.row_checks:,} row checks"
        return text

    def __str__(self) -> str:
        return self.in_words()


def check_of(
    rule: ParsedRule, outcome: Outcome, environment: Environment, row: int | None = None
) -> Check:
    """The check of a rule with this outcome on these values."""
    message = _message(rule, outcome, environment)
    if rule.each is not None and row is not None:
        message = f"{rule.each.name} {row}: {message}"
    return Check(
        rule.id,
        _STATES[outcome],
        message,
        rule.weight,
        price=price_of(rule, outcome),
        decided=outcome != "undecided",
        row=row,
        fields=tuple(sorted(rule.names)),
    )


def check_of_vacuous_rows(rule: ParsedRule, missing: int, rows: int) -> Check:
    """One check for all rows on which a rule could not be checked because a value is missing."""
    message = f"not checked on {missing} of {rows} rows" if missing else "does not apply"
    if not rows:
        message = "not checked: no rows"
    price = missing * rule.unchecked
    return Check(
        rule.id, "vacuous", message, rule.weight, price, unchecked_rows=missing,
        fields=tuple(sorted(rule.names)),
    )  # fmt: skip


def price_of(rule: ParsedRule, outcome: Outcome) -> float:
    """The cost of an outcome; an upper bound if the rule is undecided."""
    if outcome == "violated":
        return rule.weight
    if outcome == "undecided":
        return max(rule.weight, rule.unchecked)
    return rule.unchecked if outcome == "missing" else 0.0


def outcome_of(rule: ParsedRule, environment: Environment, document: str) -> Outcome:
    """The outcome of a rule on one value for each field; errors name the document."""
    applies = None if rule.when is None else _evaluate(rule, rule.when, environment, document)
    if applies is False:
        return "idle"
    if rule.when is not None and applies is None:
        return "missing"
    if rule.expression is not None:
        holds = _evaluate(rule, rule.expression, environment, document)
    elif any(environment[name] is None for name in rule.reads):
        holds = None
    else:
        holds = _call(rule, [environment[name] for name in rule.reads], document)
        if holds is None:
            return "idle"
    return "missing" if holds is None else "satisfied" if holds else "violated"


def outcome_of_any(
    rule: ParsedRule,
    environment: Environment,
    options: Mapping[str, Sequence[Any]],
    document: str,
    until: float,
) -> tuple[Outcome, Environment]:
    """The outcome of a rule if fields have several values each, and the values that show it.

    Under ``repeat: any`` a rule holds if it holds for one combination of values.
    """
    shown: dict[Outcome, Environment] = {}
    for tried, values in enumerate(islice(product(*options.values()), MAX_COMBINATIONS)):
        if tried % _BETWEEN_LOOKS == 0 and tried and perf_counter() > until:
            return "undecided", environment
        chosen = {**environment, **dict(zip(options, values, strict=True))}
        outcome = outcome_of(rule, chosen, document)
        if outcome == "satisfied":
            return outcome, chosen
        shown.setdefault(outcome, chosen)
    if prod(map(len, options.values())) > MAX_COMBINATIONS:
        return "undecided", environment
    worst: Outcome = next(one for one in ("violated", "missing", "idle") if one in shown)
    return worst, shown[worst]


def _evaluate(
    rule: ParsedRule, expression: Expression, environment: Environment, document: str
) -> bool | None:
    """The value of a rule's expression."""
    try:
        return expression.evaluate(environment)
    except RuleFailure as error:
        raise RuleFailure(f"document {document!r}, rule {rule.id!r}: {error}") from None


def _call(rule: ParsedRule, values: list[Any], document: str) -> bool | None:
    """The result of a rule that is a Python function."""
    assert rule.function is not None  # noqa: S101 - rules are expressions or functions
    try:
        result = rule.function(*values)
    except Exception as error:
        raise RuleFailure(
            f"document {document!r}, rule {rule.id!r}: {type(error).__name__}: {error}"
        ) from error
    if result is not None and not isinstance(result, bool | np.bool_):
        raise RuleFailure(
            f"document {document!r}, rule {rule.id!r}: the function returned {result!r}, "
            "expected True, False or None"
        )
    return None if result is None else bool(result)


def _message(rule: ParsedRule, outcome: Outcome, environment: Environment) -> str:
    if outcome == "violated":
        return _complaint(rule, environment)
    if outcome == "satisfied":
        if rule.expression is not None:
            return wording.why_satisfied(rule.expression, environment)
        return _values(rule, environment)
    if outcome == "missing":
        missing = _missing(rule, environment)
        return f"not checked: {', '.join(missing)} missing" if missing else "not checked"
    if outcome == "idle":
        return "does not apply"
    return f"not decided: more than {MAX_COMBINATIONS:,} combinations of values, or out of time"


def _missing(rule: ParsedRule, environment: Environment) -> list[str]:
    """The fields whose missing values are why a rule cannot be checked."""
    if rule.function is not None:
        return sorted(name for name in rule.reads if environment[name] is None)
    parts = (part for part in (rule.when, rule.expression) if part is not None)
    return sorted({name for part in parts for name in part.missing(environment)})


def _complaint(rule: ParsedRule, environment: Environment) -> str:
    for message in rule.messages.values():
        return filled(message, rule, environment)
    if rule.expression is not None:
        return wording.why_violated(rule.expression, environment)
    return f"{rule.id} does not hold: {_values(rule, environment)}"


def filled(message: str, rule: ParsedRule, environment: Environment) -> str:
    """A message with the values of fields, and of the sides of a comparison."""
    values = dict(environment)
    if rule.expression is not None and isinstance(root := rule.expression.root, Comparison):
        with localcontext(EXACT):
            for name, side in ((LEFT, root.left), (RIGHT, root.right)):
                if name not in values:
                    values[name] = side.evaluate(environment)
    return re.sub(r"\{([^{}]*)\}", lambda match: plain(values.get(match.group(1))), message)


def _values(rule: ParsedRule, environment: Environment) -> str:
    return ", ".join(f"{name} is {plain(environment[name])}" for name in rule.reads)
