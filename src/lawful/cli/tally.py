"""Counts of documents by status, and of rules by state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import get_args

from lawful.decoding import Status
from lawful.rules.checks import Check

BAD, SCORED = "bad lines", "scored"

_ORDER = (*get_args(Status), "violated", "undecided", SCORED, BAD)
_STATES = ("rule satisfied", "rule violated", "rule vacuous")


def counted(number: int, what: str) -> str:
    """A number and what it counts: "1 bad line", "2 bad lines", "2 relaxed"."""
    return f"{number:,} {what.removesuffix('s') if number == 1 and what == BAD else what}"


def counts_of(status: str, checks: Iterable[Check]) -> dict[str, int]:
    """What a document adds to a tally: its status, and its rules by state.

    Implied checks of fields are not rules and are not counted.
    """
    return {status: 1, **Counter(f"rule {check.state}" for check in checks if not check.implied)}


class Tally(Counter[str]):
    """Counts of documents by status, and of rules by state."""

    @property
    def statuses(self) -> dict[str, int]:
        """The numbers of documents by status, and of bad lines; without zeros."""
        return {status: self[status] for status in _ORDER if self[status]}

    def __str__(self) -> str:
        parts = ", ".join(counted(number, status) for status, number in self.statuses.items())
        hold, violated, vacuous = (self[state] for state in _STATES)
        if not hold + violated + vacuous:
            return parts
        return (
            f"{parts}; {hold + violated:,} of {hold + violated + vacuous:,} rules checked, "
            f"{hold:,} hold{'s' * (hold == 1)}"
        )
