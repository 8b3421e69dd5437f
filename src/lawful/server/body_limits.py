"""Limits of request bodies, counted while they come in: bytes, and time spent waiting for them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lawful.server.problems import HttpProblem, busy
from lawful.server.security import headers_of


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """Limits of one request body."""

    bytes: int = 16 * 2**20
    seconds: float = 30.0  # of waiting for the client, from the first byte to the last


BODIES = 16
"""The number of longest bodies that fit into memory at the same time."""

MAX_HEADER_BYTES = 16 * 2**10


def check_head(scope: Scope) -> None:
    """Raises a problem for headers that are too long, or that say a body's length twice.

    Of two lengths, a proxy in between may believe the other one.
    """
    if sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEADER_BYTES:
        detail = f"the headers have more than {MAX_HEADER_BYTES:,} bytes, which is the maximum"
        raise HttpProblem(431, detail, headers={"Connection": "close"})
    if headers_of(scope, b"transfer-encoding") and headers_of(scope, b"content-length"):
        detail = "both Transfer-Encoding and Content-Length are given, expected one of them"
        raise HttpProblem(400, detail, headers={"Connection": "close"})
    if headers_of(scope, b"content-encoding") not in ([], [b"identity"]):
        raise HttpProblem(415, "Content-Encoding is not supported; send the body as it is")


def too_long(most: int, what: str = "body") -> HttpProblem:
    """413, for a body of more bytes than this."""
    return HttpProblem(413, f"the {what} has more than {most:,} bytes, which is the maximum")


class Held:
    """The bytes of all bodies that are in memory, and how many there may be."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.bytes = 0


class BodyLimit:
    """Middleware: 413 for a body that is too long, 408 for one that comes too slowly.

    Bytes are counted as they arrive, so a body without ``Content-Length`` is no exception; one
    that announces too many is refused before it is read. Only time spent waiting for the client
    counts. All bodies together have ``BODIES`` times the limit of one, and one more gets 503.
    ``streams`` says which requests count for themselves.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: BodyLimits,
        streams: Callable[[Scope], bool] = lambda scope: False,
    ) -> None:
        self._app = app
        self._limits = limits
        self._streams = streams
        self._held = Held(BODIES * limits.bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Runs the application with a body that is limited."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        check_head(scope)
        if self._streams(scope):
            await self._app(scope, receive, send)
            return
        most = self._limits.bytes
        announced = headers_of(scope, b"content-length")
        if announced and int(announced[0]) > most:
            raise too_long(most)
        body = LimitedBody(receive, self._limits, self._held)
        try:
            await self._app(scope, body.receive, send)
        finally:
            self._held.bytes -= body.bytes


class LimitedBody:
    """The ``receive`` of a request, which raises a problem at the limits."""

    def __init__(self, receive: Receive, limits: BodyLimits, held: Held | None = None) -> None:
        self._receive = receive
        self._limits = limits
        self._held = held
        self.bytes = 0
        self._waited = 0.0
        self._whole = False

    def restart(self) -> None:
        """Gives the rest of the body the whole time again."""
        self._waited = 0.0

    async def receive(self) -> Message:
        """The next message; once the body is there, waits for as long as the client does."""
        if self._whole:
            return await self._receive()
        began = monotonic()
        left = self._limits.seconds - self._waited
        message = await _within(left, self._receive(), self._limits.seconds)
        self._waited += monotonic() - began
        if message["type"] == "http.disconnect":
            self._whole = True
            return message
        size = len(message.get("body", b""))
        self.bytes += size
        if self._held is not None:
            self._held.bytes += size
        self._whole = not message.get("more_body", False)
        if self.bytes > self._limits.bytes:
            raise too_long(self._limits.bytes)
        if self._held is not None and self._held.bytes > self._held.most:
            raise busy("the bodies of other requests fill the memory for them; ask again")
        return message

    async def part(self) -> bytes | None:
        """The next bytes of the body, or ``None`` at its end."""
        if self._whole:
            return None
        message = await self.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body: bytes = message.get("body", b"")
        return body


async def _within(left: float, message: Awaitable[Message], limit: float) -> Message:
    try:
        async with asyncio.timeout(max(0.0, left)):
            return await message
    except TimeoutError:
        detail = f"the body did not come within {limit:g} seconds, which is the maximum"
        raise HttpProblem(408, detail, headers={"Connection": "close"}) from None
