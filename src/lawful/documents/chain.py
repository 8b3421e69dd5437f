"""A linear-chain CRF: transition scores, and sums over all labellings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lawful.base.errors import ScoresError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


LARGEST_COST = 1e100
"""Largest absolute value of a finite cost, so that no sum of costs overflows."""


class Chain(NamedTuple):
    """The transition scores of a linear-chain CRF: higher is better, ``-inf`` forbids."""

    start: NDArray[np.float64]  # (labels,)
    between: NDArray[np.float64]  # (labels, labels): from, to
    end: NDArray[np.float64]  # (labels,)

    @classmethod
    def checked(
        cls, labels: int, *, start: ArrayLike | None, between: ArrayLike, end: ArrayLike | None
    ) -> Chain:
        """Read-only tables of the right shape; a table that is not given is zero."""
        return cls(
            start=_table("start", start, (labels,)),
            between=_table("between", between, (labels, labels)),
            end=_table("end", end, (labels,)),
        )

    def log_total(self, log_probs: NDArray[np.float64]) -> float:
        """The log of the summed exponentiated scores of all labellings; needs a word or more."""
        forward = self._forward(log_probs)[-1] + self.end
        return float(_log_sum(forward[:, None])[0])

    def log_marginals(self, log_probs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log-marginals of every word's labels, not normalised: (words, labels)."""
        forward = self._forward(log_probs)
        backward = np.empty_like(forward)
        backward[-1] = self.end
        for i in range(len(forward) - 2, -1, -1):
            onward = self.between + (log_probs[i + 1] + backward[i + 1])
            backward[i] = _log_sum(onward.T)
        return np.asarray(forward + backward)

    def _forward(self, log_probs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Forward log-sums: over all prefixes that end in each word and label, (words, labels)."""
        forward = np.empty_like(log_probs)
        forward[0] = self.start + log_probs[0]
        for i in range(1, len(forward)):
            forward[i] = _log_sum(forward[i - 1][:, None] + self.between) + log_probs[i]
        return forward


def _table(name: str, given: ArrayLike | None, shape: tuple[int, ...]) -> NDArray[np.float64]:
    try:
        array = np.asarray(np.zeros(shape) if given is None else given)
    except ValueError:  # NumPy raises it for rows of different lengths
        raise ScoresError(f"{name} of the chain is not an array of numbers") from None
    if array.dtype.kind not in "fiub":
        raise ScoresError(f"{name} of the chain holds {array.dtype}, expected real numbers")
    with np.errstate(over="ignore"):
        table = array.astype(np.float64)
    if table.shape != shape:
        raise ScoresError(f"{name} of the chain has shape {table.shape}, expected {shape}")
    if not ((table == -np.inf) | (np.abs(table) <= LARGEST_COST)).all():
        raise ScoresError(
            f"{name} of the chain has NaN or inf, or numbers above {LARGEST_COST:g} in size, "
            "expected smaller numbers, or -inf to forbid"
        )
    table.flags.writeable = False
    return table


def _log_sum(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logarithm of the sum of exponentials, by column."""
    top = scores.max(axis=0)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(scores - shift).sum(axis=0)) + shift)
