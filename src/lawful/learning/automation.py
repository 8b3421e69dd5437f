"""Automation: the documents that need no review, and how many of them are wrong.

A model of trust is fitted on one half of the documents, and measured on the other. Documents whose
trust reaches a threshold are automated. If trust is true, the share of these that are wrong is
their mean distrust, ``1 - trust``. So the threshold for a wanted error rate is the lowest at which
the mean distrust is at most that, over documents of the first half; the trust in each of these is
by a model that was fitted without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import ceil, isfinite
from typing import Any, NamedTuple

import numpy as np

from lawful.datasets.split import sample
from lawful.errors import InputError, shown
from lawful.learning.parameters import Vector
from lawful.learning.shares import Share, Z
from lawful.learning.trust import Trust
from lawful.learning.truth import LEAST_PAGES

FOLDS = 5
"""Parts of the first half: the trust in documents of each is by a model of the others."""

STEPS = 10
"""Points of the curve."""


DIGITS = 10_000
"""Thresholds are rounded up to four decimals."""


class Outcome(NamedTuple):
    """A decoded document whose truth is known: its doubts, and whether all fields are right."""

    id: str
    doubts: Vector
    right: bool


class Point(NamedTuple):
    """What is automated from a threshold on: how many documents, and how many are right."""

    threshold: float
    right: Share
    documents: int  # automated or not

    @property
    def automated(self) -> float:
        """The share of documents that are automated."""
        return self.right.of / self.documents if self.documents else 0.0

    @property
    def error(self) -> float:
        """The share of automated documents that are wrong; 0 of none."""
        return (self.right.of - self.right.holds) / self.right.of if self.right.of else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the error rate."""
        low, high = self.right.interval()
        return 1.0 - high, 1.0 - low

    def record(self) -> dict[str, Any]:
        """The point as plain values."""
        low, high = self.interval
        return {
            "threshold": self.threshold,
            "documents": self.documents,
            "automated": self.right.of,
            "right": self.right.holds,
            "error": self.error,
            "low": low,
            "high": high,
        }


@dataclass(frozen=True, slots=True)
class Automation:
    """A model of trust, and what it automates of documents that it was not fitted on.

    ``threshold`` is the one for the ``wanted`` error rate; ``None`` if no trust is high enough.
    """

    trust: Trust
    wanted: float
    threshold: float | None
    fitted_right: Share
    tested: tuple[tuple[float, bool], ...]  # trust, and whether it is right; most trusted first

    @property
    def tested_right(self) -> Share:
        """The held-out documents that are right."""
        return Share(sum(right for _, right in self.tested), len(self.tested))

    @property
    def mean_trust(self) -> float:
        """The mean trust in held-out documents: of a true model, the share that is right."""
        return sum(trust for trust, _ in self.tested) / len(self.tested)

    def at(self, threshold: float) -> Point:
        """What is automated of the held-out documents, from a threshold on."""
        chosen = [right for trust, right in self.tested if trust >= threshold]
        return Point(threshold, Share(sum(chosen), len(chosen)), len(self.tested))

    @property
    def curve(self) -> tuple[Point, ...]:
        """Error rates by the share of held-out documents that is automated, in tenths.

        Documents of the same trust are automated together.
        """
        places = [ceil(len(self.tested) * step / STEPS) - 1 for step in range(1, STEPS + 1)]
        thresholds = dict.fromkeys(self.tested[place][0] for place in places)
        return tuple(map(self.at, thresholds))

    @property
    def point(self) -> Point:
        """What the threshold automates of the held-out documents."""
        if self.threshold is None:
            return Point(1.0, Share(0, 0), len(self.tested))
        return self.at(self.threshold)

    @property
    def is_shown(self) -> bool:
        """Whether held-out documents show that the error rate is at most the wanted one."""
        return self.point.interval[1] <= self.wanted

    def record(self) -> dict[str, Any]:
        """The results on held-out documents as plain values."""
        return {
            "wanted_error": self.wanted,
            "threshold": self.threshold,
            "fitted_on": self.fitted_right.record(),
            "held_out": self.tested_right.record(),
            "mean_trust": self.mean_trust,
            "at_threshold": self.point.record(),
            "shown": self.is_shown,
            "curve": [point.record() for point in self.curve],
        }


def automate(
    outcomes: Sequence[Outcome], fields: Sequence[str], *, wanted: float = 0.01, seed: int = 0
) -> Automation:
    """Fits a model of trust on one half of some documents, and measures it on the other.

    Which half a document is in depends on its id and the seed only. Raises an ``InputError`` for
    fewer than 30 documents.
    """
    if not (isfinite(wanted) and 0 < wanted < 1):
        raise InputError(f"wanted error rate is {shown(wanted)}, expected a number between 0 and 1")
    ids = {each.id for each in outcomes}
    if len(ids) < LEAST_PAGES:
        raise InputError(
            f"{len(ids)} document{'s' * (len(ids) != 1)} with true labels, expected at least "
            f"{LEAST_PAGES}: fewer do not show which decodings can be trusted"
        )
    chosen = sample([each.id for each in outcomes], 0.5, seed)
    in_order = sorted(outcomes, key=lambda each: each.id)  # sums depend on it in their last digit
    first = [each for each in in_order if each.id in chosen]
    rest = [each for each in in_order if each.id not in chosen]
    trust = _fitted(first, fields)
    tested = sorted(((trust.of(each.doubts), each.right) for each in rest), key=lambda t: -t[0])
    threshold = threshold_for(wanted, _unseen(first, fields, seed))
    if threshold is not None:
        threshold = ceil(DIGITS * threshold) / DIGITS  # as printed, for the user to type
    right = Share(sum(each.right for each in first), len(first))
    return Automation(trust, wanted, threshold, right, tuple(tested))


def threshold_for(wanted: float, trusts: Iterable[float]) -> float | None:
    """The lowest trust from which on the mean distrust is at most ``wanted``; ``None`` if none."""
    values, counts = np.unique(np.array(list(trusts), float), return_counts=True)
    values, counts = values[::-1], counts[::-1]
    means = np.cumsum((1.0 - values) * counts) / np.cumsum(counts)  # they rise
    fine = np.flatnonzero(means <= wanted)
    return float(values[fine[-1]]) if len(fine) else None


def documents_to_show(wanted: float) -> int:
    """The number of documents without an error that show an error rate of at most ``wanted``."""
    return ceil(Z * Z * (1 - wanted) / wanted)


def _fitted(some: Sequence[Outcome], fields: Sequence[str]) -> Trust:
    return Trust.fitted([each.doubts for each in some], [each.right for each in some], fields)


def _unseen(some: Sequence[Outcome], fields: Sequence[str], seed: int) -> list[float]:
    """The trust in each document, by a model that was fitted without it."""
    shuffled = sorted(
        {each.id for each in some}, key=lambda name: sha256(f"{seed}/fold/{name}".encode()).digest()
    )
    fold_of = {name: i % FOLDS for i, name in enumerate(shuffled)}
    trusts = []
    for fold in range(FOLDS):
        model = _fitted([each for each in some if fold_of[each.id] != fold], fields)
        trusts += [model.of(each.doubts) for each in some if fold_of[each.id] == fold]
    return trusts
