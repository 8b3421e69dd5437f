"""The processes of the service: one by itself, or workers that are replaced when they die."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from tempfile import TemporaryDirectory
from typing import Any

from lawful.base.errors import LawfulError
from lawful.server.lifecycle import LAST_SECONDS, Server, address_of, run_app
from lawful.server.logs import log, start_logs
from lawful.server.rule_book import RuleBook
from lawful.server.settings import Settings

BAD_STARTS = 5
"""Workers that may die, one after the other, before they are ready or ``SHORT`` seconds old."""

SHORT = 5.0

UNABLE = 3
"""The exit code of a worker that has said why it cannot start."""


def serve(settings: Settings, book: RuleBook, listener: socket.socket, level: str) -> int:
    """Serves until SIGTERM or Ctrl-C; the exit code is 1 if workers cannot be started."""
    start_logs(level)
    rules = {name: entry.hash for name, entry in book.entries.items()}
    log("start", url=address_of(listener), workers=settings.workers, rules=rules, pid=os.getpid())
    if settings.workers == 1:
        _run(settings, book, listener, None)
        return 0
    with TemporaryDirectory(prefix="lawful-metrics-") as folder:
        from lawful.server.metrics import share_metrics

        share_metrics(folder)
        return _Supervisor(settings, book, listener, level).run()


def _run(
    settings: Settings, book: RuleBook, listener: socket.socket, pipe: Connection | None
) -> None:
    """Serves in this process. New rules come with SIGHUP or, for a worker, through the pipe."""
    from lawful.server.service import Service

    service = Service(settings, book)
    reloads: set[asyncio.Task[None]] = set()

    def reload() -> None:
        task = asyncio.get_running_loop().create_task(service.reload())
        reloads.add(task)
        task.add_done_callback(reloads.discard)

    def started(server: Server) -> None:
        service.begin()
        log("ready", pid=os.getpid())
        if pipe is None:
            server.on_signal("SIGHUP", reload)
            return

        def receive() -> None:
            try:
                service.take(pipe.recv())
            except (EOFError, OSError):  # the supervisor has died
                asyncio.get_running_loop().remove_reader(pipe.fileno())
                server.should_exit = True

        asyncio.get_running_loop().add_reader(pipe.fileno(), receive)
        pipe.send(True)  # ready

    run_app(service.app(), listener, service.drain, on_start=started)
    log("end", pid=os.getpid())


def _work(
    settings: Settings, book: RuleBook, listener: socket.socket, pipe: Connection, level: str
) -> None:
    """The main function of a worker."""
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # which the supervisor listens to
    start_logs(level)
    try:
        _run(settings, book, listener, pipe)
    except LawfulError as error:  # such as a model that is not there
        log("cannot start", level=logging.ERROR, detail=str(error), pid=os.getpid())
        sys.exit(UNABLE)


@dataclass(slots=True)
class Worker:
    """A process of the service, as the supervisor sees it."""

    process: Any
    pipe: Connection
    began: float = field(default_factory=time.monotonic)
    _ready: bool = False
    _book: RuleBook | None = None
    _sending: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_ready(self) -> bool:
        """Whether it has begun to serve, at any time."""
        with suppress(EOFError, OSError):  # it has died before
            if not self._ready and self.pipe.poll():
                self._ready = self.pipe.recv()
        return self._ready

    @property
    def has_settled(self) -> bool:
        """Whether it is ready, and not only just."""
        return self.is_ready and time.monotonic() - self.began > SHORT

    def give(self, book: RuleBook) -> None:
        """Sends rules from a thread: a worker that is busy or stopped may not read for long."""
        self._book = book
        threading.Thread(target=self._send, daemon=True).start()

    def _send(self) -> None:
        with self._sending:
            try:
                self.pipe.send(self._book)  # the newest, if there were others meanwhile
            except OSError:  # it has died, and the next one is given the same rules
                return

    def close(self) -> None:
        """Closes the pipe to a worker that has died."""
        with self._sending:
            self.pipe.close()


class _Supervisor:
    """Keeps so many workers alive, gives them new rules on SIGHUP, and ends them on SIGTERM.

    The listening socket is shared, so a worker that dies takes only its own connections along. The
    supervisor alone loads rules: all workers have the same ones, and a new worker, too.
    """

    def __init__(
        self, settings: Settings, book: RuleBook, listener: socket.socket, level: str
    ) -> None:
        self._settings, self._book, self._listener, self._level = settings, book, listener, level
        self._context = multiprocessing.get_context("spawn")
        self._workers: list[Worker] = []
        self._bad_starts = 0
        self._ends = self._reloads = False

    def run(self) -> int:
        """Supervises until a signal ends it; returns the exit code."""
        self._on("SIGTERM", "_ends")
        self._on("SIGINT", "_ends")
        self._on("SIGHUP", "_reloads")
        self._workers = [self._start() for _ in range(self._settings.workers)]
        while not self._ends and self._bad_starts < BAD_STARTS:
            wait([worker.process.sentinel for worker in self._workers], timeout=0.2)
            if self._reloads:
                self._reloads = False
                self._reload()
            if not self._ends:
                self._replace_dead()
        self._end()
        return int(not self._ends)

    def _on(self, name: str, flag: str) -> None:
        """Notes that a signal has come; the loop sees it within a fifth of a second."""

        def note(*_: object) -> None:
            setattr(self, flag, True)

        if (number := getattr(signal, name, None)) is not None:
            signal.signal(number, note)

    def _start(self) -> Worker:
        ours, theirs = self._context.Pipe()
        work = (self._settings, self._book, self._listener, theirs, self._level)
        process = self._context.Process(target=_work, args=work)
        process.start()
        theirs.close()
        return Worker(process, ours)

    def _replace_dead(self) -> None:
        from prometheus_client.multiprocess import mark_process_dead

        for i, worker in enumerate(self._workers):
            if worker.process.is_alive():
                if self._bad_starts and worker.has_settled:
                    self._bad_starts = 0
                continue
            self._bad_starts = 0 if worker.has_settled else self._bad_starts + 1
            code = worker.process.exitcode
            if code == UNABLE and not any(each.is_ready for each in self._workers):
                self._bad_starts = BAD_STARTS  # none will be able to
                return
            log("worker died", level=logging.ERROR, pid=worker.process.pid, code=code)
            mark_process_dead(worker.process.pid)  # type: ignore[no-untyped-call]
            worker.close()
            self._workers[i] = self._start()

    def _reload(self) -> None:
        try:
            self._book = RuleBook.load(self._settings.rules, self._settings.trust)
        except LawfulError as error:
            log("reload refused", level=logging.ERROR, detail=str(error))
            return
        for worker in self._workers:
            worker.give(self._book)

    def _end(self) -> None:
        """Ends all workers, which drain; those that outlast it are killed."""
        for worker in self._workers:
            worker.process.terminate()
        until = time.monotonic() + self._settings.drain_seconds + LAST_SECONDS + 5
        for worker in self._workers:
            worker.process.join(max(0.0, until - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
