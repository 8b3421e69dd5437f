"""The queue: all documents, the most doubtful first, decoded in the background.

The order is by what a look at a document is worth: the cost of an error, as probable as it is, less
that of a look. It is of the answer before anybody reviewed it, so that documents do not jump while
people work on them.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from math import floor, inf
from typing import Any, NamedTuple, TypeAlias

from lawful.base.errors import LawfulError
from lawful.decoders import decode
from lawful.documents.records import FailedDocument, Scored
from lawful.io.jsonl import LineParser
from lawful.learn.trust import Trust
from lawful.pipeline.workers import Idle, in_order
from lawful.results.decoding import Budget, Confidence, Decoding
from lawful.review.answer import Answers, AnswersOf, RuleSets, digest, finite, is_known
from lawful.review.documents import POLL, Documents, Slip
from lawful.review.needed import COSTS, Costs
from lawful.review.phrases import said
from lawful.review.rows import Key, State
from lawful.review.store import Store
from lawful.review.wording import Wording, language_of, unchecked_rules
from lawful.rules.definitions import ENGLISH

SECONDS = 2.0
"""The time that the background may spend on the answer of one document."""

NARROW = 1.0
"""Nats: an answer with a smaller margin is nearly as likely as the next one."""

UNSURE = 0.9

MAX_NAMED = 3
"""Fields that a reason names; more are counted."""


class Entry(NamedTuple):
    """What the background has found out about a document."""

    status: str | None = None
    optimal: bool = False
    violated: tuple[str, ...] = ()
    unchecked: int = 0
    margin: float | None = None
    confidence: float | None = None
    reasons: Mapping[str, Sequence[str]] = {}  # by language
    error: str | None = None
    heading: tuple[str, ...] = ()  # texts of the fields of the headline
    passes: bool = False
    risk: float = 0.0
    stops: int = 0
    digest: str = ""  # of the answer
    final: bool = False  # whether it is known how sure the answer is, if it can be
    rules: str = ""  # which of several sets of rules it is under

    @property
    def order(self) -> tuple[float, ...]:
        """What the queue is sorted by: the smaller, the earlier."""
        if self.error is not None:
            return (3,)
        if self.status is None:
            return (2,)
        margin = inf if self.margin is None else self.margin
        return (int(self.passes and self.final), -self.risk, -len(self.violated), margin)


UNKNOWN = Entry()

Item: TypeAlias = tuple[int, int, bytes, int]
"""A document's place, its line, the line's text, and how many alternatives are asked for."""


@dataclass(frozen=True, slots=True)
class Survey:
    """The task of a worker: a line in, an entry of the queue out."""

    path: str
    sets: RuleSets
    trust: Trust | None = None

    def start(self) -> Callable[[Item], tuple[int, Entry | None]]:
        """The work function, with a parser of its own."""
        parser, answers = LineParser(self.path), AnswersOf(self.sets)
        return lambda item: (item[0], self._entry(parser, answers, item))

    def lost(self, item: Item, why: str) -> tuple[int, Entry | None]:
        """The entry of a document whose worker died."""
        return item[0], None if item[3] else Entry(error=why)

    def _entry(self, parser: LineParser, answers: AnswersOf, item: Item) -> Entry | None:
        _, line, text, alternatives = item
        scored = parser.parse(line, text)
        if isinstance(scored, FailedDocument):
            return Entry(error=scored.message)
        try:
            own = answers.of(scored.document)
            decoding = decode(
                scored.document, scored.scores, own.rules, alternatives=alternatives,
                budget=Budget(seconds=SECONDS), confidence=self.trust is not None,
            )  # fmt: skip
            if self.trust is not None:
                decoding = self.trust.applied(scored, decoding, own.rules)
        except (LawfulError, MemoryError) as error:
            # Some scores allow no alternatives; the entry without them stays.
            return None if alternatives else Entry(error=str(error) or "not enough memory")
        found = entry_of(scored, decoding, own)
        return found._replace(final=bool(alternatives) or self.trust is not None)


def entry_of(scored: Scored, decoding: Decoding, answers: Answers) -> Entry:
    """What the queue says about a decoding."""
    reasons = answers.reasons(scored, decoding)
    known = {name: sure for name, sure in decoding.confidence.items() if is_known(sure)}
    sure = min(known.items(), key=lambda pair: pair[1].low, default=None)
    doubtful = answers.to_look_at(scored, decoding)
    looks = answers.stops(scored, decoding, doubtful)
    also = list(_close(decoding, sure)) if not answers.rules.needs else []
    if not also and not any(reasons.values()) and looks:
        also.append(f"look at {_named(list(dict.fromkeys(name for name, _ in looks)))}")
    return Entry(
        decoding.status,
        decoding.optimal,
        tuple(dict.fromkeys(check.id for check in decoding.violations)),
        unchecked_rules(decoding),
        finite(decoding.margin),
        None if sure is None else sure[1].low,
        {
            language: (*found, *(said(each, language) for each in also))
            for language, found in reasons.items()
        },
        heading=tuple(answers.heading(decoding)),
        passes=answers.passes(scored, decoding),
        risk=answers.risk(scored, decoding),
        stops=len(looks),
        digest=digest(decoding.labels),
        rules=answers.name,
    )


def _named(fields: list[str]) -> str:
    """Names of fields for a reason, the first ones if there are many."""
    more = len(fields) - MAX_NAMED
    return ", ".join(fields[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def _close(decoding: Decoding, sure: tuple[str, Confidence] | None) -> Iterator[str]:
    if decoding.margin is not None and decoding.margin < NARROW:
        yield "another answer is nearly as likely"
    if sure is not None and sure[1].low < UNSURE:
        yield f"{sure[0]}: {floor(100 * sure[1].low)} % sure"  # as the page rounds


class Queue:
    """The entries of all documents, filled by a thread whose work is done by other processes."""

    def __init__(
        self,
        documents: Documents,
        sets: RuleSets,
        *,
        workers: int = 1,
        trust: Trust | None = None,
        costs: Costs = COSTS,
    ) -> None:
        self._documents = documents
        self._survey = Survey(documents.path, sets, trust)
        self._words = {name: Wording(rules) for name, rules in sets.items()}
        self._costs = costs
        self.promise = None if trust is None or trust.promise is None else str(trust.promise)
        self._told: dict[int, tuple[int, Entry]] = {}
        self._workers = workers
        self._entries: dict[int, Entry] = {}
        self._seen = 0  # documents that were put on the list to be decoded
        self._todo: tuple[deque[int], deque[int]] = deque(), deque()  # without, with alternatives
        self._stopped = threading.Event()
        self._again = threading.Event()
        self.endless = False  # whether documents may be scored again, so that there is always work
        self._thread = threading.Thread(target=self._fill, daemon=True, name="queue")
        self.changes = 0
        self.decoded = 0
        self.failure: str | None = None

    def start(self) -> None:
        """Begins to decode all documents: first their answers, then how sure these are."""
        self._thread.start()

    def again(self) -> None:
        """Decodes all documents again, those first that come first; their scores have changed."""
        self._again.set()

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
                for n, found in results:
                    if self._stopped.is_set():
                        return
                    before = self.entry(n)
                    # In the second round, there may be no alternatives.
                    entry = found or before._replace(final=True)
                    self.decoded += before.status is None and entry.status is not None
                    self._entries[n] = entry
                    self.changes += 1
        except (LawfulError, OSError, ValueError) as error:  # ValueError: closed meanwhile
            self.failure = str(error)

    def _items(self) -> Iterator[Item | Idle]:
        """What is to be decoded, also of documents that are still coming."""
        while not self._stopped.is_set():
            coming = self._documents.coming
            if self._again.is_set():
                self._again.clear()
                known = self._documents.slips[: self._seen]
                order = sorted(known, key=lambda s: (self.entry(s.n).order, s.n))
                self._todo = deque(), deque(s.n for s in order if s.error is None)
            for slip in self._documents.slips[self._seen :]:
                self._seen += 1
                if slip.error is None:
                    self._todo[0].append(slip.n)
            alternatives = 0 if self._todo[0] else 1
            if not self._todo[alternatives]:
                if not (coming or self.endless):
                    return
                self._stopped.wait(POLL)
                yield Idle.IDLE
                continue
            n = self._todo[alternatives].popleft()
            if not alternatives:
                self._todo[1].append(n)
            if self.entry(n).error is None:
                yield n, self._documents.slips[n].line, self._documents.line(n), alternatives

    def entry(self, n: int) -> Entry:
        """What is known about a document so far."""
        error = self._documents.slips[n].error
        return self._entries.get(n, UNKNOWN if error is None else Entry(error=error))

    def tell(self, n: int, seq: int, entry: Entry) -> None:
        """What is known about a document since the row of this number."""
        self._told[n] = seq, entry

    def listing(self, store: Store, rules_hash: str, language: str = ENGLISH) -> dict[str, Any]:
        """The queue as the page gets it, with the reviews so far."""
        states = store.states()
        order = sorted(self._documents.slips[:], key=lambda s: (self.entry(s.n).order, s.n))
        documents = [self._listed(slip, states, rules_hash, language) for slip in order]
        usable = [each for each in documents if "error" not in each]
        progress: dict[str, int] = {"documents": len(usable)}
        for verdict in ("accepted", "rejected", "skipped"):
            progress[verdict] = sum(each["verdict"] == verdict for each in usable)
        progress["open"] = sum(each["verdict"] is None for each in usable)
        progress["passing"] = sum(each["passes"] and each["verdict"] is None for each in usable)
        progress["worth"] = sum(
            each["verdict"] is None and not each["passes"] and each["worth"] > 0 for each in usable
        )
        found: dict[str, Any] = {
            "documents": documents, "progress": progress, "decoded": self.decoded,
        }  # fmt: skip
        if self._documents.coming:
            found["reading"] = {"done": len(self._documents), "of": self._documents.expected}
        if failure := self.failure or self._documents.failure:
            found["failure"] = failure
        return found

    def listed(
        self, n: int, store: Store, rules_hash: str, language: str = ENGLISH
    ) -> dict[str, Any]:
        """One document of the queue."""
        return self._listed(self._documents.slips[n], store.states(), rules_hash, language)

    def _listed(
        self, slip: Slip, states: Mapping[Key, State], rules_hash: str, language: str
    ) -> dict[str, Any]:
        """One document; what a review has found replaces what the background has."""
        entry, state = self.entry(slip.n), states.get((slip.id, slip.hash))
        if slip.error is not None or entry.error is not None:
            error = slip.error or entry.error
            return {"n": slip.n, "id": slip.id, "line": slip.line, "error": error}
        ours = state if state is not None and state.rules_hash == rules_hash else None
        seen = entry if ours is None or ours.status is None else ours
        told, heading = entry.reasons, entry.heading
        if isinstance(seen, State) and seen.pins:  # the answer is another one
            seq, later = self._told.get(slip.n, (0, UNKNOWN))
            if seq == seen.seq:
                told, heading = later.reasons, later.heading
            else:
                words = self._words.get(entry.rules) or next(iter(self._words.values()))
                told = {ENGLISH: tuple(words.reasons_of(seen))}
        reasons = told.get(language_of(language, told), ())
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
            "heading": list(heading),
            "passes": entry.passes and entry.final,
            "stops": entry.stops,
            "worth": self._costs.worth(entry.risk),
            "verdict": None if ours is None else ours.verdict,
            "reviewer": None if state is None else state.reviewer,
            "pins": 0 if ours is None else ours.pins,
            "seq": 0 if state is None else state.seq,
        }
