"""Many documents in one request: lines in, lines out in order, while the body still comes in."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from lawful.io.jsonl import encode
from lawful.server.body_limits import BodyLimits, too_long
from lawful.server.body_lines import BodyLine, BodyLines
from lawful.server.lifecycle import Drain, ending
from lawful.server.logs import log_failure
from lawful.server.problems import DEFECT, HttpProblem
from lawful.server.work import Answer, Work
from lawful.server.worker_pool import SMALL, WorkerPool

MEDIA_TYPE = "application/x-ndjson"
TURN_SECONDS = 0.05
"""Time after which a stream lets others have their turn, and sends the answers that it has."""


class LineStream(Response):
    """The answer to a stream of documents: a line for each of its lines, in order.

    A line that cannot be used is answered in its place by an object with ``error``, and the others
    go on. If the stream cannot be read to its end, the last line says why.
    """

    def __init__(
        self,
        work: Work,
        pool: WorkerPool,
        limits: BodyLimits,
        drain: Drain,
        count: Callable[[Answer], None],
    ) -> None:
        super().__init__(media_type=MEDIA_TYPE)
        del self.headers["content-length"]
        self._work, self._pool, self._limits, self._drain = work, pool, limits, drain
        self._count = count

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers the lines of the body."""
        lines = BodyLines(receive, self._limits)
        reading = asyncio.create_task(lines.read())
        sender = _Sender(send, self.raw_headers)
        self._pool.streams += 1
        try:
            while batch := await lines.take():
                waiting = deque(batch)
                while waiting and not lines.gone:
                    turn = partial(_answer_some, self._work, waiting, scope)
                    answers = await self._pool.run(turn, _size(waiting[0]))
                    for answer in answers:
                        self._count(answer)
                    await sender.send([answer.body for answer in answers])
        except ClientDisconnect:
            return
        except HttpProblem as problem:
            await sender.send([_error_line(lines.number + 1, problem)])
        except asyncio.CancelledError:
            if not self._drain.gives_up():
                raise
            await sender.send([_error_line(lines.number + 1, ending())])
        finally:
            self._pool.streams -= 1
            reading.cancel()
        await sender.end()


class _Sender:
    """Sends lines; the head goes out with the first."""

    def __init__(self, send: Send, headers: list[tuple[bytes, bytes]]) -> None:
        self._send = send
        self._headers = headers
        self._begun = False

    async def send(self, lines: list[bytes]) -> None:
        await self._begin()
        body = b"".join(line + b"\n" for line in lines)
        await self._send({"type": "http.response.body", "body": body, "more_body": True})

    async def end(self) -> None:
        await self._begin()
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            head = {"type": "http.response.start", "status": 200, "headers": self._headers}
            await self._send(head)


def _answer_some(work: Work, waiting: deque[BodyLine], scope: Scope) -> list[Answer]:
    """Takes lines for a short time and answers them; at least one. A large one has its own turn."""
    until = monotonic() + TURN_SECONDS
    answers: list[Answer] = []
    while waiting and (not answers or (monotonic() < until and _size(waiting[0]) <= SMALL)):
        answers.append(_answer(work, waiting.popleft(), scope))
    return answers


def _size(line: BodyLine) -> int:
    """The bytes of a line; none of one that is too long, and not there."""
    return len(line.text) if isinstance(line.text, bytes) else 0


def _answer(work: Work, line: BodyLine, scope: Scope) -> Answer:
    try:
        if isinstance(line.text, int):
            raise too_long(line.text, "line")
        return work(line.number, line.text)
    except HttpProblem as problem:
        return Answer(_error_line(line.number, problem), "error")
    except Exception as error:  # a defect, which the other lines need not suffer from
        log_failure(error, scope)
        return Answer(_error_line(line.number, DEFECT), "error")


def _error_line(number: int, problem: HttpProblem) -> bytes:
    found: dict[str, Any] = {"line": number, "status": problem.status, "error": problem.detail}
    if (name := problem.more.get("id")) is not None:
        found["id"] = name
    return encode(found)
