"""An application in uvicorn: binding, a drain that ends in time, and signals."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lawful.base.errors import InputError
from lawful.server.connections import Connection, open_files
from lawful.server.logs import log
from lawful.server.problems import HttpProblem, busy

LAST_SECONDS = 2.0
"""Time after the drain for the last words of requests that outlasted it."""


class Drain:
    """The end of a service: requests may finish until it is over, and are then cancelled.

    ``stop_work`` is called then: it ends what requests have begun and cancelling does not reach.
    """

    def __init__(self, seconds: float = 10.0, stop_work: Callable[[], None] = lambda: None) -> None:
        self.seconds = seconds
        self.stop_work = stop_work
        self.begun = False
        self.requests: set[asyncio.Task[Any]] = set()
        self._over = False

    def begin(self) -> None:
        """Starts the time that requests have left. To be called in the event loop."""
        if not self.begun:
            self.begun = True
            log("drain", seconds=self.seconds, requests=len(self.requests))
            asyncio.get_running_loop().call_later(self.seconds, self._end)

    def _end(self) -> None:
        self._over = True
        for task in self.requests:
            task.cancel()
        self.stop_work()

    def gives_up(self) -> bool:
        """Whether this task is cancelled because the drain is over; it may send its last words."""
        task = asyncio.current_task()
        if not self._over or task is None:
            return False
        task.uncancel()
        return True


class Draining:
    """Middleware: a request that outlasts the drain gets 503, unless its answer has begun.

    A handler that answers in parts catches the ``CancelledError`` and asks ``Drain.gives_up``.
    """

    def __init__(self, app: ASGIApp, drain: Drain) -> None:
        self._app = app
        self._drain = drain

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Runs the application."""
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a service runs in tasks")
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        self._drain.requests.add(task)
        try:
            await self._app(scope, receive, watched)
        except asyncio.CancelledError:
            if begun or not self._drain.gives_up():
                raise
            raise ending() from None
        finally:
            self._drain.requests.discard(task)


def ending() -> HttpProblem:
    """503, for what the drain has cancelled."""
    return busy("the service ends; ask again", seconds=5)


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens at the address; port 0 is any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Without TCP here, asyncio leaves Nagle's algorithm on, and an answer in two parts waits for
    # the client's delayed acknowledgement, which takes 40 ms.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        found.listen(1024)
    except (OSError, OverflowError) as error:
        found.close()
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot listen at {host}, port {port}: {reason}") from None
    found.set_inheritable(True)
    return found


def address_of(listener: socket.socket) -> str:
    """The URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run_app(
    app: ASGIApp,
    listener: socket.socket,
    drain: Drain,
    *,
    on_start: Callable[[Server], None] = lambda server: None,
) -> None:
    """Serves until SIGTERM or Ctrl-C, then drains; ``on_start`` is called in the event loop."""
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=min(1024, open_files() // 8),  # as many are accepted before any is refused
        timeout_keep_alive=30,
        timeout_graceful_shutdown=int(drain.seconds + LAST_SECONDS) + 1,
    )
    try:
        Server(config, drain, on_start).run([listener])
    finally:
        drain.stop_work()  # of requests whose clients have gone: the process waits for its threads


class Server(uvicorn.Server):
    """Uvicorn's server, with our drain in its shutdown; a signal leaves no exit code behind."""

    def __init__(
        self, config: uvicorn.Config, drain: Drain, on_start: Callable[[Server], None]
    ) -> None:
        super().__init__(config)
        self._drain = drain
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Starts to listen."""
        await super().startup(sockets)
        self._on_start(self)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stops listening, and waits for requests until the drain is over."""
        self._drain.begin()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begins the shutdown; a second Ctrl-C does not wait for requests."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

    def on_signal(self, name: str, then: Callable[[], Any]) -> None:
        """Calls ``then`` in the event loop when a signal comes, where the system knows it."""
        if (number := getattr(signal, name, None)) is not None:
            asyncio.get_running_loop().add_signal_handler(number, then)
