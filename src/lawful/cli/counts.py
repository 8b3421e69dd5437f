"""Counts of documents by status, and of rules by state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import get_args

from lawful.results.decoding import Status
from lawful.results.known import Known
from lawful.rules.judging.checks import Check, RuleCounts

BAD, SCORED, READ = "bad lines", "scored", "read"
REPAIRED = "repaired"
"""Documents with a value that is read otherwise than OCR read it."""

PASS, REVIEW = "pass", "for review"
"""Documents that pass by a promise, and those that do not."""

SURE, UNSURE = "sure", "unsure"
"""Documents without a promise whose trust reaches ``TRUSTED``, and others."""

TRUSTED = 0.99

_ORDER = (*get_args(Status), "violated", "undecided", SCORED, READ, BAD)
_KNOWN, _KNOWN_RIGHT = "known ", "right "


def counted(number: int, what: str) -> str:
    """A number and what it counts: "1 bad line", "2 bad lines", "2 relaxed"."""
    return f"{number:,} {what.removesuffix('s') if number == 1 and what == BAD else what}"


def counts_of(status: str, checks: Iterable[Check]) -> dict[str, int]:
    """What a document adds to a tally: its status, and how many rules were checked and hold."""
    return {status: 1, **RuleCounts.of(checks).totals}


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
    def known(self) -> str:
        """By field, how often its known values were found; empty if none are known."""
        fields = [name.removeprefix(_KNOWN) for name in self if name.startswith(_KNOWN)]
        return ", ".join(
            f"{name} {self[_KNOWN_RIGHT + name]:,} of {self[_KNOWN + name]:,}" for name in fields
        )

    def __str__(self) -> str:
        parts = ", ".join(counted(number, status) for status, number in self.statuses.items())
        if self[REPAIRED]:
            parts += f"; {self[REPAIRED]:,} with misread characters {REPAIRED}"
        rules = RuleCounts.summed(self)
        if not rules.rules:
            return parts
        hold = f", {rules.hold:,} hold{'s' * (rules.hold == 1)}"
        return f"{parts}; {rules.in_words(hold)}"
