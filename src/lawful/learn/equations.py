"""Linear equations and inequalities between numbers, found by their values on true pages.

Terms are fields of one value, sums of lists and counts. All pairs and triples of terms are tried
with NumPy; an equation that holds on many pages is then extended by terms that make it hold on
more, where a missing term adds nothing. What is found is only proposed: figures come from the rules
themselves, exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lawful.learn.intervals import Share, log_odds
from lawful.learn.proposals import MIN_SUPPORT, Kind, Proposal
from lawful.learn.samples import Units
from lawful.rules.definitions import Rule
from lawful.rules.judging.rows import PREVIOUS
from lawful.rules.language.nodes import COUNT

Numbers: TypeAlias = NDArray[np.float64]  # (units,), NaN where a value is missing

MIN_TO_EXTEND = 0.2
"""Share of the pages on which an equation must hold to be extended."""

MIN_SHARE = 0.5
"""Share of the pages on which a proposed equation must hold; of inequalities, ``MIN_ORDERED``."""

MIN_ORDERED = 0.95

BOUNDS = [Fraction(k, 20) for k in range(1, 11)]
"""Shares of another number that a number may be bounded by: 5 % to a half, in steps of 5 %."""

MAX_TERMS = 6

MIN_GAIN = 3
"""Pages that a further term, or a tolerance, must add, and at least a hundredth of them."""

WIDER = 0.05
"""Share of the pages that a tolerance of one unit must add."""

WORSE = 0.1
"""How much less often an equation may hold without one of its terms for this to be optional."""

OFTEN = 1 / 3
"""Share of the pages that must have an optional term for it to be part of an equation's core."""

_ROUNDING = 1e-7


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """A number that an equation can use, and its values on the pages that are mined."""

    text: str
    name: str  # the field; empty for a constant
    values: Numbers
    has_default: bool = False
    is_count: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _Term:
    """A number in an equation, with its factor there."""

    number: Number
    factor: Fraction
    optional: bool = False  # adds nothing if it is missing
    absolute: bool = False

    @property
    def text(self) -> str:
        text = f"abs({self.number.text})" if self.absolute else self.number.text
        if self.optional and not self.number.has_default:
            text = f"({text} if present({self.number.name}) else 0)"
        return text

    @property
    def values(self) -> Numbers:
        values = np.abs(self.number.values) if self.absolute else self.number.values
        values = np.nan_to_num(values, nan=0.0) if self.optional else values
        return values * float(self.factor)


@dataclass(frozen=True, slots=True, eq=False)
class _Equation:
    """Terms that sum to zero, with the sum on each page; the first term's factor is 1."""

    terms: tuple[_Term, ...]
    rest: Numbers
    tolerance: float  # within which the sum is zero
    kind: Kind = "equation"

    @property
    def key(self) -> frozenset[str]:
        """What is the same for all ways to write the equation."""
        first = max(self.terms, key=lambda t: (not t.optional, t.number.text)).factor
        return frozenset(f"{t.factor / first} {t.text}" for t in self.terms)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(term.number.name for term in self.terms)

    def share(self) -> float:
        """The share of the pages on which it holds."""
        known = self.rest[np.isfinite(self.rest)]
        return float((np.abs(known) <= self.tolerance).mean()) if len(known) else 0.0

    def check(self) -> str:
        """The equation as a rule says it: if possible, one term that is the sum of the others."""
        fields = (t for t in self.terms if t.number.name)  # a constant has none
        required = [t for t in fields if not t.optional and not t.absolute]
        alone = [
            t for t in required if all(t.factor * o.factor < 0 for o in self.terms if o is not t)
        ]
        target = (alone or required)[0]
        others = [
            replace(t, factor=-t.factor / target.factor) for t in self.terms if t is not target
        ]
        return f"{target.number.text} == {_sum(others)}"


def _sum(terms: list[_Term]) -> str:
    """A sum of terms; a factor that all of them have is written once."""
    terms = sorted(terms, key=lambda t: (t.factor < 0, t.optional))
    factors = {abs(term.factor) for term in terms}
    common = factors.pop() if len(factors) == 1 else Fraction(1)
    text = ""
    for term in terms:
        factor = abs(term.factor) / common
        one = term.text if factor == 1 else _times(term.text, factor)
        sign = "-" if term.factor < 0 else "+"
        text = f"{text} {sign} {one}" if text else ("-" if sign == "-" else "") + one
    if common == 1:
        return text
    return _times(f"({text})" if len(terms) > 1 else text, common)


def _times(text: str, factor: Fraction) -> str:
    """A multiple: ``0.1 * total``, or ``total / 11`` if the factor has no few decimals."""
    if (factor * 10_000).denominator == 1:
        return f"{float(factor):g} * {text}"
    return f"{text} / {factor.denominator}" if factor.numerator == 1 else (
        f"{text} * {factor.numerator} / {factor.denominator}"
    )  # fmt: skip


def numbers_of(units: Units) -> list[Number]:
    """The numbers of pages or rows that are mined: fields, sums and counts."""
    mined = units.mined
    found = []
    for f in units.rules.fields:
        if f.name not in units.names:
            continue
        many = f.many and units.kind is None
        counts = np.array([each.get(COUNT + f.name) or np.nan for each in mined], float)
        if f.kind == "number":
            values = [each.get(f.name) for each in mined]
            sums = [_float(sum(v) if isinstance(v, tuple) else v) for v in values]
            numbers = np.where(np.isfinite(counts), np.array(sums, float), np.nan)
            text = f"sum({f.name})" if many else f.name
            found.append(Number(text, f.name, numbers, f.default is not None))
        if many:
            found.append(Number(f"count({f.name})", f.name, counts, is_count=True))
    return [number for number in found if np.isfinite(number.values).sum() >= MIN_SUPPORT]


def _float(value: Decimal | int | None) -> float:
    return np.nan if value is None else float(value)


def propose_equations(units: Units) -> Iterator[Proposal]:
    """Equations and inequalities between the numbers of a page."""
    numbers = numbers_of(units)
    amounts = [number for number in numbers if not number.is_count]
    tolerance = float(units.rules.defaults.tolerance) + _ROUNDING
    found: dict[frozenset[str], _Equation] = {}
    for equation in _first(numbers, amounts, tolerance):
        for each in _extensions(equation, amounts):
            known = found.get(each.key)
            if known is None or each.share() > known.share():
                found[each.key] = each
    for equation in found.values():
        if equation.share() >= MIN_SHARE:
            yield _proposal(equation, tolerance)
    yield from _inequalities(permutations(amounts, 2), tolerance)
    yield from _inequalities(product(_largest(units), amounts), tolerance)


def _largest(units: Units) -> list[Number]:
    """The largest numbers of lists, which may be bounded by other numbers."""
    found = []
    for f in units.rules.fields:
        if f.kind == "number" and f.many and f.default is None and units.kind is None:
            values = [each.get(f.name) for each in units.mined]
            largest = [_float(max(v)) if isinstance(v, tuple) and v else np.nan for v in values]
            found.append(Number(f"max({f.name})", f.name, np.array(largest, float)))
    return found


def _inequalities(pairs: Iterable[tuple[Number, Number]], tolerance: float) -> Iterator[Proposal]:
    """Of two numbers, that one is at most the other, or at most a simple share of it.

    The share is the one with most evidence, as in ``tax <= 0.2 * total``.
    """
    for one, other in pairs:
        both = np.isfinite(one.values) & np.isfinite(other.values)
        if one.name == other.name or both.sum() < MIN_SUPPORT:
            continue
        if one.has_default or other.has_default:
            continue  # pages without the field would count
        x, y = one.values[both], other.values[both]
        equal = np.abs(y - x) <= tolerance
        names = frozenset((one.text, other.text))
        if _at_most(x, y + tolerance) >= MIN_ORDERED and equal.mean() < MIN_ORDERED:
            yield Proposal("inequality", Rule(f"{one.text} <= {other.text}"), 2, compared=names)
        share = _bound(x, y, tolerance)
        if share is not None and (np.abs(x) > tolerance).mean() >= MIN_SHARE:
            check = f"{one.text} <= {_times(other.text, share)}"
            yield Proposal("inequality", Rule(check), 3, compared=names)


def _bound(x: Numbers, y: Numbers, tolerance: float) -> Fraction | None:
    """The share of ``y`` that bounds ``x`` with most evidence; none if few pages keep to any."""
    best: tuple[float, Fraction] | None = None
    ordered = np.sort(x)
    for bound in BOUNDS:
        most = float(bound) * y + tolerance
        keep = Share(int((x <= most).sum()), len(x))
        if keep.value >= MIN_ORDERED:
            pairs = int(np.searchsorted(ordered, most, side="right").sum())  # of all pages
            evidence = log_odds(keep, Share(pairs, len(x) ** 2))
            if best is None or evidence > best[0]:
                best = evidence, bound
    return None if best is None else best[1]


def _at_most(x: Numbers, y: Numbers) -> float:
    return float((x <= y).mean())


def _proposal(equation: _Equation, tolerance: float) -> Proposal:
    allowed = None if equation.tolerance == tolerance else Decimal(f"{equation.tolerance:.6g}")
    size = sum(1 - (term.optional - term.absolute) / 2 for term in equation.terms)
    size += equation.kind == "share"
    # A term that few pages have only refines the equation of the others.
    known = np.isfinite(equation.rest)
    factors = {term.number.text: term.factor for term in equation.terms}
    refined = frozenset(
        term.number.text
        for term in equation.terms
        if term.optional and np.isfinite(term.number.values[known]).mean() < OFTEN
    )
    rule = Rule(equation.check(), tolerance=allowed)
    return Proposal(equation.kind, rule, size, factors, refined)


def propose_products(units: Units) -> Iterator[Proposal]:
    """Products, sums and running sums of the numbers of one row."""
    numbers = [number for number in numbers_of(units) if not number.is_count]
    tolerance = float(units.rules.defaults.tolerance) + _ROUNDING
    mined = units.mined
    checks: list[tuple[str, Numbers, int]] = []
    for target in numbers:
        others = [number for number in numbers if number is not target]
        before = np.array([_float(each.get(f"{PREVIOUS}.{target.name}")) for each in mined])
        for one in others:
            if target.text < one.text:
                checks.append((f"{target.text} == {one.text}", one.values - target.values, 2))
            text = f"{target.text} == {PREVIOUS}.{target.name} + {one.text}"
            checks.append((text, before + one.values - target.values, 3))
        for one, other in combinations(others, 2):
            text = f"{target.text} == {one.text} * {other.text}"
            checks.append((text, one.values * other.values - target.values, 3))
            text = f"{target.text} == {one.text} + {other.text}"
            checks.append((text, one.values + other.values - target.values, 3))
    for text, rest, size in checks:
        known = rest[np.isfinite(rest)]
        if len(known) >= MIN_SUPPORT and (np.abs(known) <= tolerance).mean() >= MIN_SHARE:
            yield Proposal("product", Rule(text, each=units.kind), size)


def _first(numbers: list[Number], amounts: list[Number], tolerance: float) -> Iterator[_Equation]:
    """Equations of two numbers, with and without a factor, and of three.

    A number that has a default is never missing, so it only extends equations.
    """
    numbers = [number for number in numbers if not number.has_default]
    amounts = [number for number in amounts if not number.has_default]
    for one, other in combinations(numbers, 2):
        if one.name != other.name:
            kind: Kind = "count" if one.is_count or other.is_count else "equation"
            target, part = (other, one) if one.is_count else (one, other)
            yield from _if_promising(target, (part,), tolerance, kind)
    for one, other in combinations(amounts, 2):
        yield from _offsets(one, other, tolerance)
    for target, one in permutations(amounts, 2):
        if target.name != one.name:
            yield from _multiples(target, one, tolerance)
    for target in amounts:
        others = [number for number in amounts if number.name != target.name]
        for one, other in combinations(others, 2):
            if one.name != other.name:
                yield from _if_promising(target, (one, other), tolerance)


def _if_promising(
    target: Number, parts: tuple[Number, ...], tolerance: float, kind: Kind = "equation"
) -> Iterator[_Equation]:
    rest = target.values - sum(part.values for part in parts)
    known = np.abs(rest[np.isfinite(rest)])
    if len(known) < MIN_SUPPORT:
        return
    smallest = min(np.median(np.abs(each.values[np.isfinite(rest)])) for each in (target, *parts))
    # A tolerance of one unit would hide a term of few units.
    unit = tolerance if kind == "count" or smallest < 20 * _unit(target) else _unit(target)
    allowed = _allowed(known, unit, tolerance)
    if (known <= allowed).mean() >= MIN_TO_EXTEND:
        terms = (_Term(target, Fraction(1)), *(_Term(part, Fraction(-1)) for part in parts))
        yield _Equation(terms, rest, allowed, kind)


def _allowed(off: Numbers, unit: float, tolerance: float) -> float:
    """The tolerance: that of the rules, or one unit if that makes a difference."""
    gain = int(((off <= unit) & (off > tolerance)).sum())
    return unit if gain >= max(MIN_GAIN, WIDER * len(off)) else tolerance


def _offsets(one: Number, other: Number, tolerance: float) -> Iterator[_Equation]:
    """Two numbers that usually differ by the same amount, such as a fee."""
    rest = one.values - other.values
    known = np.round(rest[np.isfinite(rest)], 2)
    amounts, counts = np.unique(known[np.abs(known) > tolerance], return_counts=True)
    if len(known) < MIN_SUPPORT or counts.max(initial=0) < MIN_SHARE * len(known):
        return
    amount = float(amounts[counts.argmax()])
    if amount < 0:
        one, other, amount = other, one, -amount
    text = f"{amount:.2f}".rstrip("0").rstrip(".")
    constant = Number(text, "", np.full(len(rest), amount))
    terms = (
        _Term(one, Fraction(1)),
        _Term(other, Fraction(-1)),
        _Term(constant, Fraction(-1)),
    )
    yield _Equation(terms, one.values - other.values - amount, tolerance)


def _multiples(target: Number, one: Number, tolerance: float) -> Iterator[_Equation]:
    """The target as the most frequent simple multiple of another number, if there is one."""
    known = np.isfinite(target.values) & np.isfinite(one.values)
    known &= (target.values != 0) & (one.values != 0)
    if known.sum() < MIN_SUPPORT:
        return
    y, x = target.values[known], one.values[known]
    unit = _unit(target)
    # Within a unit of rounding, only a value of many units tells one factor from the next.
    exact = np.abs(y) >= 20 * unit
    ratios = (y / x)[exact]
    if len(ratios) < MIN_SUPPORT:
        return
    near = [f for f in FACTORS if (np.abs(ratios - float(f)) <= 0.01 * float(f)).mean() >= 0.1]
    best: tuple[float, Fraction, float] | None = None
    for factor in near:
        off = np.abs(y - float(factor) * x)
        allowed = _allowed(off, unit, tolerance)
        share = float((off <= allowed).mean())
        if share >= MIN_TO_EXTEND and (best is None or share > best[0]):
            best = share, factor, allowed
    if best is not None:
        _, factor, allowed = best
        rest = np.where(known, target.values - float(factor) * one.values, np.nan)
        yield _Equation((_Term(target, Fraction(1)), _Term(one, -factor)), rest, allowed, "share")


FACTORS = sorted(
    {Fraction(k, 200) for k in range(1, 200)}
    | {Fraction(1, n) for n in range(2, 26)}
    | {1 + Fraction(k, 100) for k in range(1, 31)}
    | {Fraction(k) for k in range(2, 13)}
)
"""Simple factors: half percents, parts such as 1 / 11, and 1 plus a rate."""


def _extensions(equation: _Equation, amounts: list[Number]) -> Iterator[_Equation]:
    """The equation, and the same with further terms while these make it hold on more pages."""
    yield equation
    if equation.kind == "count":
        return
    while len(equation.terms) < MAX_TERMS:
        known = np.isfinite(equation.rest)
        holds = int((np.abs(equation.rest[known]) <= equation.tolerance).sum())
        most = holds + max(MIN_GAIN - 1.0, 0.01 * known.sum())
        best: _Equation | None = None
        factor = abs(equation.terms[1].factor)
        for number in amounts:
            if number.name in equation.names:
                continue
            for sign, absolute in ((-1, False), (1, False), (1, True)):
                term = _Term(number, sign * factor, optional=True, absolute=absolute)
                rest = equation.rest + term.values
                count = int((np.abs(rest[known]) <= equation.tolerance).sum())
                if count > most:
                    most = count
                    best = replace(equation, terms=(*equation.terms, term), rest=rest)
        if best is None:
            return
        yield best
        equation = _required(best, known)
        if equation is not best:
            yield equation


def _required(equation: _Equation, known: NDArray[np.bool_]) -> _Equation:
    """The equation with its last term required, if it holds much less often without it."""
    *terms, last = equation.terms
    here = known & np.isfinite(last.number.values)
    missing = known & ~here
    if here.sum() < MIN_SUPPORT or not missing.any():
        return equation
    holds = np.abs(equation.rest) <= equation.tolerance
    if holds[missing].mean() >= holds[here].mean() - WORSE:
        return equation
    rest = np.where(here, equation.rest, np.nan)
    return replace(equation, terms=(*terms, replace(last, optional=False)), rest=rest)


def _unit(number: Number) -> float:
    """One printed unit of the amounts: 1 if nearly all are whole, else a hundredth."""
    known = number.values[np.isfinite(number.values)]
    return 1.0 if (known == np.round(known)).mean() >= 0.9 else 0.01
