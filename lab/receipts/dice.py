"""Random choices that are the same on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def texts(text: str) -> tuple[str, ...]:
    """The texts between bars, with their blanks."""
    return tuple(text.split("|"))


class Dice:
    """The random choices of one document, which depend only on the seed and its number.

    All are derived from uniform draws of PCG64, whose stream NumPy guarantees to be stable; other
    distributions of NumPy are not.
    """

    def __init__(self, seed: int, number: int) -> None:
        self.generator = np.random.Generator(np.random.PCG64([seed, number]))

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.generator.random() < probability

    def between(self, low: float, high: float) -> float:
        """A number from ``low`` to ``high``."""
        return low + (high - low) * self.generator.random()

    def whole(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``, both included."""
        return low + int((high - low + 1) * self.generator.random())

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, with equal probability."""
        return options[int(len(options) * self.generator.random())]

    def weighted(self, options: Sequence[tuple[T, float]]) -> T:
        """One of the options, with a probability proportional to its weight."""
        left = self.generator.random() * sum(weight for _, weight in options)
        for option, weight in options:
            left -= weight
            if left < 0:
                return option
        return options[-1][0]

    def digits(self, count: int) -> str:
        """A random number with this many digits."""
        return str(self.whole(10 ** (count - 1), 10**count - 1))
