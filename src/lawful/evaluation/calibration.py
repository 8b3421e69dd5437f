"""Temperature scaling, so that a model's confidence matches its accuracy.

Networks are usually overconfident. Dividing log-probabilities by one number, fitted on documents
with gold labels, makes them calibrated on average (Guo et al., 2017). It does not change the order
of labels or labellings, so answers under hard rules without prices stay the same. It changes
confidences, and the scale on which weights, prices and ``max_cost`` are compared.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from math import exp, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lawful.base.errors import InputError
from lawful.documents.records import Scored
from lawful.documents.scores import check_temperature

BINS = 15
"""Number of equally wide bins of confidence, as in Guo et al."""

COLDEST, HOTTEST = 0.05, 20.0
"""The range that is searched for a temperature."""

_PRECISION = 1e-6  # of the logarithm of the temperature


@dataclass(frozen=True)
class Words:
    """A model's scores for words whose true labels are known.

    A word whose true label has probability zero is ``impossible``: its log-likelihood is minus
    infinity at any temperature. It is left out of likelihoods, but counts when confidence is
    compared with accuracy, unless the model forbids all its labels.
    """

    log_probs: NDArray[np.float64]  # (words, labels); shorter lists of labels padded with -inf
    gold: NDArray[np.intp]  # (words,)

    @classmethod
    def of(cls, documents: Iterable[Scored]) -> Words:
        """The words of documents, all of which must have gold labels."""
        rows, gold = [], []
        for scored in documents:
            if scored.gold is None:
                raise InputError(f"document {scored.document.id!r} has no gold labels")
            scores = scored.word_scores
            if scores.chain is not None:
                raise InputError(
                    f"document {scored.document.id!r} has scores of transitions, expected scores "
                    "of words only: a temperature is fitted to independent words"
                )
            index = {name: i for i, name in enumerate(scores.labels)}
            rows.append(scores.log_probs)
            gold += [index[name] for name in scored.gold]
        width = max((matrix.shape[1] for matrix in rows), default=1)
        log_probs = np.full((len(gold), width), -np.inf)
        start = 0
        for matrix in rows:
            log_probs[start : start + len(matrix), : matrix.shape[1]] = matrix
            start += len(matrix)
        return cls(log_probs, np.array(gold, dtype=np.intp))

    def __len__(self) -> int:
        return len(self.gold)

    @cached_property
    def _of_gold(self) -> NDArray[np.float64]:
        return np.asarray(self.log_probs[np.arange(len(self)), self.gold])

    @property
    def impossible(self) -> int:
        """The number of words whose true label has probability zero."""
        return int(np.isinf(self._of_gold).sum())

    @cached_property
    def _likely(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Log-probabilities relative to the best label, without impossible words: all, and true."""
        possible = np.isfinite(self._of_gold)
        rows = self.log_probs[possible]
        top = rows.max(axis=1, initial=-np.inf)
        return rows - top[:, None], self._of_gold[possible] - top

    @property
    def are_flat(self) -> bool:
        """Whether no temperature makes a difference: all allowed labels are equally probable."""
        rows, _ = self._likely
        return not rows[np.isfinite(rows)].any()

    def nll(self, temperature: float = 1.0) -> float:
        """The mean negative log-likelihood of the true labels, without impossible words."""
        rows, gold = self._likely
        if not len(gold):
            return 0.0
        total = np.log(np.exp(rows / temperature).sum(axis=1))
        return float((total - gold / temperature).mean())

    def slope(self, temperature: float) -> float:
        """The derivative of ``nll`` with respect to 1 / temperature, in which it is convex."""
        rows, gold = self._likely
        weights = np.exp(rows / temperature)
        expected = (weights * np.maximum(rows, -1e300)).sum(axis=1) / weights.sum(axis=1)
        return float((expected - gold).mean())


@dataclass(frozen=True, slots=True)
class Fit:
    """The temperature of highest likelihood; ``at_edge`` if it is an end of the range."""

    temperature: float
    at_edge: bool


def fit_temperature(words: Words) -> Fit:
    """The temperature at which the true labels are most likely, found by bisection.

    The likelihood is concave in 1 / temperature, so its slope changes sign at most once. If that is
    not between ``COLDEST`` and ``HOTTEST``, the better end is returned: ``COLDEST`` if the model is
    right about every word, since no confidence is then too high. If no temperature makes a
    difference, 1 is returned.
    """
    if len(words) == words.impossible:
        raise InputError(
            "no temperature can be fitted: "
            + (f"all {len(words)} true labels have probability zero" if len(words) else "no words")
        )
    if words.are_flat:
        return Fit(1.0, at_edge=False)
    low, high = log(COLDEST), log(HOTTEST)
    if words.slope(COLDEST) <= 0:
        return Fit(COLDEST, at_edge=True)
    if words.slope(HOTTEST) >= 0:
        return Fit(HOTTEST, at_edge=True)
    while high - low > _PRECISION:
        middle = (low + high) / 2
        # As the temperature rises its inverse falls, and the slope with it.
        low, high = (middle, high) if words.slope(exp(middle)) > 0 else (low, middle)
    return Fit(exp((low + high) / 2), at_edge=False)


@dataclass(frozen=True, slots=True)
class Bin:
    """Words whose best label has a probability above ``low`` and at most ``high``."""

    low: float
    high: float
    words: int
    confidence: float  # the mean of these probabilities
    accuracy: float  # the share of words whose best label is the true one

    @property
    def gap(self) -> float:
        """Confidence minus accuracy: positive if overconfident."""
        return self.confidence - self.accuracy


@dataclass(frozen=True, slots=True)
class Reliability:
    """Confidence and accuracy of the best labels of words, overall and by bin."""

    temperature: float
    words: int
    impossible: int
    nll: float
    accuracy: float
    confidence: float
    bins: tuple[Bin, ...]

    @property
    def ece(self) -> float:
        """The expected calibration error: the mean absolute gap, weighted by words."""
        words = sum(found.words for found in self.bins)
        return sum(found.words * abs(found.gap) for found in self.bins) / words if words else 0.0

    def record(self) -> dict[str, Any]:
        """The measurements as plain values."""
        return {"ece": self.ece} | asdict(self)


def measure(words: Words, temperature: float = 1.0) -> Reliability:
    """The reliability of a model's best labels at a temperature, in ``BINS`` bins of confidence."""
    check_temperature(temperature)
    rows = words.log_probs
    top = rows.max(axis=1, initial=-np.inf)
    said = np.isfinite(top)  # a word whose labels are all forbidden has no best label
    rows, top = rows[said], top[said]
    confidence = 1 / np.exp((rows - top[:, None]) / temperature).sum(axis=1)
    right = rows.argmax(axis=1) == words.gold[said]
    which = np.clip(np.ceil(confidence * BINS).astype(np.intp) - 1, 0, BINS - 1)
    bins = tuple(
        Bin(
            i / BINS,
            (i + 1) / BINS,
            int(chosen.sum()),
            float(confidence[chosen].mean()),
            float(right[chosen].mean()),
        )
        for i in range(BINS)
        if (chosen := which == i).any()
    )
    return Reliability(
        temperature=temperature,
        words=len(words),
        impossible=words.impossible,
        nll=words.nll(temperature),
        accuracy=float(right.mean()) if len(right) else 0.0,
        confidence=float(confidence.mean()) if len(right) else 0.0,
        bins=bins,
    )
