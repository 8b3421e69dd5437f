"""Decoding in threads: so many documents at a time, so many requests that wait, and no more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from lawful.server.problems import busy

Result = TypeVar("Result")


class Gate:
    """Lets work through to threads, in the order of its coming; the event loop stays free.

    The place of work whose request was given up is free only when the work has ended.
    """

    def __init__(
        self, running: int, waiting: int, tell: Callable[[int], None] = lambda waiting: None
    ) -> None:
        """``tell`` is given the number of those that wait, whenever it changes."""
        self._threads = ThreadPoolExecutor(running, "decode")
        self._places = asyncio.Semaphore(running)
        self._most_waiting = waiting
        self._tell = tell
        self.waiting = 0
        self.streams = 0  # requests that ask for work again and again

    def check(self) -> None:
        """Raises 503 if work would have to wait behind too much other work."""
        if self._places.locked() and self.waiting >= self._most_waiting:
            raise busy(f"{self.waiting} requests wait already, which is the maximum; ask again")

    def check_stream(self) -> None:
        """Raises 503 if there are too many streams, each of which holds lines in memory."""
        if self.streams >= self._most_waiting:
            raise busy(f"there are {self.streams} streams, which is the maximum; ask again")

    async def run(self, work: Callable[[], Result]) -> Result:
        """The result of the work; ``check`` comes first where it may be refused."""
        self._count(1)
        try:
            await self._places.acquire()
        finally:
            self._count(-1)
        future = asyncio.get_running_loop().run_in_executor(self._threads, work)
        future.add_done_callback(self._leave)
        return await asyncio.shield(future)

    def _count(self, more: int) -> None:
        self.waiting += more
        self._tell(self.waiting)

    def _leave(self, future: asyncio.Future[Result]) -> None:
        self._places.release()
        if not future.cancelled():
            future.exception()  # has been seen, even if nobody waits for it
