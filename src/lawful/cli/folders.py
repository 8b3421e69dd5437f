"""Runs with a folder as output: one output file per input file, and a manifest of all.

A file appears when it is complete, and is entered into ``manifest.jsonl``, which is the output of
the run: it has a journal, so an ended run resumes after the last file that is complete.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import file_digest
from io import BytesIO
from math import inf
from pathlib import Path

from lawful.base.errors import InputError
from lawful.cli.counts import BAD
from lawful.io.atomic import atomic_path, atomic_text, make_folder
from lawful.io.journal import Entry, Output, Pack
from lawful.io.jsonl import Line, encode
from lawful.io.npz import npz_path

MANIFEST = "manifest.jsonl"

LINES = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")
PARQUET = ".parquet"


def is_folder(out: str) -> bool:
    """Whether ``--out`` is a folder: one that exists, or a name that ends with a slash."""
    return out != "-" and (out.endswith(("/", os.sep)) or Path(out).is_dir())


class Files:
    """Input files, numbered from 1, and the names of their outputs below a folder."""

    def __init__(
        self, found: Sequence[tuple[Path, str]], out: Path, most_bytes: float = inf
    ) -> None:
        """``found`` are paths and the names of their outputs; larger files will not be read.

        Raises an ``InputError`` if two outputs have one name, or an output would replace an input.
        """
        self._found = found
        self._out = out
        self._most_bytes = most_bytes
        taken: dict[str, Path | None] = {MANIFEST: None}
        inputs = {path.resolve() for path, _ in found}
        for path, name in found:
            if name in taken:
                other = taken[name] or "the manifest"
                raise InputError(f"{path} and {other} would both be written to {out / name}")
            if (out / name).resolve() in inputs:
                raise InputError(f"{out / name} is an input file: choose another folder for --out")
            taken[name] = path

    def __len__(self) -> int:
        return len(self._found)

    def path(self, number: int) -> Path:
        """The path of a file."""
        return self._found[number - 1][0]

    def name(self, number: int) -> str:
        """The name of a file's output, below the folder."""
        return self._found[number - 1][1]

    def output(self, number: int) -> Path:
        """The path of a file's output, whose folder is there.

        The manifest of an earlier run is gone then: it would be about other outputs.
        """
        path = self._out / self.name(number)
        make_folder(path.parent)
        (self._out / MANIFEST).unlink(missing_ok=True)
        return path

    def lines(self) -> Iterator[Line]:
        """One line per file: digests of its content, so that a change is noticed."""
        for number, (path, _) in enumerate(self._found, 1):
            digests = [digest_of(each, self._most_bytes) for each in (path, npz_path(path))]
            text = "\0".join([str(path), *digests])
            yield number, text.encode("utf-8", "surrogateescape")


def digest_of(path: Path, most_bytes: float = inf) -> str:
    """The SHA-256 of a file; empty if it cannot be read, which is said when it is read.

    Of a file with more than ``most_bytes``, which will be refused, the size is enough.
    """
    try:
        if not path.is_file():
            return ""
        if (size := path.stat().st_size) > most_bytes:
            return f"{size} bytes"
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def scored_files(given: Sequence[str], form: str) -> list[tuple[Path, str]]:
    """Files of scored documents, those of folders by name, and the names of their outputs.

    Parquet files give Parquet files, lines of JSON the format of ``--format``.
    """
    found: list[tuple[Path, str]] = []
    for each in given:
        path = Path(each)
        if each == "-":
            raise InputError("standard input has no name, which a folder as --out needs")
        if path.is_dir():
            inside = list(_in_folder(path))
            if not inside:
                endings = ", ".join((*LINES, PARQUET))
                raise InputError(f"no scored documents in {each}: no file ends in {endings}")
            found += [(file, _named(file.relative_to(path), form)) for file in inside]
        else:
            found.append((path, _named(Path(path.name), form)))
    return found


def _in_folder(folder: Path) -> Iterator[Path]:
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
        for name in sorted(names):
            if name.endswith((*LINES, PARQUET)) and not name.startswith((".", "_")):
                yield Path(where, name)


def _named(path: Path, form: str) -> str:
    """The name of the output of a file."""
    if path.suffix == PARQUET:
        return str(path)
    ending = next((each for each in LINES if path.name.endswith(each)), path.suffix)
    return str(path.with_name(f"{path.name.removesuffix(ending)}.{form}"))


class FolderOutput(Output):
    """An output whose lines are files: each is written by itself, then entered in the manifest."""

    def __init__(
        self,
        manifest: Output,
        files: Files,
        head: str = "",
        foot: Callable[[Counter[str]], str] = lambda _: "",
        pack: Pack | None = None,
    ) -> None:
        """``head`` and ``foot`` are those of every file; ``pack`` makes files of other formats."""
        self._manifest, self._files = manifest, files
        self._head, self._foot, self._pack = head, foot, pack
        self.counts = manifest.counts
        self.last_line = manifest.last_line

    @property
    def kept(self) -> int:
        return self._manifest.kept

    def entries(self) -> Iterator[Entry]:
        return self._manifest.entries()

    def lines(self, lines: Iterable[Line]) -> Iterator[Line]:
        return self._manifest.lines(lines)

    def add(self, entry: Entry, text: str = "") -> None:
        """Writes the output of a file, unless it was bad, and enters it in the manifest."""
        if self.is_done(entry.line):
            return
        is_good = not entry.counts.get(BAD)
        if is_good:
            whole = self._head + text + self._foot(Counter(entry.counts))
            if self._pack is None:
                with atomic_text(self._files.output(entry.line)) as file:
                    file.write(whole)
            else:
                with atomic_path(self._files.output(entry.line)) as new:
                    self._pack(BytesIO(whole.encode()), new)
        self.enter(entry, self._files.name(entry.line) if is_good else None)

    def enter(self, entry: Entry, name: str | None) -> None:
        """Enters a file, whose output is in place, in the manifest."""
        line = manifest_line(self._files.path(entry.line), name, entry.counts)
        self._manifest.add(entry, line)
        self.counts = self._manifest.counts

    def finish(self, foot: Callable[[Counter[str]], str]) -> None:
        del foot  # every file has its own
        self._manifest.finish(lambda _: "")


def manifest_line(path: Path, name: str | None, counts: Mapping[str, int]) -> str:
    """A line of the manifest: the input, the name of its output, and what it counts as."""
    record = {"input": os.fsencode(path).decode("utf-8", "replace"), "output": name}
    return encode({**record, "counts": dict(counts)}).decode() + "\n"
