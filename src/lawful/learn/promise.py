"""A promise about documents that pass, from reviewed ones; and whether it still holds.

Trust is fitted to a third of the reviewed documents, which also name the thresholds to try, and
their order. The others are counted: of the documents above a threshold, the number of wrong ones is
binomial, and the threshold is shown to keep the promise if so few wrong ones were improbable
otherwise (the bound of Clopper and Pearson, Biometrika 26, 1934). Thresholds are tested one after
another, each at the full level, until the first that is not shown: so the probability that any of
them is wrongly taken as shown is at most that of a single test (fixed-sequence testing, as in
"Learn then Test", Angelopoulos, Bates, Candès, Jordan and Lei, 2021, section 3). The first one is
where a success is most probable by the third; each next one lets more documents pass.

``Watch`` tests the promise on new documents, at any time and again and again: the likelihood of
right and wrong ones under higher error rates, by that under the promised one, is a martingale or
falls if the promise holds, and reaches ``1 / level`` with at most the probability ``level`` (Ville,
1939; Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", 2023).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import ceil, isfinite, log, log1p, sqrt
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from lawful.base.errors import InputError, shown
from lawful.evaluation.split import sample
from lawful.learn.intervals import binomial_tail, upper_bound
from lawful.learn.parameters import Vector
from lawful.learn.trust import Trust, digest_of
from lawful.learn.truth import MIN_PAGES
from lawful.results.promise import Promise, share_in_words

FITTED = 1 / 3
"""The share of the documents that trust is fitted to; the promise rests on the others."""

FOLDS = 5
"""Parts of that share: the trust in documents of each, to choose thresholds, is by the others."""

STEPS = 20
"""Thresholds to choose from."""

POINTS = 50
"""Points of a promise's curve, at most."""

RATES = (1.5, 2.0, 3.0, 5.0, 10.0)
"""Error rates that ``Watch`` bets on, as multiples of the promised one."""

_MOST = 1_000_000  # documents; beyond, a promise is out of reach


class Reviewed(NamedTuple):
    """A decoded document whose truth is known: its doubts, and whether all it needs is right."""

    id: str
    doubts: Vector
    right: bool
    barred: bool = False  # does not pass, whatever the trust in it


class Tested(NamedTuple):
    """A threshold on the documents that trust was not fitted to: how many pass, and are wrong."""

    threshold: float
    passed: int
    wrong: int
    bound: float  # on the error rate
    shown: bool


@dataclass(frozen=True, slots=True)
class Finding:
    """A model of trust, and the thresholds that were tested, in order.

    ``trust`` has a promise if the first of them was shown; that of the last one that was.
    """

    trust: Trust
    error: float
    confidence: float
    documents: int  # that trust was not fitted to
    right: int  # of these
    tested: tuple[Tested, ...]
    more: int | None  # documents that a promise would take, if the others are like these

    @property
    def why_not(self) -> str:
        """Why there is no promise, and how many more documents could carry one."""
        first = self.tested[0]
        what = f"{share_in_words(self.error)} wrong ({100 * self.confidence:g} % sure)"
        found = (
            f"of {self.documents:,} documents that trust was not fitted to, {first.passed:,} pass "
            f"and {first.wrong:,} of these are wrong: at most {100 * first.bound:.1f} % wrong, "
            f"and {100 * self.error:g} % was asked for"
        )
        more = "more documents alone will not show it: it takes a better model, or more rules"
        if self.more is not None:
            more = f"if it goes on like this, about {self.more:,} more documents will show it"
        return f"no promise of at most {what}: {found}; {more}"


def promise(
    reviewed: Sequence[Reviewed],
    fields: Sequence[str],
    *,
    error: float = 0.01,
    confidence: float = 0.95,
    seed: int = 0,
) -> Finding:
    """Fits trust, and finds the largest share that can pass under a promise.

    Documents must be drawn at random, independently, from those that the promise is about. Which
    of them trust is fitted to depends on their ids and the seed only. Raises an ``InputError`` if
    there are too few of them for such a promise, however right they are, or if two have one id.
    """
    _check(reviewed, error, confidence)
    chosen = sample([each.id for each in reviewed], FITTED, seed)
    in_order = sorted(reviewed, key=lambda each: each.id)  # sums depend on it in their last digit
    first = [each for each in in_order if each.id in chosen]
    rest = [each for each in in_order if each.id not in chosen]
    seen = sorted(digest_of(each.id) for each in reviewed)
    trust = replace(_fitted(first, fields), reviewed=seen)
    trusts = np.array([-1.0 if each.barred else trust.of(each.doubts) for each in rest])
    wrong = np.array([not each.right for each in rest])
    tested: list[Tested] = []
    unseen = _unseen(first, fields, seed)
    for threshold in _sequence(unseen, len(rest), error, confidence):
        passed = trusts >= threshold
        count, bad = int(passed.sum()), int(wrong[passed].sum())
        is_shown = bool(count) and binomial_tail(bad, count, error) <= 1 - confidence
        bound = upper_bound(bad, count, confidence)
        tested.append(Tested(threshold, count, bad, bound, is_shown))
        if not is_shown:
            break
    if kept := [each for each in tested if each.shown]:
        best = kept[-1]
        trust = replace(
            trust,
            promise=Promise(
                error=error, confidence=confidence, threshold=best.threshold,
                documents=len(rest), passed=best.passed, wrong=best.wrong,
                curve=risks(trusts, wrong),
            ),
        )  # fmt: skip
    totals = [
        enough(float(wrong[passed].mean()), error, confidence, float(passed.mean()))
        for passed in (trusts >= threshold for threshold in unseen)
        if passed.any()
    ]
    total = min((each for each in totals if each is not None), default=None)
    return Finding(
        trust, error, confidence, len(rest), int((~wrong).sum()), tuple(tested),
        None if total is None else max(1, total - len(reviewed)),
    )  # fmt: skip


def risks(
    trusts: Vector, wrong: NDArray[np.bool_], points: int = POINTS
) -> list[tuple[float, float]]:
    """For rising shares of documents, the most trusted first, the share of wrong ones among them.

    Documents of equal trust are in or out together.
    """
    order = np.argsort(-trusts, kind="stable")
    last = np.append(np.flatnonzero(np.diff(trusts[order])), len(order) - 1)  # of equal ones
    bad = np.cumsum(wrong[order])
    most = min(points, len(last))
    some = last[np.unique(np.linspace(0, len(last) - 1, most).astype(int))] + 1
    return [(round(n / len(order), 4), round(int(bad[n - 1]) / int(n), 4)) for n in some.tolist()]


def fewest(error: float, confidence: float) -> int:
    """The number of passing documents without an error that carry a promise."""
    return ceil(log(1 - confidence) / log1p(-error) - 1e-9)


def fewest_reviewed(error: float, confidence: float) -> int:
    """The number of reviewed documents that carry a promise if all pass and are right."""
    least = fewest(error, confidence)
    count = max(MIN_PAGES, ceil(least / (1 - FITTED)) - 2)
    while count - max(1, round(FITTED * count)) < least:
        count += 1
    return count


def enough(rate: float, error: float, confidence: float, share: float = 1.0) -> int | None:
    """The number of documents that carry a promise, if any do: of which this share passes.

    Of those that pass, this rate is wrong.
    """
    if rate >= error:
        return None
    low, high, level = 0, 1, 1 - confidence
    while binomial_tail(ceil(rate * high), high, error) > level:
        low, high = high, 2 * high
        if high > _MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if binomial_tail(ceil(rate * middle), middle, error) > level:
            low = middle
        else:
            high = middle
    return ceil(high / share / (1 - FITTED))


def _check(reviewed: Sequence[Reviewed], error: float, confidence: float) -> None:
    for name, value in (("error", error), ("confidence", confidence)):
        if not (isfinite(value) and 0 < value < 1):
            raise InputError(f"{name} is {shown(value)}, expected a number between 0 and 1")
    (name, count) = max(Counter(each.id for each in reviewed).items(), key=lambda i: i[1])
    if count > 1:
        raise InputError(
            f"{count} documents have the id {name!r}: a promise counts each document once"
        )
    needed = fewest_reviewed(error, confidence)
    if len(reviewed) < needed:
        raise InputError(
            f"{len(reviewed)} reviewed documents cannot carry a promise of at most "
            f"{share_in_words(error)} wrong ({100 * confidence:g} % sure): that takes at least "
            f"{needed:,}, {needed - len(reviewed):,} more, if all of them pass and none is wrong"
        )


def _fitted(some: Sequence[Reviewed], fields: Sequence[str]) -> Trust:
    can_pass = [each for each in some if not each.barred] or some
    doubts, right = zip(*((each.doubts, each.right) for each in can_pass), strict=True)
    return Trust.fitted(doubts, right, fields)


def _unseen(some: Sequence[Reviewed], fields: Sequence[str], seed: int) -> list[float]:
    """The trust in each document that is not barred, by a model that was fitted without it."""
    shuffled = sorted(some, key=lambda each: sha256(f"{seed}/fold/{each.id}".encode()).digest())
    trusts = []
    for fold in range(FOLDS):
        others = [each for i, each in enumerate(shuffled) if i % FOLDS != fold]
        model = _fitted(others, fields)
        trusts += [model.of(e.doubts) for e in shuffled[fold::FOLDS] if not e.barred]
    return trusts


def _sequence(
    trusts: Sequence[float], documents: int, error: float, confidence: float
) -> list[float]:
    """The thresholds to test, in order, by the trust in other documents alone.

    A document of that trust is wrong with the probability ``1 - trust``. The first threshold is the
    one that most probably is shown; each next one is lower.
    """
    if not trusts:
        return [1.0]
    falling = np.sort(trusts)[::-1]
    steps = np.unique(np.ceil(np.arange(1, STEPS + 1) * len(falling) / STEPS).astype(int))
    chances = []
    for step in steps:
        rate, share = float(np.mean(1.0 - falling[:step])), step / len(falling)
        # Both parts are random, so how many will pass is known to within a few.
        vague = sqrt(documents * share * (1 - share) * (1 + documents / len(falling)))
        counts = [int(documents * share + off * vague) for off in (-1, 0, 1)]
        mosts = [_most_wrong(count, error, confidence) for count in counts]
        chances.append(sum(map(binomial_tail, mosts, counts, [rate] * len(counts))))
    start = int(np.argmax(chances)) if max(chances) > 0 else len(steps) - 1
    return [*(float(falling[step - 1]) for step in steps[start:-1]), 0.0]


def _most_wrong(count: int, error: float, confidence: float) -> int:
    """The most wrong ones of these documents that show an error rate; -1 if none do."""
    most = -1
    while most < count and binomial_tail(most + 1, count, error) <= 1 - confidence:
        most += 1
    return most


@dataclass(slots=True)
class Watch:
    """A test of a promise on new reviewed documents that pass, in the order they come.

    It may be looked at after each of them. If the promise holds, it is called broken with the
    probability ``1 - confidence`` at most, ever.
    """

    promise: Promise
    passed: int = 0
    wrong: int = 0
    most: float = 0.0  # the highest logarithm of the evidence so far
    _bets: list[float] = field(default_factory=lambda: [0.0] * len(RATES))

    def add(self, wrongs: Iterable[bool]) -> None:
        """Counts documents that pass, each wrong or not."""
        error = self.promise.error
        rates = [min(times * error, (1 + error) / 2) for times in RATES]
        for wrong in wrongs:
            self.passed += 1
            self.wrong += wrong
            for i, rate in enumerate(rates):
                self._bets[i] += log(rate / error) if wrong else log1p(-rate) - log1p(-error)
            evidence = float(np.logaddexp.reduce(self._bets)) - log(len(RATES))
            self.most = max(self.most, evidence)

    @property
    def needed(self) -> float:
        """The logarithm of the evidence at which the promise is called broken."""
        return -log(1 - self.promise.confidence)

    @property
    def is_broken(self) -> bool:
        """Whether more documents are wrong than the promise allows."""
        return self.most >= self.needed
