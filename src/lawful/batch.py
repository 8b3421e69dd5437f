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

from lawful.decoders import Decoder, decode
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


@dataclass(frozen=True, slots=True)
class Failed:
    """A document that could not be decoded: which one, counted from 0, and why."""

    index: int
    id: str | None
    message: str


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
        parser = LineParser(self.path)

        def decode_lines(lines: Lines) -> list[Result]:
            return [self._decode(parser.parse(number, text), rules) for number, text in lines]

        return decode_lines

    def _decode(self, scored: Scored | BadLine, rules: Rules) -> Result:
        if isinstance(scored, BadLine):
            return scored
        try:
            scored = self.prepare(scored)
            decoding = decode(
                scored.document,
                scored.scores,
                rules,
                decoder=self.decoder,
                budget=self.budget,
                alternatives=self.alternatives,
            )
        except LawfulError as error:
            return BadLine(scored.line or 0, str(error))
        return scored, decoding

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
    decode_some = job.start()  # here too, so that what is wrong for all lines is said once
    if workers <= 1:
        for line in lines:
            yield from decode_some([line])
        return
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
        raise InputError(f"{rules!r} is given, expected a Rules")
    if workers is not None and (not isinstance(workers, int) or workers < 1):
        raise InputError(f"workers is {workers!r}, expected a count of 1 or more")

    def start() -> Callable[[list[tuple[int, Any]]], list[Decoding | Failed]]:
        def decode_one(index: int, given: Any) -> Decoding | Failed:
            document = None
            try:
                document, scores = _parts(given)
                return decode(document, scores, rules, decoder=decoder, budget=budget,
                              alternatives=alternatives)  # fmt: skip
            except LawfulError as error:
                name = document.id if isinstance(document, Document) else None
                return Failed(index, name, str(error))

        return lambda some: [decode_one(index, given) for index, given in some]

    workers = workers or os.cpu_count() or 1
    numbered = enumerate(documents)
    results: Iterator[Decoding | Failed]
    if workers == 1:
        decode_some = start()
        results = (result for one in numbered for result in decode_some([one]))
    else:
        results = _in_order(start, numbered, workers)
    for done, result in enumerate(results, 1):
        if progress is not None:
            progress(done)
        yield result


def _parts(given: Any) -> tuple[Document, Scores]:
    if isinstance(given, Scored):
        return given.document, given.scores
    if not isinstance(given, tuple) or len(given) != 2:
        kind = type(given).__name__
        raise InputError(f"a {kind} is given, expected a Scored, or a document and its scores")
    return given


def _in_order(
    start: Callable[[], Callable[[list[Item]], list[Any]]], items: Iterable[Item], workers: int
) -> Iterator[Any]:
    """What workers make of the items, in order; ``start`` makes what does it, once a worker."""
    pool = ProcessPoolExecutor(
        workers, mp_context=_context(), initializer=_start_worker, initargs=(start,)
    )
    pending: deque[Future[list[Any]]] = deque()
    try:
        for batch in _batches(items):
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


def _context() -> Any:
    """Processes that start with what this one has, rules with Python functions included."""
    import multiprocessing

    fork = "fork" in multiprocessing.get_all_start_methods()
    return multiprocessing.get_context("fork" if fork else None)


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    for item in items:
        batch.append(item)
        if len(batch) == AT_ONCE:
            yield batch
            batch = []
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
