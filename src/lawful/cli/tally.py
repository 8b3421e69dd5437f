"""Counts of documents by status, and of rules by state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import get_args

from lawful.decoding import Status
from lawful.rules.checks import Check

BAD = "bad lines"

_ORDER = (*get_args(Status), "violated", "undecided", "scored", BAD)


def counted(number: int, what: str) -> str:
    """A number and what it counts: "1 bad line", "2 bad lines", "2 relaxed"."""
    return f"{number:,} {what.removesuffix('s') if number == 1 and what == BAD else what}"


class Tally(Counter[str]):
    """Counts of documents by status, of rules, of checked rules and of rules that hold.

    Implied checks of fields are not rules and are not counted.
    """

    rules = checked = hold = 0

    def add(self, status: str, checks: Iterable[Check]) -> None:
        """Counts one document."""
        self[status] += 1
        states = [check.state for check in checks if not check.implied]
        self.rules += len(states)
        self.checked += len(states) - states.count("vacuous")
        self.hold += states.count("satisfied")

    def __str__(self) -> str:
        known = sorted(self.items(), key=lambda item: _ORDER.index(item[0]))
        parts = ", ".join(counted(number, status) for status, number in known if number)
        if not self.rules:
            return parts
        hold = f"{self.hold:,} hold{'s' * (self.hold == 1)}"
        return f"{parts}; {self.checked:,} of {self.rules:,} rules checked, {hold}"
