"""Values that follow from known ones, through the rules that tie fields together.

If ``gross == sum(line_amount)`` and only the gross amount is known, a run of amounts in one column
that adds up to it may be the lines. If ``net == gross - commission``, two printed amounts that
complete it may be net and commission. All such runs and pairs are found; where there are several,
nothing follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate
from typing import Any

import numpy as np

from lawful.candidates.grounding.matches import Occurrences, Span, plain_value
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
    return _Ties(occurrences, rules, known, listed).found()


class _Ties:
    """What is known of a document, and the equations between numbers that hold on every page."""

    def __init__(
        self, occurrences: Occurrences, rules: Rules, known: Mapping[str, Any], listed: set[str]
    ) -> None:
        self.occurrences, self.known, self.listed = occurrences, known, listed
        self.fields = {f.name: f for f in rules.fields}
        both = ((rule, self._sides(rule)) for rule in rules.parsed)
        self.equations = [(rule, sides) for rule, sides in both if sides is not None]

    def _sides(self, rule: ParsedRule) -> tuple[Node, Node] | None:
        root = None if rule.expression is None else rule.expression.root
        if not isinstance(root, Comparison) or root.sign != "==" or root.placed:
            return None
        numbers = {name for name, f in self.fields.items() if f.kind == "number"}
        always = rule.each is None and rule.when is None and rule.names <= numbers
        return (root.left, root.right) if always else None

    def found(self) -> Tied:
        values: dict[str, Decimal] = {}
        several: dict[str, frozenset[Decimal]] = {}
        runs: dict[str, tuple[Run, ...]] = {}
        for rule, sides in self.equations:
            for name, target in self._lists(sides):
                column_runs = self._runs(target, rule.tolerance, self.fields[name].type)
                runs[name] = tuple(dict.fromkeys((*runs.get(name, ()), *column_runs)))
        for names in self._unknown_sets():
            solutions = self._best(names)
            for i, name in enumerate(names):
                fitting = frozenset(solution[i] for solution in solutions)
                if name not in values and len(solutions) == 1:
                    values[name] = solutions[0][i]
                elif name not in values and fitting:
                    several[name] = fitting
        several = {name: fitting for name, fitting in several.items() if name not in values}
        others = {*self.known.values(), *values.values(), *(v for s in several.values() for v in s)}
        return Tied(values, several, self._without(runs, set(map(abs, others))))

    def _without(
        self, runs: Mapping[str, tuple[Run, ...]], others: set[Any]
    ) -> dict[str, tuple[Run, ...]]:
        """The runs that do not consist of other fields' values: net and commission add up, too."""
        words = self.occurrences.document.words
        kept = {}
        for name, some in runs.items():
            type_ = self.fields[name].type
            amounts = {
                span: abs(plain_value(read(words[span[0]], type_)[0]))
                for run in some
                for span in run
            }
            kept[name] = tuple(run for run in some if not {amounts[span] for span in run} <= others)
        return {name: some for name, some in kept.items() if some}

    def _environment(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """All values as expressions see them; fields with defaults that are unknown have those."""
        found: dict[str, Any] = {n: () if f.many else f.default for n, f in self.fields.items()}
        found |= {COUNT + name: 0 for name in self.fields}
        for name, value in (*self.known.items(), *values.items()):
            found[name] = value
            found[COUNT + name] = len(value) if isinstance(value, tuple) else 1
        return found

    def _lists(self, sides: tuple[Node, Node]) -> Iterator[tuple[str, Decimal]]:
        """The list whose sum an equation knows, and that sum."""
        for one, other in (sides, sides[::-1]):
            name = _summed(one)
            known = other.reads and other.reads <= self.known.keys()
            if name is not None and name not in self.listed and known:
                target = other.evaluate(self._environment({}))
                if target is not None:
                    yield name, Decimal(target)
                return

    def _runs(self, target: Decimal, tolerance: Decimal, type_name: str) -> Iterator[Run]:
        """Amounts that follow each other in a column, flush right, and add up to the target.

        The first and the last of them are not zero. At most ``MAX_RUNS``, from the top.
        """
        count = 0
        for column in self._columns(type_name):
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

    def _columns(self, type_name: str) -> Iterator[list[tuple[Span, Decimal]]]:
        """Numbers that end at the same place from the left, from the top of the first page down."""
        document = self.occurrences.document
        places = upright_boxes(document)
        spans = [
            ((i, i + 1), Decimal(values[0]))  # the most plausible one
            for i, word in enumerate(document.words)
            if (values := read(word, type_name)) and isinstance(values[0], Decimal)
        ]
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

    def _unknown_sets(self) -> list[tuple[str, ...]]:
        """Sets of one or two unknown fields that an equation ties to known ones; pairs first."""
        found: dict[tuple[str, ...], None] = {}
        for rule, _ in self.equations:
            unknown = tuple(sorted(rule.names - self.known.keys()))
            lists = any(self.fields[name].many for name in rule.names)
            if 1 <= len(unknown) <= 2 and rule.names & self.known.keys() and not lists:
                found[unknown] = None
        return sorted(found, key=len, reverse=True)

    def _best(self, names: tuple[str, ...]) -> list[Solution]:
        """Printed values for the unknown fields that satisfy the most weight of equations."""
        there = self.known.keys() | set(names)
        relevant = [(rule, sides) for rule, sides in self.equations if rule.names <= there]
        weights: dict[Solution, float] = {}
        seen: set[Solution] = set()
        for rule, sides in relevant:
            for solution in self._solutions(rule, sides, names) if {*names} <= rule.names else ():
                alike = tuple(map(abs, solution))  # printed with and without a sign
                if alike not in seen:
                    seen.add(alike)
                    values = dict(zip(names, solution, strict=True))
                    holding = (rule for rule, _ in relevant if self._holds(rule, values))
                    weights[solution] = sum(min(rule.weight, 1e6) for rule in holding)
        most = max(weights.values(), default=0.0)
        return [solution for solution, weight in weights.items() if weight == most]

    def _holds(self, rule: ParsedRule, values: Mapping[str, Any]) -> bool:
        assert rule.expression is not None  # noqa: S101 - it is an equation
        return rule.expression.evaluate(self._environment(values)) is True

    def _solutions(
        self, rule: ParsedRule, sides: tuple[Node, Node], names: tuple[str, ...]
    ) -> Iterator[Solution]:
        """Printed values that satisfy an equation, none of them zero.

        The last unknown is calculated: from the difference of both sides at 1 and at 2, where the
        equation is linear for values of one sign, as with ``abs``.
        """
        types = (self.fields[name].type for name in names)
        printed = [sorted(v for v in self.occurrences.all_of(type_) if v) for type_ in types]
        there = np.array([float(value) for value in printed[-1]])
        slack = float(rule.tolerance)

        def difference(values: Solution) -> float | None:
            environment = self._environment(dict(zip(names, values, strict=True)))
            left, right = (side.evaluate(environment) for side in sides)
            return None if left is None or right is None else float(left - right)

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
                    values = (*first, value)
                    same_sign = (value > 0) == (sign > 0)
                    if same_sign and self._holds(rule, dict(zip(names, values, strict=True))):
                        yield values


def _summed(node: Node) -> str | None:
    """The list that a node is the sum of."""
    if type(node) is Sum and isinstance(node.arguments[0], FieldName):
        return node.arguments[0].text.rpartition(".")[2]
    return None
