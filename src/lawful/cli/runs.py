"""Runs of commands that write documents: results as they come, and how they resume."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TypeVar, TypeVarTuple

import typer

import lawful
from lawful.base.errors import InputError, LawfulError
from lawful.cli.counts import BAD, REVIEW, Tally
from lawful.cli.error_summary import Complaints
from lawful.cli.folders import MANIFEST, FolderOutput
from lawful.cli.options import BadLines
from lawful.cli.output import plural
from lawful.cli.terminal import Interrupted, say, warn
from lawful.cli.writers import Writer
from lawful.documents.document import Document
from lawful.documents.records import FailedDocument, Scored
from lawful.io.atomic import make_folder
from lawful.io.hashes import hash_of, hash_of_model
from lawful.io.journal import Entry, Manifest, Output, Pack, resumable
from lawful.io.jsonl import Line
from lawful.io.npz import npz_path
from lawful.pipeline.call import Result
from lawful.rules.rule_set import Rules

Record = TypeVar("Record", bound=Scored | Document)
Parts = TypeVarTuple("Parts")

MAX_IDS = 500_000
"""Documents of a run whose ids are compared with the later ones."""

_PIECES = "documents of word pieces"
_NOT_IN_RESULTS = (
    "documents", "out", "workers", "quiet", "resume", "bad_lines", "unchecked", "file_seconds",
    "password", "record", "replay", "cache", "no_cache", "call_seconds", "calls", "price",
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
        return (each for each in self._automatic.entries() if self.is_done(each.line))

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

    @property
    def earlier(self) -> Path | None:
        return self._automatic.earlier or self._review.earlier

    def drop(self) -> None:
        self._review.drop()
        self._automatic.drop()


@contextmanager
def _outputs(
    out: str,
    review: str | None,
    manifest: Manifest,
    head: str,
    resume: bool | None,
    pack: Pack | None,
) -> Iterator[Output]:
    """The output in one file, or in two."""
    if review is None:
        with resumable(out, manifest, head, resume=resume, pack=pack) as output:
            yield output
        return
    if out == review or Path(out).resolve() == Path(review).resolve():
        raise InputError(f"--review-out {review} is the file of --out: choose another name")
    with (
        resumable(out, manifest, head, resume=resume, pack=pack) as first,
        resumable(review, manifest, head, resume=resume, pack=pack) as second,
    ):
        yield Split(first, second)


@contextmanager
def open_run(
    context: typer.Context,
    writer: Writer | None = None,
    *,
    rules: Rules | None = None,
    model: Path | None = None,
    folder: Callable[[Output], FolderOutput] | None = None,
) -> Iterator[Output]:
    """The output of a command; if the run is ended, says how to resume it.

    With ``--review-out``, documents for review are in that file, and only the others in ``--out``.
    With ``folder``, ``--out`` is a folder, and lines are files: it makes their output of the
    manifest's.
    """
    manifest, out = _manifest(context, rules, model), context.params["out"]
    resume, review = context.params["resume"], context.params.get("review_out")
    head, pack = ("", None) if writer is None else (writer.head(), writer.pack)
    if folder is not None:
        if review is not None:
            raise InputError(f"--review-out {review} needs a file as --out, and {out} is a folder")
        make_folder(Path(out))
        head, pack, out = "", None, str(Path(out) / MANIFEST)
    unit = "line" if folder is None else "file"
    with _outputs(out, review, manifest, head, resume, pack) as output:
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


def _manifest(context: typer.Context, rules: Rules | None, model: Path | None) -> Manifest:
    """All that the results of a command depend on, other than the lines of its input."""
    manifest: dict[str, str | int | float | bool | None] = {
        "the version of lawful": lawful.__version__,
        "the command": context.info_name,
    }
    for name, value in context.params.items():
        if name in _NOT_IN_RESULTS:
            continue
        is_file = isinstance(value, Path)
        manifest[f"--{name.strip('_').replace('_', '-')}"] = hash_of(value) if is_file else value
    if rules is not None and rules.lexicons:
        # The hash of a rule file does not cover the files that it names.
        texts = [sorted(lexicon.texts) for lexicon in rules.lexicons]
        manifest["a file that --rules names"] = sha256(repr(texts).encode()).hexdigest()
    given = context.params["documents"]
    documents = Path(given if isinstance(given, str) else given[0])
    if documents.is_file() and (arrays := npz_path(documents)).is_file():
        manifest["the .npz file"] = hash_of(arrays)
    if model is not None:
        manifest["--model"] = hash_of_model(model)
    return manifest


def write_decodings(
    output: Output,
    results: Iterable[Result],
    writer: Writer,
    bad_lines: BadLines,
    name: Callable[[int], str] = "line {}".format,
    *,
    several: bool = False,
) -> Tally:
    """The same for decodings, in the format of ``writer``."""
    return write_results(
        output, results, writer.write, writer.foot, bad=writer.bad, bad_lines=bad_lines, name=name,
        several=several,
    )  # fmt: skip


def write_results(
    output: Output,
    results: Iterable[tuple[Record, *Parts] | FailedDocument],
    render: Callable[[Record, *Parts], tuple[str, dict[str, int]]],
    foot: Callable[[Counter[str]], str] = lambda _: "",
    *,
    bad: Callable[[FailedDocument], str] = lambda _: "",
    bad_lines: BadLines,
    name: Callable[[int], str] = "line {}".format,
    several: bool = False,
) -> Tally:
    """Writes results as they come, says what is odd about them, and counts them.

    ``render`` gives the text of a result, and what it adds to the counts; ``bad`` that of a bad
    line. ``name`` is what messages call a line. If a line may have ``several`` results, they are
    written together, so that a run resumes after all of them. If no document could be read, an
    earlier output file stays as it is.
    """
    repeated = _RepeatedIds(name)
    nothing = True
    for entry in output.entries():
        repeated.add(entry.line, entry.id)
        nothing = nothing and BAD in entry.counts
    add = _Together(output) if several else output
    with Complaints(bad_lines, Counter(), name) as complaints:
        for result in results:
            if isinstance(result, FailedDocument):
                if not output.is_done(result.line):
                    complaints.add(result)
                    add.add(Entry(result.line, counts={BAD: 1}), bad(result))
                continue
            first, *rest = result
            document = first if isinstance(first, Document) else first.document
            if output.is_done(line := document.line or 0):
                continue
            repeated.add(line, document.id)
            nothing = False
            text, counts = render(*result)
            if rest and _has_pieces(document):
                counts[_PIECES] = 1
            add.add(Entry(line, document.id, counts), text)
        if isinstance(add, _Together):
            add.flush()
    repeated.say()
    if pieces := output.counts[_PIECES]:
        warn(
            f"{plural(pieces)} of word pieces, which were labelled one by one: --pool mean merges "
            "them into words before decoding"
        )
    if nothing and output.counts[BAD] and (earlier := output.earlier) is not None:
        warn(f"{earlier.name} stays as it was, since no document could be read")
        output.drop()
    else:
        output.finish(foot)
    return Tally(output.counts)


class _Together:
    """An output whose results of one line are added together."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._entry: Entry | None = None
        self._texts: list[str] = []

    def add(self, entry: Entry, text: str = "") -> None:
        """Keeps a result until the next line's first one."""
        if self._entry is not None and self._entry.line == entry.line:
            self._entry.counts = dict(Counter(self._entry.counts) + Counter(entry.counts))
            self._texts.append(text)
            return
        self.flush()
        self._entry, self._texts = entry, [text]

    def flush(self) -> None:
        """Adds what was kept."""
        if self._entry is not None:
            self._output.add(self._entry, "".join(self._texts))
        self._entry = None


def _has_pieces(document: Document) -> bool:
    """Whether words are pieces of others; the empty ones after a corrected text are none."""
    joins = document.joins or ()
    return any(join and word for join, word in zip(joins, document.words, strict=False))


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
        elif len(self._seen) < MAX_IDS:
            self._seen.add(hash(id_))

    def say(self) -> None:
        if self._count:
            more = ", …" * (self._count > len(self._first))
            some = ", ".join(self._first)
            warn(f"{plural(self._count)} with the id of an earlier one: {some}{more}")
