"""Decoding many documents: in order, in constant memory, in one process or several.

Reading texts and explaining results is Python, which one process does on one core at a time; so
several cores take several processes. Lines of a file travel to them as they stand there, so that
parsing is done in parallel too.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from lawful.decoders import Decoder, check_call, decode
from lawful.decoding import Budget, Decoding
from lawful.document import Document
from lawful.errors import InputError, LawfulError
from lawful.readers.jsonl import BadLine, LineParser, Scored
from lawful.rules.model import Rules
from lawful.scores import Pooling, Scores, check_temperature

Lines: TypeAlias = list[tuple[int, bytes]]
Result: TypeAlias = tuple[Scored, Decoding] | BadLine

Item = TypeVar("Item")
AT_ONCE = 16
"""Documents that a worker gets together."""

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

    def start(self) -> Callable[[list[tuple[int, Any]]], list[Decoding | Failed]]:
        """What decodes some documents, each with its index."""
        return lambda some: [self._decode(index, given) for index, given in some]

    def _decode(self, index: int, given: Any) -> Decoding | Failed:
        document = None
        try:
            document, scores = _parts(given)
            return self.decode(document, scores)
        except LawfulError as error:
            name = document.id if isinstance(document, Document) else None
            return Failed(index, name, str(error))


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

    def start(self) -> Callable[[Lines], list[Result]]:
        """What decodes lines: rules and parser are loaded once."""
        check_temperature(self.temperature)
        rules = self.rules if isinstance(self.rules, Rules) else Rules.load(self.rules)
        call = Call(rules, self.decoder, self.budget, self.alternatives)
        parser = LineParser(self.path)
        return lambda lines: [self._decode(parser.parse(*line), call) for line in lines]

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
            scored = Scored(scored.document, scores, scored.gold, scored.line)
        return scored


def decode_lines(
    job: Job, lines: Iterable[tuple[int, bytes]], workers: int = 1
) -> Iterator[Result]:
    """The result for every line, in order; a line that fails does not stop the others."""
    job.start()  # here too, so that what is wrong for all lines is said once
    yield from _in_order(job.start, lines, workers)


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
    called with the number done so far. To stop, leave the loop, or press Ctrl-C.
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
    results = _in_order(call.start, enumerate(documents), workers or os.cpu_count() or 1)
    return results if progress is None else _counted(results, progress)


def _counted(
    results: Iterator[Decoding | Failed], progress: Callable[[int], None]
) -> Iterator[Decoding | Failed]:
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


def _in_order(
    start: Callable[[], Callable[[list[Item]], list[Any]]], items: Iterable[Item], workers: int
) -> Iterator[Any]:
    """What workers make of the items, in order; ``start`` makes what does it, once a worker."""
    if workers == 1:
        work = start()
        for item in items:
            yield from work([item])
        return
    pool = ProcessPoolExecutor(
        workers, mp_context=_context(), initializer=_start_worker, initargs=(start,)
    )
    pending: deque[Future[list[Any]]] = deque()
    failure: Exception | None = None
    try:
        batches = _batches(items)
        while True:
            try:
                batch = next(batches, None)
            except Exception as error:  # the caller's own: after what was taken before it
                failure = error
                break
            if batch is None:
                break
            pending.append(pool.submit(_work, batch))
            # A few batches ahead keep the workers busy; more would only fill memory.
            while len(pending) > 3 * workers:
                yield from pending.popleft().result()
        while pending:
            yield from pending.popleft().result()
    except BrokenProcessPool:
        raise LawfulError("a worker process died, out of memory perhaps") from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    if failure is not None:
        raise failure


def _context() -> Any:
    """Processes that start with what this one has, rules with Python functions included."""
    import multiprocessing

    fork = "fork" in multiprocessing.get_all_start_methods()
    return multiprocessing.get_context("fork" if fork else None)


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    try:
        for item in items:
            batch.append(item)
            if len(batch) == AT_ONCE:
                yield batch
                batch = []
    except Exception:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


_worker: dict[str, Any] = {}


def _start_worker(start: Callable[[], Any]) -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C and stops us
    _worker["work"] = start()


def _work(batch: list[Any]) -> list[Any]:
    results: list[Any] = _worker["work"](batch)
    return results
