"""Decoding many documents: in order, in constant memory, in one process or several.

Reading texts and explaining results is Python, which one process does on one core at a time; so
several cores take several processes. Lines of a file travel to them as they stand there, so that
parsing is done in parallel too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from lawful.decoders import Decoder, check_call, decode
from lawful.decoding import Budget, Decoding
from lawful.document import BadLine, Document, Scored
from lawful.errors import InputError, LawfulError
from lawful.io.jsonl import LineParser
from lawful.rules.definitions import Rules
from lawful.scores import Pooling, Scores, check_temperature
from lawful.workers import in_order

Result: TypeAlias = tuple[Scored, Decoding] | BadLine

MOST_WORKERS = 256


@dataclass(frozen=True, slots=True)
class Failed:
    """A document that could not be decoded: which one, counted from 0, and why."""

    index: int
    id: str | None
    message: str


@dataclass(frozen=True, slots=True)
class Call:
    """How to decode a document: what is the same for all of them."""

    rules: Rules
    decoder: str | Decoder = "auto"
    budget: Budget | None = None
    alternatives: int = 0

    def decode(self, document: Document, scores: Scores) -> Decoding:
        return decode(
            document,
            scores,
            self.rules,
            decoder=self.decoder,
            budget=self.budget,
            alternatives=self.alternatives,
        )

    def start(self) -> Callable[[tuple[int, Any]], Decoding | Failed]:
        """What decodes a document that comes with its index."""
        return self._decode

    def _decode(self, item: tuple[int, Any]) -> Decoding | Failed:
        try:
            return self.decode(*_parts(item[1]))
        except LawfulError as error:
            return self.lost(item, str(error))

    def lost(self, item: tuple[int, Any], why: str) -> Failed:
        """What comes back for a document that has no decoding."""
        index, given = item
        try:
            document, _ = _parts(given)
        except LawfulError:
            document = None
        return Failed(index, document.id if isinstance(document, Document) else None, why)


@dataclass(frozen=True, slots=True)
class Job:
    """How to decode a line: plain values, so that a worker can be given one."""

    path: str
    rules: Path | Rules
    decoder: str = "auto"
    budget: Budget | None = None
    temperature: float = 1.0
    pool: Pooling | None = None
    alternatives: int = 0

    def start(self) -> Callable[[tuple[int, bytes]], Result]:
        """What decodes a line that comes with its number: rules and parser are loaded once."""
        check_temperature(self.temperature)
        rules = self.rules if isinstance(self.rules, Rules) else Rules.load(self.rules)
        call = Call(rules, self.decoder, self.budget, self.alternatives)
        parser = LineParser(self.path)
        return lambda line: self._decode(parser.parse(*line), call)

    def lost(self, item: tuple[int, bytes], why: str) -> BadLine:
        """What comes back for a line whose worker died."""
        return BadLine(item[0], why)

    def _decode(self, scored: Scored | BadLine, call: Call) -> Result:
        if isinstance(scored, BadLine):
            return scored
        try:
            scored = self.prepare(scored)
            return scored, call.decode(scored.document, scored.scores)
        except LawfulError as error:
            return BadLine(scored.line or 0, str(error))

    def prepare(self, scored: Scored) -> Scored:
        """The document as it is to be decoded: in words, at the temperature asked for."""
        if self.pool is not None:
            scored = scored.to_words(self.pool)
        if self.temperature != 1.0:
            scores = scored.scores.with_temperature(self.temperature)
            scored = Scored(scored.document, scores, scored.gold)
        return scored


def decode_lines(
    job: Job, lines: Iterable[tuple[int, bytes]], workers: int = 1
) -> Iterator[Result]:
    """The result for every line, in order; a line that fails does not stop the others."""
    job.start()  # here too, so that what is wrong for all lines is said once
    yield from in_order(job, lines, workers)


def decode_many(
    documents: Iterable[Scored | tuple[Document, Scores]],
    rules: Rules,
    *,
    decoder: str | Decoder = "auto",
    budget: Budget | None = None,
    alternatives: int = 0,
    workers: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Decoding | Failed]:
    """A decoding for every document, in order; one that cannot be decoded does not stop the others.

    ``workers`` are processes, as many as there are cores unless given; with 1, all is done in this
    one. Documents are taken from the iterable a few ahead of what was yielded. ``progress`` is
    called with the number done so far. To stop, leave the loop, or press Ctrl-C: workers end within
    a second, whatever they are doing. A worker that dies is replaced, and the document that it was
    decoding is a ``Failed``.
    """
    if not isinstance(rules, Rules):
        raise InputError(f"rules is of type {type(rules).__name__}, expected a Rules")
    if not isinstance(documents, Iterable):
        raise InputError(f"documents is {documents!r}, expected an iterable of documents")
    check_call(decoder, budget, alternatives)
    count = isinstance(workers, int) and not isinstance(workers, bool)
    if workers is not None and (not count or not 1 <= workers <= MOST_WORKERS):
        raise InputError(f"workers is {workers!r}, expected a count from 1 to {MOST_WORKERS}")
    call = Call(rules, decoder, budget, alternatives)
    results = in_order(call, enumerate(documents), workers or os.cpu_count() or 1)
    return results if progress is None else _counted(results, progress)


def _counted(
    results: Generator[Decoding | Failed, None, None], progress: Callable[[int], None]
) -> Iterator[Decoding | Failed]:
    with closing(results):  # and its workers, should progress raise
        for done, result in enumerate(results, 1):
            progress(done)
            yield result


def _parts(given: Any) -> tuple[Document, Scores]:
    if isinstance(given, Scored):
        return given.document, given.scores
    if isinstance(given, BadLine):
        raise InputError(f"line {given.line}: {given.message}")
    if not isinstance(given, tuple) or len(given) != 2:
        kind = type(given).__name__
        raise InputError(f"{kind} is given, expected a Scored, or a document and its scores")
    return given
