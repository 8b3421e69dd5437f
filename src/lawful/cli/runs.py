"""Runs of commands that write documents: results as they come, and how they resume."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TypeVar, TypeVarTuple

import typer

import lawful
from lawful.cli.complaints import Complaints
from lawful.cli.folders import MANIFEST, FolderOutput
from lawful.cli.options import BadLines
from lawful.cli.output import Interrupted, plural, say, warn
from lawful.cli.tally import AUTOMATIC, BAD, REVIEW, Tally
from lawful.decoding import Decoding
from lawful.document import BadLine, Document, Scored, SpanScored
from lawful.errors import InputError, LawfulError
from lawful.io.atomic import make_folder
from lawful.io.journal import Entry, Manifest, Output, resumable
from lawful.io.jsonl import Line
from lawful.io.npz import npz_path
from lawful.rules.rule_set import Rules

Record = TypeVar("Record", bound=Scored | SpanScored | Document)
Parts = TypeVarTuple("Parts")

MOST_IDS = 500_000
"""Documents of a run whose ids are compared with the later ones."""

_PIECES = "documents of word pieces"
_NOT_IN_RESULTS = (
    "documents", "out", "workers", "quiet", "resume", "bad_lines", "unchecked", "file_seconds",
    "password",
)  # fmt: skip


class Split(Output):
    """The output of a run in two files: documents for review are in the second.

    Both have entries for all lines, so that each can be resumed by itself.
    """

    def __init__(self, automatic: Output, review: Output) -> None:
        self._automatic, self._review = automatic, review
        self.counts = automatic.counts + review.counts
        self.last_line = min(automatic.last_line, review.last_line)

    @property
    def kept(self) -> int:
        return min(self._automatic.kept, self._review.kept)

    def entries(self) -> Iterator[Entry]:
        return (each for each in self._automatic.entries() if each.line <= self.last_line)

    def lines(self, lines: Iterable[Line]) -> Iterator[Line]:
        return self._review.lines(self._automatic.lines(lines))

    def add(self, entry: Entry, text: str = "") -> None:
        """Writes the output of a line, for review if that is what it counts as."""
        first, second = self._automatic, self._review
        if REVIEW in entry.counts:
            first, second = second, first
        first.add(entry, text)
        second.add(Entry(entry.line, entry.id))
        self.counts = first.counts + second.counts

    def finish(self, foot: Callable[[Counter[str]], str]) -> None:
        self._review.finish(foot)
        self._automatic.finish(foot)


@contextmanager
def _outputs(
    out: str, review: str | None, manifest: Manifest, head: str, resume: bool | None
) -> Iterator[Output]:
    """The output in one file, or in two."""
    if review is None:
        with resumable(out, manifest, head, resume=resume) as output:
            yield output
        return
    if out == review or Path(out).resolve() == Path(review).resolve():
        raise InputError(f"--review {review} is the file of --out: choose another name")
    with (
        resumable(out, manifest, head, resume=resume) as first,
        resumable(review, manifest, head, resume=resume) as second,
    ):
        yield Split(first, second)


@contextmanager
def open_run(
    context: typer.Context,
    head: str = "",
    *,
    resume: bool | None,
    model: Path | None = None,
    review: str | None = None,
    folder: Callable[[Output], FolderOutput] | None = None,
) -> Iterator[Output]:
    """The output of a command; if the run is ended, says how to resume it.

    With ``review``, documents for review are in that file, and only the others in ``--out``. With
    ``folder``, ``--out`` is a folder, and lines are files: it makes their output of the manifest's.
    """
    manifest, out = _manifest(context, model), context.params["out"]
    if folder is not None:
        if review is not None:
            raise InputError(f"--review {review} needs a file as --out, and {out} is a folder")
        make_folder(Path(out))
        head, out = "", str(Path(out) / MANIFEST)
    unit = "line" if folder is None else "file"
    with _outputs(out, review, manifest, head, resume) as output:
        if output.last_line:
            say(f"resuming after {unit} {output.last_line:,}")
        before = output.kept
        try:
            yield output if folder is None else folder(output)
        except KeyboardInterrupt:
            if output.kept:
                raise Interrupted(f"interrupted; {_kept(output, unit)}") from None
            raise
        except (LawfulError, OSError):
            if output.kept > before:
                say(_kept(output, unit))
            raise


def _kept(output: Output, unit: str) -> str:
    return f"the results of {plural(output.kept, unit)} are kept: --resume continues"


def _manifest(context: typer.Context, model: Path | None) -> Manifest:
    """All that the results of a command depend on, other than the lines of its input."""
    manifest: dict[str, str | int | float | bool | None] = {
        "the version of lawful": lawful.__version__,
        "the command": context.info_name,
    }
    for name, value in context.params.items():
        if name in _NOT_IN_RESULTS:
            continue
        is_file = isinstance(value, Path)
        manifest[f"--{name.strip('_').replace('_', '-')}"] = _hash(value) if is_file else value
    if isinstance(rules := context.params.get("rules"), Path):
        # The hash of a rule file does not cover the files that it names.
        texts = [sorted(lexicon.texts) for lexicon in Rules.load(rules).lexicons]
        if texts:
            manifest["a file that --rules names"] = sha256(repr(texts).encode()).hexdigest()
    given = context.params["documents"]
    documents = Path(given if isinstance(given, str) else given[0])
    if documents.is_file() and (arrays := npz_path(documents)).is_file():
        manifest["the .npz file"] = _hash(arrays)
    if model is not None:
        manifest["--model"] = _hash(model) if model.exists() else str(model)
    return manifest


def _hash(path: Path) -> str:
    """The SHA-256 of a file, or of all files of a folder."""
    if path.is_file():
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    files = sorted(file for file in path.rglob("*") if file.is_file())
    names = "\n".join(f"{_hash(file)} {file.relative_to(path)}" for file in files)
    return sha256(names.encode()).hexdigest()


def write_results(
    output: Output,
    results: Iterable[tuple[Record, *Parts] | BadLine],
    render: Callable[[Record, *Parts], tuple[str, dict[str, int]]],
    foot: Callable[[Counter[str]], str] = lambda _: "",
    *,
    bad_lines: BadLines,
    name: Callable[[int], str] = "line {}".format,
) -> Tally:
    """Writes results as they come, says what is odd about them, and counts them.

    ``render`` gives the text of a result, and what it adds to the counts. ``name`` is what messages
    call a line.
    """
    repeated = _RepeatedIds(name)
    for entry in output.entries():
        repeated.add(entry.line, entry.id)
    with Complaints(bad_lines, Counter(), name) as complaints:
        for result in results:
            if isinstance(result, BadLine):
                if result.line > output.last_line:
                    complaints.add(result)
                    output.add(Entry(result.line, counts={BAD: 1}))
                continue
            first, *rest = result
            document = first if isinstance(first, Document) else first.document
            line = document.line or 0
            if line > output.last_line:
                repeated.add(line, document.id)
                text, counts = render(*result)
                if rest and isinstance(rest[0], Decoding) and rest[0].review is not None:
                    counts[REVIEW if rest[0].review else AUTOMATIC] = 1
                if rest and any(document.joins or ()):
                    counts[_PIECES] = 1
                output.add(Entry(line, document.id, counts), text)
    repeated.say()
    if pieces := output.counts[_PIECES]:
        warn(
            f"{plural(pieces)} of word pieces, which were labelled one by one: --pool mean merges "
            "them into words before decoding"
        )
    output.finish(foot)
    return Tally(output.counts)


class _RepeatedIds:
    """Documents with the id of an earlier one."""

    def __init__(self, name: Callable[[int], str]) -> None:
        self._name = name
        self._seen: set[int] = set()  # hashes of ids
        self._count = 0
        self._first: list[str] = []

    def add(self, line: int, id_: str | None) -> None:
        if id_ is None:
            return
        if hash(id_) in self._seen:
            self._count += 1
            if len(self._first) < 3:
                self._first.append(f"{id_!r} in {self._name(line)}")
        elif len(self._seen) < MOST_IDS:
            self._seen.add(hash(id_))

    def say(self) -> None:
        if self._count:
            more = ", …" * (self._count > len(self._first))
            some = ", ".join(self._first)
            warn(f"{plural(self._count)} with the id of an earlier one: {some}{more}")
