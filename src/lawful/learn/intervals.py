"""Shares, such as 141 of 148 pages, with an interval for the share of all such pages."""

from __future__ import annotations

from math import exp, lgamma, log, log1p, sqrt
from typing import Any, NamedTuple

Z = 1.96
"""Standard errors to each side of a 95 % interval."""


class Share(NamedTuple):
    """How many of some pages, rows or spans a rule holds for."""

    holds: int
    of: int

    @property
    def value(self) -> float:
        """The share; 0 of nothing."""
        return self.holds / self.of if self.of else 0.0

    def interval(self, z: float = Z) -> tuple[float, float]:
        """Wilson's interval for the share of all pages; everything is possible of nothing."""
        if not self.of:
            return 0.0, 1.0
        n, p = self.of, self.value
        centre = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        # Rounding must not exclude the share itself.
        return max(0.0, min(centre - half, p)), min(1.0, max(centre + half, p))

    def __add__(self, other: Share) -> Share:  # type: ignore[override]
        return Share(self.holds + other.holds, self.of + other.of)

    def __str__(self) -> str:
        low, high = self.interval()
        return f"{self.holds:,} of {self.of:,}, {self.value:.1%} ({low:.1%} to {high:.1%})"

    def record(self) -> dict[str, Any]:
        """The share and its interval as plain values."""
        low, high = self.interval()
        return {"holds": self.holds, "of": self.of, "share": self.value, "low": low, "high": high}


def log_odds(pages: Share, chance: Share) -> float:
    """The log-odds that something holds for the truth rather than by chance.

    Shares are taken from the careful ends of their intervals.
    """
    right, wrong = (
        min(max(s, 1e-6), 1 - 1e-6) for s in (pages.interval()[0], chance.interval()[1])
    )
    return log(right / (1 - right)) + log((1 - wrong) / wrong)


def binomial_tail(most: int, of: int, rate: float) -> float:
    """The probability that at most ``most`` of ``of`` trials succeed, each with this rate."""
    if most < 0:
        return 0.0
    if most >= of or rate <= 0:
        return 1.0
    if rate >= 1:
        return 0.0
    first = lgamma(of + 1) - lgamma(most + 1) - lgamma(of - most + 1)
    # The terms fall away from the mean: begin at the largest one that counts.
    term = exp(first + most * log(rate) + (of - most) * log1p(-rate))
    total, odds = 0.0, (1 - rate) / rate
    if most > of * rate:
        return 1.0 - binomial_tail(of - most - 1, of, 1 - rate)
    for count in range(most, -1, -1):
        total += term
        term *= count / (of - count + 1) * odds
        if term < total * 1e-17:
            break
    return min(total, 1.0)


def upper_bound(wrong: int, of: int, confidence: float) -> float:
    """Clopper and Pearson's upper bound of an error rate; 1 of nothing."""
    low, high = (wrong / of if of else 1.0), 1.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        if binomial_tail(wrong, of, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high
