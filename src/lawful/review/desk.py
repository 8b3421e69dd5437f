"""The desk: what a reviewer can do with the documents, without any HTTP.

Every method gives plain values, as the page gets them. All are safe to call from several threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from lawful.base.errors import InputError, LawfulError
from lawful.decoders import decode
from lawful.documents.pins import Pin, as_pins
from lawful.documents.records import Scored
from lawful.results.decoding import Budget, Decoding, Move, moves
from lawful.review.answer import (
    AnswersOf,
    RuleSets,
    digest,
    finite,
    is_known,
    labels_of,
    outcome_of,
    texts_of,
    with_values,
)
from lawful.review.documents import Documents, Slip
from lawful.review.learning import Learner, Lesson
from lawful.review.needed import described
from lawful.review.phrases import LANGUAGES, UNKNOWN, said
from lawful.review.pictures import Pictures
from lawful.review.queue import Queue, entry_of
from lawful.review.rows import Action, Row, UndoHistory, Verdict, now
from lawful.review.shelf import NoDocumentError, Opened, Shelf
from lawful.review.store import Conflict, Store
from lawful.review.wording import language_of
from lawful.rules.definitions import ENGLISH
from lawful.rules.rule_set import Rules

QUICK = Budget(seconds=0.25)
"""After a pin, people wait for the answer: it may come unproven."""

OPENING = Budget(seconds=1.0)
RANKING = Budget(seconds=2.0)
ALTERNATIVES = 3

LONGEST_NOTE = 10_000


class Unseen(LawfulError):  # noqa: N818 - a question, no error
    """An answer that breaks rules was accepted without saying that this was seen."""

    def __init__(self, violated: list[str]) -> None:
        super().__init__(f"accepted although it breaks {', '.join(violated)}")
        self.violated = violated


class Shared(NamedTuple):
    """What all documents under review have in common."""

    sets: RuleSets
    rules_hash: str
    name: str  # of the rules
    version: str
    language: str | None = None  # of the page, if somebody said it

    @property
    def rules(self) -> Rules:
        """The rules, if all documents are under the same ones; else the first."""
        return next(iter(self.sets.values()))


class Standing(NamedTuple):
    """Where a document stands, by its rows."""

    seq: int
    pins: tuple[Pin, ...]
    verdict: Verdict | None
    note: str
    reviewer: str | None
    chain: UndoHistory
    last: Row | None  # of these words and these rules
    stale: dict[str, Any] | None


class Desk:
    """Documents, rules and reviews, and what people do with them."""

    def __init__(
        self,
        documents: Documents,
        store: Store,
        shared: Shared,
        pictures: Pictures,
        queue: Queue,
        learner: Learner | None = None,
    ) -> None:
        """``learner`` is taught what is accepted, and scores documents."""
        self.documents, self.store, self.shared = documents, store, shared
        self.pictures, self.queue = pictures, queue
        self._answers = AnswersOf(shared.sets)
        self._learner = learner
        version = (lambda: 0) if learner is None else (lambda: learner.version)
        self._shelf = Shelf(documents, self._answers, version)
        if learner is not None:
            documents.score, queue.endless = learner.scored, True

    def close(self) -> None:
        """Closes the documents and the reviews."""
        self.queue.stop()
        if self._learner is not None:
            self._learner.stop()
        self.pictures.close()
        self.documents.close()
        self.store.close()

    # What there is.

    def session(self, reviewer: str) -> dict[str, Any]:
        """The rules and their fields, for the page to begin with."""
        return {
            "version": self.shared.version,
            "reviewer": reviewer,
            "language": self.shared.language,
            "rules": {"name": self.shared.name, "hash": self.shared.rules_hash},
            "sets": {name: described(rules) for name, rules in self.shared.sets.items()},
            "documents": len(self.documents),
            "promise": self.queue.promise,
        }

    def listing(self, language: str = ENGLISH) -> dict[str, Any]:
        """The queue."""
        found = self.queue.listing(self.store, self.shared.rules_hash, language)
        if self._learner is not None:
            found["teaching"] = self._learner.status()
        return found

    def listing_tag(self) -> str:
        """Differs from the one before if the queue does."""
        self.store.states()
        there = f"{len(self.documents)}-{self.documents.coming:d}"
        if self._learner is not None:
            there += f"-{digest(map(str, self._learner.status().values()))}"
        return f'"{self.queue.changes}-{self.store.last}-{there}"'

    def scored(self, n: int) -> Scored:
        """The document itself; raises a ``NoDocumentError`` if it cannot be used."""
        return self._shelf.take(n).scored

    def decoding(self, n: int, pins: tuple[Pin, ...]) -> Decoding:
        """The answer under pins."""
        return self._shelf.decode(self._shelf.take(n), pins, OPENING)

    def document(self, n: int, language: str = ENGLISH, reviewer: str = "") -> dict[str, Any]:
        """A document with its answer under the pins that it has, for a reviewer to look at."""
        self._shelf.look(n, reviewer)
        opened, state = self._shelf.take(n), self.standing(n)
        decoding = self._shelf.decode(opened, state.pins, OPENING)
        return self._record(n, opened, state, decoding, decoding.moved, language)

    def alternatives(self, n: int, accepted: str = ENGLISH) -> dict[str, Any]:
        """The next best answers under the pins, and how sure the fields are."""
        language = language_of(accepted, LANGUAGES)
        opened, state = self._shelf.take(n), self.standing(n)
        document = replace(opened.scored.document, pins=state.pins)
        scores, answers = opened.scored.scores, self._answers.of(document)
        rules = answers.rules
        nothing = {"seq": state.seq, "alternatives": [], "confidence": {}, "margin": None}
        if scores.chain is not None:
            why = "scores of transitions have no alternatives"
            return {**nothing, "optimal": False, "why": why}
        best = decode(
            document, scores, rules, alternatives=ALTERNATIVES, budget=RANKING,
            before=self._shelf.decode(opened, state.pins, OPENING),
        )  # fmt: skip
        doubtful = answers.to_look_at(opened.scored, best)
        return {
            "seq": state.seq,
            "alternatives": [
                answers.alternative(best, other, state.pins, language)
                for other in best.alternatives
            ],
            "confidence": {
                name: {
                    "low": sure.low,
                    "high": sure.high,
                    "known": is_known(sure),
                    "text": said(str(sure) if is_known(sure) else UNKNOWN, language),
                }
                for name, sure in best.confidence.items()
            },
            "margin": finite(best.margin),
            "optimal": best.optimal,
            "doubtful": doubtful,
            "stops": answers.stops(opened.scored, best, doubtful),
        }

    def picture(self, n: int, page: int) -> bytes | None:
        """A page as a JPEG, or ``None`` if there is none."""
        return self.pictures.draw(self._shelf.take(n).scored.document, page)

    # What people do. Each raises a ``Conflict`` if somebody else was faster.

    def pin(
        self,
        n: int,
        base: int,
        pins: Sequence[Mapping[str, Any]],
        reviewer: str,
        language: str = ENGLISH,
    ) -> dict[str, Any]:
        """Decodes a document under new pins, which replace those that it has.

        Raises an ``InputError`` for pins that are wrong or contradict each other; nothing is
        stored then.
        """
        opened, state = self._shelf.take(n), self._at(n, base)
        new = as_pins(pins)
        before = self._shelf.decode(opened, state.pins, OPENING)
        after = self._shelf.decode(opened, new, QUICK, before)
        row = self._row(n, "pins", reviewer, new, None, state.note, before, after)
        self._add(n, row, base)
        return self._moved(n, opened, before, after, language)

    def preview(
        self, n: int, base: int, pins: Sequence[Mapping[str, Any]], language: str = ENGLISH
    ) -> dict[str, Any]:
        """What pins would change; nothing is stored."""
        opened, state = self._shelf.take(n), self._at(n, base)
        before = self._shelf.decode(opened, state.pins, OPENING)
        after = self._shelf.decode(opened, as_pins(pins), QUICK, before)
        answers, scored = self._answers.of(opened.scored.document), opened.scored
        old = answers.texts(before)
        new = answers.texts(after)
        reasons = answers.reasons(scored, before), answers.reasons(scored, after)
        known, found = (each[language_of(language, each)] for each in reasons)
        return {
            "changes": [
                {"field": name, "old": old.get(name, ""), "new": new.get(name, "")}
                for name in dict.fromkeys((*old, *new))
                if old.get(name) != new.get(name)
            ],
            "worse": [each for each in found if each not in known],
            "clash": list(after.clash),
        }

    def step(
        self,
        n: int,
        base: int,
        which: Literal["undo", "redo"],
        reviewer: str,
        language: str = ENGLISH,
    ) -> dict[str, Any]:
        """Goes back to the state before the last change, or forth again."""
        opened, state = self._shelf.take(n), self._at(n, base)
        chain = state.chain
        if not (chain.can_undo if which == "undo" else chain.can_redo):
            raise InputError(f"there is nothing to {which}")
        target = chain.steps[chain.at + (1 if which == "redo" else -1)]
        pins = opened.scored.document.pins if target is None else as_pins(target.pins)
        verdict = None if target is None else target.verdict
        note = "" if target is None else target.note
        before = self._shelf.decode(opened, state.pins, OPENING)
        after = self._shelf.decode(opened, pins, QUICK, before)
        self._add(n, self._row(n, which, reviewer, pins, verdict, note, before, after), base)
        return self._moved(n, opened, before, after, language)

    def judge(
        self,
        n: int,
        base: int,
        verdict: Verdict | None,
        reviewer: str,
        *,
        note: str = "",
        seconds: float | None = None,
        confirmed: bool = False,
        seen: str | None = None,
        language: str = ENGLISH,
    ) -> dict[str, Any]:
        """Accepts, rejects or skips a document, or takes that back.

        ``seen`` is the digest of the answer that the reviewer saw: if it is another one, that is a
        ``Conflict``. To accept an answer that breaks rules, it must be ``confirmed``.
        """
        opened, state = self._shelf.take(n), self._at(n, base)
        if len(note) > LONGEST_NOTE:
            raise InputError(f"the note has {len(note):,} characters, at most {LONGEST_NOTE:,}")
        decoding = self._shelf.decode(opened, state.pins, OPENING)
        if seen is not None and seen != digest(decoding.labels):
            raise Conflict("the answer is not the one that was shown; look at it again")
        outcome = outcome_of(decoding)
        if verdict == "accepted" and outcome.violated and not confirmed:
            raise Unseen(outcome.violated)
        row = self._row(
            n, "verdict", reviewer, state.pins, verdict, note, decoding, decoding, seconds
        )
        self._add(n, row, base)
        return self._record(n, opened, self.standing(n), decoding, decoding.moved, language)

    def accept_passing(
        self, wanted: Sequence[tuple[int, int]], reviewer: str
    ) -> list[tuple[int, int]]:
        """Accepts those of these documents, each with its last row, that pass and are open.

        Returns them with their new rows, to take them back by. A document that somebody else has
        changed meanwhile, or whose answer does not pass any more, is left as it is.
        """
        done = []
        for n, base in wanted:
            with suppress(Conflict, NoDocumentError):
                opened, state = self._shelf.take(n), self._at(n, base)
                decoding = self._shelf.decode(opened, state.pins, OPENING)
                entry = self.queue.entry(n)
                passes = entry.passes and entry.final and entry.digest == digest(decoding.labels)
                if state.verdict is not None or not passes:
                    continue
                row = self._row(
                    n, "verdict", reviewer, state.pins, "accepted", state.note, decoding, decoding
                )
                done.append((n, self._add(n, row, base)))
        return done

    def take_back(self, wanted: Sequence[tuple[int, int]], reviewer: str) -> list[tuple[int, int]]:
        """Undoes the last row of these documents, unless there is a newer one."""
        done = []
        for n, base in wanted:
            with suppress(Conflict, NoDocumentError, InputError):
                self.step(n, base, "undo", reviewer)
                done.append((n, self.standing(n).seq))
        return done

    def take(
        self, n: int, base: int, pins: tuple[Pin, ...], reviewer: str, seconds: float | None
    ) -> None:
        """Accepts a document under pins that come from another program."""
        opened, state = self._shelf.take(n), self._at(n, base)
        before = self._shelf.decode(opened, state.pins, OPENING)
        after = self._shelf.decode(opened, pins, OPENING, before)
        row = self._row(n, "import", reviewer, pins, "accepted", "", before, after, seconds)
        self._add(n, row, base)

    # How.

    def _add(self, n: int, row: Row, base: int) -> int:
        """Stores a row, tells who learns of it, and returns its number."""
        added = self.store.add(row, base)
        if self._learner is not None:
            accepted = row.verdict == "accepted"
            plain = self.documents.read(n) if accepted else None
            self._learner.learn(n, Lesson.of(plain, row) if isinstance(plain, Scored) else None)
        return added.seq

    def slip(self, n: int) -> Slip:
        """The slip of a document; raises a ``NoDocumentError`` if there is no such document."""
        return self._shelf.slip(n)

    def _at(self, n: int, base: int) -> Standing:
        """The state of a document, which must be the one that the reviewer has seen."""
        state = self.standing(n)
        if state.seq != base:
            raise Conflict(f"document {self.slip(n).id!r} was changed by {state.reviewer}")
        return state

    def standing(self, n: int) -> Standing:
        """Where a document stands, by its rows."""
        slip, ours = self.slip(n), self.shared.rules_hash
        rows = self.store.rows_of(slip.id, slip.hash)
        last = rows[-1] if rows else None
        own: list[Row] = []
        for row in rows:
            own = [*own, row] if row.rules_hash == ours else []
        chain = UndoHistory.of(own)
        pins = self._shelf.take(n).scored.document.pins
        if own and last is not None:
            return Standing(
                last.seq, as_pins(last.pins), last.verdict, last.note, last.reviewer, chain, last,
                None,
            )  # fmt: skip
        stale = None
        if last is not None:
            stale = _stale("rules", "the rules have changed since this document was reviewed", last)
        elif other := self.store.last_of_others(slip.id, self.documents.hashes(slip.id)):
            stale = _stale("document", "the document has changed since it was reviewed", other)
        seq = 0 if last is None else last.seq
        return Standing(seq, pins, None, "", None, chain, None, stale)

    def _row(
        self,
        n: int,
        action: Action,
        reviewer: str,
        pins: Sequence[Pin],
        verdict: Verdict | None,
        note: str,
        before: Decoding,
        after: Decoding,
        seconds: float | None = None,
    ) -> Row:
        slip, outcome = self.slip(n), outcome_of(after)
        if verdict == "accepted":
            answers = self._answers.of(self._shelf.take(n).scored.document)
            outcome = with_values(outcome, after, answers.rules)
        return Row(
            0, now(), reviewer, slip.id, slip.hash, self.shared.rules_hash, self.shared.version,
            action, verdict, [pin.to_dict() for pin in pins], outcome_of(before),
            outcome, note, seconds,
        )  # fmt: skip

    def _moved(
        self, n: int, opened: Opened, before: Decoding, after: Decoding, language: str
    ) -> dict[str, Any]:
        state = self.standing(n)
        answers = self._answers.of(opened.scored.document)
        self.queue.tell(n, state.seq, entry_of(opened.scored, after, answers))
        return self._record(n, opened, state, after, moves(before, after, state.pins), language)

    def _record(
        self,
        n: int,
        opened: Opened,
        state: Standing,
        decoding: Decoding,
        moved: Sequence[Move] | None,
        language: str,
    ) -> dict[str, Any]:
        """A document as the page gets it."""
        scored, document = opened.scored, opened.scored.document
        answers = self._answers.of(document)
        pages = range(_pages(scored))
        return {
            "n": n,
            "id": document.id,
            "rules": answers.name,
            "words": document.words,
            "boxes": document.boxes,
            "pages": document.pages,
            "joins": document.joins,
            "sizes": document.sizes,
            "images": [self.pictures.there(document, page) for page in pages],
            "texts": texts_of(scored, state.pins),
            "pins": [pin.to_dict() for pin in state.pins],
            "verdict": state.verdict,
            "note": state.note,
            "reviewer": state.reviewer,
            "seq": state.seq,
            "undo": state.chain.can_undo,
            "redo": state.chain.can_redo,
            "stale": _in(language, state.stale or _other_answer(state.last, decoding)),
            "answer": answers.answer(scored, decoding, moved, language),
            "entry": self.queue.listed(n, self.store, self.shared.rules_hash, language),
        }


def _pages(scored: Scored) -> int:
    document = scored.document
    known = (len(document.sizes or ()), len(document.images or ()), 1)
    return max(*known, max(document.pages or (0,)) + 1)


def _stale(what: str, message: str, row: Row) -> dict[str, Any]:
    return {
        "what": what,
        "message": message,
        "pins": row.pins,
        "verdict": row.verdict,
        "note": row.note,
        "reviewer": row.reviewer,
        "at": row.at,
    }


def _in(language: str, stale: dict[str, Any] | None) -> dict[str, Any] | None:
    """A warning in the language that a header asks for."""
    if stale is None:
        return None
    return {**stale, "message": said(stale["message"], language_of(language, LANGUAGES))}


def _other_answer(row: Row | None, decoding: Decoding) -> dict[str, Any] | None:
    """That the answer is not the one that the last row is about: scores or lawful have changed."""
    if row is None or row.verdict is None or row.after is None:
        return None
    if labels_of(row.after) == decoding.labels:
        return None
    return _stale("answer", "the answer is not the one that was reviewed", row)
