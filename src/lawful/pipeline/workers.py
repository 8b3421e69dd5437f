"""Worker processes: items in, results out in the same order.

Three guarantees hold for any work function. When the generator of results is closed, all workers
end, even stuck ones. If a worker dies, only the item that it was working on is lost. The number of
items in memory does not depend on the number of items in the input.
"""

from __future__ import annotations

import atexit
import gc
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

from lawful.base.errors import LawfulError

Item = TypeVar("Item")
Result = TypeVar("Result")
Item_contra = TypeVar("Item_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)

FORKS = "fork" in multiprocessing.get_all_start_methods()
"""Whether workers are forks of this process, with all that it has in memory."""

BATCH = 8  # items that a worker is sent at a time
QUEUED = 2  # batches per worker, so that it need not wait for the next one
AHEAD = 6  # batches per worker that are read ahead of the results
BAD_STARTS = 5  # consecutive workers that may die before they are ready
IDLE = 0  # position of a worker between batches
ALL = sys.maxsize  # number of done items of a batch that an exception has ended

# In seconds:
GRACE = 0.3  # between SIGTERM and SIGKILL
REPORT = 0.1  # of work, after which a worker sends the results it has so far
SILENCE = 1.0  # without any message, after which workers are checked to be alive
POLL = 0.005  # between two polls of the pipes while results are yielded

_SIGNALS = [signal.SIGINT, signal.SIGTERM]


class Idle(Enum):
    """What a source yields while its next item is still being made.

    Who takes items from it can then pass on results, which need not wait for that item.
    """

    IDLE = "idle"


class Task(Protocol[Item_contra, Result_co]):
    """The work, and the result for an item whose worker died."""

    def start(self) -> Callable[[Item_contra], Result_co]:
        """Returns the work function. Each worker calls ``start`` once."""

    def lost(self, item: Item_contra, why: str) -> Result_co:
        """Returns the result for an item whose worker died. Called in the parent process."""


def in_order(
    task: Task[Item, Result],
    items: Iterable[Any],
    workers: int,
    *,
    batch: int = BATCH,
    apart: bool = False,
) -> Generator[Result, None, None]:
    """Results in input order. With one worker, all work is done in this process, unless ``apart``.

    ``batch`` is the number of items that a worker is sent at a time: 1 if each takes long.
    An exception of the work function is raised in place of the batch's results; an exception of
    the iterable is raised after the results of all items before it.
    """
    with closing(in_order_or_idle(task, items, workers, batch=batch, apart=apart)) as results:
        for result in results:
            if not isinstance(result, Idle):
                yield result


def in_order_or_idle(
    task: Task[Item, Result],
    items: Iterable[Any],
    workers: int,
    *,
    batch: int = BATCH,
    apart: bool = False,
) -> Generator[Result | Idle, None, None]:
    """The same, and ``IDLE`` at least once a second while the next result is awaited."""
    if workers == 1 and not apart:
        work = task.start()
        for item in items:
            yield item if isinstance(item, Idle) else work(item)
        return
    batches = _batches(items, batch)
    more, failure = True, None
    with _Pool(task, workers) as pool:
        while more or pool.batches:
            if room := more and len(pool.batches) < AHEAD * workers:
                try:
                    some = next(batches, None)
                except Exception as error:
                    some, failure = None, error
                if some is None:
                    more = False
                elif some.items:
                    pool.add(some)
            pool.serve(block=not room)
            idle = not room
            for result in pool.results():
                idle = False
                yield result
            if idle:
                yield Idle.IDLE
    if failure is not None:
        raise failure


@dataclass(eq=False, slots=True)
class _Batch:
    items: list[Any]
    done: int = 0  # number of items, from the first on
    results: deque[bytes] = field(default_factory=deque)  # pickled lists; at the end, an exception

    @property
    def over(self) -> bool:
        return self.done >= len(self.items)


@dataclass(eq=False, slots=True)
class _Worker:
    process: Any
    pipe: Connection
    at: Any  # in shared memory: position in its first batch, from 1, or IDLE
    ready: bool = False
    batches: deque[_Batch] = field(default_factory=deque)


class _Pool:
    """At most ``count`` workers, at most one per batch; all have ended when the context exits."""

    def __init__(self, task: Task[Any, Any], count: int) -> None:
        self.batches: list[_Batch] = []  # in input order, until all their results are yielded
        self._waiting: deque[_Batch] = deque()  # not yet sent to a worker
        self._workers: list[_Worker] = []
        self._task = task
        self._count = count
        self._bad_starts = 0
        self._served = 0.0
        self._owner = os.getpid()
        # Forked workers need no pickling, so rules may contain any Python function.
        self._context: Any = multiprocessing.get_context("fork" if FORKS else None)

    def __enter__(self) -> _Pool:
        # Runs before multiprocessing's own exit hook, which would wait for the workers.
        atexit.register(self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        atexit.unregister(self._stop)
        self._stop()

    def add(self, batch: _Batch) -> None:
        self.batches.append(batch)
        self._waiting.append(batch)
        self._feed()

    def results(self) -> Iterator[Any]:
        """The results of the first batch that have arrived."""
        if not self.batches:
            return
        batch = self.batches[0]
        while batch.results:
            found = pickle.loads(batch.results.popleft())  # noqa: S301 - made by our own worker
            if isinstance(found, BaseException):
                raise found
            for result in found:
                yield result
                self.serve(block=False)
        if batch.over:
            del self.batches[0]

    def serve(self, *, block: bool) -> None:
        """Receives results and sends batches; ``block`` waits until the first batch has results."""
        block = block and not (self.batches and (self.batches[0].results or self.batches[0].over))
        now = time.monotonic()
        if not block and now < self._served + POLL:
            return
        self._served = now
        pipes = [worker.pipe for worker in self._workers]
        heard = wait(pipes, SILENCE if block else 0) if pipes else []
        for worker in self._workers[:]:
            if worker.pipe in heard:
                self._hear(worker)
            # A child of a dead worker may keep its pipe open, so the death is not seen there.
            elif block and not heard and worker.process.exitcode is not None:
                self._replace(worker)
        self._feed()

    def _feed(self) -> None:
        while len(self._workers) < min(self._count, len(self.batches)):
            self._hire()
        for held in range(QUEUED):
            for worker in self._workers:
                if self._waiting and len(worker.batches) == held:
                    self._give(worker, self._waiting.popleft())

    def _hire(self) -> None:
        ours, theirs = self._context.Pipe()
        at = self._context.RawValue("i", IDLE)
        # For Linux, the parent is the thread that forks: only the main thread lives long enough.
        in_main = threading.current_thread() is threading.main_thread()
        forks = self._context.get_start_method() == "fork"
        inherited = [ours, *(worker.pipe for worker in self._workers)] if forks else []
        process = self._context.Process(
            target=_work,
            args=(theirs, at, self._task.start, os.getpid() if in_main else None, inherited),
        )
        with signals_held():
            process.start()
            self._workers.append(_Worker(process, ours, at))
        theirs.close()

    def _give(self, worker: _Worker, batch: _Batch) -> None:
        try:
            data = pickle.dumps(batch.items)
        except Exception as error:
            batch.results.append(_pickled(error))
            batch.done = ALL
            return
        worker.batches.append(batch)
        with suppress(OSError):  # dead: the closed pipe is seen after its last answer
            worker.pipe.send_bytes(data)

    def _hear(self, worker: _Worker) -> None:
        try:
            done, data = worker.pipe.recv()
        except (EOFError, OSError):
            self._replace(worker)
            return
        if worker.ready:
            batch = worker.batches[0]
            batch.done = done
            batch.results.append(data)
            if batch.over:
                worker.batches.popleft()
        elif data:
            raise pickle.loads(data)  # noqa: S301 - made by our own worker
        else:
            worker.ready, self._bad_starts = True, 0

    def _replace(self, worker: _Worker) -> None:
        """Removes a dead worker and takes back its batches; ``_feed`` starts a new worker."""
        self._workers.remove(worker)
        worker.process.join(GRACE)
        _end(worker)
        cause = _cause(worker.process.exitcode)
        if not worker.ready:
            self._bad_starts += 1
            if self._bad_starts == BAD_STARTS:
                raise LawfulError(f"{BAD_STARTS} workers in a row died as they started ({cause})")
            self._waiting.extendleft(reversed(worker.batches))
        elif worker.batches:
            first = worker.batches.popleft()
            self._waiting.extendleft(reversed(worker.batches))
            self._divide(first, worker.at.value, cause)

    def _divide(self, batch: _Batch, at: int, cause: str) -> None:
        """Puts each unfinished item of a dead worker's batch into a batch of its own.

        The item that the worker was working on is lost. If the worker died while unpickling items
        or sending results, no item is lost yet: the one that causes it will be alone next time.
        """
        singles = [_Batch([item]) for item in batch.items[batch.done :]]
        del batch.items[batch.done :]
        place = self.batches.index(batch) + 1
        self.batches[place:place] = singles
        if at != IDLE or len(singles) == 1:
            lost = singles.pop(max(at - 1 - batch.done, 0))
            why = f"the worker process died while decoding it ({cause})"
            lost.results.append(pickle.dumps([self._task.lost(lost.items[0], why)]))
            lost.done = 1
        self._waiting.extendleft(reversed(singles))

    def _stop(self) -> None:
        if os.getpid() != self._owner:
            return  # in a fork of the owner, whose children the workers are not
        self._count = 0
        for worker in self._workers:
            worker.process.terminate()
        limit = time.monotonic() + GRACE
        for worker in self._workers:
            worker.process.join(max(0.0, limit - time.monotonic()))
            _end(worker)
        self._workers.clear()


def _batches(items: Iterable[Any], size: int) -> Iterator[_Batch]:
    """Batches of ``size``; a smaller or empty one if the source is idle, and at the end."""
    batch: list[Any] = []
    try:
        for item in items:
            if not (idle := isinstance(item, Idle)):
                batch.append(item)
            if idle or len(batch) == size:
                yield _Batch(batch)
                batch = []
    except Exception:
        if batch:
            yield _Batch(batch)
        raise
    if batch:
        yield _Batch(batch)


def _end(worker: _Worker) -> None:
    if worker.process.exitcode is None:
        worker.process.kill()
        worker.process.join()
    worker.pipe.close()


def _cause(code: int | None) -> str:
    if code is None:
        return "unknown cause"
    if code >= 0:
        return f"exit code {code}"
    return f"killed by signal {-code}" + ", perhaps out of memory" * (code == -9)


@contextmanager
def signals_held() -> Iterator[None]:
    """Blocks signals, so that a new process gets them only after setting its own handlers."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def leave_signals_to_parent() -> None:
    """Ignores Ctrl-C in a new process, begun with ``signals_held``: its parent ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


def _work(
    pipe: Connection,
    at: Any,
    start: Callable[[], Callable[[Any], Any]],
    parent: int | None,
    inherited: list[Connection],
) -> None:
    """The main function of a worker, which runs until it is killed or the parent has ended."""
    leave_signals_to_parent()
    for other in inherited:
        other.close()  # ends of the parent: a worker sees the parent end once all copies are closed
    if parent is not None:
        die_with(parent)
    gc.freeze()  # what the parent had is not looked through, and its memory stays shared
    batches: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, batches), daemon=True).start()
    with suppress(OSError):  # the parent has ended
        try:
            work = start()
        except Exception as error:
            pipe.send((0, _pickled(error)))
            return
        pipe.send((0, b""))
        while True:
            for answer in _answers(work, batches.get(), at):
                pipe.send(answer)


def _receive(pipe: Connection, batches: SimpleQueue[bytes]) -> None:
    """Receives batches in a thread, so that the parent never waits to send one.

    Ends this process when the parent has ended.
    """
    with suppress(EOFError, OSError):
        while True:
            batches.put(pipe.recv_bytes())
    os._exit(1)


def _answers(work: Callable[[Any], Any], batch: bytes, at: Any) -> Iterator[tuple[int, bytes]]:
    """Pairs: the number of items done, and the pickled results since the previous pair.

    An exception ends the batch and replaces its remaining results.
    """
    results: list[Any] = []
    sent = time.monotonic()
    try:
        items = pickle.loads(batch)  # noqa: S301 - made by our own parent
        for number, item in enumerate(items, 1):
            at.value = number
            results.append(work(item))
            if number == len(items) or time.monotonic() > sent + REPORT:
                at.value = IDLE
                yield number, pickle.dumps(results)
                results = []
                sent = time.monotonic()
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        at.value = IDLE
        yield ALL, _pickled(error)


def _pickled(error: BaseException) -> bytes:
    """An exception with its traceback as a note; a LawfulError if it cannot be pickled."""
    error.add_note("Raised in a worker:\n" + "".join(traceback.format_exception(error)))
    try:
        data = pickle.dumps(error)
        pickle.loads(data)  # noqa: S301 - made in the line above
    except Exception:
        data = pickle.dumps(LawfulError(f"{type(error).__name__}: {error}"))
    return data


def die_with(parent: int) -> None:
    """On Linux, has this process killed when its parent dies, even if it is stuck."""
    if sys.platform != "linux":
        return
    import ctypes

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:  # the parent died before the call
        os._exit(1)
