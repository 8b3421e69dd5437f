"""The lines of a body while it comes in, read ahead of their use, but not too far."""

from __future__ import annotations

import asyncio
import codecs
import sys
from collections import deque
from typing import NamedTuple

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from lawful.server.body_limits import BodyLimits, LimitedBody

OF_A_LINE = 200
"""Bytes that a line takes beside its text."""


class BodyLine(NamedTuple):
    """A line of a body: its number, from 1, and its text; the maximum if that is too long."""

    number: int
    text: bytes | int


class BodyLines:
    """Lines in order, without blank ones. ``read`` runs beside whoever takes them.

    A client may send all of its lines before it reads an answer: as long as they have no more bytes
    than the limit of one body, they are read while the answers wait. The time limit is for each
    line; time in which nobody takes lines does not count.
    """

    def __init__(self, receive: Receive, limits: BodyLimits) -> None:
        self._body = LimitedBody(receive, BodyLimits(sys.maxsize, limits.seconds))
        self._longest = limits.bytes
        self._ready: deque[BodyLine] = deque()
        self._held = 0  # bytes of the lines that are ready
        self._changed = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._failure: BaseException | None = None
        self._ended = False
        self.number = 0  # of the last line
        self.gone = False  # whether the client is

    async def read(self) -> None:
        """Reads the body to its end; what goes wrong is raised by ``take``, after the lines.

        Then it waits until the client has gone, which ``gone`` says.
        """
        try:
            await self._read()
        except Exception as error:
            self._failure = error
            self.gone = isinstance(error, ClientDisconnect)
        self._ended = True
        self._changed.set()
        if self._failure is None:
            await self._body.receive()  # comes when the client leaves, or has its answer
            self.gone = True

    async def take(self) -> list[BodyLine]:
        """The next lines: at least one, or none at the end."""
        while not self._ready and not self._ended:
            self._changed.clear()
            await self._changed.wait()
        found = list(self._ready)
        self._ready.clear()
        self._held = 0
        self._room.set()
        if not found and self._failure is not None:
            raise self._failure
        return found

    async def _read(self) -> None:
        parts: list[bytes] = []  # of the line that is not complete yet
        size = 0
        while (part := await self._body.part()) is not None:
            *whole, rest = part.split(b"\n")
            for end in whole:
                if self._add(parts, size + len(end), end):
                    self._body.restart()
                parts, size = [], 0
            size += len(rest)
            if size <= self._longest:
                parts.append(rest)
            else:
                parts = []  # too long: only its length is kept
            if whole:
                self._changed.set()
            if self._held > self._longest:
                self._room.clear()
                await self._room.wait()
        if size:
            self._add(parts, size, b"")

    def _add(self, parts: list[bytes], size: int, end: bytes) -> bool:
        """Adds a line, unless it is blank; returns whether it did."""
        self.number += 1
        if size > self._longest:
            self._held += OF_A_LINE
            self._ready.append(BodyLine(self.number, self._longest))
            return True
        text = b"".join((*parts, end))
        if self.number == 1:
            text = text.removeprefix(codecs.BOM_UTF8)
        if not text or text.isspace():
            return False
        self._held += size + OF_A_LINE
        self._ready.append(BodyLine(self.number, text))
        return True
