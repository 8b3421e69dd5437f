"""Does the jobs of a process one after another, beside its requests."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from functools import partial

import msgspec

from lawful.server.extraction import FILE
from lawful.server.file_reading import FileReading, Tell
from lawful.server.jobs import Claimed, Jobs
from lawful.server.lifecycle import Drain
from lawful.server.logs import log, log_failure
from lawful.server.messages import JobStatus
from lawful.server.problems import DEFECT, HttpProblem
from lawful.server.work import Answer, FileWork
from lawful.server.worker_pool import WorkerPool

JOBS = "/v1/jobs"
"""The path of jobs."""

POLL_SECONDS = 1.0
"""Time between two looks for jobs of other processes, and between two words about one's own."""


class JobRunner:
    """Claims jobs and does them; ``begin`` starts it, in the event loop."""

    def __init__(
        self,
        jobs: Jobs,
        work_for: Callable[[str, Tell], FileWork],
        reading: FileReading,
        pool: WorkerPool,
        drain: Drain,
        count: Callable[[Answer], None],
    ) -> None:
        """``work_for`` makes the work of a query; ``reading`` has the processes for jobs alone."""
        self._jobs, self._work_for, self.reading = jobs, work_for, reading
        self._pool, self._drain, self._count = pool, drain, count
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._current: str | None = None

    def begin(self) -> None:
        """Starts, if it has not; looks for jobs at once."""
        self._news.set()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        while not self._drain.begun:
            job = await asyncio.to_thread(self._jobs.claim)
            if job is not None:
                await self._do(job)
                continue
            self._news.clear()
            try:
                async with asyncio.timeout(POLL_SECONDS):
                    await self._news.wait()
            except TimeoutError:
                pass

    async def _do(self, job: Claimed) -> None:
        at: list[int | None] = [0, None]

        def tell(page: int, pages: int) -> None:
            at[:] = page, pages

        self._current = job.id
        doing = asyncio.create_task(self._answer(job, tell))
        while not (await asyncio.wait([doing], timeout=POLL_SECONDS))[0]:
            if not await asyncio.to_thread(self._jobs.beat, job.id, at[0] or 0, at[1]):
                self.reading.cancel()  # what it reads is for nobody
        found = await doing
        await asyncio.to_thread(self._jobs.beat, job.id, at[0] or 0, at[1])
        if found is None:
            self._release()
        else:
            self._current = None
            await asyncio.to_thread(self._jobs.finish, job.id, *found)
            log("job", id=job.id, status=found[0])

    def stop(self) -> None:
        """Ends what it does and leaves the job to others; from any thread."""
        self.reading.stop()
        self._release()

    def _release(self) -> None:
        name, self._current = self._current, None
        if name is not None:
            self._jobs.release(name)

    async def _answer(self, job: Claimed, tell: Tell) -> tuple[JobStatus, bytes] | None:
        """The status and the answer or the problem; nothing if this process ends."""
        try:
            work = await asyncio.to_thread(self._work_for, job.query, tell)
            run = partial(work.of_parts, {FILE: job.upload})
            answer = await self._pool.run(run, sys.maxsize)
        except HttpProblem as problem:
            if self._drain.begun:
                return None
            self._count(Answer(b"", "error"))
            return "failed", msgspec.json.encode(problem.to_dict())
        except Exception as error:
            log_failure(error, {"path": JOBS, "request_id": job.id})
            return "failed", msgspec.json.encode(DEFECT.to_dict())
        self._count(answer)
        return "done", answer.body
