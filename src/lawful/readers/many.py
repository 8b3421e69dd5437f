"""Many files, read by processes of their own: a file that stalls or crashes costs no other."""

from __future__ import annotations

import signal
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from lawful.base.errors import LawfulError
from lawful.documents.document import Document
from lawful.documents.records import FailedDocument, Labelled
from lawful.io.jsonl import parse_documents
from lawful.pipeline.workers import Idle, in_order, in_order_or_idle
from lawful.readers.reader import Reader


class Item(NamedTuple):
    """A file to read, or a line of a file with documents, and its number in the input."""

    number: int
    text: bytes = b""
    path: str | None = None


Found: TypeAlias = Document | Labelled | FailedDocument


def read_files(
    items: Iterable[Item], reader: Reader | None = None, *, workers: int = 1
) -> Generator[Found, None, None]:
    """The document of each file or line, in order, or why it cannot be read."""
    return in_order(ReadFile(reader or Reader()), items, workers, batch=1, apart=True)


def read_files_or_idle(
    items: Iterable[Item], reader: Reader, *, workers: int = 1
) -> Generator[Found | Idle, None, None]:
    """The same, and ``IDLE`` while the next file is being read."""
    return in_order_or_idle(ReadFile(reader), items, workers, batch=1, apart=True)


@dataclass(frozen=True, slots=True)
class ReadFile:
    """The task of workers that read files, each in a process that a limit of time may end."""

    reader: Reader

    def start(self) -> Callable[[Item], Found]:
        limit_memory(self.reader.limits.memory)
        return self.read

    def read(self, item: Item) -> Found:
        if item.path is None:
            return next(parse_documents([(item.number, item.text)]))
        try:
            self.set_alarm(self.reader.limits.seconds)
            document = self.reader.read(item.path)
        except LawfulError as error:
            return FailedDocument(item.number, str(error), item.path)
        except MemoryError:
            return FailedDocument(item.number, "not enough memory to read it", item.path)
        except Exception as error:  # of a library, which is no reason to stop
            return FailedDocument(item.number, f"{type(error).__name__}: {error}", item.path)
        finally:
            self.set_alarm(0)
        return document.at_line(item.number)

    @staticmethod
    def set_alarm(seconds: float) -> None:
        """Has this process killed after a time: a library that stalls hears nothing else."""
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, seconds)

    def lost(self, item: Item, why: str) -> FailedDocument:
        _, _, cause = why.partition("(")
        message = f"the process that read it died ({cause}"
        if hasattr(signal, "SIGALRM") and f"signal {signal.SIGALRM:d})" in cause:
            message = f"it took longer than the limit of {self.reader.limits.seconds:g} seconds"
        return FailedDocument(item.number, message, item.path)


def limit_memory(more: int) -> None:
    """Lets this process take so much more memory, where the system can say how much it has."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        limit = pages * resource.getpagesize() + more
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
