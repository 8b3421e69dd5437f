"""The convex fit of weights: true readings against others, by their violation patterns.

With weights ``w``, a candidate reading of log-probability ``s`` that is charged ``v`` has the
probability ``exp((s - w v) / T)``, divided by the sum of that over all candidates of its page. The
loss is the negative log-likelihood of the true readings, plus a quadratic prior at the defaults. It
is convex in ``w``; the minimum with ``w >= 0`` is found by Newton's method, on the parameters that
are not held at zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lawful.learn.parameters import Vector

MAX_STEPS = 100
PRECISION = 1e-8  # of the projected gradient, per page


class ScoredReadings(NamedTuple):
    """The candidate readings of one page; the first is the true one."""

    scores: Vector  # (candidates,): log-probabilities, less what is not learned
    charged: Vector  # (candidates, parameters): how often each parameter is charged


@dataclass(frozen=True)
class Loss:
    """The loss over some pages, as a function of the parameters."""

    scores: Vector  # (candidates of all pages,)
    charged: Vector  # (candidates of all pages, parameters)
    starts: NDArray[np.intp]  # (pages,): the first candidate of each page, which is the true one
    temperature: float
    defaults: Vector
    precision: Vector  # (parameters,): of the prior

    @classmethod
    def of(
        cls,
        pages: Sequence[ScoredReadings],
        temperature: float,
        defaults: Vector,
        precision: Vector,
    ) -> Loss:
        """The loss over pages, of which there must be at least one."""
        sizes = [len(page.scores) for page in pages]
        return cls(
            np.concatenate([page.scores for page in pages]),
            np.concatenate([page.charged for page in pages]),
            np.cumsum([0, *sizes[:-1]]),
            temperature,
            defaults,
            precision,
        )

    def _likelihoods(self, weights: Vector) -> tuple[Vector, Vector]:
        """Log-probabilities of all candidates, and those of the true ones."""
        worth = (self.scores - self.charged @ weights) / self.temperature
        top = np.maximum.reduceat(worth, self.starts)
        sizes = np.diff([*self.starts, len(worth)])
        total = np.log(np.add.reduceat(np.exp(worth - np.repeat(top, sizes)), self.starts)) + top
        log_probs = worth - np.repeat(total, sizes)
        return log_probs, log_probs[self.starts]

    def nll(self, weights: Vector) -> float:
        """The negative log-likelihood of the true readings, without the prior."""
        return float(-self._likelihoods(weights)[1].sum())

    def value(self, weights: Vector) -> float:
        """The loss."""
        away = weights - self.defaults
        return self.nll(weights) + float(self.precision @ away**2) / 2

    def slope(self, weights: Vector) -> Vector:
        """The gradient of the loss."""
        probs = np.exp(self._likelihoods(weights)[0])
        expected = probs @ self.charged
        true = self.charged[self.starts].sum(axis=0)
        slope: Vector = (true - expected) / self.temperature
        return slope + self.precision * (weights - self.defaults)

    def curvature(self, weights: Vector) -> Vector:
        """The Hessian of the loss: (parameters, parameters)."""
        probs = np.exp(self._likelihoods(weights)[0])
        weighted = self.charged * probs[:, None]
        means = np.add.reduceat(weighted, self.starts, axis=0)
        spread = self.charged.T @ weighted - means.T @ means
        curvature: Vector = spread / self.temperature**2 + np.diag(self.precision)
        return curvature


def fit(loss: Loss, start: Vector | None = None) -> Vector:
    """The weights of least loss that are not negative.

    Weights that are charged nowhere only have their prior, and keep their defaults.
    """
    charged = np.flatnonzero(loss.charged.any(axis=0))
    some = replace(
        loss,
        charged=loss.charged[:, charged],
        defaults=loss.defaults[charged],
        precision=loss.precision[charged],
    )
    found = loss.defaults.copy()
    first = loss.defaults if start is None else start
    found[charged] = _least(some, np.maximum(first[charged], 0.0))
    return found


def _least(loss: Loss, weights: Vector) -> Vector:
    """The weights of least loss, by Newton's method on those that are not held at zero."""
    value = loss.value(weights)
    for _ in range(MAX_STEPS):
        slope = loss.slope(weights)
        free = (weights > 0) | (slope < 0)
        if np.abs(slope[free]).max(initial=0.0) <= PRECISION * len(loss.starts):
            break
        step = np.zeros_like(weights)
        curvature = loss.curvature(weights)[np.ix_(free, free)]
        step[free] = np.linalg.lstsq(curvature, -slope[free], rcond=None)[0]
        size = 1.0
        while size > 1e-10:
            new = np.maximum(weights + size * step, 0.0)
            new_value = loss.value(new)
            if new_value <= value + 1e-4 * slope @ (new - weights):
                break
            size /= 2
        else:
            break
        weights, value = new, new_value
    return weights


def precisions(scales: Iterable[float], spread: float) -> Vector:
    """The precision of each prior, for defaults that are usually right within a spread in nats."""
    return 1.0 / (spread * np.array(list(scales), float)) ** 2
