"""What was chosen among candidates as spans of the page's own words, for people to look at.

A candidate is a span of the words at which it is printed. One whose print says something else, or
belongs to another value that must be taken, or that is printed nowhere, is a word of its own behind
those of the page: with the box of its print, or on a page behind the last one, without a box.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import exp, inf, log

import numpy as np

from lawful.candidates.candidates import TOLERANCE
from lawful.candidates.same import same
from lawful.candidates.stated import Stated
from lawful.documents.document import NOWHERE, Document
from lawful.documents.labels import Span
from lawful.documents.placed_texts import PlacedTexts
from lawful.documents.records import Scored
from lawful.documents.span_scores import SpanScores
from lawful.results.decoding import Decoding
from lawful.rules.definitions import Field
from lawful.rules.judging.field_reader import FieldValue
from lawful.rules.rule_set import Rules
from lawful.values import read


@dataclass(frozen=True, slots=True)
class OnPage:
    """Candidates on their page, under the rules that they were chosen by."""

    document: Document
    scores: SpanScores
    spans: dict[int, tuple[int, int]]  # by the first word of a candidate: its words here

    @property
    def scored(self) -> Scored:
        """The page, with its candidates as a model's spans: each as likely against no value."""
        return Scored(self.document, self.scores)

    def decoding(self, decoding: Decoding) -> Decoding:
        """What was chosen, in words of the page."""
        labels = ["O"] * len(self.document)
        fields = {name: list(map(self._value, found)) for name, found in decoding.fields.items()}
        for name, values in fields.items():
            for value in values:
                start, end = value.words
                labels[start:end] = [f"B-{name}"] + [f"I-{name}"] * (end - start - 1)
        changes = tuple(
            replace(each, old=self._span(each.old), new=self._span(each.new))
            for each in decoding.span_corrections
        )
        return replace(
            decoding, fields=fields, labels=tuple(labels), words=self.document.words,
            corrections=(), span_corrections=changes,
        )  # fmt: skip

    def _value(self, value: FieldValue) -> FieldValue:
        return replace(value, words=self.spans[value.words[0]])

    def _span(self, span: Span | None) -> Span | None:
        return None if span is None else Span(span.type, *self.spans[span.start])


def on_page(scored: Scored, rules: Rules) -> OnPage | None:
    """Candidates as ``choose`` laid them out; ``None`` if they are of another kind."""
    document, scores = scored.document, scored.scores
    if not isinstance(scores, SpanScores) or not scores.slots:
        return None
    known = {f.name: f for f in rules.fields}
    exactly = isinstance(scored, Stated)  # whose texts are what is true, whatever is printed
    placed = document if isinstance(document, PlacedTexts) else None
    page = None if placed is None else placed.around
    words = [] if page is None else list(page.words)
    boxes = None if page is None or page.boxes is None else list(page.boxes)
    numbers = [0] * len(words) if page is None or page.pages is None else list(page.pages)
    nowhere = max(numbers, default=-1) + 1
    rows: list[int | None] = [None] * len(words)
    spans: dict[int, tuple[int, int]] = {}
    odds: dict[Span, float] = {}
    held: dict[int, tuple[str, int | None]] = {}  # by word, whose value must be there
    ranked = sorted(zip(scores.log_odds.tolist(), scores.spans, strict=True), key=lambda e: e[0])
    for worth, span in ranked:  # the best one last: the row of its words counts
        own = range(span.start, scores.text_end(span.start))
        text = " ".join(document.words[i] for i in own)
        place = () if placed is None else placed.places[span.start]
        owner = span.type, None if document.rows is None else document.rows[span.start]
        free = all(held.get(i, owner) == owner for i in place)
        if page is not None and free and _says(page, place, text, known[span.type], exactly):
            found = place[0], place[-1] + 1
            if scores.must_be_taken(span):
                held.update(dict.fromkeys(place, owner))
        else:
            found = len(words), len(words) + len(own)
            words += (document.words[i] for i in own)
            if page is not None:
                if boxes is not None and placed is not None:
                    box = placed.box(span.start, span.start + 1)
                    boxes += [box or NOWHERE] * len(own)
                at = page.page(place[0]) if place else None
                numbers += [(at or 0) if place else nowhere] * len(own)
            rows += [None] * len(own)
        spans[span.start] = found
        if document.rows is not None:
            rows[found[0] : found[1]] = [document.rows[span.start]] * (found[1] - found[0])
        new = Span(known[span.type].label, *found)
        missing = log(TOLERANCE) if scores.must_be_taken(span) else 0.0
        odds[new] = float(np.logaddexp(odds.get(new, -inf), worth - missing))
    whole = replace(
        Document(document.id, tuple(words)) if page is None else page,
        words=tuple(words), boxes=None if boxes is None else tuple(boxes),
        pages=None if page is None else tuple(numbers),
        joins=None if page is None or page.joins is None
        else (*page.joins, *[False] * (len(words) - len(page))),
        sizes=None if page is None or page.sizes is None
        else (*page.sizes[:nowhere], *[(0.0, 0.0)] * (nowhere in numbers)),
        misreads=None, rows=tuple(rows) if document.rows is not None else None,
        line=document.line, given=document.given, classes=document.classes,
    )  # fmt: skip
    likely = [(s.start, s.end, s.type, 1 / (1 + exp(-min(max(each, -500), 500))))
              for s, each in odds.items()]  # fmt: skip
    types = dict.fromkeys(f.label for f in rules.fields)
    named = {known[name].label: share for name, share in scores.named.items()}
    return OnPage(whole, SpanScores(likely, len(words), types, named), spans)


def _says(page: Document, place: tuple[int, ...], text: str, f: Field, exactly: bool) -> bool:
    """Whether the words of a place follow each other, and say what a text does."""
    if not place or place[-1] - place[0] + 1 != len(place):
        return False
    printed = page.text(place[0], place[-1] + 1)
    if f.type == "text":
        return printed == text if exactly else same(printed) == same(text)
    first = list(_first(printed, f.type))
    return bool(first) and first == list(_first(text, f.type))


def _first(text: str, type_: str) -> Iterator[object]:
    yield from read(text, type_)[:1]
