"""What ``lawful read`` and ``lawful extract`` take: files, folders, and documents as JSON lines."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from lawful.base.errors import InputError
from lawful.cli.folders import Files, digest_of
from lawful.cli.output import plural
from lawful.cli.terminal import say, warn
from lawful.io.jsonl import Line, parse_documents, read_lines
from lawful.pipeline.workers import Idle
from lawful.readers import Item, Limits, Reader, files_in, kind_of
from lawful.readers.einvoice import START
from lawful.readers.many import Found, read_files_or_idle
from lawful.readers.parts import split_each
from lawful.readers.reader import IN_FOLDERS, FileDocument

LINES = (".jsonl", ".ndjson", ".json", ".gz", "")
"""Endings of files with lines of documents, whatever they begin with."""


class _Id(msgspec.Struct):
    id: str


class Inputs:
    """The inputs of a command as numbered lines: one per document of JSON lines, one per file."""

    def __init__(self, given: Sequence[str]) -> None:
        """Raises an ``InputError`` for a folder without files that can be read."""
        self._paths: list[tuple[str, bool]] = []  # each with whether it is a file to read
        self._names: list[str] = []  # of their outputs, below a folder
        for each in given:
            folder = each != "-" and Path(each).is_dir()
            found = [(str(path), True) for path in files_in(Path(each))] if folder else []
            if folder and not found:
                raise InputError(f"no PDF file, image or hOCR file in {each}")
            if folder:
                _say_others(Path(each))
            is_file = each != "-" and (kind_of(Path(each)) is not None or _is_other(Path(each)))
            self._paths += found or [(each, is_file)]
            below = Path(each) if folder else Path(each).parent
            self._names += [
                str(Path(path).relative_to(below)) for path, _ in found or [(each, False)]
            ]
        self._starts: list[int] = []  # of the paths so far, the number before the first line

    @property
    def has_files(self) -> bool:
        """Whether any input is a file to read, not lines of documents."""
        return any(is_file for _, is_file in self._paths)

    def files_after(self, line: int) -> int | None:
        """The number of files after a line; ``None`` if not all inputs are files."""
        return len(self._paths) - line if all(is_file for _, is_file in self._paths) else None

    @property
    def only(self) -> str:
        """The path of the only input, if it has JSON lines; otherwise ``-``."""
        return self._paths[0][0] if len(self._paths) == 1 and not self.has_files else "-"

    def outputs(self, out: Path, form: str) -> Files:
        """The files, and the names of their outputs below a folder."""
        for path, is_file in self._paths:
            if not is_file:
                raise InputError(
                    f"{path} has lines of documents, and --out is a folder, which has one output "
                    "per file: choose a file for --out"
                )
        names = (f"{name}.{form}" for name in self._names)
        paths = [Path(path) for path, _ in self._paths]
        return Files(list(zip(paths, names, strict=True)), out, Limits().bytes)

    def ids(self) -> list[str]:
        """The ids of all documents that can be told before they are read, each once."""
        found: dict[str, None] = {}
        for path, is_file in self._paths:
            if is_file:
                found[path] = None
                continue
            for _, text in read_lines(path):
                with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    found[msgspec.json.decode(text, type=_Id).id] = None
        return list(found)

    def lines(self, only: frozenset[str] | None = None) -> Iterator[Line]:
        """All lines; that of a file is a digest of its content, so that a change is noticed.

        ``only`` are the files that are read; lines of documents all are.
        """
        last = 0
        for path, is_file in self._paths:
            self._starts.append(last)
            if is_file:
                last += 1
                if only is not None and path not in only:
                    continue
                digest = digest_of(Path(path), Limits().bytes)
                yield last, f"{path}\0{digest}".encode("utf-8", "surrogateescape")
            else:
                for number, text in read_lines(path):
                    last = self._starts[-1] + number
                    yield last, text

    def is_file(self, number: int) -> bool:
        """Whether a line stands for a file that was read."""
        return self._paths[bisect_right(self._starts, number - 1) - 1][1]

    def name(self, number: int) -> str:
        """What a message calls a line: its file, and its number there."""
        place = bisect_right(self._starts, number - 1) - 1
        path, is_file = self._paths[max(place, 0)]
        line = number - self._starts[place] if self._starts else number
        path = path.replace("\n", "\\n")  # or a name could add lines to what is said
        if is_file:
            return path
        return f"line {line}" if len(self._paths) == 1 else f"{path}, line {line}"

    def documents(
        self, lines: Iterable[Line], reader: Reader, *, workers: int = 1, split: bool = False
    ) -> Iterator[Found | Idle]:
        """The documents of lines, in order; files are read by processes of their own.

        While one is being read, ``IDLE`` comes. With ``split``, a file may be several documents.
        """
        if not self.has_files:
            if split:
                raise InputError("--split is for files, and the input has lines of documents")
            return parse_documents(lines)
        items = map(self._item, lines)
        found = self._noted(read_files_or_idle(items, reader, workers=workers))
        return split_each(found) if split else found

    def _noted(self, found: Iterable[Found | Idle]) -> Iterator[Found | Idle]:
        """The documents, saying what of their files cannot be read."""
        for each in found:
            if isinstance(each, FileDocument):
                for note in each.notes:
                    warn(f"{self.name(each.line or 0)}: {note}")
            yield each

    def _item(self, line: Line) -> Item:
        number, text = line
        path, _ = self._paths[bisect_right(self._starts, number - 1) - 1]
        return Item(number, path=path) if self.is_file(number) else Item(number, text)


def _is_other(path: Path) -> bool:
    """Whether a file is of a kind that nothing here reads, such as one of a word processor."""
    if path.suffix.lower() in LINES or not path.is_file():
        return False
    with suppress(OSError), path.open("rb") as file:
        return not file.read(START).lstrip().startswith((b"{", b"\x1f\x8b"))
    return False


def _say_others(folder: Path) -> None:
    """Says how many files of a folder are not read."""
    every = Counter(path.suffix.lower() for path in files_in(folder, None))
    others = {ending: n for ending, n in every.items() if ending not in IN_FOLDERS}
    if others:
        endings = ", ".join(ending or "no ending" for ending in sorted(others))
        say(f"{folder}: {plural(sum(others.values()), 'file')} of other kinds left out ({endings})")
