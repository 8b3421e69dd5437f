"""Why true labels break a rule: what would have to be different for it to hold.

Each cause is tried with the rule itself, on the page's own values, from the most harmless to the
vaguest; the first that makes the rule hold is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, Literal, NamedTuple, TypeAlias

from lawful.documents.document import Document
from lawful.rules.judging.checks import outcome_of
from lawful.rules.judging.judge import Judge
from lawful.rules.judging.reading import Reading
from lawful.rules.language.arithmetic import EXACT
from lawful.rules.language.comparisons import Comparison
from lawful.rules.language.nodes import COUNT, Environment
from lawful.rules.parsed_rule import ParsedRule
from lawful.values import read

Cause: TypeAlias = Literal[
    "one unit", "another value", "power of ten", "sign", "missing field", "list", "unlabelled",
    "another number", "share", "unreadable", "condition", "unknown",
]  # fmt: skip

CAUSES: dict[Cause, str] = {
    "one unit": "off by at most one unit: the page rounds",
    "another value": "a text has another possible value, with which the rule holds",
    "power of ten": "off by a power of ten: a separator was read wrongly, or misprinted",
    "sign": "a value with the opposite sign",
    "missing field": "off by the value of a field that the rule does not read",
    "list": "a list has a value too many: the true labels may be wrong",
    "unlabelled": "off by a number that has no label: a label, or a field of the rule, is missing",
    "another number": "another number of the page fits: the true labels may be wrong",
    "share": "off by a constant share: something is left out on these pages, such as a tip",
    "unreadable": "a text that its type cannot read",
    "condition": "a condition of the field itself",
    "unknown": "none of the known causes",
}
"""What causes mean, in the order in which they are tried."""

MAX_NUMBERS = 300
"""Numbers of a page that are tried in the place of a value."""


class Reason(NamedTuple):
    """A cause, and what it is on this page."""

    cause: Cause
    detail: str = ""  # such as the field that is missing; pages with the same are one group
    off: Fraction | None = None  # the left side of the equation minus the right one
    base: Fraction | None = None  # the right side


class Page(NamedTuple):
    """A page whose truth breaks a rule."""

    document: Document
    judge: Judge
    reading: Reading


def why_broken(rule: ParsedRule, seen: Environment, page: Page) -> Reason:
    """The first cause that makes a violated rule hold on these values."""
    if rule.expression is None:
        return Reason("unknown")
    off, base = _sides(rule, seen)
    if off is not None and abs(off) <= (unit := _unit(rule, seen)):
        return Reason("one unit", f"{unit}", off, base)
    if off is None or base is None:
        return Reason("unknown")
    for cause, detail, changed in _changes(rule, seen, page):
        if outcome_of(rule, changed, page.document.id) == "satisfied":
            return Reason(cause, detail, off, base)
    return _by_difference(rule, off, base, seen, page)


def _by_difference(
    rule: ParsedRule, off: Fraction, base: Fraction, seen: Environment, page: Page
) -> Reason:
    """Causes that explain the difference of the sides of an equation."""
    close = Fraction(rule.tolerance)
    for f in page.judge.rules.fields:
        value = seen.get(f.name)
        if f.name not in rule.names and f.kind == "number" and value is not None:
            sum_ = sum(value) if isinstance(value, tuple) else value
            if sum_ and abs(abs(off) - abs(Fraction(sum_))) <= close:
                sign = "+" if off * Fraction(sum_) > 0 else "-"
                return Reason("missing field", f"{sign} {f.name}", off, base)
    for word, value in _numbers(page, labelled=False):
        if value and abs(abs(off) - abs(Fraction(value))) <= close:
            return Reason("unlabelled", f"word {word}: {page.document.words[word]}", off, base)
    left = base + off
    if left and base:
        for power in (10, 100, 1000):
            if abs(left) == abs(base) * power or abs(base) == abs(left) * power:
                return Reason("power of ten", f"{power:,}", off, base)
    for name, word, value in _other_numbers(rule, page):
        if outcome_of(rule, {**seen, name: value}, page.document.id) == "satisfied":
            text = page.document.words[word]
            return Reason("another number", f"{name}, word {word}: {text}", off, base)
    return Reason("unknown", "", off, base)


def _changes(
    rule: ParsedRule, seen: Environment, page: Page
) -> Iterator[tuple[Cause, str, Environment]]:
    """Other values of the fields that a rule reads."""
    fields = page.judge.rules.fields
    for i, f in enumerate(fields):
        if f.name not in rule.names or (value := seen.get(f.name)) is None:
            continue
        for number, span in enumerate(page.reading[i]):
            others = [
                other
                for other in page.judge.values(i, span.start, span.end)
                if other != (value[number] if isinstance(value, tuple) else value)
            ]
            text = page.document.text(span.start, span.end)
            for other in others if isinstance(value, tuple) or number == 0 else ():
                yield "another value", f"{f.name}: {text}", _with(seen, f.name, number, other)
    for i, f in enumerate(fields):
        if f.name not in rule.names or f.kind != "number" or (value := seen.get(f.name)) is None:
            continue
        if isinstance(value, tuple):
            for number, span in enumerate(page.reading[i][: len(value)]):
                rest = value[:number] + value[number + 1 :]
                text = page.document.text(span.start, span.end)
                if rest:
                    changed = {**seen, f.name: rest, COUNT + f.name: len(rest)}
                    yield "list", f"{f.name}, word {span.start}: {text}", changed
        elif value:
            yield "sign", f.name, {**seen, f.name: -value}


def _with(seen: Environment, name: str, number: int, value: Any) -> Environment:
    old = seen[name]
    if isinstance(old, tuple):
        value = (*old[:number], value, *old[number + 1 :])
    return {**seen, name: value}


def _other_numbers(rule: ParsedRule, page: Page) -> Iterator[tuple[str, int, Any]]:
    """Numbers of the page in the place of each value that a rule reads."""
    fields = page.judge.rules.fields
    for i, f in enumerate(fields):
        if f.name in rule.names and f.kind == "number" and not f.many:
            own = {word for span in page.reading[i] for word in range(span.start, span.end)}
            for word, value in _numbers(page, labelled=True):
                if value and word not in own:
                    yield f.name, word, value


def _numbers(page: Page, *, labelled: bool) -> Iterable[tuple[int, Decimal]]:
    """Words of the page that are numbers."""
    taken = {w for spans in page.reading for s in spans for w in range(s.start, s.end)}
    found = []
    for word, text in enumerate(page.document.words):
        if (labelled or word not in taken) and (values := read(text, "money")):
            found.append((word, values[0]))
    return found[:MAX_NUMBERS]  # type: ignore[return-value]


def _sides(rule: ParsedRule, seen: Environment) -> tuple[Fraction | None, Fraction | None]:
    """The difference of the sides of an equation, and the right side."""
    root = rule.expression.root if rule.expression is not None else None
    if not isinstance(root, Comparison) or root.sign != "==" or root.left.kind != "number":
        return None, None
    with localcontext(EXACT):
        left, right = root.left.evaluate(seen), root.right.evaluate(seen)
    if left is None or right is None:
        return None, None
    return Fraction(left) - Fraction(right), Fraction(right)


def _unit(rule: ParsedRule, seen: Environment) -> Decimal:
    """One unit of the last printed decimal of the numbers that a rule reads."""
    decimals = 0
    for name in rule.names:
        value = seen.get(name)
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, Decimal):
                exponent = each.as_tuple().exponent
                decimals = max(decimals, -exponent if isinstance(exponent, int) else 0)
    return Decimal(1).scaleb(-min(decimals, 4))
