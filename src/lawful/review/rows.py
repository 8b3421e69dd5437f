"""What a review is: a row for everything that a person did, and what follows from all of them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from lawful.results.wire import ValueData

Verdict: TypeAlias = Literal["accepted", "rejected", "skipped"]
Action: TypeAlias = Literal["pins", "verdict", "undo", "redo", "import"]


class Outcome(msgspec.Struct, frozen=True):
    """An answer as a row keeps it: enough to export it, and to see whether it is the same."""

    status: str
    optimal: bool
    violated: list[str]
    unchecked: int
    fields: dict[str, list[str]]  # their texts
    labels: list[tuple[str, int]]  # each with how many words in a row have it
    values: dict[str, list[ValueData]] | None = None  # of all fields, if it was accepted
    rows: dict[str, list[str]] | None = None  # the fields of each kind


class Row(msgspec.Struct, frozen=True):
    """What one person did to one document, and the state that it has since."""

    seq: int
    at: str
    reviewer: str
    document: str
    document_hash: str
    rules_hash: str
    version: str
    action: Action
    verdict: Verdict | None
    pins: list[dict[str, Any]]
    before: Outcome | None
    after: Outcome | None
    note: str
    seconds: float | None


class State(NamedTuple):
    """A document's last row for a list of documents: what is done, without the answer's labels."""

    seq: int
    reviewer: str
    rules_hash: str
    verdict: Verdict | None
    pins: int
    status: str | None
    optimal: bool
    violated: list[str]
    unchecked: int
    fields: dict[str, list[str]]  # their texts


Key: TypeAlias = tuple[str, str]
"""A document's id and the hash of what a person sees of it."""


class UndoHistory(NamedTuple):
    """The rows of a document that undo and redo walk along, and where it is."""

    steps: list[Row | None]  # the first is the state before any row
    at: int

    @classmethod
    def of(cls, rows: list[Row]) -> UndoHistory:
        """Follows the rows one by one; an undo goes back a step, and anything new ends redo."""
        steps: list[Row | None] = [None]
        at = 0
        for row in rows:
            if row.action == "undo":
                at = max(0, at - 1)
            elif row.action == "redo":
                at = min(len(steps) - 1, at + 1)
            else:
                steps[at + 1 :] = [row]
                at += 1
        return cls(steps, at)

    @property
    def can_undo(self) -> bool:
        """Whether there is a step before this one."""
        return self.at > 0

    @property
    def can_redo(self) -> bool:
        """Whether there is a step after this one."""
        return self.at < len(self.steps) - 1


def now() -> str:
    """The time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
