"""A referee for exact decoders: the same problem as an integer program over spans, for CP-SAT.

A labelling divides the words into spans: those of fields, and runs that no rule sees. Every span is
a Boolean variable, every word is in exactly one span, and rules are linear constraints in whole
numbers, so that they are exact. The referee uses lawful only to read values, and for ``Field`` and
``Rule``; legality, parsing, the semantics of rules and the search are independent.

It supports linear rules: sums and differences of fields, ``sum``, ``sum(x) if present(x) else 0``,
``count``, ``abs`` of a field and constants, compared with each other, and such comparisons chained
or joined by ``and``. Of the rules of rows, it supports ``x == y * z`` over fields of the row, if
the document has row ids. With ``solver="highs"`` the same program is for HiGHS (``highs.py``). Do
not use both in one process, since OR-tools has its own copy of HiGHS.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import floor, inf, isfinite, lcm
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from lawful import Document, Field, Rule, Rules, Scores
from lawful.values import read

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from ortools.sat.python import cp_model

    Costs: TypeAlias = NDArray[np.float64]

NAT = 10**6
"""Units of cost per nat in the program, which has whole numbers only."""

FIRST_SLACK = 8.0
LAST_SLACK = 1e4  # all spans
"""How much worse than the best path a span may be, in nats, to be modelled: at first, at last."""


class UnsupportedRule(ValueError):  # noqa: N818 - as in "unsupported rule: ..."
    """A rule that is not linear, or a field that cannot be modelled linearly."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The worth of the best labelling found, and an upper bound on the worth of all labellings.

    ``optimal`` is proven, and so is ``infeasible``: hard rules refuse every legal labelling. If the
    time ended first, the status is ``feasible`` or, if no labelling was found, ``unknown``.
    """

    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    worth: float
    bound: float


def referee(
    document: Document,
    scores: Scores,
    rules: Rules,
    *,
    seconds: float = 60.0,
    kept: Collection[str] | None = None,
    slack: float = FIRST_SLACK,
    solver: Literal["cp-sat", "highs"] = "cp-sat",
) -> Verdict:
    """The highest log-probability minus weights of violated rules, over all legal labellings.

    Spans may have any length. At first, only spans on a path nearly as good as the best one are
    modelled. The worth that is found bounds how much worse a useful span can be; if that is more
    than was assumed, the program is solved again with more spans. Costs are rounded to millionths
    of a nat, so a labelling that is better by less may be missed. ``kept`` are the fields that must
    be present; if several legal labellings are best, they depend on which one is chosen.
    """
    ends = perf_counter() + seconds
    page = _Page(document, scores, rules)
    if not isfinite(page.best):
        return Verdict("infeasible", -inf, -inf)
    must = page.kept() if kept is None else kept
    laws = [_Law.of(rule, rules) for rule in rules.rules if rule.each is None]
    products = [_Product.of(rule, rules) for rule in rules.rules if rule.each is not None]
    slack = min(slack, LAST_SLACK)
    while True:
        program = _Program(page, laws, products, must, slack, solver)
        found = program.solve(max(ends - perf_counter(), 0.01))
        # An upper bound on the worth of labellings with a span that was left out.
        others = -page.best - slack if page.leaves_out(slack) else -inf
        if found.status in ("feasible", "unknown"):
            return Verdict(found.status, found.worth, max(found.bound, others))
        if found.worth >= others:
            return found
        slack = 2 * slack if found.status == "infeasible" else -page.best - found.worth + 1e-3


# ---- rules ---------------------------------------------------------------------------------------

Term: TypeAlias = tuple[Literal["value", "abs", "sum", "sum or 0", "count"], str]
"""A quantity of a field that a rule may read, and the field's name."""


@dataclass(frozen=True, slots=True)
class _Linear:
    terms: Mapping[Term, Fraction]  # with zeros: a field that is read must be present
    constant: Fraction

    def plus(self, other: _Linear, times: Fraction) -> _Linear:
        names = {**self.terms, **other.terms}
        zero = Fraction(0)
        terms = {t: self.terms.get(t, zero) + times * other.terms.get(t, zero) for t in names}
        return _Linear(terms, self.constant + times * other.constant)


@dataclass(frozen=True, slots=True)
class _Link:
    """A comparison: ``difference`` ``sign`` 0, within ``tolerance``."""

    difference: _Linear
    sign: str
    tolerance: Fraction


_SIGNS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


@dataclass(frozen=True, slots=True)
class _Law:
    """A rule as comparisons: violated if one of them that can be checked fails."""

    weight: float
    links: tuple[_Link, ...]

    @classmethod
    def of(cls, rule: Rule, rules: Rules) -> _Law:
        if not isinstance(rule.check, str) or rule.when is not None:
            raise UnsupportedRule(f"{rule.id}: only expressions without 'when'")
        tolerance = rules.defaults.tolerance if rule.tolerance is None else rule.tolerance
        weight = rules.defaults.weight if rule.weight is None else rule.weight
        if rules.defaults.unchecked if rule.unchecked is None else rule.unchecked:
            raise UnsupportedRule(f"{rule.id}: only with the price unchecked 0")
        parser = _Parser(rule.check, {f.name: f for f in rules.fields}, Fraction(tolerance))
        tree = ast.parse(" ".join(rule.check.split()), mode="eval").body
        return cls(weight, tuple(parser.links(tree)))


@dataclass(frozen=True, slots=True)
class _Product:
    """A rule ``left == one * other``, judged on the first values of each row."""

    weight: float
    fields: tuple[str, str, str]
    tolerance: Fraction

    @classmethod
    def of(cls, rule: Rule, rules: Rules) -> _Product:
        found = re.fullmatch(r"(\w+) == (\w+) \* (\w+)", str(rule.check))
        kind = next(kind for kind in rules.rows if kind.name == rule.each)
        if found is None or not {*found.groups()} <= {*kind.fields} or rule.when or kind.starts:
            raise UnsupportedRule(f"{rule.id}: of rules of rows, only 'x == y * z'")
        tolerance = rules.defaults.tolerance if rule.tolerance is None else rule.tolerance
        weight = rules.defaults.weight if rule.weight is None else rule.weight
        if rule.unchecked:
            raise UnsupportedRule(f"{rule.id}: only with the price unchecked 0")
        return cls(weight, (found[1], found[2], found[3]), Fraction(tolerance))


@dataclass(frozen=True, slots=True)
class _Parser:
    text: str
    fields: Mapping[str, Field]
    tolerance: Fraction

    def links(self, node: ast.expr) -> Iterator[_Link]:
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            for part in node.values:
                yield from self.links(part)
            return
        if not isinstance(node, ast.Compare) or any(type(op) not in _SIGNS for op in node.ops):
            raise self.refuse(node)
        sides = [self.linear(side) for side in (node.left, *node.comparators)]
        for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
            counted = all(kind == "count" for kind, _ in (*left.terms, *right.terms))
            tolerance = Fraction(0) if counted else self.tolerance
            yield _Link(left.plus(right, Fraction(-1)), _SIGNS[type(op)], tolerance)

    def linear(self, node: ast.expr) -> _Linear:  # noqa: PLR0911 - one for every kind of node
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return _Linear({}, Fraction(Decimal(repr(number))))
            case ast.Name(name):
                return self.term("value", name, node)
            case ast.Call(func=ast.Name("sum" | "count" | "abs" as kind), args=[ast.Name(name)]):
                return self.term(kind, name, node)
            case ast.IfExp(
                test=ast.Call(func=ast.Name("present"), args=[ast.Name(name)]),
                body=ast.Call(func=ast.Name("sum"), args=[ast.Name(same)]),
                orelse=ast.Constant(value=0),
            ) if name == same:
                return self.term("sum or 0", name, node)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return _Linear({}, Fraction(0)).plus(self.linear(operand), Fraction(-1))
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
                sign = Fraction(1 if isinstance(op, ast.Add) else -1)
                return self.linear(left).plus(self.linear(right), sign)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                one, other = self.linear(left), self.linear(right)
                if not other.terms:
                    one, other = other, one
                if not one.terms:
                    return _Linear({}, Fraction(0)).plus(other, one.constant)
        raise self.refuse(node)

    def term(self, kind: Any, name: str, node: ast.expr) -> _Linear:
        f = self.fields[name]
        any_of_them = not f.many and f.repeat == "any"
        if kind != "count" and (f.kind != "number" or any_of_them):
            raise self.refuse(node)
        return _Linear({(kind, name): Fraction(1)}, Fraction(0))

    def refuse(self, node: ast.expr) -> UnsupportedRule:
        return UnsupportedRule(f"no linear constraint for {ast.unparse(node)!r} in {self.text!r}")


# ---- the page as a lattice of spans --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Span:
    """Words ``start`` to ``end`` as a span of a field or of none; ``cost`` is in nats."""

    start: int
    end: int
    cost: float
    field: Field | None = None
    value: Any = None  # None if the text has no value
    fault: float = 0.0  # weights of the implied checks that it violates by itself


class _Page:
    """All spans with their costs, and the costs of the best paths through them."""

    def __init__(self, document: Document, scores: Scores, rules: Rules) -> None:
        if rules.scheme not in ("BIO", "IOB2"):
            raise UnsupportedRule(f"scheme is {rules.scheme}, expected BIO: the only one supported")
        self.document, self.rules = document, rules
        if rules.rows and document.rows is None:
            raise UnsupportedRule("the document has no row ids")
        self.rows = _rows(document.rows or ())
        self.words = words = len(document)
        costs = -scores.log_probs
        begin: dict[str, Costs] = {}
        inside: dict[str, Costs] = {}
        outside = np.full((words, words + 1), inf)  # (start, end)
        here = np.arange(words)
        for column, label in zip(costs.T, scores.labels, strict=True):
            if part := re.fullmatch(r"([BI])(?:-(.+))?", label, re.DOTALL):
                (begin if part[1] == "B" else inside)[part[2] or ""] = column
            else:
                outside[here, here + 1] = np.minimum(outside[here, here + 1], column)
        spans = {
            type_: _span_costs(column, inside.get(type_, np.full(words, inf)))
            for type_, column in begin.items()
        }
        self.costs = [spans.pop(f.label) for f in rules.fields]
        self.outside = _undominated(np.minimum.reduce([outside, *spans.values()]))
        step = np.minimum.reduce([self.outside, *self.costs])
        self.ahead = np.full(words + 1, inf)  # cost of the cheapest path to here
        self.after = np.full(words + 1, inf)  # and from here to the end
        self.ahead[0] = self.after[words] = 0.0
        for end in range(1, words + 1):
            self.ahead[end] = (self.ahead[:end] + step[:end, end]).min()
        for start in reversed(range(words)):
            self.after[start] = (step[start, start + 1 :] + self.after[start + 1 :]).min()
        self.best = float(self.ahead[words])

    def slack(self, costs: Costs) -> Costs:
        """The cost of the best path through each span, minus that of the best path."""
        through: Costs = self.ahead[:-1, None] + costs + self.after - self.best
        return through

    def leaves_out(self, slack: float) -> bool:
        """Whether a possible span, with up to three faults, may have more slack than this."""
        defaults = self.rules.defaults
        weights = [w for w in (defaults.weight, *defaults.weights.values()) if isfinite(w)]
        faults = 3 * max(weights, default=0.0)  # spans with hard faults are never used
        everything = (self.slack(costs) for costs in (self.outside, *self.costs))
        return any(bool((np.isfinite(s) & (s + faults > slack)).any()) for s in everything)

    def spans(self, slack: float) -> Iterator[_Span]:
        """The spans with at most this slack, including their faults."""
        slack += 1e-6  # rounding errors of sums
        for start, end in np.argwhere(self.slack(self.outside) <= slack).tolist():
            yield _Span(start, end, float(self.outside[start, end]))
        for f, costs in zip(self.rules.fields, self.costs, strict=True):
            through = self.slack(costs)
            for start, end in np.argwhere(through <= slack).tolist():
                span = self.read(f, start, end, float(costs[start, end]))
                if through[start, end] + span.fault <= slack:
                    yield span

    def read(self, f: Field, start: int, end: int, cost: float) -> _Span:
        text = self.document.text(start, end)
        values = read(text, f.type)
        faults = {
            "reads": not values,
            "max_words": f.max_words is not None and end - start > f.max_words,
            "pattern": f.pattern is not None and not re.fullmatch(f.pattern, text),
        }
        value = values[0] if values else None
        fault = sum(_weight(self.rules, f, name) for name, there in faults.items() if there)
        return _Span(start, end, cost, f, value, fault)

    def kept(self) -> set[str]:
        """The fields with presence keep that have a value on the best path."""
        return {f.name for f, _ in self.seen() if f.presence == "keep"}

    def kept_in_rows(self) -> set[tuple[str, int]]:
        """The fields of rows, unless free, that have a value on the best path, with its row."""
        in_rows = {name for kind in self.rules.rows for name in kind.fields}
        return {
            (f.name, self.rows[start])
            for f, start in self.seen()
            if f.name in in_rows and f.presence != "free" and self.rows[start]
        }

    def seen(self) -> Iterator[tuple[Field, int]]:
        """The readable spans of the best path: their fields and first words."""
        end = self.words
        while end > 0:
            ways = [self.ahead[:end] + costs[:end, end] for costs in (self.outside, *self.costs)]
            which, start = np.unravel_index(int(np.argmin(ways)), (len(ways), end))
            if which:
                f = self.rules.fields[int(which) - 1]
                if read(self.document.text(int(start), end), f.type):
                    yield f, int(start)
            end = int(start)


def _rows(ids: Iterable[int | None]) -> list[int]:
    """By word, the number of its row: a new one begins with another id; 0 without an id."""
    numbers, known = [], [None]
    for id_ in ids:
        if id_ is not None and id_ != known[-1]:
            known.append(id_)
        numbers.append(0 if id_ is None else len(known) - 1)
    return numbers


def _weight(rules: Rules, f: Field, condition: str) -> float:
    """The weight of a condition that a field implies."""
    return rules.defaults.weights.get(f"{f.name}:{condition}", rules.defaults.weight)


def _span_costs(begin: Costs, inside: Costs) -> Costs:
    words = len(begin)
    costs = np.full((words, words + 1), inf)
    for start in range(words):
        costs[start, start + 1 :] = np.cumsum([begin[start], *inside[start + 1 :]])
    return costs


def _undominated(costs: Costs) -> Costs:
    """Without spans that are not cheaper than a sequence of shorter ones, as rules see neither."""
    words = len(costs)
    cheapest = np.full((words + 1, words + 1), inf)  # from, to
    np.fill_diagonal(cheapest, 0.0)
    kept = np.full_like(costs, inf)
    for start in reversed(range(words)):
        for end in range(start + 1, words + 1):
            if costs[start, end] < cheapest[start, end]:
                kept[start, end] = costs[start, end]
                np.minimum(cheapest[start], costs[start, end] + cheapest[end], out=cheapest[start])
    return kept


# ---- the program ---------------------------------------------------------------------------------


@dataclass(slots=True)
class _Sight:
    """The variables of a field, and the values of its spans."""

    field: Field
    spans: list[tuple[Any, _Span]] = dataclass_field(default_factory=list)  # with variables
    known: Any = None  # true if rules have a value; it may be true without, at a cost
    # Terms that add up to the value: numbers, each with the variable that selects it.
    sources: list[tuple[Any, Fraction]] = dataclass_field(default_factory=list)

    @property
    def readable(self) -> list[tuple[Any, _Span]]:
        return [(x, span) for x, span in self.spans if span.value is not None]


class _Program:
    """The integer program for the spans with at most this slack."""

    def __init__(
        self,
        page: _Page,
        laws: list[_Law],
        products: list[_Product],
        kept: Collection[str],
        slack: float,
        solver: str,
    ) -> None:
        if solver == "highs":
            from tests.oracles import highs as cp_model
        else:
            from ortools.sat.python import cp_model  # type: ignore[no-redef]

        self.cp, self.page, self.model = cp_model, page, cp_model.CpModel()
        self.prices: list[tuple[cp_model.IntVar, float, float]] = []  # relative, and true ones
        self.sights = {f.name: _Sight(f) for f in page.rules.fields}
        cover: list[list[cp_model.IntVar]] = [[] for _ in range(page.words)]
        for span in page.spans(slack):
            x = self.model.new_bool_var("")
            # Relative to the best path, whose spans then cost zero and are not rounded.
            extra = float(page.ahead[span.start] + span.cost - page.ahead[span.end])
            self.prices.append((x, extra + span.fault, span.cost + span.fault))
            for word in range(span.start, span.end):
                cover[word].append(x)
            if span.field is not None:
                self.sights[span.field.name].spans.append((x, span))
        for choices in cover:
            self.model.add_exactly_one(choices)
        for sight in self.sights.values():
            if sight.field.many:
                self.see_many(sight)
            else:
                self.see_one(sight)
            here = [x for x, _ in sight.readable]
            if sight.field.presence == "required":
                self.model.add_bool_or(
                    *here, self.violated(_weight(page.rules, sight.field, "required"))
                )
            elif sight.field.name in kept:
                self.model.add_bool_or(here)
        for name, row in page.kept_in_rows() if page.rows else ():
            here = self.sights[name].readable
            self.model.add_bool_or([x for x, span in here if page.rows[span.start] == row])
        for law in laws:
            self.obey(law)
        for each in products:
            self.obey_in_rows(each)

    def violated(self, weight: float) -> cp_model.IntVar:
        """A truth value that costs this much; that is never true where it would be infinite."""
        if not isfinite(weight):
            return self.model.new_constant(0)
        variable = self.model.new_bool_var("")
        self.prices.append((variable, weight, weight))
        return variable

    def see_many(self, sight: _Sight) -> None:
        """All values, known where there is one at least and none that cannot be read."""
        sight.known = self.model.new_bool_var("")
        unreadable = [x for x, span in sight.spans if span.value is None]
        for x, span in sight.readable:
            self.model.add_bool_or(x.negated(), *unreadable, sight.known)
            if sight.field.kind == "number":
                sight.sources.append((x, Fraction(span.value)))

    def see_one(self, sight: _Sight) -> None:
        """The first value that can be read; the default where there is no span at all."""
        model, f = self.model, sight.field
        everywhere = [x for x, _ in sight.spans]
        readable = sorted(sight.readable, key=lambda pair: pair[1].start)
        first = [model.new_bool_var("") for _ in readable]
        absent = model.new_bool_var("")
        here = model.new_bool_var("")
        model.add_at_most_one(*first, absent)
        model.add_bool_or(*first, here.negated())
        model.add_bool_or(*everywhere, absent)
        for x in everywhere:
            model.add_implication(absent, x.negated())
        by_value: dict[Any, list[Any]] = {}
        for one, (_, span) in zip(first, readable, strict=True):
            by_value.setdefault(span.value, []).append(one)
        weight = _weight(self.page.rules, f, "agrees")
        apart = self.violated(weight) if f.repeat == "agree" else None
        none = model.new_constant(1)  # true only if no readable span starts ahead of ``start``
        start = 0
        starting: list[Any] = []  # variables of spans that start there
        for one, (x, span) in zip(first, readable, strict=True):
            if span.start != start:
                earlier, none = none, model.new_bool_var("")
                model.add_implication(none, earlier)
                for y in starting:
                    model.add_implication(none, y.negated())
                start, starting = span.start, []
            starting.append(x)
            model.add_implication(one, x)
            model.add_implication(one, none)
            model.add_implication(x, here)
            if apart is not None:
                model.add_bool_or(x.negated(), *by_value[span.value], apart)
        if f.kind == "number":
            sight.sources = [
                (one, Fraction(span.value)) for one, (_, span) in zip(first, readable, strict=True)
            ]
        known = list(first)
        if f.default is not None:
            known.append(absent)
            if f.kind == "number":
                sight.sources.append((absent, Fraction(f.default)))
        sight.known = model.new_bool_var("")
        for x in known:
            model.add_implication(x, sight.known)

    def obey(self, law: _Law) -> None:
        excuse = self.violated(law.weight)
        for link in law.links:
            parts: list[tuple[Any, Fraction]] = []
            checked = [excuse.negated()]
            for (kind, name), times in link.difference.terms.items():
                sight = self.sights[name]
                if kind == "count":
                    parts += [(x, times) for x, _ in sight.spans]
                    continue
                checked.append(self.clean(sight) if kind == "sum or 0" else sight.known)
                size = abs if kind == "abs" else Fraction
                parts += [(x, times * size(value)) for x, value in sight.sources]
            constant = link.difference.constant
            unit = lcm(constant.denominator, *(value.denominator for _, value in parts))
            numbers = [int(unit * value) for _, value in parts]
            shift, near = int(unit * constant), floor(unit * link.tolerance)
            if sum(map(abs, numbers), abs(shift) + near) >= 2**62:
                raise UnsupportedRule("amounts have too many digits for 64 bits")
            sums = self.cp.LinearExpr.weighted_sum([x for x, _ in parts], numbers) + shift
            domain = self.cp.Domain.from_intervals(_allowed(link.sign, near))
            self.model.add_linear_expression_in_domain(sums, domain).only_enforce_if(*checked)

    def clean(self, sight: _Sight) -> Any:
        """A truth value that is true if all spans of a list are readable, if there are any."""
        clean = self.model.new_bool_var("")
        self.model.add_bool_or(*(x for x, span in sight.spans if span.value is None), clean)
        return clean

    def obey_in_rows(self, law: _Product) -> None:
        """A clause for every three values of a row, first ones each, that violate the product."""
        firsts = [self.firsts_by_row(name) for name in law.fields]
        for row in set.intersection(*map(set, firsts)):
            excuse = self.violated(law.weight)
            for (x, a), (y, b), (z, c) in product(*(found[row] for found in firsts)):
                if abs(a - b * c) > law.tolerance:
                    self.model.add_bool_or(x.negated(), y.negated(), z.negated(), excuse)

    def firsts_by_row(self, name: str) -> dict[int, list[tuple[Any, Fraction]]]:
        """By row, variables that are true if a value is the first one there, and the values."""
        by_row: dict[int, list[tuple[Any, _Span]]] = {}
        for x, span in sorted(self.sights[name].readable, key=lambda pair: pair[1].start):
            if self.page.rows[span.start]:
                by_row.setdefault(self.page.rows[span.start], []).append((x, span))
        found: dict[int, list[tuple[Any, Fraction]]] = {}
        for row, spans in by_row.items():
            for x, span in spans:
                earlier = [y for y, other in spans if other.start < span.start]
                first = self.model.new_bool_var("") if earlier else x
                if earlier:
                    self.model.add_bool_or(x.negated(), *earlier, first)
                found.setdefault(row, []).append((first, Fraction(span.value)))
        return found

    def solve(self, seconds: float) -> Verdict:
        variables = [x for x, _, _ in self.prices]
        costs = [round(NAT * price) for _, price, _ in self.prices]
        self.model.minimize(self.cp.LinearExpr.weighted_sum(variables, costs))
        solver = self.cp.CpSolver()
        solver.parameters.max_time_in_seconds = seconds
        solver.parameters.num_workers = 1
        # The presolve of OR-tools 9.15 reports suboptimal answers as optimal (or-tools#5293).
        solver.parameters.cp_model_presolve = False
        solver.parameters.linearization_level = 2
        status = solver.solve(self.model)
        if status == self.cp.INFEASIBLE:
            return Verdict("infeasible", -inf, -inf)
        if status == self.cp.UNKNOWN:
            return Verdict("unknown", -inf, -self.page.best)
        if status not in (self.cp.OPTIMAL, self.cp.FEASIBLE):
            raise RuntimeError(f"CP-SAT says {solver.status_name(status)}: {self.model.validate()}")
        worth = -sum(price for x, _, price in self.prices if solver.boolean_value(x))
        if status == self.cp.OPTIMAL:
            return Verdict("optimal", worth, worth)
        rounding = self.page.words / NAT
        bound = -self.page.best - solver.best_objective_bound / NAT + rounding
        return Verdict("feasible", worth, bound)


_FAR = 2**62


def _allowed(sign: str, near: int) -> list[list[int]]:
    """The intervals of whole numbers that are ``sign`` 0, within ``near``."""
    less, equal, more = [-_FAR, -near - 1], [-near, near], [near + 1, _FAR]
    allowed = {"==": "e", "!=": "lm", "<": "l", "<=": "le", ">": "m", ">=": "em"}[sign]
    return [{"l": less, "e": equal, "m": more}[part] for part in allowed]
