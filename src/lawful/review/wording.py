"""Answers in plain words, for people who review documents and not for those who write rules."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import localcontext
from typing import Any

from lawful.base.errors import LawfulError
from lawful.documents.pins import PREFIX
from lawful.report.plain import counted, less_likely
from lawful.results.decoding import Decoding
from lawful.review.phrases import LANGUAGES, said
from lawful.review.rows import State
from lawful.rules.definitions import ENGLISH
from lawful.rules.judging.checks import Check, filled
from lawful.rules.language.arithmetic import EXACT
from lawful.rules.language.comparisons import Comparison
from lawful.rules.language.nodes import COUNT, plain
from lawful.rules.parsed_rule import ParsedRule
from lawful.rules.rule_set import Rules

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

LONGEST = 90
"""Characters of a message that is said as it is; of a longer one, the two sides of the rule."""

LEGAL = "legal"
"""The reason of a correction that only makes the labels of a field continuous."""


class Wording:
    """Puts checks and corrections under a set of rules into words.

    Messages of rules are in the language if rules have them in it. What the page says itself is in
    its languages; in which terms a rule is written, and what else follows from it, is in English.
    """

    def __init__(self, rules: Rules, language: str = ENGLISH) -> None:
        self._rules = rules
        self._language = language
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

    def complaint(self, check: Check, decoding: Decoding, given: Mapping[str, Any]) -> str:
        """A violated check in a few words, with its values: ``total is 45.00, expected 44.00``.

        ``given`` has the values that the document brings.
        """
        parsed = self._parsed.get(check.id)
        said = check.message or f"{check.id} does not hold"
        if parsed is None or parsed.expression is None:
            return said
        message = parsed.messages.get(self._language)
        if message is None and len(said) <= LONGEST:
            return said
        if message is None and parsed.messages:
            return said
        row = f"{parsed.each.name} {check.row}: " if parsed.each is not None and check.row else ""
        root = parsed.expression.root
        if message is None and isinstance(root, Comparison):
            message = f"{visible_start(root.left.text)} is {{left}}, expected {root.sign} {{right}}"
            message = message.replace("expected == ", "expected ")
        environment = self._environment(parsed, check.row, decoding, given)
        try:
            with localcontext(EXACT):
                if message is None or root.evaluate(environment) is not False:
                    return said  # of several values, the rule saw others
            return row + filled(message, parsed, environment)
        except (KeyError, LawfulError, ArithmeticError):
            return said  # it depends on places, or on the row before

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

    def summary(self, decoding: Decoding, given: Mapping[str, Any]) -> str:
        """The state of a document in a sentence or two."""
        counts = decoding.counts
        held, unmade = counts.hold, counts.row_checks - counts.rows_checked
        complaints = self.complaints(decoding, given)
        parts = complaints[:3]
        if len(complaints) > 3:
            parts.append(f"{len(complaints) - 3} more are broken")
        if held and not complaints and not counts.unchecked:
            parts.append("The rule holds" if held == 1 else f"All {held} rules hold")
        elif held:
            parts.append(f"{counted(held, 'rule')} {'holds' if held == 1 else 'hold'}")
        if unchecked := counts.unchecked:
            what = "none of the rules could" if not counts.checked else f"{unchecked} could not"
            parts.append(f"{what} be checked")
        if unmade and counts.rows_checked:
            what = f"{unmade} of {counts.row_checks}"
            parts.append(f"{what} row checks could not be made")
        if decoding.status == "infeasible":
            parts.append("what the hard rules and the reviewers say cannot hold together")
        text = "; ".join(map(self.said, parts or ["There are no rules to check"]))
        text = f"{text[0].upper()}{text[1:]}."
        if not decoding.optimal and decoding.status != "infeasible":
            text += f" {self.said('It is not proven that this is the best answer')}."
        return text

    def said(self, text: str) -> str:
        """A phrase of this module in the language."""
        return said(text, self._language)

    def complaints(self, decoding: Decoding, given: Mapping[str, Any]) -> list[str]:
        """What the violated checks say, each thing once."""
        found = (self.complaint(check, decoding, given) for check in decoding.violations)
        return list(dict.fromkeys(found))

    def reasons(self, decoding: Decoding, given: Mapping[str, Any]) -> Iterator[str]:
        """Why a person should look at a document: only what is about needed fields, if some are."""
        needs = set(self._rules.needs)
        broken = (
            self.complaint(check, decoding, given)
            for check in decoding.violations
            if not needs or needs & self.fields_of(check)
        )
        yield from dict.fromkeys(broken)
        is_none_checked = not decoding.checked
        unchecked = unchecked_rules(decoding) if is_none_checked or not needs else 0
        found = _reasons(decoding.status, decoding.optimal, unchecked, is_none_checked)
        yield from map(self.said, found)

    def reasons_of(self, state: State) -> Iterator[str]:
        """The same about the answer of a document that somebody has pinned."""
        for id_ in state.violated:
            parsed = self._parsed.get(id_)
            yield f"broken: {self.rule(id_)}" if parsed is None else self._complaint(parsed)
        is_none_checked = state.status == "unchecked"
        yield from _reasons(state.status, state.optimal, state.unchecked, is_none_checked)


def unchecked_rules(decoding: Decoding) -> int:
    """The number of rules that could not be checked, be it only on some rows."""
    return len({check.id for check in decoding.rule_checks if check.state == "vacuous"})


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


def languages_of(rules: Rules) -> tuple[str, ...]:
    """The languages of the page, and others that messages of rules have."""
    found = (language for rule in rules.parsed for language in rule.messages)
    return tuple(dict.fromkeys((ENGLISH, *LANGUAGES, *found)))


def language_of(accepted: str, known: Collection[str]) -> str:
    """The best of the known languages for the header ``Accept-Language``; English by default."""
    wanted = []
    for part in accepted.split(","):
        tag, _, weight = part.partition(";q=")
        try:
            wanted.append((-float(weight or 1), tag.strip().partition("-")[0].lower()))
        except ValueError:
            continue
    wanted.sort(key=lambda pair: pair[0])
    return next((tag for _, tag in wanted if tag in known), ENGLISH)


def visible_start(text: str) -> str:
    """The beginning of an expression that is too long to be said."""
    return text if len(text) <= LONGEST // 2 else f"{text[: LONGEST // 2]}…"


def odds(nats: float) -> str:
    """A price in words: how much less likely the model found it."""
    return f"the model found this {less_likely(nats)}"
