"""Decoding many documents: one pipeline, in input order, in constant memory.

    source -> records -> (model) -> decode -> sink

A source yields lines of a file or records: ``Scored`` documents, and a ``FailedDocument`` for each
line that cannot be used. A model, if there is one, scores documents that have no scores
(``score_records``). ``decode_lines`` and ``decode_records`` yield one result per item: the document
as it was decoded with its decoding, or a ``FailedDocument``. Records carry their line number and id
from the source to the sink. Observers and sinks are plain loops over the results.

Decoding is mostly Python, which uses one core per process, so ``workers`` are processes. Lines of
a file are sent to them unparsed: parsing is then parallel too.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, Unpack

from lawful.base.errors import InputError, LawfulError, shown
from lawful.candidates.candidates import SMOOTHING
from lawful.candidates.choose import ready, without_places
from lawful.documents.document import Document
from lawful.documents.records import FailedDocument, Scored
from lawful.documents.scores import Pooling, Scores
from lawful.documents.span_scores import AnyScores, SpanScores
from lawful.io.candidate_lines import parse_candidates
from lawful.io.jsonl import Line, LineParser
from lawful.pipeline.call import Call, Options, Record, Result, bad_line, decode_one
from lawful.pipeline.workers import FORKS, Idle, in_order
from lawful.results.decoding import Decoding
from lawful.rules.rule_set import Rules

MAX_WORKERS = 256

T = TypeVar("T")


def decode_records(
    records: Iterable[Record | Idle],
    call: Call,
    *,
    workers: int = 1,
) -> Generator[Result, None, None]:
    """One result per record, in order; bad lines pass through."""
    return in_order(_Decode(call), records, checked_workers(workers))


def decode_lines(
    path: str,
    lines: Iterable[Line],
    call: Call,
    *,
    workers: int = 1,
) -> Generator[Result, None, None]:
    """One result per line, in order. Workers parse the lines, which may have scores of spans.

    ``path`` is the file of the lines: scores may be in the ``.npz`` file of the same name.
    """
    return in_order(_DecodeLine(call, path), lines, checked_workers(workers))


def choose_lines(
    lines: Iterable[Line], call: Call, *, smoothing: float = SMOOTHING, workers: int = 1
) -> Generator[Result, None, None]:
    """One result per line of candidates, in order: the texts of the candidates, and the choice."""
    among = replace(call, rules=without_places(call.rules))
    task = _Choose(among, fields=call.rules, smoothing=smoothing)
    return in_order(task, lines, checked_workers(workers))


def score_records(
    predict: Callable[[Iterable[T]], Iterator[Scored]], records: Iterable[T | FailedDocument | Idle]
) -> Iterator[Record]:
    """Documents with the scores that a model predicts; bad lines keep their places.

    ``predict`` yields one ``Scored`` per document, in order and with its line number. It may read
    ahead, so each bad line is held back until the documents before it have been yielded.
    """
    waiting: deque[FailedDocument] = deque()

    def documents() -> Iterator[T]:
        for record in records:
            if isinstance(record, FailedDocument):
                waiting.append(record)
            elif not isinstance(record, Idle):
                yield record

    for scored in predict(documents()):
        while waiting and waiting[0].line < (scored.line or 0):
            yield waiting.popleft()
        yield scored
    yield from waiting


def score_each(
    predict: Callable[[Iterable[T]], Iterator[Scored]], records: Iterable[T | FailedDocument | Idle]
) -> Iterator[Record | Idle]:
    """The same one by one: a document is scored as soon as it is there."""
    for record in records:
        if isinstance(record, FailedDocument | Idle):
            yield record
        else:
            yield from predict([record])


@dataclass(frozen=True)
class _Decode:
    """The task of workers that decode records."""

    call: Call

    def start(self) -> Callable[[Any], Any]:
        return self.decode

    def decode(self, record: Record) -> Result:
        return decode_one(record, self.call)

    def lost(self, item: Any, why: str) -> FailedDocument:
        return bad_line(item, why)


@dataclass(frozen=True)
class _DecodeOnly(_Decode):
    """The same, without sending the documents back, which the caller has.

    With ``held``, items are indices of these documents, so that none are sent to workers. These
    must be forks then, which have the memory of this process.
    """

    held: tuple[Any, ...] | None = None

    def start(self) -> Callable[[Any], Decoding | FailedDocument]:
        return self.decode_only

    def decode_only(self, item: Any) -> Decoding | FailedDocument:
        result = self.decode(self.record(item))
        return result if isinstance(result, FailedDocument) else result[1]

    def record(self, item: Any) -> Record:
        return _record(item if self.held is None else self.held[item])

    def lost(self, item: Any, why: str) -> FailedDocument:
        return bad_line(self.record(item), why)


@dataclass(frozen=True)
class _DecodeLine(_Decode):
    """The task of workers that parse lines and decode them."""

    path: str = "-"

    def start(self) -> Callable[[Line], Result]:
        parser = LineParser(self.path)  # one per worker: forks would share the .npz file's position
        return lambda line: self.decode(parser.parse(*line))

    def lost(self, item: Line, why: str) -> FailedDocument:
        return FailedDocument(item[0], why)


@dataclass(frozen=True)
class _Choose(_DecodeLine):
    """The task of workers that parse lines of candidates and choose among them.

    ``fields`` are the rules by which candidates are laid out; those of the call have no places.
    """

    fields: Rules = field(kw_only=True)
    smoothing: float = SMOOTHING

    def start(self) -> Callable[[Line], Result]:
        return lambda line: self.decode(self.record(line))

    def record(self, line: Line) -> Record:
        candidates = parse_candidates(*line, self.smoothing)
        if isinstance(candidates, FailedDocument):
            return candidates
        try:
            found = ready(candidates, self.fields)
            return Scored(found.document, found.scores)
        except LawfulError as error:
            return FailedDocument(line[0], str(error), candidates.id)


def checked_workers(workers: int) -> int:
    """The number of workers; raises an ``InputError`` unless it is a count."""
    count = isinstance(workers, int) and not isinstance(workers, bool)
    if not count or not 1 <= workers <= MAX_WORKERS:
        raise InputError(f"workers is {shown(workers)}, expected a count from 1 to {MAX_WORKERS}")
    return workers


def decode_many(
    documents: Iterable[Scored | tuple[Document, AnyScores]],
    rules: Rules,
    *,
    pool: Pooling | None = None,
    workers: int | None = None,
    progress: Callable[[int], None] | None = None,
    **how: Unpack[Options],
) -> Iterator[Decoding | FailedDocument]:
    """One decoding per document, in order; a ``FailedDocument`` for one that cannot be decoded.

    ``how`` are ``decoder``, ``budget`` and ``alternatives`` as for ``lawful.decode``, ``by_field``
    (one span per field instead of labels of all words) and ``temperature`` (that of ``lawful
    calibrate``); ``pool`` merges word pieces into words, by ``mean``, ``first`` or ``product``.
    ``workers`` is the number of processes, by default one per core; with 1, all work is done in
    this process. Documents are read a few ahead of the results; a list or tuple of them costs the
    least, as workers find its documents in their memory. ``progress`` is called with the
    number of documents done so far. To stop, leave the loop or press Ctrl-C: all workers end within
    a second, even in the middle of a document. A worker that dies is replaced, and the document
    that it was decoding is a ``FailedDocument``.
    """
    call = Call(rules, pool=pool, **how)
    if not isinstance(documents, Iterable):
        raise InputError(f"documents is {shown(documents)}, expected an iterable of documents")
    count = (os.cpu_count() or 1) if workers is None else workers
    if checked_workers(count) > 1 and FORKS and isinstance(documents, list | tuple):
        held = tuple(documents)
        results = in_order(_DecodeOnly(call, held=held), range(len(held)), count)
    else:
        results = in_order(_DecodeOnly(call), map(_record, documents), count)
    return _decodings(results, progress)


def _decodings(
    results: Generator[Decoding | FailedDocument, None, None],
    progress: Callable[[int], None] | None,
) -> Iterator[Decoding | FailedDocument]:
    with closing(results):  # ends the workers even if progress raises
        for index, result in enumerate(results):
            if progress is not None:
                progress(index + 1)
            yield result


def _record(given: Any) -> Record:
    """The record of an item of ``decode_many``; an item of another type is a bad line."""
    match given:
        case Scored() | FailedDocument():
            return given
        case (Document() as document, Scores() | SpanScores() as scores):
            try:
                return Scored(document, scores)
            except LawfulError as error:
                return FailedDocument(0, str(error), document.id)
        case tuple():
            found = f"({', '.join(type(part).__name__ for part in given)})"
        case _:
            found = type(given).__name__
    return FailedDocument(0, f"found {found}, expected a Scored, or a document and its scores")
