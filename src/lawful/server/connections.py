"""HTTP/1.1 connections of uvicorn with what it lacks: time limits, half-closed clients, problems.

Uvicorn waits for the headers of a request without a limit, drops a client that closes its sending
side after its request, reads the rest of a refused body for as long as it comes, and answers what
is no HTTP in plain text.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from lawful.server.problems import HttpProblem, busy

HEADER_SECONDS = 10.0
"""Time for the headers of a request, and for the first one of a connection to begin."""

LINGER_SECONDS = 2.0
"""Time for which the rest of a refused body is read, so that the client reads the refusal."""

STALL_SECONDS = 30.0
"""Time for a client to read what was sent to it, once buffers are full; then it is cut off."""

MAX_CONNECTIONS = 1000
"""Open connections of a process; one more is answered with 503 and closed."""

OPEN_FILES = 4096
"""Files and sockets that a process should be able to have open."""


def open_files() -> int:
    """How many files and sockets this process may have open, raised to ``OPEN_FILES`` if it can.

    An event loop that runs out of them writes to its log without end.
    """
    try:
        import resource
    except ImportError:  # Windows, where sockets are not files
        return OPEN_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return OPEN_FILES
    if soft < OPEN_FILES:
        more = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (more, hard))
            return more
    return soft


class Connection(H11Protocol):
    """One connection. All its waiting is bounded, except for an answer that is being made."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._timer: asyncio.TimerHandle | None = None  # for headers, or to linger
        self._refused: Any = None  # the request whose body is read though it was refused
        self._stall: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Starts to wait for a request, unless there are too many connections."""
        super().connection_made(transport)
        most = min(MAX_CONNECTIONS, open_files() // 2)
        if len(self.connections) > most:
            self._refuse(busy(f"there are {most:,} connections, which is the maximum"))
        else:
            self._start_timer(HEADER_SECONDS, self._headers_late)

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends all waiting."""
        self._stop_timer()
        self._stop_stall()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Waits for a client that does not read, but not for ever."""
        super().pause_writing()
        self._stall = self.loop.call_later(STALL_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Goes on."""
        self._stop_stall()
        super().resume_writing()

    def _stop_stall(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    def data_received(self, data: bytes) -> None:
        """Takes bytes; the time for headers runs from the first byte of a request."""
        super().data_received(data)
        if self.transport.is_closing():
            return
        idle = self.conn.their_state is h11.IDLE
        if self._refused is not None:
            if not idle and self.cycle is self._refused:
                return  # the rest of its body still comes
            self._stop_timer()
        if not idle:
            self._stop_timer()
        elif self._timer is None:
            self._start_timer(HEADER_SECONDS, self._headers_late)

    def eof_received(self) -> bool:  # type: ignore[override]
        """Keeps the connection if the client has sent all of a request and waits for the answer."""
        waiting = self.cycle is not None and not self.cycle.response_complete
        if waiting and not self.cycle.more_body:
            self.cycle.keep_alive = False
            return True
        return False  # the transport closes

    def on_response_complete(self) -> None:
        """Goes on to the next request; the rest of a refused body is read for a short time."""
        super().on_response_complete()
        is_refused = self.conn.our_state is h11.DONE and self.conn.their_state is h11.SEND_BODY
        if is_refused and not self.transport.is_closing():
            self._start_timer(LINGER_SECONDS, self.transport.close)
            self._refused = self.cycle

    def _headers_late(self) -> None:
        self._timer = None
        if self.transport.is_closing():
            return
        if not self.conn.trailing_data[0]:
            self.transport.close()  # nothing was asked
            return
        detail = f"the headers did not come within {HEADER_SECONDS:g} seconds"
        self._refuse(HttpProblem(408, detail))

    def send_400_response(self, msg: str) -> None:
        """Answers what is no HTTP request, or one with too long a header, and closes."""
        self._refuse(HttpProblem(400, msg))

    def _refuse(self, problem: HttpProblem) -> None:
        """Answers without the application, and closes."""
        if self.cycle is not None:
            self.cycle.disconnected = True  # what the application still says goes nowhere
            self.cycle.message_event.set()
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()  # an answer is under way
            return
        answer = problem.response()
        reason = HTTPStatus(problem.status).phrase.encode()
        headers = [(b"connection", b"close"), *answer.raw_headers]
        for event in (
            h11.Response(status_code=problem.status, headers=headers, reason=reason),
            h11.Data(data=bytes(answer.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _start_timer(self, seconds: float, then: Any) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, then)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._refused = None
