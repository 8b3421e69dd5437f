"""A reading, which is all that rules can see of a labelling, and its cost."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class Occurrence(NamedTuple):
    """One span of a field, half-open, and which of its possible values is chosen."""

    start: int
    end: int
    choice: int = 0


Spans: TypeAlias = tuple[Occurrence, ...]
"""The spans of one field, in order of words."""

Reading: TypeAlias = tuple[Spans, ...]
"""The spans of each field, in the order of the rule file: all that rules can see of a labelling."""


class Cost(NamedTuple):
    """Bounds on the penalty of a labelling, in nats.

    They differ only if there were more combinations of values than are tried, or if the time was
    up.
    """

    most: float
    least: float

    def plus(self, price: float) -> Cost:
        """Both bounds raised by a price."""
        return Cost(self.most + price, self.least + price) if price else self
