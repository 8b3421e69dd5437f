"""Values that follow from known ones, through the rules that tie fields together.

If ``gross == sum(line_amount)`` and only the gross amount is known, a run of amounts in one column
that adds up to it may be the lines. If ``net == gross - commission``, two printed amounts that
complete it may be net and commission. All such runs and pairs are found; where there are several,
nothing follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate
from typing import Any

import numpy as np

from lawful.candidates.grounding.matches import Occurrences, Span, plain_value
from lawful.documents.document import Document
from lawful.documents.reading_order import upright_boxes
from lawful.rules.language.comparisons import Comparison
from lawful.rules.language.functions import Sum
from lawful.rules.language.nodes import COUNT, Node
from lawful.rules.language.operands import FieldName
from lawful.rules.parsed_rule import ParsedRule
from lawful.rules.rule_set import Rules
from lawful.values import read

Run = tuple[Span, ...]
Solution = tuple[Decimal, ...]

SHORTEST = 2
"""Amounts of a run, at least."""

MAX_RUNS = 200


@dataclass(frozen=True, slots=True)
class Tied:
    """Fields without known values, by what the rules say about them.

    ``values`` has those that only one value fits; ``several`` the values of others, of which one
    may be right; ``runs`` the runs of amounts that a list may be.
    """

    values: Mapping[str, Decimal]
    several: Mapping[str, frozenset[Decimal]]
    runs: Mapping[str, tuple[Run, ...]]


def find_tied(
    occurrences: Occurrences, rules: Rules, known: Mapping[str, Any], listed: set[str]
) -> Tied:
    """What follows from the ``known`` values of single fields; ``listed`` fields have their own."""
    values: dict[str, Decimal] = {}
    several: dict[str, frozenset[Decimal]] = {}
    runs: dict[str, tuple[Run, ...]] = {}
    equations = [rule for rule in rules.parsed if _is_equation(rule, rules)]
    for rule in equations:
        found = _list_of(rule, rules, known, listed)
        if found is not None:
            name, target = found
            column_runs = runs_of(occurrences, target, rule.tolerance, _type(rules, name))
            runs[name] = tuple(dict.fromkeys((*runs.get(name, ()), *column_runs)))
    for names in _unknown_sets(equations, rules, known, listed):
        solutions = _best(equations, occurrences, rules, known, names)
        for i, name in enumerate(names):
            fitting = frozenset(solution[i] for solution in solutions)
            if name not in values and len(solutions) == 1:
                values[name] = solutions[0][i]
            elif name not in values and fitting:
                several[name] = fitting
    several = {name: fitting for name, fitting in several.items() if name not in values}
    others = {*known.values(), *values.values(), *(v for each in several.values() for v in each)}
    return Tied(values, several, _without(runs, occurrences, rules, set(map(abs, others))))


def _without(
    runs: Mapping[str, tuple[Run, ...]], occurrences: Occurrences, rules: Rules, others: set[Any]
) -> dict[str, tuple[Run, ...]]:
    """The runs that do not consist of other fields' values: net and commission add up, too."""
    words = occurrences.document.words
    kept = {}
    for name, some in runs.items():
        amounts = {
            span: abs(plain_value(read(words[span[0]], _type(rules, name))[0]))
            for run in some
            for span in run
        }
        kept[name] = tuple(run for run in some if not {amounts[span] for span in run} <= others)
    return {name: some for name, some in kept.items() if some}


def _equation(rule: ParsedRule) -> Comparison | None:
    """The two sides of a rule that says that they are equal."""
    root = None if rule.expression is None else rule.expression.root
    return root if isinstance(root, Comparison) and root.sign == "==" else None


def _is_equation(rule: ParsedRule, rules: Rules) -> bool:
    """Whether a rule is an equation between numbers that holds on every page."""
    root = _equation(rule)
    return (
        root is not None
        and rule.each is None
        and rule.when is None
        and not root.placed
        and all(_is_number(rules, name) for name in rule.names)
    )


def _holds(rule: ParsedRule, environment: Mapping[str, Any]) -> bool:
    return rule.expression is not None and rule.expression.evaluate(environment) is True


def _is_number(rules: Rules, name: str) -> bool:
    return any(f.name == name and f.kind == "number" for f in rules.fields)


def _type(rules: Rules, name: str) -> str:
    return next(f.type for f in rules.fields if f.name == name)


def _is_many(rules: Rules, name: str) -> bool:
    return any(f.name == name and f.many for f in rules.fields)


def _environment(rules: Rules, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as an expression sees them; fields with defaults that are unknown have those."""
    found: dict[str, Any] = {f.name: () if f.many else f.default for f in rules.fields}
    found |= {COUNT + f.name: 0 for f in rules.fields}
    for name, value in values.items():
        found[name] = value
        found[COUNT + name] = len(value) if isinstance(value, tuple) else 1
    return found


def _list_of(
    rule: ParsedRule, rules: Rules, known: Mapping[str, Any], listed: set[str]
) -> tuple[str, Decimal] | None:
    """The list whose sum the rule knows, and that sum."""
    root = _equation(rule)
    assert root is not None  # noqa: S101 - only called with equations
    for one, other in ((root.left, root.right), (root.right, root.left)):
        name = _summed(one)
        if name is not None and name not in listed and other.reads and other.reads <= known.keys():
            target = other.evaluate(_environment(rules, known))
            return None if target is None else (name, Decimal(target))
    return None


def _summed(node: Node) -> str | None:
    """The list that a node is the sum of."""
    if type(node) is Sum and isinstance(node.arguments[0], FieldName):
        return node.arguments[0].text.rpartition(".")[2]
    return None


def runs_of(
    occurrences: Occurrences, target: Decimal, tolerance: Decimal, type_name: str
) -> Iterator[Run]:
    """Amounts that follow each other in a column, flush right, and add up to the target.

    The first and the last of them are not zero. At most ``MAX_RUNS``, from the top.
    """
    count = 0
    for column in _columns(occurrences, type_name):
        amounts = [amount for _, amount in column]
        sums = [Decimal(0), *accumulate(amounts)]
        for i in range(len(column)):
            if not amounts[i]:
                continue
            for j in range(i + SHORTEST, len(sums)):
                if abs(sums[j] - sums[i] - target) <= tolerance and amounts[j - 1]:
                    yield tuple(span for span, _ in column[i:j])
                    count += 1
                    if count == MAX_RUNS:
                        return


def _columns(occurrences: Occurrences, type_name: str) -> Iterator[list[tuple[Span, Decimal]]]:
    """Numbers that end at the same place from the left, from the top of the first page down."""
    document = occurrences.document
    places, spans = upright_boxes(document), _numbers(document, type_name)
    if places is None or not spans:
        return
    boxes = places[[span[1] - 1 for span, _ in spans]]
    slack = max(float(np.median(boxes[:, 3] - boxes[:, 1])) / 2, 1e-6)
    by_edge = np.argsort(boxes[:, 2], kind="stable")
    cuts = np.flatnonzero(np.diff(boxes[by_edge, 2]) > slack) + 1
    for part in np.split(by_edge, cuts):
        rows = sorted(
            (document.page(spans[i][0][0]) or 0, boxes[i, 1], spans[i]) for i in part.tolist()
        )
        yield [each for _, _, each in rows]


def _numbers(document: Document, type_name: str) -> list[tuple[Span, Decimal]]:
    """The words that are numbers, each with its most plausible value."""
    found = []
    for i, word in enumerate(document.words):
        values = read(word, type_name)
        if values and isinstance(values[0], Decimal):
            found.append(((i, i + 1), Decimal(values[0])))
    return found


def _unknown_sets(
    equations: Sequence[ParsedRule], rules: Rules, known: Mapping[str, Any], listed: set[str]
) -> list[tuple[str, ...]]:
    """Sets of one or two unknown fields that an equation ties to known ones, the largest first."""
    found: dict[tuple[str, ...], None] = {}
    for rule in equations:
        unknown = tuple(sorted(n for n in rule.names if n not in known))
        if (
            1 <= len(unknown) <= 2
            and rule.names & known.keys()
            and not any(_is_many(rules, name) for name in rule.names)
        ):
            found[unknown] = None
    return sorted(found, key=len, reverse=True)


def _best(
    equations: Sequence[ParsedRule],
    occurrences: Occurrences,
    rules: Rules,
    known: Mapping[str, Any],
    names: tuple[str, ...],
) -> list[Solution]:
    """Printed values for the unknown fields that satisfy the most weight of equations."""
    relevant = [r for r in equations if r.names <= known.keys() | set(names)]
    full = [r for r in relevant if set(names) <= r.names]
    weights: dict[Solution, float] = {}
    seen: set[Solution] = set()
    for rule in full:
        for solution in _solutions(rule, occurrences, rules, known, names):
            alike = tuple(map(abs, solution))  # printed with and without a sign
            if alike not in seen:
                seen.add(alike)
                environment = _environment(
                    rules, {**known, **dict(zip(names, solution, strict=True))}
                )
                weights[solution] = sum(
                    min(r.weight, 1e6) for r in relevant if _holds(r, environment)
                )
    most = max(weights.values(), default=0.0)
    return [solution for solution, weight in weights.items() if weight == most]


def _solutions(
    rule: ParsedRule,
    occurrences: Occurrences,
    rules: Rules,
    known: Mapping[str, Any],
    names: tuple[str, ...],
) -> Iterator[Solution]:
    """Printed values that satisfy an equation, none of them zero.

    The last unknown is calculated: from the difference of both sides at 0 and at 1, where the
    equation is linear for values of one sign, as with ``abs``.
    """
    root = _equation(rule)
    assert root is not None  # noqa: S101 - only called with equations
    printed = [sorted(v for v in occurrences.all_of(_type(rules, n)) if v) for n in names]
    there = np.array([float(value) for value in printed[-1]])
    slack = float(rule.tolerance)

    def difference(values: Solution) -> float | None:
        environment = _environment(rules, {**known, **dict(zip(names, values, strict=True))})
        sides = root.left.evaluate(environment), root.right.evaluate(environment)
        return None if None in sides else float(sides[0] - sides[1])

    for first in [(value,) for value in printed[0]] if len(names) == 2 else [()]:
        for sign in (1, -1):
            at = [difference((*first, Decimal(sign * n))) for n in (1, 2)]
            if at[0] is None or at[1] is None or at[0] == at[1]:
                continue
            slope = at[1] - at[0]
            goal = sign * (1 - at[0] / slope)
            room = slack / abs(slope) + 1e-6
            lo, hi = np.searchsorted(there, [goal - room, goal + room])
            for value in printed[-1][lo:hi]:
                if (value > 0) == (sign > 0):
                    environment = _environment(
                        rules, {**known, **dict(zip(names, (*first, value), strict=True))}
                    )
                    if _holds(rule, environment):
                        yield (*first, value)
