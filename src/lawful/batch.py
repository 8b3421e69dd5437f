"""Decoding many lines: in order, in constant memory, in one process or several.

Lines travel to the workers as they stand in the file, so that parsing is done in parallel too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from lawful.decoders import decode
from lawful.decoding import Budget, Decoding
from lawful.errors import LawfulError
from lawful.readers.jsonl import BadLine, LineParser, Scored
from lawful.rules.model import Rules
from lawful.scores import Pooling, check_temperature

Lines: TypeAlias = list[tuple[int, bytes]]
Result: TypeAlias = tuple[Scored, Decoding] | BadLine

LINES_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Job:
    """How to decode a line: plain values, so that a worker can be given one."""

    path: str
    rules: Path | Rules
    decoder: str = "paths"
    budget: Budget | None = None
    temperature: float = 1.0
    pool: Pooling | None = None

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
                scored.document, scored.scores, rules, decoder=self.decoder, budget=self.budget
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
    with ProcessPoolExecutor(workers, initializer=_start_worker, initargs=(job,)) as pool:
        pending: deque[Future[list[Result]]] = deque()
        try:
            for batch in _batches(lines):
                pending.append(pool.submit(_decode_in_worker, batch))
                # A few batches ahead keep the workers busy; more would only fill memory.
                while len(pending) > 3 * workers:
                    yield from pending.popleft().result()
            while pending:
                yield from pending.popleft().result()
        except BrokenProcessPool:
            raise LawfulError("a worker process died, out of memory perhaps") from None
        finally:
            for future in pending:
                future.cancel()


def _batches(lines: Iterable[tuple[int, bytes]]) -> Iterator[Lines]:
    batch: Lines = []
    for line in lines:
        batch.append(line)
        if len(batch) == LINES_AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


_worker: dict[str, Any] = {}


def _start_worker(job: Job) -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C and stops us
    _worker["decode"] = job.start()


def _decode_in_worker(lines: Lines) -> list[Result]:
    results: list[Result] = _worker["decode"](lines)
    return results
