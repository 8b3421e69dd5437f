"""Answers in plain words, for people who review documents and not for those who write rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import localcontext
from typing import Any

from lawful.decoding import Decoding
from lawful.errors import LawfulError
from lawful.pins import PREFIX
from lawful.report.plain import counted, less_likely
from lawful.review.rows import State
from lawful.rules.arithmetic import EXACT
from lawful.rules.checks import Check
from lawful.rules.nodes import COUNT, plain
from lawful.rules.operators import Comparison
from lawful.rules.rule_set import ParsedRule, Rules

_FALSE = {
    "==": "is not",
    "!=": "is",
    "<=": "is more than",
    ">=": "is less than",
    "<": "is not less than",
    ">": "is not more than",
}
"""What a comparison that does not hold says, by its sign."""

_OPPOSITE = {"==": "≠", "!=": "=", "<=": ">", ">=": "<", "<": "≥", ">": "≤"}

_CONDITIONS = {
    "reads": "{field} must be readable as {type}",
    "max_words": "{field} has at most {max_words} words",
    "pattern": "{field} must look as its pattern says",
    "starts": "{field} must begin as its rule says",
    "ends": "{field} must end as its rule says",
    "in": "{field} must be one of the known values",
    "where": "{field} must stand where its rule says",
    "words": "some words may not be in {field}",
    "boundary": "{field} must begin after certain words only",
    "required": "{field} must be there",
    "agrees": "all places of {field} must show the same value",
    "kept": "{field} must not get lost",
    "pinned": "{field} was pinned",
}
"""The conditions that fields imply, in words."""

_TYPES = {"money": "an amount", "date": "a date", "us_date": "a date", "integer": "a whole number"}

LEGAL = "legal"
"""The reason of a correction that only makes the labels of a field continuous."""


class Wording:
    """Puts checks and corrections under a set of rules into words."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._parsed = {rule.id: rule for rule in rules.parsed}
        self._sources = {
            rule.id: " ".join(rule.check.split()) if isinstance(rule.check, str) else str(rule.id)
            for rule in rules.rules
        }
        self._orders = {order.id: order for order in rules.orders}
        self._fields = {f.name: f for f in rules.fields}

    def rule(self, id_: str) -> str:
        """What a rule, or a condition that a field implies, demands."""
        if id_.startswith(PREFIX):
            return f"a reviewer said: {id_.removeprefix(PREFIX)}"
        if id_ in self._sources:
            parsed = self._parsed[id_]
            text = self._sources[id_]
            if parsed.each is not None:
                text = f"in every {parsed.each.name}: {text}"
            return text if parsed.when is None else f"{text}, if {parsed.when.source}"
        if id_ in self._orders:
            return f"order of fields: {', '.join(self._orders[id_].fields)}"
        name, _, condition = id_.rpartition(":")
        f = self._fields.get(name)
        if f is None or condition not in _CONDITIONS:
            return id_
        kind = _TYPES.get(f.type, f.type)
        return _CONDITIONS[condition].format(field=name, type=kind, max_words=f.max_words)

    def complaint(self, check: Check) -> str:
        """A violated check in a few words, without values: ``total is not subtotal + tax``."""
        parsed = self._parsed.get(check.id)
        if parsed is None or parsed.expression is None or parsed.message is not None:
            return check.message or f"{check.id} does not hold"
        row = f"{parsed.each.name} {check.row}: " if parsed.each is not None and check.row else ""
        return f"{row}{self._complaint(parsed)}"

    def _complaint(self, rule: ParsedRule) -> str:
        root = None if rule.expression is None else rule.expression.root
        if not isinstance(root, Comparison):
            return f"{self._sources[rule.id]} does not hold"
        return f"{root.left.text} {_FALSE[root.sign]} {root.right.text}"

    def fields_of(self, check: Check) -> frozenset[str]:
        """The fields that a check is about."""
        if check.id in self._parsed:
            return self._parsed[check.id].names & self._fields.keys()
        if check.id in self._orders:
            return frozenset(self._orders[check.id].fields)
        name = check.id.rpartition(":")[0]
        return frozenset({name} & self._fields.keys())

    def arithmetic(self, check: Check, decoding: Decoding, given: Mapping[str, Any]) -> str | None:
        """The calculation behind a check with its values, if it is one.

        ``given`` has the values that the document brings.
        """
        parsed = self._parsed.get(check.id)
        if parsed is None or parsed.expression is None or check.state == "vacuous":
            return None
        if check.state == "satisfied":
            message = check.message
            if parsed.each is not None and check.row is not None:
                message = message.removeprefix(f"{parsed.each.name} {check.row}: ")
            return message or None
        root = parsed.expression.root
        if not isinstance(root, Comparison):
            return None
        environment = self._environment(parsed, check.row, decoding, given)
        try:
            with localcontext(EXACT):
                if root.evaluate(environment) is not False:
                    return None  # of several values, the rule saw others
                left, right = root.left.write(environment), root.right.write(environment)
                result = plain(root.right.evaluate(environment))
        except (KeyError, LawfulError, ArithmeticError):
            return None  # it depends on places, or on the row before
        after = right if right == result else f"{right} = {result}"
        return f"{left} {_OPPOSITE[root.sign]} {after}"

    def _environment(
        self, rule: ParsedRule, row: int | None, decoding: Decoding, given: Mapping[str, Any]
    ) -> dict[str, Any]:
        environment: dict[str, Any] = dict(given)
        environment |= {name: found.value for name, found in decoding.classes.items()}
        own = rule.each.fields if rule.each is not None else ()
        for f in self._rules.fields:
            found = decoding.fields.get(f.name, [])
            if f.name in own:
                found = [value for value in found if value.row == row]
            values = [value.value for value in found if value.value is not None]
            single = values[0] if values else f.default
            environment[f.name] = tuple(values) if f.many and f.name not in own else single
            environment[COUNT + f.name] = len(found)
        return environment

    def because(self, reasons: Iterable[str] | None) -> str:
        """Why a correction was made."""
        if reasons is None:
            return "there was no time to find out why"
        found = [
            "the words of a field must stand together" if each == LEGAL else self.rule(each)
            for each in reasons
        ]
        return "; ".join(found)

    def summary(self, decoding: Decoding) -> str:
        """The state of a document in a sentence or two."""
        rules = decoding.rules
        held = sum(check.state == "satisfied" for check in rules)
        complaints = list(dict.fromkeys(map(self.complaint, decoding.violations)))
        vacuous = sum(check.state == "vacuous" for check in rules)
        parts = []
        if held and not complaints and not vacuous:
            parts.append("The rule holds" if held == 1 else f"All {held} rules hold")
        elif held:
            parts.append(f"{counted(held, 'rule')} {'holds' if held == 1 else 'hold'}")
        parts += complaints[:3]
        if len(complaints) > 3:
            parts.append(f"{len(complaints) - 3} more are broken")
        if vacuous:
            what = "none of the rules could" if vacuous == len(rules) else f"{vacuous} could not"
            parts.append(f"{what} be checked")
        if decoding.status == "infeasible":
            parts.append("what the hard rules and the reviewers say cannot hold together")
        text = "; ".join(parts) or "There are no rules to check"
        text = f"{text[0].upper()}{text[1:]}."
        if not decoding.optimal and decoding.status != "infeasible":
            text += " It is not proven that this is the best answer."
        return text

    def reasons(self, decoding: Decoding) -> Iterator[str]:
        """Why a person should look at a document."""
        yield from dict.fromkeys(map(self.complaint, decoding.violations))
        vacuous = sum(check.state == "vacuous" for check in decoding.rules)
        is_none_checked = vacuous == len(decoding.rules)
        yield from _reasons(decoding.status, decoding.optimal, vacuous, is_none_checked)

    def reasons_of(self, state: State) -> Iterator[str]:
        """The same about the answer of a document that somebody has pinned."""
        for id_ in state.violated:
            parsed = self._parsed.get(id_)
            yield f"broken: {self.rule(id_)}" if parsed is None else self._complaint(parsed)
        is_none_checked = state.status == "unchecked"
        yield from _reasons(state.status, state.optimal, state.unchecked, is_none_checked)


def _reasons(
    status: str | None, optimal: bool, vacuous: int, is_none_checked: bool
) -> Iterator[str]:
    if status == "infeasible":
        yield "the hard rules cannot hold together"
    if vacuous and is_none_checked:
        yield "no rule could be checked"
    elif vacuous:
        yield f"{counted(vacuous, 'rule')} could not be checked"
    if not optimal and status != "infeasible":
        yield "not proven to be the best answer"


def odds(nats: float) -> str:
    """A price in words: how much less likely the model found it."""
    return f"the model found this {less_likely(nats)}"
