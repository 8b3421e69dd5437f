"""Decoding many documents: one pipeline, in input order, in constant memory.

    source -> records -> (model) -> decode -> sink

A source yields lines of a file or records: ``Scored`` documents, and a ``BadLine`` for each line
that cannot be used. A model, if there is one, scores documents that have no scores
(``score_records``). ``decode_lines`` and ``decode_records`` yield one result per item: the document
as it was decoded with its decoding, or a ``BadLine``. Records carry their line number and id from
the source to the sink. Observers and sinks are plain loops over the results.

Decoding is mostly Python, which uses one core per process, so ``workers`` are processes. Lines of
a file are sent to them unparsed: parsing is then parallel too.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

from lawful.candidates import SMOOTHING
from lawful.choosing import laid_out
from lawful.decoders import Decoder, check_call, decode
from lawful.decoding import Budget, Decoding
from lawful.document import BadLine, Document, Scored, SpanScored
from lawful.errors import InputError, LawfulError, shown
from lawful.field_spans import field_spans
from lawful.io.candidate_lines import parse_candidates
from lawful.io.jsonl import Line, LineParser
from lawful.rules.rule_set import Rules
from lawful.scores import Pooling, Scores, check_temperature
from lawful.span_scores import SpanScores
from lawful.workers import FORKS, in_order

Record: TypeAlias = Scored | BadLine
Result: TypeAlias = tuple[Scored, Decoding] | BadLine
SpanResult: TypeAlias = tuple[SpanScored, Decoding] | BadLine
AnyRecord: TypeAlias = Record | SpanScored
AnyResult: TypeAlias = tuple[Scored | SpanScored, Decoding] | BadLine

MOST_WORKERS = 256

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Preparation:
    """Steps before decoding: word pieces are merged into words, then the temperature is applied."""

    pool: Pooling | None = None
    temperature: float = 1.0

    def __post_init__(self) -> None:
        check_temperature(self.temperature)

    def apply(self, scored: Scored) -> Scored:
        """The prepared document."""
        if self.pool is not None:
            scored = scored.to_words(self.pool)
        if self.temperature != 1.0:
            scored = replace(scored, scores=scored.scores.with_temperature(self.temperature))
        return scored

    def apply_to_spans(self, scored: SpanScored) -> SpanScored:
        """The prepared document; word pieces cannot be merged, because spans count them."""
        if self.pool is not None and any(scored.document.joins or ()):
            raise InputError(
                "scores of spans are of word pieces, which cannot be merged into words"
            )
        if self.temperature != 1.0:
            scored = replace(scored, scores=scored.scores.with_temperature(self.temperature))
        return scored

    def apply_all(self, records: Iterable[Record]) -> Iterator[Record]:
        """The prepared records; one that cannot be prepared becomes a bad line."""
        for record in records:
            try:
                yield record if isinstance(record, BadLine) else self.apply(record)
            except LawfulError as error:
                yield bad_line(record, str(error))

    def apply_to_any(self, records: Iterable[AnyRecord]) -> Iterator[AnyRecord]:
        """The same for records with scores of words or of spans."""
        for record in records:
            if not isinstance(record, SpanScored):
                yield from self.apply_all([record])
                continue
            try:
                yield self.apply_to_spans(record)
            except LawfulError as error:
                yield bad_line(record, str(error))


UNCHANGED = Preparation()


@dataclass(frozen=True, slots=True)
class Call:
    """The rules and decoding options shared by all documents of a run, checked on construction."""

    rules: Rules
    decoder: str | Decoder = "auto"
    budget: Budget | None = None
    alternatives: int = 0
    by_field: bool = False  # one span per field, instead of labels of all words (``field_spans``)

    def __post_init__(self) -> None:
        if not isinstance(self.rules, Rules):
            raise InputError(f"rules is of type {type(self.rules).__name__}, expected a Rules")
        check_call(self.decoder, self.budget, self.alternatives)

    def given(self, scored: Scored) -> Scored | SpanScored:
        """What is decoded: the scores of words, or those of the fields' spans."""
        if not self.by_field:
            return scored
        spans = field_spans(scored.document, scored.scores, self.rules)
        return SpanScored(scored.document, spans, scored.gold)

    def decode(self, scored: Scored | SpanScored) -> Decoding:
        """Decodes one document with ``lawful.decode``."""
        return decode(
            scored.document,
            scored.scores,
            self.rules,
            decoder=self.decoder,
            budget=self.budget,
            alternatives=self.alternatives,
        )


def bad_line(record: Record | SpanScored, why: str) -> BadLine:
    """The bad line that replaces a record; a record that is a bad line stays as it is."""
    if isinstance(record, BadLine):
        return record
    return BadLine(record.line or 0, why, record.document.id)


def decode_one(record: AnyRecord, call: Call, preparation: Preparation = UNCHANGED) -> AnyResult:
    """The result of one record, decoded in this process."""
    return _DecodeAny(_DecodeRecord(call, preparation)).decode(record)


def decode_records(
    records: Iterable[Record],
    call: Call,
    preparation: Preparation = UNCHANGED,
    *,
    workers: int = 1,
) -> Generator[AnyResult, None, None]:
    """One result per record, in order; bad lines pass through."""
    return in_order(_DecodeRecord(call, preparation), records, checked_workers(workers))


def decode_any(
    records: Iterable[AnyRecord], call: Call, *, workers: int = 1
) -> Generator[AnyResult, None, None]:
    """The same for records with scores of words or of spans."""
    task = _DecodeAny(_DecodeRecord(call, UNCHANGED))
    return in_order(task, records, checked_workers(workers))


def decode_lines(
    path: str,
    lines: Iterable[Line],
    call: Call,
    preparation: Preparation = UNCHANGED,
    *,
    workers: int = 1,
) -> Generator[AnyResult, None, None]:
    """One result per line, in order. Workers parse the lines, which may have scores of spans.

    ``path`` is the file of the lines: scores may be in the ``.npz`` file of the same name.
    """
    task = _DecodeLine(path, _DecodeAny(_DecodeRecord(call, preparation)))
    return in_order(task, lines, checked_workers(workers))


def choose_lines(
    lines: Iterable[Line], call: Call, *, smoothing: float = SMOOTHING, workers: int = 1
) -> Generator[SpanResult, None, None]:
    """One result per line of candidates, in order: the texts of the candidates, and the choice."""
    return in_order(_ChooseLine(call, smoothing), lines, checked_workers(workers))


def score_records(
    predict: Callable[[Iterable[T]], Iterator[Scored]], records: Iterable[T | BadLine]
) -> Iterator[Record]:
    """Documents with the scores that a model predicts; bad lines keep their places.

    ``predict`` yields one ``Scored`` per document, in order and with its line number. It may read
    ahead, so each bad line is held back until the documents before it have been yielded.
    """
    waiting: deque[BadLine] = deque()

    def documents() -> Iterator[T]:
        for record in records:
            if isinstance(record, BadLine):
                waiting.append(record)
            else:
                yield record

    for scored in predict(documents()):
        while waiting and waiting[0].line < (scored.line or 0):
            yield waiting.popleft()
        yield scored
    yield from waiting


AnyScored = TypeVar("AnyScored", bound=Scored | SpanScored)


def _corrected(scored: AnyScored) -> AnyScored:
    """The same with the texts that pins say, if there are any."""
    document = scored.document.corrected()
    return scored if document is scored.document else replace(scored, document=document)


@dataclass(frozen=True, slots=True)
class _DecodeRecord:
    """The task of workers that decode records."""

    call: Call
    preparation: Preparation

    def start(self) -> Callable[[Record], AnyResult]:
        return self.decode

    def decode(self, record: Record) -> AnyResult:
        if isinstance(record, BadLine):
            return record
        try:
            given = self.call.given(self.preparation.apply(record))
            decoding = self.call.decode(given)
            return _corrected(given), decoding
        except LawfulError as error:
            return bad_line(record, str(error))
        except MemoryError:
            return bad_line(record, "not enough memory to decode it")

    def lost(self, item: Record, why: str) -> BadLine:
        return bad_line(item, why)


@dataclass(frozen=True, slots=True)
class _DecodeAny:
    """The task of workers that decode records with scores of words or of spans."""

    task: _DecodeRecord

    def start(self) -> Callable[[Record | SpanScored], AnyResult]:
        return self.decode

    def decode(self, record: Record | SpanScored) -> AnyResult:
        if not isinstance(record, SpanScored):
            return self.task.decode(record)
        try:
            scored = self.task.preparation.apply_to_spans(record)
            decoding = self.task.call.decode(scored)
            return _corrected(scored), decoding
        except LawfulError as error:
            return bad_line(record, str(error))
        except MemoryError:
            return bad_line(record, "not enough memory to decode it")

    def lost(self, item: Record | SpanScored, why: str) -> BadLine:
        return bad_line(item, why)


@dataclass(frozen=True, slots=True)
class _DecodeOnly:
    """The same, without sending the documents back, which the caller has."""

    task: _DecodeAny

    def start(self) -> Callable[[Record | SpanScored], Decoding | BadLine]:
        return self.decode

    def decode(self, record: Record | SpanScored) -> Decoding | BadLine:
        result = self.task.decode(record)
        return result if isinstance(result, BadLine) else result[1]

    def lost(self, item: Record | SpanScored, why: str) -> BadLine:
        return self.task.lost(item, why)


@dataclass(frozen=True, slots=True)
class _DecodeHeld:
    """The same for the indices of documents that are in memory, so that none are sent to workers.

    Workers must be forks, which have the memory of this process.
    """

    task: _DecodeOnly
    documents: tuple[Any, ...]

    def start(self) -> Callable[[int], Decoding | BadLine]:
        return lambda index: self.task.decode(_record(self.documents[index]))

    def lost(self, item: int, why: str) -> BadLine:
        return self.task.lost(_record(self.documents[item]), why)


@dataclass(frozen=True, slots=True)
class _DecodeLine:
    """The task of workers that parse lines and decode them."""

    path: str
    task: _DecodeAny

    def start(self) -> Callable[[Line], AnyResult]:
        parser = LineParser(self.path)  # one per worker: forks would share the .npz file's position
        return lambda line: self.task.decode(parser.parse_any(*line))

    def lost(self, item: Line, why: str) -> BadLine:
        return BadLine(item[0], why)


@dataclass(frozen=True, slots=True)
class _ChooseLine:
    """The task of workers that parse lines of candidates and choose among them."""

    call: Call
    smoothing: float

    def start(self) -> Callable[[Line], SpanResult]:
        return self.choose

    def choose(self, line: Line) -> SpanResult:
        candidates = parse_candidates(*line, self.smoothing)
        if isinstance(candidates, BadLine):
            return candidates
        call = self.call
        try:
            document, scores, rules = laid_out(candidates, call.rules)
            decoding = decode(
                document,
                scores,
                rules,
                decoder=call.decoder,
                budget=call.budget,
                alternatives=call.alternatives,
            )
        except LawfulError as error:
            return BadLine(line[0], str(error), candidates.id)
        except MemoryError:
            return BadLine(line[0], "not enough memory to choose", candidates.id)
        return SpanScored(document, scores), decoding

    def lost(self, item: Line, why: str) -> BadLine:
        return BadLine(item[0], why)


def checked_workers(workers: int) -> int:
    """The number of workers; raises an ``InputError`` unless it is a count."""
    count = isinstance(workers, int) and not isinstance(workers, bool)
    if not count or not 1 <= workers <= MOST_WORKERS:
        raise InputError(f"workers is {shown(workers)}, expected a count from 1 to {MOST_WORKERS}")
    return workers


@dataclass(frozen=True, slots=True)
class FailedDocument:
    """A document that could not be decoded: its index in the input, from 0, its id, and why."""

    index: int
    id: str | None
    message: str


def decode_many(
    documents: Iterable[Scored | tuple[Document, Scores | SpanScores]],
    rules: Rules,
    *,
    decoder: str | Decoder = "auto",
    budget: Budget | None = None,
    alternatives: int = 0,
    workers: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Decoding | FailedDocument]:
    """One decoding per document, in order; a ``FailedDocument`` for one that cannot be decoded.

    ``workers`` is the number of processes, by default one per core; with 1, all work is done in
    this process. Documents are read a few ahead of the results; a list or tuple of them costs the
    least, as workers find its documents in their memory. ``progress`` is called with the
    number of documents done so far. To stop, leave the loop or press Ctrl-C: all workers end within
    a second, even in the middle of a document. A worker that dies is replaced, and the document
    that it was decoding is a ``FailedDocument``.
    """
    call = Call(rules, decoder, budget, alternatives)
    if not isinstance(documents, Iterable):
        raise InputError(f"documents is {shown(documents)}, expected an iterable of documents")
    count = (os.cpu_count() or 1) if workers is None else workers
    task = _DecodeOnly(_DecodeAny(_DecodeRecord(call, UNCHANGED)))
    if checked_workers(count) > 1 and FORKS and isinstance(documents, list | tuple):
        held = tuple(documents)
        results = in_order(_DecodeHeld(task, held), range(len(held)), count)
    else:
        results = in_order(task, map(_record, documents), count)
    return _decodings(results, progress)


def _decodings(
    results: Generator[Decoding | BadLine, None, None], progress: Callable[[int], None] | None
) -> Iterator[Decoding | FailedDocument]:
    with closing(results):  # ends the workers even if progress raises
        for index, result in enumerate(results):
            if progress is not None:
                progress(index + 1)
            if isinstance(result, BadLine):
                where = f"line {result.line}: " if result.line else ""
                yield FailedDocument(index, result.id, f"{where}{result.message}")
            else:
                yield result


def _record(given: Any) -> Record | SpanScored:
    """The record of an item of ``decode_many``; an item of another type is a bad line."""
    match given:
        case Scored() | SpanScored() | BadLine():
            return given
        case (Document() as document, Scores() | SpanScores() as scores):
            try:
                if isinstance(scores, SpanScores):
                    return SpanScored(document, scores)
                return Scored(document, scores)
            except LawfulError as error:
                return BadLine(0, str(error), document.id)
        case tuple():
            found = f"({', '.join(type(part).__name__ for part in given)})"
        case _:
            found = type(given).__name__
    return BadLine(0, f"found {found}, expected a Scored, or a document and its scores")
