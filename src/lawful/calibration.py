"""Temperature: how much to trust what a model says of itself.

Networks are usually too sure. Dividing log-probabilities by one number, fitted on documents whose
true labels are known, makes them honest on average (Guo et al., 2017). It changes no order of
labels or labellings, so it changes nothing that hard rules decide; it sets the scale on which
weights of rules, ``max_cost`` and confidences are measured.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from math import exp, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lawful.document import Scored
from lawful.errors import InputError
from lawful.scores import check_temperature

BINS = 15
"""Of confidence, equally wide: as many as the literature has."""

COLDEST, HOTTEST = 0.05, 20.0
"""Between these a temperature is looked for."""

_PRECISION = 1e-6  # of the logarithm of the temperature


@dataclass(frozen=True)
class Words:
    """A model's scores for words whose true labels are known.

    A word whose true label has probability zero is ``impossible``: whatever the temperature, its
    log-likelihood is minus infinity. It is counted, and left out of likelihoods; it stays among
    the words whose confidence is compared with accuracy, unless the model forbids all its labels.
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
            if scored.scores.chain is not None:
                raise InputError(
                    f"document {scored.document.id!r} has scores of transitions: a temperature is "
                    "fitted to words on their own"
                )
            index = {name: i for i, name in enumerate(scored.scores.labels)}
            rows.append(scored.scores.log_probs)
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
        """The words that have a likelihood, by their best label: all labels, and the true one."""
        possible = np.isfinite(self._of_gold)
        rows = self.log_probs[possible]
        top = rows.max(axis=1, initial=-np.inf)
        return rows - top[:, None], self._of_gold[possible] - top

    @property
    def are_flat(self) -> bool:
        """Whether no temperature makes a difference: labels are equally likely, or forbidden."""
        rows, _ = self._likely
        return not rows[np.isfinite(rows)].any()

    def nll(self, temperature: float = 1.0) -> float:
        """The mean negative log-likelihood of the true labels, impossible ones left out."""
        rows, gold = self._likely
        if not len(gold):
            return 0.0
        total = np.log(np.exp(rows / temperature).sum(axis=1))
        return float((total - gold / temperature).mean())

    def slope(self, temperature: float) -> float:
        """The derivative of ``nll`` by one over the temperature, in which it is convex."""
        rows, gold = self._likely
        weights = np.exp(rows / temperature)
        expected = (weights * np.maximum(rows, -1e300)).sum(axis=1) / weights.sum(axis=1)
        return float((expected - gold).mean())


@dataclass(frozen=True, slots=True)
class Fit:
    """The temperature of highest likelihood; ``at_edge`` when there was none within bounds."""

    temperature: float
    at_edge: bool


def fit_temperature(words: Words) -> Fit:
    """The temperature at which the true labels are most likely.

    By bisection: the likelihood is concave in one over the temperature, so its slope changes sign
    once. Where it does not between ``COLDEST`` and ``HOTTEST``, the better end comes back: the
    coldest when the model is right about every word, for then no certainty is too much. One where
    it makes no difference.
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
    """Words whose best label has a probability above ``low`` and up to ``high``."""

    low: float
    high: float
    words: int
    confidence: float  # the mean of these probabilities
    accuracy: float  # how often that label is the true one

    @property
    def gap(self) -> float:
        """By how much it is too sure; negative where it is not sure enough."""
        return self.confidence - self.accuracy


@dataclass(frozen=True, slots=True)
class Reliability:
    """Whether the best label of a word is right as often as it is said to be."""

    temperature: float
    words: int
    impossible: int
    nll: float
    accuracy: float
    confidence: float
    bins: tuple[Bin, ...]

    @property
    def ece(self) -> float:
        """The expected calibration error of top labels: the mean size of the gap, by words."""
        words = sum(found.words for found in self.bins)
        return sum(found.words * abs(found.gap) for found in self.bins) / words if words else 0.0

    def record(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {"ece": self.ece} | asdict(self)


def measure(words: Words, temperature: float = 1.0) -> Reliability:
    """The reliability of a model's best labels at a temperature, in ``BINS`` bins of confidence."""
    check_temperature(temperature)
    rows = words.log_probs
    top = rows.max(axis=1, initial=-np.inf)
    said = np.isfinite(top)  # a word whose labels are all forbidden has no best one
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
