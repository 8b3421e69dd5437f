"""Output files of long runs, which can be resumed.

While a run writes ``out``, two files are next to it:

    out.partial   the output so far
    out.journal   a manifest, then one entry per line of the input that is done

Every result is appended to both, and both are forced to the disk every few seconds. At the end,
``out`` appears, atomically, and the two files go. After a crash, a kill or a full disk, a run with
the same manifest can go on after the last entry whose output is complete. Entries have checksums of
their output, so it does not matter which of the two files has reached the disk. They also have
digests of their input lines: a run goes on only if those lines are the same.
"""

from __future__ import annotations

import errno
import gzip
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any, TypeAlias
from zlib import crc32

import msgspec

from lawful.base.errors import InputError
from lawful.io.atomic import atomic_path, atomic_text, copy_mode, is_special
from lawful.io.jsonl import Line

try:
    import fcntl
except ImportError:  # Windows, where two runs with the same output are not noticed
    fcntl = None  # type: ignore[assignment]

Pack: TypeAlias = Callable[[IO[bytes], Path], None]
"""Writes a file in its own format from the results of a run, which it reads."""

Manifest: TypeAlias = Mapping[str, str | int | float | bool | None]
"""All that the results depend on, other than the input lines, by name."""

SYNC = 3.0
"""Seconds after which results are forced to the disk; a power failure costs no more work."""

_FORMAT = "lawful journal 1"
_START = b'{"format":"' + _FORMAT.encode()
_APPEND = os.O_RDWR | os.O_CREAT | os.O_APPEND
_CHUNK = 2**20


class Entry(msgspec.Struct, omit_defaults=True):
    """A line of the input that is done."""

    line: int  # 0: what comes before all results
    id: str | None = None
    counts: dict[str, int] = {}  # what the line adds to the totals of the run
    size: int = 0  # of its output, in bytes
    check: int = 0  # CRC-32 of its output
    digest: str = ""  # of the line
    last: bool = False  # the output is complete


class Output:
    """An output that cannot be resumed: standard output, a pipe or a device."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self.counts: Counter[str] = Counter()
        self.last_line = 0
        """The last line that was done when the run was resumed, or 0."""

    @property
    def kept(self) -> int:
        """The number of lines of which the results are kept if the run ends now."""
        return 0

    def entries(self) -> Iterator[Entry]:
        """The entries of the run that is resumed."""
        yield from ()

    def lines(self, lines: Iterable[Line]) -> Iterator[Line]:
        """The lines of the input, checked to be those that the run began with."""
        yield from lines

    def is_done(self, line: int) -> bool:
        """Whether a line was done when the run was resumed."""
        return line <= self.last_line

    def left(self, lines: Iterable[Line]) -> Iterator[Line]:
        """The same without those that are done."""
        return (line for line in self.lines(lines) if not self.is_done(line[0]))

    def add(self, entry: Entry, text: str = "") -> None:
        """Writes the output of a line, unless it was done before the run was resumed."""
        self.counts.update(entry.counts)
        self._file.write(text)
        self._file.flush()

    def finish(self, foot: Callable[[Counter[str]], str]) -> None:
        """Writes what comes after all results, by their counts; makes the output file appear."""
        self._file.write(foot(self.counts))

    @property
    def earlier(self) -> Path | None:
        """The file that ``finish`` replaces, if there is one."""
        return None

    def drop(self) -> None:
        """Ends the run without an output: an earlier file stays as it is."""


class Journal(Output):
    """An output file that appears at the end; until then, its run can be resumed."""

    def __init__(
        self,
        out: str,
        manifest: Manifest,
        head: str,
        *,
        resume: bool | None,
        pack: Pack | None = None,
    ) -> None:
        """``head`` comes before all results. With ``pack``, the file is made of them at the end.

        The results of an unfinished run are kept if ``resume`` is true, and removed if it is
        false; if it is ``None``, they are an error.
        """
        self._out = Path(out).resolve()
        if self._out.is_dir():
            raise InputError(f"cannot write {out}: it is a folder")
        self._partial_path = self._out.with_name(f"{self._out.name}.partial")
        self._journal_path = self._out.with_name(f"{self._out.name}.journal")
        self._pack = _compress if pack is None and self._out.suffix == ".gz" else pack
        self._journal = self._partial = -1
        self._locked = self._started = False
        self._state = _State()
        self._lines = 0
        self._digests: dict[int, str] = {}  # of lines that are being worked on
        self._synced = time.monotonic()
        try:
            self._lock()
            self._state = self._recover(manifest, resume)
            if not self._state.over:
                self._open(manifest, head)
        except OSError as error:
            self.close()
            raise InputError(f"cannot write {out}: {error.strerror}") from None
        except BaseException:
            self.close()
            raise
        self.counts, self.last_line = self._state.counts, self._state.last_line
        self._lines = self._state.lines
        self._started = True

    @property
    def kept(self) -> int:
        """The number of lines of which the results are kept if the run ends now."""
        return self._lines

    def _lock(self) -> None:
        """Opens the journal for this run alone.

        No other descriptor of it may be opened: closing one would release the lock.
        """
        while True:
            self._journal = os.open(self._journal_path, _APPEND, 0o666)
            if fcntl is not None:
                try:
                    fcntl.lockf(self._journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except (BlockingIOError, PermissionError):
                    raise InputError(
                        f"cannot write {self._out}: another run is writing it"
                    ) from None
            if os.fstat(self._journal).st_nlink:
                self._locked = True
                return
            os.close(self._journal)  # removed by a run that ended after it was opened here

    def _recover(self, manifest: Manifest, resume: bool | None) -> _State:
        """What is kept of an unfinished run."""
        before = self._manifest()
        if before is None:
            if self._partial_path.exists():
                raise InputError(f"{self._partial_path} is there, but is of no run: move it away")
            return _State()
        state = self._complete()
        if resume:
            _check_same(before, manifest, self._out)
            return state
        if resume is None and state.lines and not state.over:
            raise InputError(
                f"{self._journal_path} is of an unfinished run with {state.lines:,} results: "
                "--resume continues it, --no-resume starts again"
            )
        return _State()

    def _manifest(self) -> dict[str, Any] | None:
        """The manifest of an unfinished run; ``None`` if there is none."""
        first = next(self._lines_of_journal(), None)
        start = os.pread(self._journal, len(_START), 0)
        if first is None and _START.startswith(start):
            return None  # a new file, or killed while the first line was written
        with suppress(msgspec.DecodeError, UnicodeDecodeError):
            manifest = msgspec.json.decode(first or b"", type=dict[str, Any])
            if manifest.pop("format", None) == _FORMAT:
                return manifest
        raise InputError(f"{self._journal_path} is no journal of a run: move it away")

    def _complete(self) -> _State:
        """The entries of an unfinished run, up to the first whose output is not complete."""
        state = _State()
        has_output = self._partial_path.exists()
        with self._partial_path.open("rb") if has_output else nullcontext() as partial:
            for entry, end in self._read():
                if entry.last:
                    state.over = not has_output
                elif partial is None or _is_next(entry, partial):
                    state.add(entry, end)
                else:
                    break
        return state if has_output or state.over else _State()

    def _read(self) -> Iterator[tuple[Entry, int]]:
        """The entries and their ends in the file, up to the first that is damaged."""
        decoder = msgspec.json.Decoder(Entry)
        lines = self._lines_of_journal()
        end = len(next(lines, b"")) + 1
        for line in lines:
            end += len(line) + 1
            try:
                yield decoder.decode(line), end
            except (msgspec.DecodeError, UnicodeDecodeError):
                return

    def _lines_of_journal(self) -> Iterator[bytes]:
        """The lines without their ends; one that has no end is left out."""
        at, rest = 0, b""
        while some := os.pread(self._journal, _CHUNK, at):
            at += len(some)
            *lines, rest = (rest + some).split(b"\n")
            yield from lines

    def _open(self, manifest: Manifest, head: str) -> None:
        """Opens the partial file, and cuts off both files what is not kept."""
        self._partial = os.open(self._partial_path, _APPEND, 0o666)
        os.ftruncate(self._partial, self._state.partial_end)
        os.ftruncate(self._journal, self._state.journal_end)
        if not self._state.journal_end:
            first = {"format": _FORMAT, **manifest}
            _write(self._journal, msgspec.json.encode(first) + b"\n")
            self._append(Entry(0), head)
        self._sync()
        _sync_folder(self._out.parent)

    def entries(self) -> Iterator[Entry]:
        """The entries of the run that is resumed."""
        for entry, _ in self._read():
            if not self.is_done(entry.line) or entry.last:
                return
            if entry.line:
                yield entry

    def lines(self, lines: Iterable[Line]) -> Iterator[Line]:
        """The lines of the input; raises if one that is done has changed or is missing."""
        done = self.entries()
        number = 0
        for number, text in lines:
            digest = blake2b(text, digest_size=8).hexdigest()
            if not self.is_done(number):
                self._digests[number] = digest
            else:
                entry = next(done, None)
                if entry is None or (entry.line, entry.digest) != (number, digest):
                    raise _cannot_resume(self._out, f"line {number} of the input has changed")
            yield number, text
        if number < self.last_line:
            raise _cannot_resume(self._out, f"line {self.last_line} of the input is missing")

    def add(self, entry: Entry, text: str = "") -> None:
        """Writes the output of a line, unless it was done before the run was resumed."""
        if self.is_done(entry.line):
            return
        entry.digest = self._digests.pop(entry.line)
        self._append(entry, text)
        self.counts.update(entry.counts)
        self._lines += 1

    def _append(self, entry: Entry, text: str) -> None:
        data = text.encode()
        entry.size, entry.check = len(data), crc32(data)
        _write(self._partial, data)
        _write(self._journal, msgspec.json.encode(entry) + b"\n")
        if time.monotonic() > self._synced + SYNC:
            self._sync()

    def _sync(self) -> None:
        _sync(self._partial)
        _sync(self._journal)
        self._synced = time.monotonic()

    def finish(self, foot: Callable[[Counter[str]], str]) -> None:
        """Writes what comes after all results; makes the output file appear, atomically."""
        if not self._state.over:
            _write(self._partial, foot(self.counts).encode())
            _write(self._journal, msgspec.json.encode(Entry(0, last=True)) + b"\n")
            self._sync()
            if self._pack is not None:
                with self._partial_path.open("rb") as plain, atomic_path(self._out) as new:
                    self._pack(plain, new)
                self._partial_path.unlink()
            else:
                copy_mode(self._out, self._partial_path)
                self._partial_path.replace(self._out)
            _sync_folder(self._out.parent)
        self._journal_path.unlink()
        self._started = False  # the names may be another run's from now on
        self._lines = 0

    @property
    def earlier(self) -> Path | None:
        return self._out if self._out.is_file() else None

    def drop(self) -> None:
        self._lines = 0

    def close(self) -> None:
        """Closes the files; those of a run without results are removed."""
        if self._started and not self._lines:
            self._partial_path.unlink(missing_ok=True)
            self._journal_path.unlink(missing_ok=True)
        elif self._locked and not os.fstat(self._journal).st_size:
            self._journal_path.unlink(missing_ok=True)  # made by opening it
        for file in (self._partial, self._journal):
            if file >= 0:
                os.close(file)


@dataclass(slots=True)
class _State:
    """What is kept of an unfinished run."""

    counts: Counter[str] = field(default_factory=Counter)
    lines: int = 0
    last_line: int = 0
    partial_end: int = 0
    journal_end: int = 0
    over: bool = False  # the output is there; only the journal is left

    def add(self, entry: Entry, end: int) -> None:
        self.counts.update(entry.counts)
        self.lines += entry.line > 0
        self.last_line = max(self.last_line, entry.line)
        self.partial_end += entry.size
        self.journal_end = end


@contextmanager
def resumable(
    out: str,
    manifest: Manifest,
    head: str,
    *,
    resume: bool | None = None,
    pack: Pack | None = None,
) -> Iterator[Output]:
    """The output of a run; a ``Journal`` unless it is standard output, a pipe or a device.

    With ``pack``, it must be a file, which is made of the results at the end.
    """
    if out == "-" or is_special(Path(out)):
        if pack is not None:
            raise InputError(f"this format needs a file as --out, and --out is {out}")
        if resume:
            raise InputError(f"--resume needs an output file, and --out is {out}")
        with atomic_text(out) as file:
            file.write(head)
            yield Output(file)
        return
    with closing(Journal(out, manifest, head, resume=resume, pack=pack)) as journal:
        yield journal


def _compress(plain: IO[bytes], path: Path) -> None:
    with path.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
        shutil.copyfileobj(plain, packed, _CHUNK)


def _is_next(entry: Entry, partial: IO[bytes]) -> bool:
    """Whether the next bytes of the partial file are the output of an entry."""
    check, missing = 0, entry.size
    while missing and (some := partial.read(min(missing, _CHUNK))):
        check, missing = crc32(some, check), missing - len(some)
    return not missing and check == entry.check


def _check_same(before: dict[str, Any], manifest: Manifest, out: Path) -> None:
    now = msgspec.json.decode(msgspec.json.encode(manifest))
    for name in {**before, **now}:
        if before.get(name) != now.get(name):
            values = f" ({before.get(name)} before, {now.get(name)} now)"
            short = len(values) < 80
            raise _cannot_resume(out, f"{name} has changed{values if short else ''}")


def _cannot_resume(out: Path, why: str) -> InputError:
    return InputError(
        f"cannot resume the unfinished run for {out.name}: {why}; --no-resume starts again"
    )


def _write(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _sync(file: int) -> None:
    """Forces a file to the disk, where the file system can."""
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise


def _sync_folder(folder: Path) -> None:
    """Forces the names in a folder to the disk."""
    file = os.open(folder, os.O_RDONLY)
    try:
        _sync(file)
    finally:
        os.close(file)
