"""Counts of documents by status, and of rules by state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import get_args

from lawful.decoding import Status
from lawful.known import Known
from lawful.rules.checks import Check

BAD, SCORED, READ = "bad lines", "scored", "read"
AUTOMATIC, REVIEW = "automatic", "for review"

_ORDER = (*get_args(Status), "violated", "undecided", SCORED, READ, BAD)
_KNOWN, _KNOWN_RIGHT = "known ", "right "
_STATES = ("rule satisfied", "rule violated", "rule vacuous")


def counted(number: int, what: str) -> str:
    """A number and what it counts: "1 bad line", "2 bad lines", "2 relaxed"."""
    return f"{number:,} {what.removesuffix('s') if number == 1 and what == BAD else what}"


def counts_of(status: str, checks: Iterable[Check]) -> dict[str, int]:
    """What a document adds to a tally: its status, and its rules by state.

    Implied checks of fields are not rules and are not counted.
    """
    return {status: 1, **Counter(f"rule {check.state}" for check in checks if not check.implied)}


def counts_of_known(known: Iterable[Known]) -> dict[str, int]:
    """What a document whose values are known adds to a tally, by field."""
    counts: Counter[str] = Counter()
    for each in known:
        counts[f"{_KNOWN}{each.field}"] += 1
        counts[f"{_KNOWN_RIGHT}{each.field}"] += each.right
    return counts


class Tally(Counter[str]):
    """Counts of documents by status, and of rules by state."""

    @property
    def statuses(self) -> dict[str, int]:
        """The numbers of documents by status, and of bad lines; without zeros."""
        return {status: self[status] for status in _ORDER if self[status]}

    @property
    def reviewed(self) -> str:
        """How many documents are for review; empty if no one asked."""
        if not self[AUTOMATIC] + self[REVIEW]:
            return ""
        return f"{self[AUTOMATIC]:,} {AUTOMATIC}, {self[REVIEW]:,} {REVIEW}"

    @property
    def known(self) -> str:
        """By field, how often its known values were found; empty if none are known."""
        fields = [name.removeprefix(_KNOWN) for name in self if name.startswith(_KNOWN)]
        return ", ".join(
            f"{name} {self[_KNOWN_RIGHT + name]:,} of {self[_KNOWN + name]:,}" for name in fields
        )

    def __str__(self) -> str:
        parts = ", ".join(counted(number, status) for status, number in self.statuses.items())
        hold, violated, vacuous = (self[state] for state in _STATES)
        if not hold + violated + vacuous:
            return parts
        return (
            f"{parts}; {hold + violated:,} of {hold + violated + vacuous:,} rules checked, "
            f"{hold:,} hold{'s' * (hold == 1)}"
        )
