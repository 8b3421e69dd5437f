"""Mining: the rules that hold in true labels, with figures that say how far to trust them.

Rules are proposed by values on two thirds of the pages, and judged on all. A proposal is kept if it
holds clearly more often than by chance, on the other third as well, and if it finds out wrong
values that the rules before it do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lawful.base.errors import RulesError
from lawful.documents.records import Labelled
from lawful.learn.equations import propose_equations, propose_products
from lawful.learn.inequalities import propose_comparisons
from lawful.learn.intervals import Share, log_odds
from lawful.learn.proposals import MIN_SUPPORT, Proposal
from lawful.learn.same_line import judge_lines, propose_lines
from lawful.learn.samples import Units
from lawful.learn.span_patterns import (
    judge_boundaries,
    judge_order,
    judge_texts,
    propose_boundaries,
    propose_orders,
    propose_texts,
    spans_of,
)
from lawful.learn.truth import TruePages
from lawful.rules.definitions import BOUNDARY_WEIGHT, DEFAULT_WEIGHT, Rule
from lawful.rules.parsed_rule import ParsedRule
from lawful.rules.rule_set import Rules
from lawful.rules.span_rules import Boundaries, Order

SURE = 3.5
"""Standard errors by which a share must exceed that by chance: many proposals are tried."""

MIN_SHARE = 0.5
"""Least share of pages on which a rule holds, as the lower end of its interval."""

MAX_CHANCE = 0.8
"""Most that may hold by chance."""

MIN_WEIGHT = 1.0

IMPLIED = 0.9
"""Share of wrong values found out by a rule that others find out, too, if it is implied."""


FAR_MORE = 2.0
"""How much more evidence a longer rule must have to make a shorter one needless."""


@dataclass(frozen=True, slots=True)
class Mined:
    """A rule that holds in true labels, with its figures.

    ``pages`` is where it holds, among pages (or rows, or spans) on which it can be checked;
    ``held_out`` is the part on which it was not found. ``chance`` is where it holds with values
    that do not belong together. ``said`` is the share of the wrong values it finds out that the
    known rules find out, too; ``None`` if that cannot be measured.
    """

    proposal: Proposal
    pages: Share
    held_out: Share
    chance: Share
    weight: float
    said: float | None = None

    @property
    def unit(self) -> str:
        """What is counted."""
        if self.proposal.kind in ("pattern", "texts", "boundaries"):
            return "spans"
        rule = self.proposal.rule
        return "rows" if isinstance(rule, Rule) and rule.each else "pages"

    @property
    def score(self) -> float:
        """Nats of evidence over all pages, by which rules are sorted."""
        return self.weight * self.pages.holds

    def record(self) -> dict[str, Any]:
        """The rule and its figures as plain values."""
        return {
            "rule": self.proposal.text,
            "kind": self.proposal.kind,
            "counted": self.unit,
            "pages": self.pages.record(),
            "held_out": self.held_out.record(),
            "chance": self.chance.record(),
            "said": self.said,
            "weight": self.weight,
        }


def suggested_weight(pages: Share, chance: Share) -> float:
    """The log-odds that a rule holds for the truth rather than by chance, at most the default."""
    return round(min(max(log_odds(pages, chance), 0.0), DEFAULT_WEIGHT), 1)


def mine(documents: Sequence[Labelled], rules: Rules, seed: int = 0) -> list[Mined]:
    """The rules that hold in the true labels, the most useful first.

    ``rules`` has the fields; its own rules are only compared with what is found. Repeatable by the
    seed. Raises an ``InputError`` for fewer than 30 documents.
    """
    truth = TruePages.of(documents, rules, seed)
    found = _mine_units(Units.of_pages(truth), seed)
    for kind in rules.rows:
        found += _mine_units(Units.of_rows(truth, kind.name), seed)
    found += _mine_spans(truth, seed)
    found += _mine_lines(truth, seed)
    return sorted(found, key=lambda each: (-each.score, each.proposal.text))


def _mine_units(units: Units, seed: int) -> list[Mined]:
    """The rules about the values of pages, or of rows."""
    proposals = [*propose_products(units)] if units.kind else [*propose_equations(units)]
    proposals += propose_comparisons(units)
    judged: list[tuple[Mined, ParsedRule]] = []
    for proposal, parsed in _parsed(proposals, units.rules):
        outcomes = units.outcomes(parsed)
        mined, held_out = (
            Share(int((part == 1).sum()), int((part >= 0).sum()))
            for part in (outcomes[~units.held_out], outcomes[units.held_out])
        )
        if mined.of < MIN_SUPPORT or mined.interval()[0] < MIN_SHARE:
            continue
        chance = units.chance(parsed, outcomes, seed)
        if chance is not None and (kept := _kept(proposal, mined, held_out, chance)):
            judged.append((kept, parsed))
    return _without_implied(judged, units, seed)


def _parsed(proposals: Sequence[Proposal], rules: Rules) -> Iterator[tuple[Proposal, ParsedRule]]:
    """The proposals that the rule language can say, each once."""
    seen = set[str]()
    for proposal in proposals:
        rule = proposal.rule
        if not isinstance(rule, Rule) or proposal.text in seen:
            continue
        seen.add(proposal.text)
        try:
            parsed = Rules(
                rules.fields, [rule], scheme=rules.scheme, defaults=rules.defaults, rows=rules.rows
            ).parsed[0]
        except RulesError:
            continue
        yield proposal, parsed


def _mine_spans(truth: TruePages, seed: int) -> list[Mined]:
    """The rules about texts and places of spans."""
    known, found = truth.rules, []
    for proposal in (
        *propose_texts(truth, seed),
        *propose_boundaries(truth),
        *propose_orders(truth),
    ):
        rule = proposal.rule
        said = 0.0
        if isinstance(rule, Boundaries):
            shares = judge_boundaries(rule, truth)
            said = float(known.boundaries is not None)
        elif isinstance(rule, Order):
            shares = judge_order(rule, truth, seed)
            said = max((_order_said(rule, order) for order in known.orders), default=0.0)
        elif not isinstance(rule, Rule):
            shares = judge_texts(rule, spans_of(truth, rule.field, seed))
        if kept := _kept(proposal, *shares):
            found.append(replace(kept, said=said))
    return found


def _mine_lines(truth: TruePages, seed: int) -> list[Mined]:
    """The fields that stand on one printed line."""
    proposals = list(propose_lines(truth))
    known = {rule.check for rule in truth.rules.rules}
    found = []
    for proposal, shares in zip(proposals, judge_lines(proposals, truth, seed), strict=True):
        if kept := _kept(proposal, *shares):
            found.append(replace(kept, said=float(proposal.text in known)))
    return found


def _order_said(rule: Order, known: Order) -> float:
    """The share of the pairs of an order that a known order has, too."""
    place = {name: i for i, name in enumerate(known.fields)}
    pairs = [(a, b) for i, a in enumerate(rule.fields) for b in rule.fields[i + 1 :]]
    said = sum(a in place and b in place and place[a] < place[b] for a, b in pairs)
    return said / len(pairs)


def _kept(proposal: Proposal, mined: Share, held_out: Share, chance: Share) -> Mined | None:
    """The proposal with its figures, if these are good enough."""
    pages = mined + held_out
    weight = suggested_weight(pages, chance)
    if isinstance(proposal.rule, Boundaries):
        weight = min(weight, BOUNDARY_WEIGHT)
    sure = mined.interval(SURE)[0] > chance.value and held_out.interval()[1] >= MIN_SHARE
    # Where it was not looked for, it must hold about as often.
    confirmed = held_out.of >= 3 and held_out.interval()[1] >= mined.interval()[0]
    confirmed &= held_out.value > chance.value
    if not sure or not confirmed or chance.value > MAX_CHANCE or weight < MIN_WEIGHT:
        return None
    return Mined(proposal, pages, held_out, chance, weight)


def _without_implied(
    judged: list[tuple[Mined, ParsedRule]], units: Units, seed: int
) -> list[Mined]:
    """The rules that find out something that no better or shorter rule finds out."""
    judged = _without_variants(judged)
    caught = units.caught([*(parsed for _, parsed in judged), *units.known], seed)
    mine, theirs = caught[: len(judged)], caught[len(judged) :]
    order = sorted(range(len(judged)), key=lambda k: _rank(judged[k][0]))
    kept: list[int] = []
    for k in order:
        before = [i for i in kept if _may_imply(judged[i], judged[k])]
        equations = [judged[i][0].proposal for i in before]
        proposal = judged[k][0].proposal
        if any(proposal.compared == set(other.core) for other in equations if other.core):
            continue  # an inequality of the terms of an equation
        if not _follows(proposal, equations) or share_caught(mine[k], mine[before]) < IMPLIED:
            kept.append(k)
    return [
        replace(judged[k][0], said=share_caught(mine[k], theirs))
        for k in sorted(kept)
        if mine[k].any()
    ]


def _rank(mined: Mined) -> tuple[float, str]:
    """Short rules with much evidence first."""
    return -mined.score / mined.proposal.terms, mined.proposal.text


def _may_imply(one: tuple[Mined, ParsedRule], other: tuple[Mined, ParsedRule]) -> bool:
    """Whether a rule may make another one needless: it is no longer, or has far more evidence.

    An inequality needs no more than its two fields, so only a rule about these can replace it: any
    other may be impossible to check where the inequality is not.
    """
    (mined, rule), (less, compared) = one, other
    if less.proposal.compared and not rule.names <= compared.names:
        return False
    shorter = mined.proposal.terms <= less.proposal.terms
    return shorter or mined.score >= FAR_MORE * less.score


def _follows(proposal: Proposal, others: Sequence[Proposal]) -> bool:
    """Whether an equation is a sum of multiples of others; rules of other kinds may follow."""
    if not proposal.factors:
        return True
    both = [proposal.core, *(other.core for other in others if other.factors)]
    names = sorted({name for core in both for name in core})
    matrix = np.array([[float(core.get(name, 0)) for name in names] for core in both])
    return bool(np.linalg.matrix_rank(matrix) == np.linalg.matrix_rank(matrix[1:]))


def _without_variants(
    judged: list[tuple[Mined, ParsedRule]],
) -> list[tuple[Mined, ParsedRule]]:
    """Of equations that are variants of each other, the one that holds on most pages.

    An equation is a variant of another one if the other has all terms of its core.
    """
    best: list[tuple[Mined, ParsedRule]] = []
    for each, parsed in sorted(judged, key=lambda pair: (-pair[0].pages.holds, _rank(pair[0]))):
        if not any(other.proposal.has_core_of(each.proposal) for other, _ in best):
            best.append((each, parsed))
    return best


def share_caught(own: NDArray[np.bool_], others: NDArray[np.bool_]) -> float:
    """The share of the exchanges that a rule finds out that others find out, too."""
    if not own.any():
        return 1.0
    return float(others[:, own].any(axis=0).mean()) if len(others) else 0.0
