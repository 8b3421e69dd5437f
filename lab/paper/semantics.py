"""The effect of rules on values, by their semantics: presence, repeats, weights and prices.

All pages are decoded under each semantics, even if their gold labels break a rule. The baseline is
the best legal labelling. Values are compared as in ``evaluation``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from math import inf, isinf

import numpy as np
from numpy.typing import NDArray

from lab.paper.pages import Pages
from lawful.decoders import decode
from lawful.evaluation.scoreboard import Scoreboard
from lawful.rules.rule_set import Rules

PRESENCES = ("free", "keep")
REPEATS = ("first", "any", "agree")
WEIGHTS = (10.0, inf)
SWEEP = (0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0, 24.0, inf)
"""Weights measured with presence keep, repeat agree and unchecked 0."""

PRICES = (0.5, 1.0, 2.0, 3.0, 4.0)
"""Prices of vacuous rules measured with presence keep, repeat agree and weight 10."""

RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Meaning:
    """One semantics of rules; ``presence`` is empty for no rules."""

    presence: str
    repeat: str = ""
    weight: float | None = None  # None is hard: JSON has no infinity
    unchecked: float = 0.0

    @classmethod
    def of(cls, presence: str, repeat: str, weight: float) -> Meaning:
        """A meaning whose weight may be ``inf`` for hard."""
        return cls(presence, repeat, None if isinf(weight) else weight)

    def __str__(self) -> str:
        if not self.presence:
            return "best legal labelling, no rules"
        shown = "hard" if self.weight is None else f"weight {self.weight:g}"
        if self.unchecked:
            shown += f", unchecked {self.unchecked:g}"
        papers = ", the paper" if self == PAPER else ""
        return f"{self.presence}, {self.repeat}, {shown}{papers}"

    @property
    def is_in_table(self) -> bool:
        """Whether it is in the main figure: weights of ``WEIGHTS`` only, and no prices."""
        return not self.unchecked and (self.weight is None or self.weight in WEIGHTS)

    def applied(self, rules: Rules) -> Rules:
        """The rules with this semantics."""
        if not self.presence:
            return rules.with_defaults(presence="free", repeat="any", weight=0.0, unchecked=0.0)
        weight = inf if self.weight is None else self.weight
        return rules.with_defaults(
            presence=self.presence, repeat=self.repeat, weight=weight, unchecked=self.unchecked
        )


NOTHING = Meaning("")
PAPER = Meaning("free", "first")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of one meaning, with one entry per page."""

    outputs: str
    units: str
    fingerprint: str
    meaning: Meaning
    counts: list[tuple[int, int, int]]  # values: right, found, true
    right: list[bool]  # whether all values are right
    rules: list[tuple[int, int, int]]  # passed, violated, vacuous
    unchecked: list[bool]  # whether no rule could be checked
    proven: list[bool]  # whether it is proven optimal, or infeasible

    @property
    def key(self) -> Hashable:
        """The identity of the outcome, known before it is measured."""
        return self.outputs, self.units, self.fingerprint, self.meaning

    def f1(self, pages: NDArray[np.intp] | None = None) -> float:
        """Value F1 on all pages, or on these."""
        counts = np.array(self.counts)
        right, found, true = (counts if pages is None else counts[pages]).sum(axis=0).tolist()
        return 2 * right / (found + true) if found + true else 1.0

    def f1_resampled(self, samples: NDArray[np.intp]) -> NDArray[np.float64]:
        """Value F1 on each sample, a row of page indices."""
        right, found, true = np.moveaxis(np.array(self.counts)[samples].sum(axis=1), 1, 0)
        return np.asarray(2 * right / np.maximum(found + true, 1), dtype=np.float64)

    def against(self, baseline: Outcome) -> tuple[int, int]:
        """The numbers of pages fixed and broken, compared with the baseline."""
        now, before = np.array(self.right), np.array(baseline.right)
        return int((now & ~before).sum()), int((before & ~now).sum())


@dataclass(frozen=True, slots=True)
class Task:
    """An outcome to be measured."""

    pages: Pages
    fingerprint: str
    meaning: Meaning

    @property
    def key(self) -> Hashable:
        """The key of the outcome."""
        return self.pages.name, self.pages.units, self.fingerprint, self.meaning

    def __str__(self) -> str:
        return f"{self.pages.name}, {self.pages.units}: {self.meaning}"

    def measure(self) -> Outcome:
        """Decodes the pages; values are compared in the same way for all meanings."""
        judged_by = self.pages.rules
        rules = self.meaning.applied(judged_by)
        counts, right, states, unchecked, proven = [], [], [], [], []
        for page in self.pages.pages:
            decoding = decode(page.document, page.scores, rules)
            board = Scoreboard(judged_by)
            board.add(page, decoding)
            counts.append((board.values.right, board.values.found, board.values.true))
            right += board.right_pages
            states.append((board.passed, board.checked - board.passed, board.unchecked))
            unchecked.append(board.unchecked_pages > 0)
            proven.append(decoding.optimal or decoding.status == "infeasible")
        return Outcome(
            self.pages.name,
            self.pages.units,
            self.fingerprint,
            self.meaning,
            counts,
            right,
            states,
            unchecked,
            proven,
        )


def plan(pages: Pages) -> list[Task]:
    """The tasks of a table: no rules, every meaning, and the sweeps of weights and prices."""
    fingerprint = pages.fingerprint
    table = [Meaning.of(*each) for each in product(PRESENCES, REPEATS, WEIGHTS)]
    sweep = [Meaning.of("keep", "agree", weight) for weight in SWEEP]
    prices = [Meaning("keep", "agree", 10.0, price) for price in PRICES]
    meanings = dict.fromkeys((NOTHING, *table, *sweep, *prices))
    return [Task(pages, fingerprint, meaning) for meaning in meanings]


def samples(count: int, seed: int = 0) -> NDArray[np.intp]:
    """Bootstrap samples of page indices, of shape (``RESAMPLES``, count)."""
    return np.random.default_rng(seed).integers(0, count, (RESAMPLES, count))


def interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """The 95 % interval."""
    low, high = np.percentile(values, [2.5, 97.5]).tolist()
    return low, high


def by_pages(found: Sequence[Outcome]) -> list[list[Outcome]]:
    """The outcomes of each set of pages."""
    return [list(some) for _, some in groupby(found, key=lambda each: each.fingerprint)]


def markdown(found: Sequence[Outcome]) -> str:
    """Two tables per set of pages: all outcomes, and those of a weight chosen on half the pages."""
    return "\n\n".join("\n".join(_lines(some)) for some in by_pages(found))


def _lines(found: Sequence[Outcome]) -> Iterator[str]:
    baseline = next(each for each in found if each.meaning == NOTHING)
    drawn = samples(len(baseline.right))
    before = baseline.f1_resampled(drawn)
    yield f"### {baseline.outputs}, {baseline.units}: {len(baseline.right)} pages\n"
    heads = ["semantics", "value F1", "95 %", "gain, 95 %", "fixed / broken",
             "rules passed / violated / vacuous", "pages unchecked", "proven"]  # fmt: skip
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    for each in found:
        now = each.f1_resampled(drawn)
        low, high = (100 * bound for bound in interval(now))
        row = [str(each.meaning), f"{100 * each.f1():.1f}", f"{low:.1f} to {high:.1f}"]
        if each is baseline:
            row += ["", ""]
        else:
            low, high = (100 * bound for bound in interval(now - before))
            fixed, broken = each.against(baseline)
            row += [f"{low:+.1f} to {high:+.1f}", f"{fixed} / {broken}"]
        row.append(" / ".join(f"{count:,}" for count in np.sum(each.rules, axis=0)))
        row.append(str(sum(each.unchecked)))
        row.append(f"{np.mean(each.proven):.1%}")
        yield f"| {' | '.join(row)} |"
    yield "\n| weight chosen on one half | on the other half | weight 10 | no rules |"
    yield "| --- | --- | --- | --- |"
    weights = by_weight(found)
    order = np.random.default_rng(1).permutation(len(baseline.right))
    halves = np.array_split(order, 2)
    for mine, other in (halves, halves[::-1]):
        chosen = max(weights, key=lambda weight: weights[weight].f1(mine))
        shown = (weights[chosen], weights[10.0], baseline)
        cells = " | ".join(f"{100 * each.f1(other):.1f}" for each in shown)
        yield f"| {'hard' if isinf(chosen) else f'{chosen:g}'} | {cells} |"


def by_weight(found: Sequence[Outcome]) -> Mapping[float, Outcome]:
    """Outcomes with presence keep and repeat agree by weight, in rising order."""
    weights = {
        inf if each.meaning.weight is None else each.meaning.weight: each
        for each in found
        if (each.meaning.presence, each.meaning.repeat) == ("keep", "agree")
        and not each.meaning.unchecked
    }
    return dict(sorted(weights.items()))
