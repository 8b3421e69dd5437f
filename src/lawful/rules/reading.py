"""A reading: all that rules see of a labelling, and what they make it cost."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class Occurrence(NamedTuple):
    """One span of a field, half-open, and which of its possible values is chosen."""

    start: int
    end: int
    choice: int = 0


Spans: TypeAlias = tuple[Occurrence, ...]
"""The spans of one field, in order."""

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
