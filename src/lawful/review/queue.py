"""The queue: all documents, the most doubtful first, decoded in the background.

The order is by the answer before anybody reviewed it, so that documents do not jump while people
work on them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from math import floor, inf
from typing import Any, NamedTuple, TypeAlias

from lawful.decoders import decode
from lawful.decoding import Budget, Confidence, Decoding
from lawful.document import BadLine, Scored, SpanScored
from lawful.errors import LawfulError
from lawful.io.jsonl import LineParser
from lawful.review.answer import Answers, finite, is_known
from lawful.review.documents import Documents, Slip
from lawful.review.rows import Key, State
from lawful.review.store import Store
from lawful.review.wording import Wording
from lawful.rules.rule_set import Rules
from lawful.workers import in_order

SECONDS = 2.0
"""The time that the background may spend on the answer of one document."""

NARROW = 1.0
"""Nats: an answer with a smaller margin is nearly as likely as the next one."""

UNSURE = 0.9

MOST_NAMED = 3
"""Fields that a reason names; more are counted."""


class Entry(NamedTuple):
    """What the background has found out about a document."""

    status: str | None = None
    optimal: bool = False
    violated: tuple[str, ...] = ()
    unchecked: int = 0
    margin: float | None = None
    confidence: float | None = None
    reasons: tuple[str, ...] = ()
    error: str | None = None

    @property
    def doubt(self) -> tuple[float, ...]:
        """What the queue is sorted by: the smaller, the earlier."""
        margin = inf if self.margin is None else self.margin
        sure = inf if self.confidence is None else self.confidence
        if self.error is not None:
            return (5,)
        if self.status is None:
            return (4,)
        if self.violated or self.status == "infeasible":
            return (0, -len(self.violated), margin, sure)
        if self.status == "unchecked":
            return (1, margin, sure)
        if not self.optimal:
            return (2, margin, sure)
        return (3, margin, sure)


UNKNOWN = Entry()

Item: TypeAlias = tuple[int, int, bytes, int]
"""A document's place, its line, the line's text, and how many alternatives are asked for."""


@dataclass(frozen=True, slots=True)
class Survey:
    """The task of a worker: a line in, an entry of the queue out."""

    path: str
    rules: Rules

    def start(self) -> Callable[[Item], tuple[int, Entry | None]]:
        """The work function, with a parser of its own."""
        parser, answers = LineParser(self.path), Answers(self.rules)
        return lambda item: (item[0], self._entry(parser, answers, item))

    def lost(self, item: Item, why: str) -> tuple[int, Entry | None]:
        """The entry of a document whose worker died."""
        return item[0], None if item[3] else Entry(error=why)

    def _entry(self, parser: LineParser, answers: Answers, item: Item) -> Entry | None:
        _, line, text, alternatives = item
        scored = parser.parse_any(line, text)
        if isinstance(scored, BadLine):
            return Entry(error=scored.message)
        try:
            decoding = decode(
                scored.document, scored.scores, self.rules, alternatives=alternatives,
                budget=Budget(seconds=SECONDS),
            )  # fmt: skip
        except (LawfulError, MemoryError) as error:
            # Some scores allow no alternatives; the entry without them stays.
            return None if alternatives else Entry(error=str(error) or "not enough memory")
        return entry_of(scored, decoding, answers)


def entry_of(scored: Scored | SpanScored, decoding: Decoding, answers: Answers) -> Entry:
    """What the queue says about a decoding."""
    reasons = [*answers.words.reasons(decoding)]
    known = {name: sure for name, sure in decoding.confidence.items() if is_known(sure)}
    sure = min(known.items(), key=lambda pair: pair[1].low, default=None)
    reasons += _close(decoding, sure)
    if not reasons and (doubtful := answers.to_look_at(scored, decoding)):
        reasons.append(f"look at {_named(doubtful)}")
    return Entry(
        decoding.status,
        decoding.optimal,
        tuple(dict.fromkeys(check.id for check in decoding.violations)),
        sum(check.state == "vacuous" for check in decoding.rules),
        finite(decoding.margin),
        None if sure is None else sure[1].low,
        tuple(reasons),
    )


def _named(fields: list[str]) -> str:
    """Names of fields for a reason, the first ones if there are many."""
    more = len(fields) - MOST_NAMED
    return ", ".join(fields[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _close(decoding: Decoding, sure: tuple[str, Confidence] | None) -> Iterator[str]:
    if decoding.margin is not None and decoding.margin < NARROW:
        yield "another answer is nearly as likely"
    if sure is not None and sure[1].low < UNSURE:
        yield f"{sure[0]}: {floor(100 * sure[1].low)} % sure"  # as the page rounds


class Queue:
    """The entries of all documents, filled by a thread whose work is done by other processes."""

    def __init__(self, documents: Documents, rules: Rules, *, workers: int = 1) -> None:
        self._documents = documents
        self._survey = Survey(documents.path, rules)
        self._words = Wording(rules)
        self._workers = workers
        self._entries: list[Entry] = [
            UNKNOWN if slip.error is None else Entry(error=slip.error) for slip in documents.slips
        ]
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._fill, daemon=True, name="queue")
        self.changes = 0
        self.decoded = 0
        self.failure: str | None = None

    def start(self) -> None:
        """Begins to decode all documents: first their answers, then how sure these are."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the work soon."""
        self._stopped.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Waits until all is decoded; says whether it is."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _fill(self) -> None:
        results = in_order(self._survey, self._items(), self._workers, batch=1, apart=True)
        try:
            with closing(results):
                for n, entry in results:
                    if self._stopped.is_set():
                        return
                    if entry is not None:
                        is_first = self._entries[n].status is None
                        self.decoded += is_first and entry.status is not None
                        self._entries[n] = entry
                        self.changes += 1
        except (LawfulError, OSError, ValueError) as error:  # ValueError: closed meanwhile
            self.failure = str(error)

    def _items(self) -> Iterator[Item]:
        for alternatives in (0, 1):
            for slip in self._documents.slips:
                if self._stopped.is_set():
                    return
                if slip.error is None and self._entries[slip.n].error is None:
                    yield slip.n, slip.line, self._documents.text(slip.n), alternatives

    def entry(self, n: int) -> Entry:
        """What is known about a document so far."""
        return self._entries[n]

    def listing(self, store: Store, rules_hash: str) -> dict[str, Any]:
        """The queue as the page gets it, with the reviews so far."""
        states = store.states()
        order = sorted(self._documents.slips, key=lambda s: (self._entries[s.n].doubt, s.n))
        documents = [self._listed(slip, states, rules_hash) for slip in order]
        usable = [each for each in documents if "error" not in each]
        progress: dict[str, int] = {"documents": len(usable)}
        for verdict in ("accepted", "rejected", "skipped"):
            progress[verdict] = sum(each["verdict"] == verdict for each in usable)
        progress["open"] = sum(each["verdict"] is None for each in usable)
        found: dict[str, Any] = {
            "documents": documents, "progress": progress, "decoded": self.decoded,
        }  # fmt: skip
        if self.failure is not None:
            found["failure"] = self.failure
        return found

    def listed(self, n: int, store: Store, rules_hash: str) -> dict[str, Any]:
        """One document of the queue."""
        return self._listed(self._documents.slips[n], store.states(), rules_hash)

    def _listed(self, slip: Slip, states: Mapping[Key, State], rules_hash: str) -> dict[str, Any]:
        """One document; what a review has found replaces what the background has."""
        entry, state = self._entries[slip.n], states.get((slip.id, slip.hash))
        if slip.error is not None or entry.error is not None:
            error = slip.error or entry.error
            return {"n": slip.n, "id": slip.id, "line": slip.line, "error": error}
        ours = state if state is not None and state.rules_hash == rules_hash else None
        seen = entry if ours is None or ours.status is None else ours
        reasons = entry.reasons
        if isinstance(seen, State) and seen.pins:  # the answer is another one
            reasons = tuple(self._words.reasons_of(seen))
        return {
            "n": slip.n,
            "id": slip.id,
            "words": slip.words,
            "pages": slip.pages,
            "status": seen.status,
            "optimal": seen.optimal,
            "violated": list(seen.violated),
            "unchecked": seen.unchecked,
            "margin": entry.margin,
            "confidence": entry.confidence,
            "reasons": list(reasons),
            "verdict": None if ours is None else ours.verdict,
            "reviewer": None if state is None else state.reviewer,
            "pins": 0 if ours is None else ours.pins,
            "seq": 0 if state is None else state.seq,
        }
