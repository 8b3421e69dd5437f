"""Worker processes: items in, results out in the same order.

Whatever the work does, three things hold. When the results are no longer wanted, the workers end,
even if one is stuck. A worker that dies costs the item that it was working on, and no other. The
number of items held at a time does not grow with the number of items.
"""

from __future__ import annotations

import atexit
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
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

from lawful.errors import LawfulError

Item = TypeVar("Item")
Result = TypeVar("Result")
Item_contra = TypeVar("Item_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)

AT_ONCE = 8  # items per batch, which is what a worker gets at a time
IN_HAND = 2  # batches that a worker has, so that it need not wait for the next one
AHEAD = 6  # batches per worker that are taken ahead of what was yielded
BAD_STARTS = 5  # workers in a row that may die before they are ready
NOTHING = 0  # what a worker is at between batches
ALL = sys.maxsize  # items of a batch are done, however many there are

# In seconds:
GRACE = 0.3  # from asking a process to end until it is killed
REPORT = 0.1  # of work, after which a worker sends the results that it has
LOOK = 1.0  # of silence, after which workers are checked to be alive
POLL = 0.005  # between two looks at the pipes while results are yielded

_SIGNALS = [signal.SIGINT, signal.SIGTERM]


class Task(Protocol[Item_contra, Result_co]):
    """What workers do, and what to report for an item whose worker died."""

    def start(self) -> Callable[[Item_contra], Result_co]:
        """The work function. Each worker calls ``start`` once."""

    def lost(self, item: Item_contra, why: str) -> Result_co:
        """The result for an item whose worker died. Called in the parent."""


def in_order(
    task: Task[Item, Result], items: Iterable[Item], workers: int
) -> Generator[Result, None, None]:
    """Results in input order. With one worker, all work is done in this process.

    An exception of the work function is raised when it is that batch's turn; one of the iterable,
    after the results of all items taken before it.
    """
    if workers == 1:
        work = task.start()
        for item in items:
            yield work(item)
        return
    batches = _batches(items)
    more, failure = True, None
    with _Pool(task, workers) as pool:
        while more or pool.batches:
            if room := more and len(pool.batches) < AHEAD * workers:
                try:
                    batch = next(batches, None)
                except Exception as error:
                    batch, failure = None, error
                if batch is None:
                    more = False
                else:
                    pool.add(batch)
            pool.serve(block=not room)
            yield from pool.results()
    if failure is not None:
        raise failure


@dataclass(eq=False, slots=True)
class _Batch:
    items: list[Any]
    done: int = 0  # of the items, from the first on
    results: deque[bytes] = field(default_factory=deque)  # pickled: lists, or an exception at last

    @property
    def over(self) -> bool:
        return self.done >= len(self.items)


@dataclass(eq=False, slots=True)
class _Worker:
    process: Any
    pipe: Connection
    at: Any  # in shared memory: the item of its first batch that it works on, from 1, or NOTHING
    ready: bool = False
    batches: deque[_Batch] = field(default_factory=deque)


class _Pool:
    """At most ``count`` workers and one per batch. They have ended when the context is left."""

    def __init__(self, task: Task[Any, Any], count: int) -> None:
        self.batches: list[_Batch] = []  # in input order, until their results are yielded
        self._waiting: deque[_Batch] = deque()  # those that no worker has
        self._workers: list[_Worker] = []
        self._task = task
        self._count = count
        self._bad_starts = 0
        self._served = 0.0
        self._owner = os.getpid()
        # Forked workers have what this process has, rules with Python functions included.
        methods = multiprocessing.get_all_start_methods()
        self._context: Any = multiprocessing.get_context("fork" if "fork" in methods else None)

    def __enter__(self) -> _Pool:
        # Runs ahead of multiprocessing's own hook, which would wait for the workers.
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
        """Results of the first batch, as far as they are there."""
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
        """Reads what workers have sent and keeps them busy; may wait until there are results."""
        block = block and not (self.batches and (self.batches[0].results or self.batches[0].over))
        now = time.monotonic()
        if not block and now < self._served + POLL:
            return
        self._served = now
        pipes = [worker.pipe for worker in self._workers]
        heard = wait(pipes, LOOK if block else 0) if pipes else []
        for worker in self._workers[:]:
            if worker.pipe in heard:
                self._hear(worker)
            # Where something that a worker started keeps its pipe open, its death is not heard.
            elif block and not heard and worker.process.exitcode is not None:
                self._replace(worker)
        self._feed()

    def _feed(self) -> None:
        while len(self._workers) < min(self._count, len(self.batches)):
            self._hire()
        for held in range(IN_HAND):
            for worker in self._workers:
                if self._waiting and worker.ready and len(worker.batches) == held:
                    self._give(worker, self._waiting.popleft())

    def _hire(self) -> None:
        ours, theirs = self._context.Pipe()
        at = self._context.RawValue("i", NOTHING)
        # To Linux, the parent is the thread that forks. Only the main thread lives long enough.
        in_main = threading.current_thread() is threading.main_thread()
        forks = self._context.get_start_method() == "fork"
        inherited = [ours, *(worker.pipe for worker in self._workers)] if forks else []
        process = self._context.Process(
            target=_work,
            args=(theirs, at, self._task.start, os.getpid() if in_main else None, inherited),
        )
        with _signals_held():
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
        with suppress(OSError):  # it is dead, which is heard after its last answer
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
        """Drops a dead worker and takes its batches back; feeding hires another."""
        self._workers.remove(worker)
        worker.process.join(GRACE)
        _end(worker)
        cause = _cause(worker.process.exitcode)
        if not worker.ready:
            self._bad_starts += 1
            if self._bad_starts == BAD_STARTS:
                raise LawfulError(f"{BAD_STARTS} workers in a row died as they started ({cause})")
        elif worker.batches:
            first = worker.batches.popleft()
            self._waiting.extendleft(reversed(worker.batches))
            self._divide(first, worker.at.value, cause)

    def _divide(self, batch: _Batch, at: int, cause: str) -> None:
        """Makes batches of one of what is left of a dead worker's batch.

        The item that the worker was at is lost. If it was at none, but reading items or sending
        results, nothing is lost yet: an item that is to blame for that will be alone next time.
        """
        singles = [_Batch([item]) for item in batch.items[batch.done :]]
        del batch.items[batch.done :]
        place = self.batches.index(batch) + 1
        self.batches[place:place] = singles
        if at != NOTHING or len(singles) == 1:
            lost = singles.pop(max(at - 1 - batch.done, 0))
            why = f"the worker process died while decoding it ({cause})"
            lost.results.append(pickle.dumps([self._task.lost(lost.items[0], why)]))
            lost.done = 1
        self._waiting.extendleft(reversed(singles))

    def _stop(self) -> None:
        if os.getpid() != self._owner:
            return  # a fork of the owner: the workers are not its children
        self._count = 0
        for worker in self._workers:
            worker.process.terminate()
        limit = time.monotonic() + GRACE
        for worker in self._workers:
            worker.process.join(max(0.0, limit - time.monotonic()))
            _end(worker)
        self._workers.clear()


def _batches(items: Iterable[Any]) -> Iterator[_Batch]:
    batch: list[Any] = []
    try:
        for item in items:
            batch.append(item)
            if len(batch) == AT_ONCE:
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
    return f"killed by signal {-code}" + ", out of memory perhaps" * (code == -9)


@contextmanager
def _signals_held() -> Iterator[None]:
    """Has a new process get signals only after it has set its own handlers."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(
    pipe: Connection,
    at: Any,
    start: Callable[[], Callable[[Any], Any]],
    parent: int | None,
    inherited: list[Connection],
) -> None:
    """The life of a worker: it ends when killed, or when the parent has gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C and stops us
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    for other in inherited:
        other.close()  # the parent's ends: while one is open, its worker does not see it go
    if parent is not None:
        _die_with(parent)
    with suppress(OSError):  # the parent has gone
        try:
            work = start()
        except Exception as error:
            pipe.send((0, _pickled(error)))
            return
        batches: SimpleQueue[bytes] = SimpleQueue()
        threading.Thread(target=_receive, args=(pipe, batches), daemon=True).start()
        pipe.send((0, b""))
        while True:
            for answer in _answers(work, batches.get(), at):
                pipe.send(answer)


def _receive(pipe: Connection, batches: SimpleQueue[bytes]) -> None:
    """Reads batches while others are worked on, so that the parent need not wait to send one.

    When the parent has gone, so is this process.
    """
    with suppress(EOFError, OSError):
        while True:
            batches.put(pipe.recv_bytes())
    os._exit(1)


def _answers(work: Callable[[Any], Any], batch: bytes, at: Any) -> Iterator[tuple[int, bytes]]:
    """Pairs of how many items are done and the results, pickled, since the pair before.

    An exception ends the batch and stands for the results that it still owes.
    """
    results: list[Any] = []
    sent = time.monotonic()
    try:
        items = pickle.loads(batch)  # noqa: S301 - made by our own parent
        for number, item in enumerate(items, 1):
            at.value = number
            results.append(work(item))
            if number == len(items) or time.monotonic() > sent + REPORT:
                at.value = NOTHING
                yield number, pickle.dumps(results)
                results = []
                sent = time.monotonic()
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        at.value = NOTHING
        yield ALL, _pickled(error)


def _pickled(error: BaseException) -> bytes:
    """An exception with its traceback as a note; a LawfulError if it cannot be pickled."""
    error.add_note("It was raised here:\n" + "".join(traceback.format_exception(error)))
    try:
        data = pickle.dumps(error)
        pickle.loads(data)  # noqa: S301 - made in the line above
    except Exception:
        data = pickle.dumps(LawfulError(f"{type(error).__name__}: {error}"))
    return data


def _die_with(parent: int) -> None:
    """Has Linux kill this process when its parent dies, even if it is stuck."""
    if sys.platform != "linux":
        return
    import ctypes

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:  # it died before that
        os._exit(1)
