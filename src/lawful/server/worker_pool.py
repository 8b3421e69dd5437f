"""Decoding in threads: so many documents at a time, so many requests that wait, and no more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import TypeVar

from lawful.server.problems import busy

Result = TypeVar("Result")


SMALL = 2**17
"""Bytes of a body up to which its work is small: a page of some 500 words."""


class WorkerPool:
    """Lets work through to threads, in the order of its coming; the event loop stays free.

    One place, if there are several, is for small work only, which so need not wait until large
    work has ended. The place of work whose request was given up is free only when the work has
    ended.
    """

    def __init__(
        self, running: int, waiting: int, tell: Callable[[int], None] = lambda waiting: None
    ) -> None:
        """``tell`` is given the number of those that wait, whenever it changes."""
        self._threads = ThreadPoolExecutor(running, "decode")
        self._places = asyncio.Semaphore(running)
        self._large = asyncio.Semaphore(max(1, running - 1))  # which large work needs besides
        self._most_waiting = waiting
        self._tell = tell
        self.waiting = 0
        self.streams = 0  # requests that ask for work again and again

    def check(self, size: int = 0) -> None:
        """Raises 503 if work on so many bytes would have to wait behind too much other work."""
        if self._needed(size)[0].locked() and self.waiting >= self._most_waiting:
            raise busy(f"{self.waiting} requests wait already, which is the maximum; ask again")

    def check_stream(self) -> None:
        """Raises 503 if there are too many streams, each of which holds lines in memory."""
        if self.streams >= self._most_waiting:
            raise busy(f"there are {self.streams} streams, which is the maximum; ask again")

    async def run(self, work: Callable[[], Result], size: int = 0) -> Result:
        """The result of work on so many bytes; ``check`` comes first where it may be refused."""
        self._count(1)
        with ExitStack() as held:
            try:
                for place in self._needed(size):
                    await place.acquire()
                    held.callback(place.release)
            finally:
                self._count(-1)
            future = asyncio.get_running_loop().run_in_executor(self._threads, work)
            future.add_done_callback(partial(self._leave, held.pop_all()))
        return await asyncio.shield(future)

    def _needed(self, size: int) -> tuple[asyncio.Semaphore, ...]:
        """The places that work needs, the scarcest first."""
        return (self._large, self._places) if size > SMALL else (self._places,)

    def _count(self, more: int) -> None:
        self.waiting += more
        self._tell(self.waiting)

    @staticmethod
    def _leave(held: ExitStack, future: asyncio.Future[Result]) -> None:
        held.close()
        if not future.cancelled():
            future.exception()  # has been seen, even if nobody waits for it
