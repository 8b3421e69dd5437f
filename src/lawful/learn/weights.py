"""Weights that are learned from scored documents with true labels, and what they are worth.

The honest figure comes from nested cross-validation: each fold is decoded with weights, and a
temperature, that were fitted on the other folds, where the strength of the prior was chosen by
folds of these. Only if that shows a gain over the defaults are learned weights recommended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from lawful.base.errors import InputError
from lawful.decoders import decode
from lawful.decoders.exact import Exact, find_best
from lawful.documents.records import Scored
from lawful.evaluation.calibration import Words, fit_temperature
from lawful.evaluation.scoreboard import Counts, Scoreboard, best_legal
from lawful.learn.candidates import CandidatePage, Finder
from lawful.learn.optimizer import Loss, ScoredReadings, fit, precisions
from lawful.learn.parameters import Parameter, Parameters, Part, Vector
from lawful.learn.truth import check_enough
from lawful.rules.rule_set import Rules
from lawful.search.problem import Problem

Measure: TypeAlias = Literal["values", "entities"]

SPREADS = (0.0, 1.0, 3.0, 10.0)
"""Nats within which the defaults are usually right, to choose from; 0 keeps the defaults."""

FOLDS, INNER_FOLDS = 5, 3

ROUNDS = 3
"""Rounds in which the answers under fitted weights become candidates."""

RESAMPLES = 1000
"""Resamples of pages for the interval of a gain."""

REFITS = 100
"""Resamples of pages for the intervals of weights."""

DOUBTFUL, WRONG = 0.5, 0.1
"""Shares of true pages on which a rule holds, of those on which it can be checked. Below the first,
its prior is at zero instead of its default; below the second, it is switched off."""


class Gain(NamedTuple):
    """A difference of F1, and its 95 % interval by resampling pages."""

    value: float
    low: float
    high: float

    @property
    def is_shown(self) -> bool:
        """Whether zero is below the interval."""
        return self.low > 0

    def __str__(self) -> str:
        return f"{100 * self.value:+.1f} ({100 * self.low:+.1f} to {100 * self.high:+.1f})"


class LearnedWeight(NamedTuple):
    """A parameter with its learned value, and its 95 % interval by resampling pages."""

    parameter: Parameter
    value: float
    low: float
    high: float

    @property
    def is_changed(self) -> bool:
        """Whether it is another one than the default, in the two decimals that are written."""
        return round(self.value, 2) != round(self.parameter.default, 2)


class RuleValue(NamedTuple):
    """What a rule is worth: F1 with it minus F1 without it, on pages it was not fitted on."""

    part: Part
    id: str
    gain: Gain


@dataclass(frozen=True)
class Learned:
    """Learned weights and what they are worth on unseen pages.

    ``boards`` compares the best legal labelling, the defaults and the learned weights, each page
    decoded with weights that were fitted without it. ``rules`` has the weights that were fitted to
    all pages.
    """

    rules: Rules
    weights: tuple[LearnedWeight, ...]
    temperature: float
    spread: float
    measure: Measure
    boards: dict[str, Scoreboard]
    gain: Gain  # over the defaults
    values: tuple[RuleValue, ...]
    pages: int
    impossible: int  # pages whose truth has probability zero, or violates a hard rule

    def record(self) -> dict[str, Any]:
        """The results as plain values."""
        return {
            "pages": self.pages,
            "impossible": self.impossible,
            "temperature": self.temperature,
            "spread": self.spread,
            "measure": self.measure,
            "gain": self.gain._asdict() | {"shown": self.gain.is_shown},
            "weights": [
                {
                    "part": w.parameter.part,
                    "id": w.parameter.id,
                    "default": w.parameter.default,
                    "value": w.value,
                    "low": w.low,
                    "high": w.high,
                }
                for w in self.weights
            ],
            "rules": [{"part": v.part, "id": v.id, "worth": v.gain._asdict()} for v in self.values],
            "boards": {name: board.record() for name, board in self.boards.items()},
        }


NONE, DEFAULT, LEARNED = "no rules", "defaults", "learned"
"""The ways of decoding that are compared."""


def learn(
    pages: Sequence[Scored],
    rules: Rules,
    *,
    folds: int = FOLDS,
    seed: int = 0,
    measure: Measure | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Learned:
    """Learns weights, and measures them on pages that they were not fitted on.

    ``measure`` is what F1 is about: values of fields, by default if there are any, or entities.
    Repeatable by the seed. Raises an ``InputError`` for fewer than 30 documents, and for scores
    with transitions.
    """
    check_enough(len(pages))
    if not 2 <= folds <= len(pages):
        raise InputError(f"folds is {folds}, expected 2 to {len(pages)}")
    parameters = Parameters(rules)
    finder = Finder(parameters)
    progress("candidates")
    found = [finder.page(page) for page in pages]
    fold_of = np.random.default_rng(seed).permutation(np.arange(len(pages)) % folds)
    learner = Learner(parameters, pages, found, seed)
    fitted: list[Vector] = []
    for fold in range(folds):
        progress(f"fold {fold + 1} of {folds}")
        rest = np.flatnonzero(fold_of != fold).tolist()
        fitted.append(learner.fit(rest).weights)
    progress("all pages")
    final = learner.fit(list(range(len(pages))))

    def decoded(weights: Sequence[Vector]) -> list[Sequence[str]]:
        sets = [parameters.apply(each) for each in weights]
        return [
            best_labels(page, sets[fold])
            for page, fold in zip(pages, fold_of.tolist(), strict=True)
        ]

    progress("comparing")
    answers: dict[str, Sequence[Sequence[str]]] = {
        NONE: [*(best_legal(page, rules) for page in pages)],
        DEFAULT: decoded([parameters.defaults] * folds),
        LEARNED: decoded(fitted),
    }
    scores = {name: _Scores.of(pages, labels, rules) for name, labels in answers.items()}
    measure = measure or ("values" if scores[DEFAULT].board.values.true else "entities")
    values = []
    for part, id_ in _parts(rules):
        progress(f"without {id_ or part}")
        without = [parameters.without(each, part, id_) for each in fitted]
        left = _Scores.of(pages, decoded(without), rules)
        gain = _gain(left, scores[LEARNED], measure, seed)
        values.append(RuleValue(part, id_, gain))
    progress("intervals")
    low, high = learner.intervals(final)
    return Learned(
        rules=parameters.apply(np.round(final.weights, 2)),
        weights=tuple(
            LearnedWeight(parameter, *map(float, each))
            for parameter, *each in zip(parameters.all, final.weights, low, high, strict=True)
        ),
        temperature=final.temperature,
        spread=final.spread,
        measure=measure,
        boards={name: each.board for name, each in scores.items()},
        gain=_gain(scores[DEFAULT], scores[LEARNED], measure, seed),
        values=tuple(values),
        pages=len(pages),
        impossible=sum(page is None for page in found),
    )


def best_labels(page: Scored, rules: Rules) -> Sequence[str]:
    """The labels of the decoding, without its explanations."""
    problem = Problem(page.document, page.scores, rules)
    if len(problem.judge.choices) > 1:
        return decode(page.document, page.scores, rules).labels
    found = find_best(problem, Exact.default_budget, problem.judge.plan())
    return best_legal(page, rules) if found.best is None else problem.names(found.best)


def _parts(rules: Rules) -> Iterable[tuple[Part, str]]:
    """The rules whose worth is measured."""
    for rule in rules.parsed:
        yield "weight", rule.id
    for order in rules.orders:
        yield "order", order.id or ""
    if rules.boundaries is not None:
        yield "boundaries", ""
    if rules.words:
        yield "words", ""


class Fitted(NamedTuple):
    """Weights that were fitted to some pages, and how."""

    weights: Vector
    temperature: float
    spread: float
    candidates: list[ScoredReadings]


class Learner:
    """Fits weights to some of the pages."""

    def __init__(
        self,
        parameters: Parameters,
        pages: Sequence[Scored],
        found: Sequence[CandidatePage | None],
        seed: int,
    ) -> None:
        self.parameters = parameters
        self.pages = pages
        self.found = found
        self.seed = seed

    def fit(self, which: list[int]) -> Fitted:
        """The weights for pages, with everything chosen on these pages alone."""
        temperature = self._temperature(which)
        pages = [page.copy() for i in which if (page := self.found[i]) is not None]
        weights, spread = self.parameters.defaults, 0.0
        candidates = [page.candidates() for page in pages]
        for _ in range(ROUNDS if pages else 0):
            spread = self._choose_spread(candidates, temperature)
            weights = self._fit(candidates, temperature, spread)
            rules = self.parameters.apply(weights)
            if not sum(page.add_best(rules) for page in pages):
                break
            candidates = [page.candidates() for page in pages]
        return Fitted(weights, temperature, spread, candidates)

    def intervals(self, fitted: Fitted) -> tuple[Vector, Vector]:
        """The 95 % intervals of weights, by resampling pages."""
        weights, temperature, spread, candidates = fitted
        if spread == 0 or not candidates:
            return weights, weights
        random = np.random.default_rng([self.seed, 3])
        found = []
        for _ in range(REFITS):
            some = random.integers(len(candidates), size=len(candidates))
            found.append(self._fit([candidates[i] for i in some], temperature, spread, weights))
        low, high = np.quantile(found, [0.025, 0.975], axis=0)
        return low, high

    def _temperature(self, which: list[int]) -> float:
        words = Words.of(self.pages[i] for i in which)
        return 1.0 if len(words) == words.impossible else fit_temperature(words).temperature

    def _choose_spread(self, candidates: list[ScoredReadings], temperature: float) -> float:
        """The spread with which unseen pages are most likely."""
        random = np.random.default_rng([self.seed, 2])
        folds = random.permutation(np.arange(len(candidates)) % INNER_FOLDS)
        totals = dict.fromkeys(SPREADS, 0.0)
        for fold in range(INNER_FOLDS):
            fitted, rest = (
                [page for page, own in zip(candidates, folds, strict=True) if (own != fold) == out]
                for out in (True, False)
            )
            if not fitted or not rest:
                return 0.0
            for spread in SPREADS:
                weights = self._fit(fitted, temperature, spread)
                loss = Loss.of(rest, temperature, weights, np.zeros(len(weights)))
                totals[spread] += loss.nll(weights)
        return min(totals, key=lambda spread: (totals[spread], spread))

    def _fit(
        self,
        candidates: list[ScoredReadings],
        temperature: float,
        spread: float,
        start: Vector | None = None,
    ) -> Vector:
        if spread == 0:
            return self.parameters.defaults
        return fit(self._loss(candidates, temperature, spread), start)

    def _loss(self, candidates: list[ScoredReadings], temperature: float, spread: float) -> Loss:
        scales = [parameter.scale for parameter in self.parameters.all]
        loss = Loss.of(
            candidates, temperature, self.parameters.defaults, precisions(scales, spread)
        )
        return self._without_wrong(loss)

    def _without_wrong(self, loss: Loss) -> Loss:
        """The loss with other priors of rules that true pages usually break."""
        true = loss.charged[loss.starts] > 0
        prior, charged = loss.defaults.copy(), loss.charged.copy()
        index = {(p.part, p.id): i for i, p in enumerate(self.parameters.all)}
        for (part, id_), i in index.items():
            if part == "order" and true[:, i].sum() > (1 - DOUBTFUL) * len(true):
                prior[i] = 0.0
            if part != "weight":
                continue
            price = index["unchecked", id_]
            broken = int(true[:, i].sum())
            checked = int((true[:, i] | ~true[:, price]).sum())
            if checked - broken < DOUBTFUL * checked:
                prior[i] = 0.0
            if checked - broken < WRONG * checked:
                prior[price] = 0.0
                charged[:, [i, price]] = 0.0  # they stay at zero
        return replace(loss, defaults=prior, charged=charged)


class _Scores(NamedTuple):
    """A scoreboard, and the counts of each page."""

    board: Scoreboard
    values: np.ndarray[tuple[int, int], np.dtype[np.int64]]  # (pages, 3)
    entities: np.ndarray[tuple[int, int], np.dtype[np.int64]]

    @classmethod
    def of(cls, pages: Sequence[Scored], answers: Sequence[Sequence[str]], rules: Rules) -> _Scores:
        board = Scoreboard(rules)
        values, entities = [], []
        for page, labels in zip(pages, answers, strict=True):
            before = _counts(board.values), _counts(board.entities)
            board.add_labels(page, labels)
            values.append(_counts(board.values) - before[0])
            entities.append(_counts(board.entities) - before[1])
        return cls(board, np.array(values), np.array(entities))


def _counts(counts: Counts) -> Any:
    return np.array([counts.right, counts.found, counts.true])


def _gain(before: _Scores, now: _Scores, measure: Measure, seed: int) -> Gain:
    """F1 now minus F1 before, with an interval by resampling pages."""
    one, other = (getattr(each, measure) for each in (before, now))
    random = np.random.default_rng([seed, 4])
    picks = random.integers(len(one), size=(RESAMPLES, len(one)))
    found = _f1(other[picks].sum(axis=1)) - _f1(one[picks].sum(axis=1))
    low, high = np.quantile(found, [0.025, 0.975])
    value = float(_f1(other.sum(axis=0)) - _f1(one.sum(axis=0)))
    return Gain(value, float(low), float(high))


def _f1(counts: Any) -> Any:
    total = counts[..., 1] + counts[..., 2]
    return np.where(total > 0, 2 * counts[..., 0] / np.maximum(total, 1), 1.0)
