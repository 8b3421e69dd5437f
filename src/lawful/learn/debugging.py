"""Debugging rules: where true labels break them and why, and rules that are of no use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from lawful.documents.records import Labelled
from lawful.evaluation.scoreboard import scheme_of, verdict_on
from lawful.learn.diagnosis import CAUSES, Cause, Page, Reason, why_broken
from lawful.learn.samples import Units
from lawful.learn.truth import TruePage, TruePages
from lawful.rules.judging.checks import Check, outcome_of
from lawful.rules.judging.judge import Judge
from lawful.rules.parsed_rule import ParsedRule
from lawful.rules.rule_set import Rules

MIN_ALIKE = 3
"""Pages that must be off by the same share for this to be a cause."""

CLOSE = 0.001
"""Difference of shares that are the same."""

MIN_OF_REST = 0.1
"""Share of the pages without a known cause that must be off by the same share."""

MIN_TOGETHER = 5
"""Pages on which both of two rules are checked, for a statement that they contradict."""

MIN_EXCHANGES = 20
"""Wrong values that a rule must find out for a statement that others imply it."""

ALL_CAUGHT = 0.98


@dataclass(frozen=True, slots=True)
class Broken:
    """A page whose truth breaks a rule; ``page`` is its place in the data set."""

    id: str
    page: int
    message: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class Group:
    """Pages that break a rule for the same cause, and what to do about it."""

    cause: Cause
    detail: str
    advice: str
    pages: tuple[Broken, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """What true labels say about one rule.

    ``never`` is the reason why a rule could be checked nowhere. ``implied_by`` are rules that find
    out all wrong values that it finds out; ``against`` are rules that never hold together with it.
    """

    id: str
    text: str
    satisfied: int
    violated: int
    vacuous: int
    groups: tuple[Group, ...] = ()
    never: str = ""
    implied_by: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    implied: bool = False  # by a field: it is no rule of its own

    @property
    def is_wrong(self) -> bool:
        """Whether it holds nowhere, on at least ``MIN_TOGETHER`` pages."""
        return not self.satisfied and self.violated >= MIN_TOGETHER and not self.implied

    @property
    def is_fine(self) -> bool:
        """Whether there is nothing to say about it."""
        return not (self.groups or self.never or self.implied_by or self.against)

    def record(self) -> dict[str, Any]:
        """The finding as plain values."""
        return {
            "id": self.id,
            "rule": self.text,
            "satisfied": self.satisfied,
            "violated": self.violated,
            "vacuous": self.vacuous,
            "implied": self.implied,
            "wrong": self.is_wrong,
            "never": self.never or None,
            "implied_by": list(self.implied_by),
            "against": list(self.against),
            "groups": [
                {
                    "cause": group.cause,
                    "detail": group.detail,
                    "meaning": CAUSES[group.cause],
                    "advice": group.advice,
                    "pages": [
                        {"id": each.id, "message": each.message, "detail": each.reason.detail}
                        for each in group.pages
                    ],
                }
                for group in self.groups
            ],
        }


@dataclass(slots=True)
class _Record:
    """What is known of one rule so far."""

    text: str
    states: Counter[str] = field(default_factory=Counter)  # pages
    broken: list[Broken] = field(default_factory=list)
    missing: Counter[str] = field(default_factory=Counter)
    holds: set[int] = field(default_factory=set)  # pages
    checked: set[int] = field(default_factory=set)


def debug(documents: Sequence[Labelled], rules: Rules, seed: int = 0) -> list[Finding]:
    """The findings about each rule and condition, in the order of the file."""
    records = {rule.id: _Record(_text_of(rule)) for rule in rules.parsed}
    records |= {
        order.id or "": _Record(f"order {', '.join(order.fields)}") for order in rules.orders
    }
    scheme = scheme_of(documents, rules)
    by_id = {rule.id: rule for rule in rules.parsed}
    pages = []
    for number, labelled in enumerate(documents):
        judge = Judge(labelled.document, rules, scheme)
        verdict = verdict_on(judge, scheme.indices(labelled.gold))
        seen = judge.see(verdict.reading)
        pages.append(TruePage(labelled.document, verdict.reading, seen, held_out=False))
        page = Page(labelled.document, judge, verdict.reading)
        by_rule: dict[str, list[Check]] = {}
        for check in verdict.checks:
            by_rule.setdefault(check.id, []).append(check)
        for id_, checks in by_rule.items():
            record = records.setdefault(id_, _Record("a condition that the field implies"))
            _note(record, number, checks)
            violated = [check for check in checks if check.state == "violated"]
            reasons = _reasons(by_id.get(id_), violated, page, pages[-1])
            record.broken += (
                Broken(labelled.document.id, number, check.message, reason)
                for check, reason in zip(violated, reasons, strict=True)
            )
    implied = _implied(TruePages(rules, scheme, pages), seed)
    known = {*by_id, *(order.id for order in rules.orders)}
    against = _against(records)
    return [
        Finding(
            id_,
            record.text,
            record.states["satisfied"],
            record.states["violated"],
            record.states["vacuous"],
            tuple(_groups(record.broken)),
            _never(record),
            implied.get(id_, ()),
            against.get(id_, ()),
            implied=id_ not in known,
        )
        for id_, record in records.items()
    ]


def _text_of(rule: ParsedRule) -> str:
    text = f"the function {rule.id}" if rule.expression is None else rule.expression.source
    text += f" when {rule.when.source}" if rule.when is not None else ""
    return text + (f", each {rule.each.name}" if rule.each is not None else "")


def _note(record: _Record, number: int, checks: list[Check]) -> None:
    """Counts one page: violated if the rule is anywhere on it."""
    states = {check.state for check in checks}
    state = next(each for each in ("violated", "satisfied", "vacuous") if each in states)
    record.states[state] += 1
    if state == "vacuous":
        record.missing[checks[0].message] += 1
        return
    record.checked.add(number)
    if state == "satisfied":
        record.holds.add(number)


def _reasons(
    rule: ParsedRule | None, violated: list[Check], page: Page, true: TruePage
) -> list[Reason]:
    """The reason of each violated check of a rule, or of a condition."""
    if rule is None:
        return [
            Reason("unreadable" if check.id.endswith(":reads") else "condition")
            for check in violated
        ]
    if rule.each is None:
        return [why_broken(rule, true.seen.page, page) for _ in violated]
    rows = [
        row
        for row in true.seen.rows[rule.each.name]
        if outcome_of(rule, row, page.document.id) == "violated"
    ]
    if len(rows) != len(violated):  # fields of the page with several values (repeat: any)
        return [Reason("unknown") for _ in violated]
    return [why_broken(rule, row, page) for row in rows]


def _groups(broken: list[Broken]) -> Iterable[Group]:
    """The pages by cause, the largest group first."""
    broken = _with_shares(broken)
    by_cause: dict[tuple[Cause, str], list[Broken]] = {}
    for each in broken:
        reason = each.reason
        same = reason.cause in ("one unit", "missing field", "sign", "share", "power of ten")
        by_cause.setdefault((reason.cause, reason.detail if same else ""), []).append(each)
    for (cause, detail), pages in sorted(by_cause.items(), key=lambda g: (-len(g[1]), g[0])):
        yield Group(cause, detail, _advice(cause, detail, pages), tuple(pages))


def _with_shares(broken: list[Broken]) -> list[Broken]:
    """The same, where pages without a known cause that are off by one share have that cause."""
    shares = {
        i: each.reason.off / each.reason.base
        for i, each in enumerate(broken)
        if each.reason.cause == "unknown" and each.reason.off is not None and each.reason.base
    }
    shares = {i: share for i, share in shares.items() if abs(share) > CLOSE}
    found, unknown = list(broken), len(shares)
    while shares:
        count, share = max(  # the share that most pages have
            (sum(abs(other - share) <= CLOSE for other in shares.values()), share)
            for share in shares.values()
        )
        if count < max(MIN_ALIKE, MIN_OF_REST * unknown):
            break
        for i in [i for i, other in shares.items() if abs(other - share) <= CLOSE]:
            reason = broken[i].reason._replace(cause="share", detail=f"{float(share):+.1%}")
            found[i] = replace(broken[i], reason=reason)
            del shares[i]
    return found


_ADVICE: dict[Cause, str] = {
    "one unit": "tolerance: {detail} would let the rule hold",
    "another value": "ambiguity: 3 would let the rule choose the other value",
    "power of ten": "look at the separators",
    "sign": "abs({detail}) or -{detail}: it has the opposite sign",
    "missing field": "'{detail}' on the right side would let the rule hold",
    "list": "look at the true labels",
    "unlabelled": "look at the true labels, or add a field",
    "another number": "look at the true labels",
    "share": "the left side differs by {detail} of the right side",
    "unreadable": "correct the labels, or the type of the field,",
}


def _advice(cause: Cause, detail: str, pages: list[Broken]) -> str:
    count = len({each.page for each in pages})
    text = _ADVICE.get(cause, "").format(detail=detail)
    return f"{text} on {count} page{'s' * (count != 1)}" if text else ""


def _never(record: _Record) -> str:
    if record.checked or not record.missing:
        return ""
    message, _ = record.missing.most_common(1)[0]
    return message


def _against(records: dict[str, _Record]) -> dict[str, tuple[str, ...]]:
    """Rules that are often checked on the same page, and never hold together there."""
    found: dict[str, list[str]] = {}
    rules = [(id_, record) for id_, record in records.items() if record.holds]
    for (one, first), (other, second) in combinations(rules, 2):
        both = first.checked & second.checked
        if len(both) >= MIN_TOGETHER and not both & first.holds & second.holds:
            found.setdefault(one, []).append(other)
            found.setdefault(other, []).append(one)
    return {id_: tuple(others) for id_, others in found.items()}


def _implied(truth: TruePages, seed: int) -> dict[str, tuple[str, ...]]:
    """By rule, others that find out all wrong values that it finds out, as few as needed."""
    kinds: list[str | None] = [None, *(kind.name for kind in truth.rules.rows)]
    found: dict[str, tuple[str, ...]] = {}
    for kind in kinds:
        units = Units.of_pages(truth) if kind is None else Units.of_rows(truth, kind)
        rules = units.known
        caught = units.caught(rules, seed)
        for k, rule in enumerate(rules):
            own = caught[k]
            needed = ALL_CAUGHT * own.sum()
            if own.sum() < MIN_EXCHANGES:
                continue
            others = caught[:, own].copy()
            others[k] = False
            if others.any(axis=0).sum() < needed:
                continue
            chosen: list[int] = []
            while others[chosen].any(axis=0).sum() < needed:
                left = others & ~others[chosen].any(axis=0)
                chosen.append(int(np.argmax(left.sum(axis=1))))
            found[rule.id] = tuple(rules[i].id for i in chosen)
    return found
