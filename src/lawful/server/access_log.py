"""Every request has an id, a line of the log, and its place in the metrics."""

from __future__ import annotations

import re
from collections.abc import Collection
from secrets import token_hex
from time import perf_counter

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lawful.server.logs import LONGEST_PATH, log
from lawful.server.metrics import Metrics
from lawful.server.security import headers_of

_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class AccessLog:
    """Middleware: ``X-Request-Id``, taken from the request if it is a plain one; log; metrics.

    Requests to ``quiet`` paths are neither logged nor counted. Paths that the service does not know
    are one in the metrics, so that their number is bounded.
    """

    def __init__(
        self, app: ASGIApp, metrics: Metrics, paths: Collection[str], quiet: Collection[str]
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._paths = frozenset(paths)
        self._quiet = frozenset(quiet)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Runs the application."""
        path = scope["path"]
        if path in self._quiet:
            await self._app(scope, receive, send)
            return
        given = headers_of(scope, b"x-request-id")
        name = given[0].decode() if len(given) == 1 and _ID.fullmatch(given[0]) else token_hex(8)
        status, sent, received, began = 0, 0, 0, perf_counter()

        async def watched_receive() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            return message

        async def watched_send(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-Id"] = name
            sent += len(message.get("body", b""))
            await send(message)

        scope = {**scope, "request_id": name}
        self._metrics.began()
        try:
            await self._app(scope, watched_receive, watched_send)
        finally:
            seconds = perf_counter() - began
            below = f"{path.rpartition('/')[0]}/{{id}}"
            known = next((each for each in (path, below) if each in self._paths), "other")
            self._metrics.ended(known, status, seconds)
            log(
                "request",
                id=name,
                method=scope["method"],
                path=path[:LONGEST_PATH],
                status=status,  # 0: cut off before it was sent
                seconds=round(seconds, 6),
                received=received,
                sent=sent,
            )
