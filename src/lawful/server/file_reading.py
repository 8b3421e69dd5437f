"""Files of requests, read by processes of their own that stay warm: each may crash, or hang."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from lawful.base.errors import MissingExtraError
from lawful.documents.document import Document
from lawful.readers.cache import Kept
from lawful.readers.images import SUFFIXES as IMAGES
from lawful.readers.reader import FileDocument
from lawful.server.lifecycle import ending
from lawful.server.problems import HttpProblem
from lawful.server.reader_process import ERROR, HowToRead, Unreadable, receive, send
from lawful.server.security import TOKEN_VARIABLE
from lawful.server.uploads import Upload

UNUSABLE = 422

MAX_ANSWER = 2**28
"""Bytes of what a process may say about a file."""

FILES_EACH = 500
"""Files that a process reads before another takes its place: libraries may leak."""

_GRACE = 20.0
"""Seconds for a process to start, and to load OCR, besides those for reading a file."""

Tell: TypeAlias = Callable[[int, int], None]
"""Is told the pages that are read, and how many there are."""


def silent(page: int, of: int) -> None:
    """Tells nobody."""


class ReadingProcess:
    """A process that reads files one after another."""

    def __init__(self, how: HowToRead) -> None:
        command = [sys.executable, "-m", "lawful.server.reader_process"]
        self._process = subprocess.Popen(
            [*command, msgspec.json.encode(replace(how, parent=os.getpid())).decode()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: text for name, text in os.environ.items() if name != TOKEN_VARIABLE},
        )
        self._how = how
        self._late = False
        self.files = 0

    def read(self, path: Path, tell: Tell) -> Kept:
        """What a file says; raises a problem if it cannot be read."""
        self.files += 1
        timer = threading.Timer(self._how.seconds + _GRACE, self._give_up)
        timer.start()
        try:
            found = self._ask(path, tell)
        except (OSError, ValueError, msgspec.MsgspecError):  # it has died, or talks nonsense
            found = None
        finally:
            timer.cancel()
        if found is None:
            self.kill()
            raise HttpProblem(UNUSABLE, self._why())
        if isinstance(found, Unreadable):
            raise HttpProblem(UNUSABLE, found.error)
        return found

    def _ask(self, path: Path, tell: Tell) -> Kept | Unreadable | None:
        assert self._process.stdin is not None  # noqa: S101 - both are pipes
        assert self._process.stdout is not None  # noqa: S101
        send(self._process.stdin, os.fsencode(path))
        while (message := receive(self._process.stdout, MAX_ANSWER)) is not None:
            if message.startswith(b"["):
                tell(*msgspec.json.decode(message, type=tuple[int, int]))
            elif message.startswith(ERROR):
                return msgspec.json.decode(message, type=Unreadable)
            else:
                return Kept.parse(message)
        return None

    def _give_up(self) -> None:
        self._late = True
        self._process.kill()

    def _why(self) -> str:
        code = self._process.wait()
        if self._late or code == -14:  # SIGALRM, by which it ends itself
            return f"reading the file took more than {self._how.seconds:g} seconds"
        return "the process that read the file died, perhaps out of memory"

    @property
    def is_alive(self) -> bool:
        """Whether it can read another file."""
        return self._process.poll() is None

    def kill(self) -> None:
        """Ends it, whatever it does."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


class FileReading:
    """At most so many processes that read files, started as they are needed.

    ``stop`` ends them all, from any thread.
    """

    def __init__(self, how: HowToRead, count: int) -> None:
        self._how = how
        self._free = threading.Semaphore(count)
        self._lock = threading.Lock()
        self._idle: list[ReadingProcess] = []  # the last used comes first: others cool down
        self._busy: set[ReadingProcess] = set()
        self._stopped = False

    def read(self, upload: Upload, id_: str, tell: Tell = silent) -> Document:
        """The document of a file, of this id; raises a problem if it cannot be read."""
        check_extra(upload)
        with TemporaryDirectory(prefix="lawful-") as folder:
            path = Path(folder, f"document{upload.suffix}")
            path.write_bytes(upload.content)
            with self._process() as process:
                kept = process.read(path, tell)
        document = kept.document_as(id_)
        if kept.invoice is None and not kept.notes:
            return document
        return FileDocument.of(document, kept.invoice, *kept.notes)

    def warm_up(self) -> None:
        """Starts a process, which the first file then need not wait for."""
        with self._process():
            pass

    @contextmanager
    def _process(self) -> Iterator[ReadingProcess]:
        with self._free:
            process = self._take()
            try:
                yield process
            finally:
                self._put(process)
                if self._stopped:
                    raise ending()

    def _take(self) -> ReadingProcess:
        with self._lock:
            if self._stopped:
                raise ending()
            process = self._idle.pop() if self._idle else None
            if process is None or not process.is_alive:
                process = ReadingProcess(self._how)
            self._busy.add(process)
            return process

    def _put(self, process: ReadingProcess) -> None:
        with self._lock:
            self._busy.discard(process)
            if process.files < FILES_EACH and process.is_alive and not self._stopped:
                self._idle.append(process)
                return
        process.kill()

    def cancel(self) -> None:
        """Ends what is being read; other files can be read afterwards."""
        with self._lock:
            for process in tuple(self._busy):
                process.kill()

    def stop(self) -> None:
        """Ends all processes; there will be no others."""
        with self._lock:
            self._stopped = True
            for process in (*self._busy, *self._idle):
                process.kill()
            self._idle.clear()


def check_extra(upload: Upload) -> None:
    """Raises a ``MissingExtraError`` if files of this kind cannot be read here."""
    if upload.suffix in (".pdf", *IMAGES) and find_spec("pypdfium2") is None:
        raise MissingExtraError("reading files needs pypdfium2: install the 'pdf' extra")
    if upload.suffix in IMAGES and find_spec("rapidocr") is None:
        raise MissingExtraError("reading images needs rapidocr: install the 'ocr' extra")
