"""The records of a data set: labelled documents, scored documents, and those that failed.

``Labelled`` is a document with its true labels, ``Scored`` one with a model's scores of words or
spans, ``FailedDocument`` one that could not be read or decoded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, compress
from typing import Any

from lawful.base.cache import Cache, size_of_texts
from lawful.base.errors import DocumentError, InputError, shown
from lawful.documents.document import Document, check_length
from lawful.documents.pins import KINDS, Pin
from lawful.documents.scores import Pooling, Scores
from lawful.documents.span_scores import AnyScores, SpanScores

UNKNOWN = "?"
"""The gold label of a word of which it is not known which field it is, or whether it is one.

Training leaves such words out; evaluation refuses them."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A document with its true labels and, if the data set has splits, its split."""

    document: Document
    gold: tuple[str, ...]
    split: str | None = None

    def __post_init__(self) -> None:
        check_length(self.document, len(self.gold), "gold label", "gold labels")

    @property
    def line(self) -> int | None:
        """The document's line in the file that it was read from."""
        return self.document.line

    def by_page(self) -> Iterator[Labelled]:
        """One document per page that has words; itself if there is at most one such page.

        The id of a page is ``document/number``, from 0. BIO labels stay legal, unless an entity
        continues on the next page. A page keeps the pins about its words and about absent fields;
        not those about a span or text that continues on another page, nor about a field's value,
        which may be on any page.
        """
        document = self.document
        numbers = sorted(set(document.pages or ()))
        if len(numbers) < 2:
            yield self
            return
        for number in numbers:
            kept = [page == number for page in document.pages or ()]
            page = document.taking(
                [*compress(range(len(kept)), kept)],
                id=f"{document.id}/{number}",
                pins=_pins_of_page(document.pins, kept),
                values=None,  # they are known of the whole document
            )
            yield Labelled(page, tuple(compress(self.gold, kept)), self.split)


def _pins_of_page(pins: tuple[Pin, ...], kept: list[bool]) -> tuple[Pin, ...]:
    """The pins that concern the words that are kept, by their numbers among these."""
    before = [0, *accumulate(map(int, kept))]
    found = []
    for pin in pins:
        if pin.words is not None:
            start, end = pin.words
            first, last = before[start], before[end]
            whole = last - first == end - start
            if whole or (first < last and KINDS[pin.kind].by_word):
                found.append(pin.about(first, last))
        elif pin.subject == "labels":
            found.append(pin)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Scored:
    """A document with its scores, of words or of spans, and, if known, its true labels."""

    document: Document
    scores: AnyScores
    gold: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        document, scores, gold = self.document, self.scores, self.gold
        check_length(document, len(scores), *scores.unit)
        if gold is not None:
            check_length(document, len(gold), "gold label", "gold labels")
        if gold is None or isinstance(scores, SpanScores) or _known(gold, scores.labels):
            return
        for i, label in enumerate(gold):
            if label == UNKNOWN and label not in scores.labels:
                raise InputError(
                    f"document {shown(document.id)}: gold of word {i} is {shown(label)}, unknown: "
                    "such documents are for training only"
                )
            if label not in scores.labels:
                raise InputError(
                    f"document {shown(document.id)}: gold of word {i} is {shown(label)}, which is "
                    "not among the labels of the scores"
                )

    @property
    def line(self) -> int | None:
        """The document's line in the file that it was read from."""
        return self.document.line

    @property
    def word_scores(self) -> Scores:
        """The scores, if they are of words; raises an ``InputError`` if not."""
        if isinstance(self.scores, SpanScores):
            raise InputError(
                f"document {shown(self.document.id)} has scores of spans, expected scores of words"
            )
        return self.scores

    def __reduce__(self) -> tuple[Any, ...]:
        return Scored, (self.document, self.scores, self.gold)

    def to_words(self, how: Pooling = "mean") -> Scored:
        """The same document with word pieces joined to words; itself if nothing joins.

        A pin about pieces becomes one about their words, if it is about whole words.
        """
        joins = self.document.joins
        if joins is None or not any(joins):
            return self
        document = self.document
        scores = self.scores.to_words(joins, how)
        starts = [i for i, join in enumerate(joins) if not join]
        ends = [*starts[1:], len(joins)]
        words = tuple(document.text(a, b) for a, b in zip(starts, ends, strict=True))
        boxes: Any = None if document.boxes is None else tuple(map(document.box, starts, ends))
        misreads = document.misreads and tuple(map(tuple, map(document.misread, starts, ends)))
        return replace(
            self,
            document=document.taking(
                starts,
                words=words,
                boxes=boxes,
                joins=None,
                misreads=misreads,
                pins=tuple(_pin_of_words(document, pin, starts, ends) for pin in document.pins),
            ),
            scores=scores,
            gold=None if self.gold is None else tuple(self.gold[i] for i in starts),
        )


def _pin_of_words(document: Document, pin: Pin, starts: list[int], ends: list[int]) -> Pin:
    """A pin about word pieces as one about words, which begin and end at these pieces."""
    if pin.words is None:
        return pin
    start, end = pin.words
    if start not in starts or end not in ends:
        raise DocumentError(
            f"document {shown(document.id)} has a pin about a part of a word, expected whole "
            f"words: {pin.said}"
        )
    return pin.about(starts.index(start), ends.index(end) + 1)


@dataclass(frozen=True, slots=True)
class FailedDocument:
    """A document that could not be read, scored or decoded, and why; with its id if known.

    ``line`` is its line or number in the input, from 1; 0 if it has none.
    """

    line: int
    message: str
    id: str | None = None

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}" if self.line else self.message


def _known(gold: tuple[Any, ...], labels: tuple[str, ...]) -> bool:
    """Whether all true labels are labels of the scores; false for what is not hashable."""
    try:
        return _names(labels).issuperset(gold)
    except TypeError:
        return False


_NAMES: Cache[tuple[str, ...], frozenset[str]] = Cache(2**20)


def _names(labels: tuple[str, ...]) -> frozenset[str]:
    """Documents of a file share their labels."""
    found = _NAMES.get(labels)
    if found is None:
        size = 80 * len(labels) + size_of_texts(labels)
        found = _NAMES.keep(labels, frozenset(labels), size)
    return found
