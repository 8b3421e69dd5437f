"""The shelf: documents that were read lately, with the answers to what was asked about them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field, replace

from lawful.decoders import decode
from lawful.decoding import Budget, Decoding
from lawful.document import BadLine, Scored, SpanScored
from lawful.errors import InputError
from lawful.pins import Pin
from lawful.review.documents import Documents, Slip
from lawful.rules.rule_set import Rules

MOST_WORDS = 200_000
"""Words of the documents on the shelf; those that nobody asked for lately are put back."""

MOST_ANSWERS = 8  # of a document


class NoDocumentError(InputError):
    """There is no such document, or its line cannot be used."""


@dataclass(slots=True)
class Opened:
    """A document that was read, with the answers to the pins that were asked for last."""

    scored: Scored | SpanScored
    answers: OrderedDict[tuple[Pin, ...], Decoding] = field(default_factory=OrderedDict)


class Shelf:
    """Reads and decodes documents, and remembers some. Safe to use from several threads."""

    def __init__(self, documents: Documents, rules: Rules) -> None:
        self._documents, self._rules = documents, rules
        self._opened: OrderedDict[int, Opened] = OrderedDict()
        self._lock = threading.Lock()

    def slip(self, n: int) -> Slip:
        """The slip of a document; raises a ``NoDocumentError`` if there is no such document."""
        if not 0 <= n < len(self._documents):
            raise NoDocumentError(f"no document {n}; there are {len(self._documents)}")
        return self._documents.slips[n]

    def take(self, n: int) -> Opened:
        """A document; raises a ``NoDocumentError`` if it cannot be used."""
        slip = self.slip(n)
        with self._lock:
            if n in self._opened:
                self._opened.move_to_end(n)
                return self._opened[n]
        scored = self._documents.read(n)
        if isinstance(scored, BadLine):
            raise NoDocumentError(f"line {slip.line}: {scored.message}")
        with self._lock:
            opened = self._opened.setdefault(n, Opened(scored))
            words = sum(len(each.scored.document) for each in self._opened.values())
            while words > MOST_WORDS and len(self._opened) > 1:
                _, closed = self._opened.popitem(last=False)
                words -= len(closed.scored.document)
        return opened

    def decode(
        self, opened: Opened, pins: tuple[Pin, ...], budget: Budget, before: Decoding | None = None
    ) -> Decoding:
        """The answer under pins; remembered, so that nobody sees two answers to one question."""
        with self._lock:
            known = opened.answers.get(pins)
        if known is not None:
            return known
        document, scores = replace(opened.scored.document, pins=pins), opened.scored.scores
        found = decode(document, scores, self._rules, budget=budget, before=before)
        with self._lock:
            found = opened.answers.setdefault(pins, found)
            while len(opened.answers) > MOST_ANSWERS:
                opened.answers.popitem(last=False)
        return found
