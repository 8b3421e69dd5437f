"""The shelf: documents that were read lately, with the answers to what was asked about them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace

from lawful.base.errors import InputError, LawfulError
from lawful.decoders import decode
from lawful.documents.labels import Span
from lawful.documents.pins import Pin
from lawful.documents.records import FailedDocument, Scored
from lawful.documents.span_scores import AnyScores, SpanScores
from lawful.results.decoding import Budget, Decoding
from lawful.review.answer import AnswersOf
from lawful.review.documents import Documents, Slip
from lawful.rules.rule_set import Rules

MAX_WORDS = 200_000
"""Words of the documents on the shelf; those that nobody asked for lately are put back."""

MAX_ANSWERS = 8  # of a document


class NoDocumentError(InputError):
    """There is no such document, or its line cannot be used."""


@dataclass(slots=True)
class Opened:
    """A document that was read, with the answers to the pins that were asked for last."""

    scored: Scored
    version: int  # of its scores
    answers: OrderedDict[tuple[Pin, ...], Decoding] = field(default_factory=OrderedDict)


class Shelf:
    """Reads and decodes documents, and remembers some. Safe to use from several threads."""

    def __init__(
        self, documents: Documents, answers: AnswersOf, version: Callable[[], int] = lambda: 0
    ) -> None:
        """``version`` is that of the documents' scores now."""
        self._documents, self._answers, self._version = documents, answers, version
        self._looking: dict[str, int] = {}
        self._opened: OrderedDict[int, Opened] = OrderedDict()
        self._lock = threading.Lock()

    def slip(self, n: int) -> Slip:
        """The slip of a document; raises a ``NoDocumentError`` if there is no such document."""
        if not 0 <= n < len(self._documents):
            raise NoDocumentError(f"no document {n}; there are {len(self._documents)}")
        return self._documents.slips[n]

    def look(self, n: int, reviewer: str) -> None:
        """Says what a reviewer looks at: its scores stay as they are until he looks elsewhere."""
        with self._lock:
            if n not in self._looking.values():
                self._drop_old(n)
            self._looking[reviewer] = n

    def _drop_old(self, n: int) -> None:
        if n in self._opened and self._opened[n].version != self._version():
            del self._opened[n]

    def take(self, n: int) -> Opened:
        """A document; raises a ``NoDocumentError`` if it cannot be used."""
        slip = self.slip(n)
        with self._lock:
            if n not in self._looking.values():
                self._drop_old(n)
            if n in self._opened:
                self._opened.move_to_end(n)
                return self._opened[n]
        version = self._version()
        scored = self._documents.scored(n)
        if isinstance(scored, FailedDocument):
            raise NoDocumentError(f"line {slip.line}: {scored.message}")
        with self._lock:
            opened = self._opened.setdefault(n, Opened(scored, version))
            words = sum(len(each.scored.document) for each in self._opened.values())
            while words > MAX_WORDS and len(self._opened) > 1:
                _, closed = self._opened.popitem(last=False)
                words -= len(closed.scored.document)
        return opened

    def decode(
        self, opened: Opened, pins: tuple[Pin, ...], budget: Budget, before: Decoding | None = None
    ) -> Decoding:
        """The answer under pins; remembered, so that nobody sees two answers to one question.

        If the time is up too early, it is worth no less than the answer before with what the pins
        change, and nothing else.
        """
        with self._lock:
            known = opened.answers.get(pins)
        if known is not None:
            return known
        document, scores = replace(opened.scored.document, pins=pins), opened.scored.scores
        rules = self._answers.of(document).rules
        scores = with_pinned(scores, pins, rules)
        found = decode(document, scores, rules, budget=budget, before=before)
        if before is not None and not found.optimal:
            kept = _kept(before, pins)
            with suppress(LawfulError):  # they contradict each other
                other = decode(
                    replace(document, pins=kept), scores, rules, budget=budget, before=before
                )
                if other.status != "infeasible" and other.worth > found.worth:
                    found = replace(
                        other, pins=pins, optimal=False, bound=found.bound, status=found.status,
                        stopped_by=found.stopped_by,
                    )  # fmt: skip
        with self._lock:
            found = opened.answers.setdefault(pins, found)
            while len(opened.answers) > MAX_ANSWERS:
                opened.answers.popitem(last=False)
        return found


def with_pinned(scores: AnyScores, pins: Iterable[Pin], rules: Rules) -> AnyScores:
    """The scores with spans that a person says are there, even if the model has none of them."""
    if not isinstance(scores, SpanScores):
        return scores
    labels = {f.name: f.label for f in rules.fields}
    return scores.also(
        Span(labels[pin.field], *pin.words)
        for pin in pins
        if pin.is_span and pin.words and pin.field in labels and pin.words[1] <= len(scores)
    )


def _kept(before: Decoding, pins: tuple[Pin, ...]) -> tuple[Pin, ...]:
    """The pins, and all values of an answer that these say nothing about."""
    said = {word for pin in pins if pin.words for word in range(*pin.words)}
    fields = {pin.field for pin in pins}
    values = [
        Pin("is", value.words, name)
        for name, found in before.fields.items()
        if name not in fields
        for value in found
        if said.isdisjoint(range(*value.words))
    ]
    return tuple(dict.fromkeys((*pins, *values)))
