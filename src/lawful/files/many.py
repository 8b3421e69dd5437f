"""Many files, read by processes of their own: a file that stalls or crashes costs no other."""

from __future__ import annotations

import signal
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from lawful.document import BadLine, Document, Labelled
from lawful.errors import LawfulError
from lawful.files.reader import Reader
from lawful.io.jsonl import parse_documents
from lawful.workers import in_order


class Item(NamedTuple):
    """A file to read, or a line of a file with documents, and its number in the input."""

    number: int
    text: bytes = b""
    path: str | None = None


Found: TypeAlias = Document | Labelled | BadLine


def read_files(
    items: Iterable[Item], reader: Reader | None = None, *, workers: int = 1
) -> Generator[Found, None, None]:
    """The document of each file or line, in order; a ``BadLine`` for one that cannot be read."""
    task = _ReadFile(reader or Reader())
    return in_order(task, items, workers, batch=1, apart=True)


@dataclass(frozen=True, slots=True)
class _ReadFile:
    """The task of workers that read files."""

    reader: Reader

    def start(self) -> Callable[[Item], Found]:
        _limit_memory(self.reader.limits.memory)
        return self.read

    def read(self, item: Item) -> Found:
        if item.path is None:
            return next(parse_documents([(item.number, item.text)]))
        try:
            self._set_alarm(self.reader.limits.seconds)
            document = self.reader.read(item.path)
        except LawfulError as error:
            return BadLine(item.number, str(error), item.path)
        except MemoryError:
            return BadLine(item.number, "not enough memory to read it", item.path)
        except Exception as error:  # of a library, which is no reason to stop
            return BadLine(item.number, f"{type(error).__name__}: {error}", item.path)
        finally:
            self._set_alarm(0)
        return document.at_line(item.number)

    @staticmethod
    def _set_alarm(seconds: float) -> None:
        """Has this process killed after a time: a library that stalls hears nothing else."""
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, seconds)

    def lost(self, item: Item, why: str) -> BadLine:
        _, _, cause = why.partition("(")
        message = f"the process that read it died ({cause}"
        if hasattr(signal, "SIGALRM") and f"signal {signal.SIGALRM:d})" in cause:
            message = f"it took longer than the limit of {self.reader.limits.seconds:g} seconds"
        return BadLine(item.number, message, item.path)


def _limit_memory(more: int) -> None:
    """Lets this process take so much more memory, where the system can say how much it has."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        limit = pages * resource.getpagesize() + more
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
