"""What ``lawful read`` and ``lawful extract`` take: files, folders, and documents as JSON lines."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from lawful.cli.folders import Files, digest_of
from lawful.cli.tally import BAD
from lawful.errors import InputError
from lawful.files import Item, Limits, OcrMode, Reader, Selection, files_in, kind_of, read_files
from lawful.files.many import Found
from lawful.files.ocr import Ocr
from lawful.io.journal import Entry
from lawful.io.jsonl import Line, parse_documents, read_lines


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
            is_file = each != "-" and kind_of(Path(each)) is not None
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
        return Files(
            [(Path(path), name) for (path, _), name in zip(self._paths, names, strict=True)], out
        )

    def lines(self) -> Iterator[Line]:
        """All lines; that of a file is a digest of its content, so that a change is noticed."""
        last = 0
        for path, is_file in self._paths:
            self._starts.append(last)
            if is_file:
                last += 1
                yield last, f"{path}\0{digest_of(Path(path))}".encode("utf-8", "surrogateescape")
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
        if is_file:
            return path
        return f"line {line}" if len(self._paths) == 1 else f"{path}, line {line}"

    def documents(
        self, lines: Iterable[Line], reader: Reader, *, workers: int = 1
    ) -> Iterator[Found]:
        """The documents of lines, in order; files are read by processes of their own."""
        if not self.has_files:
            return parse_documents(lines)
        return read_files(map(self._item, lines), reader, workers=workers)

    def _item(self, line: Line) -> Item:
        number, text = line
        path, _ = self._paths[bisect_right(self._starts, number - 1) - 1]
        return Item(number, path=path) if self.is_file(number) else Item(number, text)


def make_reader(
    ocr: OcrMode,
    pages: str | None,
    max_pages: int,
    seconds: float,
    password: str | None,
    workers: int,
) -> Reader:
    """The reader of a command; several workers use one thread each."""
    limits = Limits(pages=max_pages, seconds=seconds)
    selected = None if pages is None else Selection(pages)
    return Reader(ocr, limits, selected, password, Ocr(threads=-1 if workers == 1 else 1))


def first_needed(done: Iterable[Entry], group: int) -> int:
    """The last line that need not be read again when a run is resumed.

    The documents after it begin a group of the model's: rounding makes scores depend on the group.
    """
    last, good = 0, []
    for entry in done:
        last = entry.line
        if not entry.counts.get(BAD):
            good.append(entry.line)
    whole = len(good) // group * group
    return last if whole == len(good) else (good[whole] - 1 if good else last)
