"""What rules see of a labelling: where fields stand, and in which way their texts are read."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class Occurrence(NamedTuple):
    """Words ``start`` to ``end``, the latter not included, and which reading of them counts."""

    start: int
    end: int
    reading: int = 0


Spans: TypeAlias = tuple[Occurrence, ...]
"""Where a field stands, in order."""

Reading: TypeAlias = tuple[Spans, ...]
"""By field, its spans: all that rules can see of a labelling."""


class Cost(NamedTuple):
    """What rules make a labelling cost, in nats: at most, and at least.

    The two differ only where there were more combinations of values than could be tried, or where
    time ended first.
    """

    most: float
    least: float

    def plus(self, price: float) -> Cost:
        """The same and a price that is certain."""
        return Cost(self.most + price, self.least + price) if price else self
