"""A reading, which is all that rules can see of a labelling, and its cost."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class Occurrence(NamedTuple):
    """One span of a field, half-open, and which of its possible values is chosen."""

    start: int
    end: int
    choice: int = 0


class Occurrences(dict[tuple[int, int, int], Occurrence]):
    """The occurrences of a document by start, end and choice, each made when it is first asked for.

    The readings of a document share most of them. Kept once, they take little memory, and Python's
    garbage collector, which visits each of them, takes little time.
    """

    __slots__ = ()

    def __missing__(self, place: tuple[int, int, int]) -> Occurrence:
        made = self[place] = tuple.__new__(Occurrence, place)  # faster than a call
        return made


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
