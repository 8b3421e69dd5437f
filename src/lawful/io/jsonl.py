"""Documents and decodings as JSON lines, plain or gzipped; ``-`` is standard input or output.

    {"id": "r1", "words": ["Total", "56.000"], "labels": ["O", "B-total", "I-total"],
     "probs": [[0.9, 0.1, 0.0], [0.2, 0.7, 0.1]]}

Instead of ``probs``, a line may have ``log_probs`` or ``logits``, or its scores may be in the
``.npz`` file of the same name (``lawful.io.npz``). ``boxes``, ``pages``, ``joins``, ``rows``,
``gold``, ``given`` (values by name), ``classes`` (log-probabilities by name and class, ``null`` for
minus infinity), ``pins`` (a person's corrections), ``sizes`` (width and height by page),
``images`` (paths by page) and ``values`` (known texts by label) are optional, and so is ``chain``,
a CRF's scores of transitions: ``{"start": [..], "between": [[..]..], "end": [..]}``. Files are read
and written line by line, so they may be larger than memory.

``read_labelled`` ignores scores and requires ``gold``; a line may then have a ``split``, the part
of the data set that it belongs to.
"""

from __future__ import annotations

import codecs
import gzip
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias, TypeVar, get_args, overload

import msgspec
import numpy as np

from lawful.base.cache import Cache, size_of_texts
from lawful.base.errors import InputError, LawfulError, shown
from lawful.documents.document import Document
from lawful.documents.records import FailedDocument, Labelled, Scored
from lawful.documents.scores import Scores
from lawful.documents.span_scores import SpanScores
from lawful.io.atomic import atomic_text
from lawful.io.document_line import (
    DocumentLine,
    checked_chain,
    document_of,
    record_of,
    with_infinity,
)
from lawful.io.npz import NpzReader, NpzWriter
from lawful.results.decoding import Decoding
from lawful.results.wire import line_of

Line: TypeAlias = tuple[int, bytes]
"""The number of a line, from 1, and its text."""

OnError: TypeAlias = Literal["raise", "yield"]
"""What becomes of a line that cannot be used: an ``InputError``, or a ``FailedDocument``."""

KINDS = {
    "probs": Scores.from_probs,
    "log_probs": Scores.from_log_probs,
    "logits": Scores.from_logits,
}
"""The kinds of scores, by the names that documents have them under."""

MAX_BYTES = 2**22
"""Bytes of lists of labels that a parser remembers."""

_NOT_JSON = re.compile(rb"NaN|Infinity")

LONGEST_LINE = 2**28
"""Maximum length of a line in bytes: 256 MiB. A longer one is a bad line."""

encode = msgspec.json.Encoder(decimal_format="number").encode
"""Plain values as JSON; decimals keep their digits."""


BAD_TEXT = (msgspec.DecodeError, UnicodeDecodeError, LawfulError, RecursionError)
"""Exceptions that mean that a line is no document: not UTF-8, not JSON, or not as expected."""


Made = TypeVar("Made")
Parsed = TypeVar("Parsed")


@overload
def read_jsonl(path: str | Path, on_error: Literal["raise"] = "raise") -> Iterator[Scored]: ...


@overload
def read_jsonl(path: str | Path, on_error: OnError) -> Iterator[Scored | FailedDocument]: ...


def read_jsonl(path: str | Path, on_error: OnError = "raise") -> Iterator[Scored | FailedDocument]:
    """Every line of a file as a scored document; its scores are of words or of spans.

    A line that cannot be used raises an ``InputError`` that says where and why; with
    ``on_error="yield"`` it is a ``FailedDocument``, and the next lines follow. A file that is
    missing or cannot be decompressed raises an ``InputError`` in either case. All this is during
    iteration.
    """
    if on_error not in get_args(OnError):
        raise InputError(f"on_error is {shown(on_error)}, expected 'raise' or 'yield'")
    return _read_scored(path, on_error)


def _read_scored(path: str | Path, on_error: OnError) -> Iterator[Scored | FailedDocument]:
    parser = LineParser(path)
    for number, text in read_lines(path):
        found = parser.parse(number, text)
        if isinstance(found, FailedDocument) and on_error == "raise":
            raise InputError(f"{path}, line {number}: {found.message}")
        yield found


def read_judged(path: str | Path) -> Iterator[Scored | Labelled | FailedDocument]:
    """Every line as a scored document, or one with gold labels only, or a ``FailedDocument``."""
    parser = LineParser(path)
    for number, text in read_lines(path):
        yield parser.parse_judged(number, text)


def read_lines(path: str | Path) -> Iterator[Line]:
    """Line numbers and lines of a file, as bytes, without blank lines and byte order mark.

    The text of a line longer than ``LONGEST_LINE`` is not kept: it is empty, as no other is.
    """
    return ((number, text) for number, _, text in read_places(path))


def read_places(path: str | Path) -> Iterator[tuple[int, int, bytes]]:
    """The same with the place of each line: how many bytes are before it, once unpacked."""
    number = after = 0
    with _open(path) as lines:
        while True:
            number += 1
            start = after
            try:
                text = lines.readline(LONGEST_LINE + 1)
                after += len(text)
                is_whole = len(text) <= LONGEST_LINE
                while not is_whole and text and not text.endswith(b"\n"):
                    text = lines.readline(2**20)  # skipped
                    after += len(text)
            except (OSError, EOFError, zlib.error) as error:
                raise InputError(f"{path}: unreadable after line {number - 1}: {error}") from None
            if not is_whole:
                yield number, start, b""
                continue
            if not text:
                return
            if number == 1 and text.startswith(codecs.BOM_UTF8):
                start, text = len(codecs.BOM_UTF8), text.removeprefix(codecs.BOM_UTF8)
            if text and not text.isspace():
                yield number, start, text


def check_line(text: bytes) -> None:
    """Raises an ``InputError`` for the empty text, which stands for a line that is too long."""
    if not text:
        raise InputError(f"the line is longer than {LONGEST_LINE} bytes, which is the maximum")


def parse_line(
    number: int, text: bytes, decoder: msgspec.json.Decoder[Parsed], make: Callable[[Parsed], Made]
) -> Made | FailedDocument:
    """What is made of a line, or a ``FailedDocument`` that says why nothing is."""
    try:
        check_line(text)
        return make(decoder.decode(text))
    except msgspec.ValidationError as error:
        return FailedDocument(number, str(error))
    except msgspec.DecodeError as error:
        hint = "; NaN and Infinity are not JSON" if _NOT_JSON.search(text) else ""
        return FailedDocument(number, f"{error}{hint}")
    except BAD_TEXT as error:
        return FailedDocument(number, str(error))
    except MemoryError:
        return FailedDocument(number, "not enough memory to read it")


class LineParser:
    """Parses lines into scored documents, with the ``.npz`` file of the same name if it exists."""

    def __init__(self, path: str | Path) -> None:
        self._arrays = None if str(path) == "-" else NpzReader.next_to(Path(path))
        self._decoder = msgspec.json.Decoder(DocumentLine)
        self._labels: Cache[tuple[str, ...], tuple[str, ...]] = Cache(MAX_BYTES)

    def parse(self, number: int, text: bytes) -> Scored | FailedDocument:
        """The scored document of a line, or a ``FailedDocument`` that says why there is none."""
        return parse_line(number, text, self._decoder, partial(self._record, number=number))

    def parse_judged(self, number: int, text: bytes) -> Scored | Labelled | FailedDocument:
        """The same, or a document with gold labels if it has no scores."""
        return parse_line(number, text, self._decoder, partial(self._judged, number=number))

    def _record(self, line: DocumentLine, number: int) -> Scored:
        return self._scored(line, number) if line.spans is None else _spans(line, number)

    def _judged(self, line: DocumentLine, number: int) -> Scored | Labelled:
        has_array = self._arrays is not None and f"scores/{line.id}" in self._arrays
        if line.gold is None or line.spans is not None or _given(line) or has_array:
            return self._record(line, number)
        return Labelled(document_of(line, number), tuple(line.gold), line.split)

    def _scored(self, line: DocumentLine, number: int) -> Scored:
        document = document_of(line, number)
        kind, rows = self._own_scores(line) or self._array(line)
        labels = self._names(line)
        if not len(rows):
            rows = np.empty((0, len(labels)))
        # One tuple for all documents with the same labels, so that their scheme is built once.
        names = self._labels.get(tuple(labels)) or self._keep_labels(tuple(labels))
        scores = KINDS[kind](rows, names)
        if (chain := self._chain(line)) is not None:
            scores = scores.with_chain(**chain)
        gold = None if line.gold is None else tuple(line.gold)
        return Scored(document, scores, gold)

    def _names(self, line: DocumentLine) -> list[str]:
        """The label names: the line's own, or those of the .npz file."""
        labels = line.labels
        if labels is None and self._arrays is not None:
            labels = self._arrays.labels
        if labels is None:
            raise InputError(f"document {line.id!r} has no labels: a list of names, one per column")
        return labels

    def _keep_labels(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        return self._labels.keep(labels, labels, 8 * len(labels) + size_of_texts(labels))

    def _chain(self, line: DocumentLine) -> dict[str, Any] | None:
        """A CRF's scores of transitions: the line's own, or those of the .npz file."""
        if line.chain is not None:
            return checked_chain(
                line.id, {name: with_infinity(part) for name, part in line.chain.items()}
            )
        # A line with scores of its own does not use the .npz file, which may be outdated.
        if self._arrays is None or _given(line) or self._arrays.chain is None:
            return None
        return checked_chain(line.id, self._arrays.chain)

    def _own_scores(self, line: DocumentLine) -> tuple[str, Any] | None:
        given = _given(line)
        return (given[0], getattr(line, given[0])) if len(given) == 1 else None

    def _array(self, line: DocumentLine) -> tuple[str, Any]:
        given = _given(line)
        if not given and self._arrays is not None and f"scores/{line.id}" in self._arrays:
            kind = self._arrays.kind
            if kind not in KINDS:
                raise InputError(f"unknown kind of scores {kind!r}; kinds: {', '.join(KINDS)}")
            return kind, self._arrays.scores(line.id, len(line.words), len(self._names(line)))
        found = " and ".join(given) or "no scores"
        raise InputError(
            f"document {line.id!r} has {found}, expected one of {', '.join(KINDS)}"
            + ("" if self._arrays is None else f" or scores/{line.id} in the .npz file")
        )


def _given(line: DocumentLine) -> list[str]:
    """The kinds of scores in a line."""
    return [kind for kind in KINDS if getattr(line, kind) is not None]


def _spans(line: DocumentLine, number: int) -> Scored:
    if others := _given(line):
        raise InputError(f"document {line.id!r} has spans and {others[0]}, expected one of them")
    scores = SpanScores(line.spans or (), len(line.words), line.types, line.named)
    gold = None if line.gold is None else tuple(line.gold)
    return Scored(document_of(line, number), scores, gold)


def parse_documents(lines: Iterable[Line]) -> Iterator[Document | Labelled | FailedDocument]:
    """Every line as a document, with its gold labels if it has any, or a ``FailedDocument``."""
    decoder = msgspec.json.Decoder(DocumentLine)
    for number, text in lines:
        yield parse_line(number, text, decoder, partial(_unscored, number=number))


def _unscored(line: DocumentLine, number: int) -> Document | Labelled:
    document = document_of(line, number)
    return document if line.gold is None else Labelled(document, tuple(line.gold), line.split)


def read_labelled(path: Path, split: str | None = None) -> Iterator[Labelled]:
    """Every line of a file as a document with gold labels; scores are ignored.

    A bad line raises an ``InputError``: without it, this would be another data set.
    """
    decoder = msgspec.json.Decoder(DocumentLine)
    splits = set()
    for number, text in read_lines(path):
        found = parse_line(number, text, decoder, partial(_unscored, number=number))
        if isinstance(found, Document):
            found = FailedDocument(number, f"document {found.id!r} has no gold labels")
        if isinstance(found, FailedDocument):
            raise InputError(f"{path}, line {number}: {found.message}")
        splits.add(found.split)
        if split in (None, found.split):
            yield found
    if split is not None and split not in splits:
        known = ", ".join(sorted(filter(None, splits))) or "none"
        raise InputError(f"no split {split!r} in {path}; splits: {known}")


@contextmanager
def _open(path: str | Path) -> Iterator[IO[bytes]]:
    if str(path) == "-":
        if sys.stdin is None:
            raise InputError("cannot read standard input: it is closed")
        yield from _unpacked(sys.stdin.buffer, sys.stdin.buffer.peek(2)[:2])  # type: ignore[union-attr]
        return
    try:
        raw = Path(path).open("rb")  # noqa: SIM115 - closed below, once it is known to open
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    with raw:
        yield from _unpacked(raw, raw.peek(2)[:2])


def _unpacked(raw: Any, first: bytes) -> Iterator[IO[bytes]]:
    if first == b"\x1f\x8b":
        with gzip.open(raw) as unpacked:
            yield unpacked  # type: ignore[misc]
    else:
        yield raw


class DecodedLine(msgspec.Struct, frozen=True):
    """The part of a decoding's line that is needed to compare it with gold labels."""

    id: str
    labels: list[str]
    status: str
    line: int = 0


def read_decodings(path: str | Path) -> Iterator[DecodedLine | FailedDocument]:
    """Every line of a file that ``lawful decode`` wrote, or a ``FailedDocument``."""
    decoder = msgspec.json.Decoder(DecodedLine)
    for number, text in read_lines(path):
        yield parse_line(number, text, decoder, partial(msgspec.structs.replace, line=number))


def decoding_line(decoding: Decoding, *, ranked: bool = False) -> str:
    """A decoding as one line of JSON, with ``known`` values if there are any."""
    return encode(line_of(decoding, ranked=ranked)).decode()


def scored_line(scored: Scored, *, decimals: int | None = None) -> str:
    """A scored document as one line of JSON, for ``read_jsonl``.

    Probabilities have nine significant digits, or ``decimals`` decimals. None is rounded to zero,
    which would forbid the label.
    """
    record = record_of(scored.document)
    if isinstance(scored.scores, SpanScores) and not scored.scores.slots:
        probs = 1 / (1 + np.exp(-scored.scores.log_odds))
        pairs = zip(scored.scores.spans, probs.tolist(), strict=True)
        record["spans"] = [(s.start, s.end, s.type, float(f"{p:.9g}")) for s, p in pairs]
        record["types"] = scored.scores.types
        record |= {"named": scored.scores.named} if scored.scores.named else {}
        return encode(record | ({} if scored.gold is None else {"gold": scored.gold})).decode()
    scores = scored.word_scores
    log_probs = scores.log_probs
    record["labels"] = scores.labels
    if decimals is None:
        # A log-probability too small for exp is kept above zero: the label is not forbidden.
        probs = np.where(np.isinf(log_probs), 0.0, np.exp(np.maximum(log_probs, -690.0)))
        record["probs"] = [[float(f"{p:.9g}") for p in row] for row in probs.tolist()]
    else:
        rounded = np.maximum(np.exp(log_probs).round(decimals), 10.0**-decimals)
        record["probs"] = np.where(np.isinf(log_probs), 0.0, rounded).tolist()
    if scores.chain is not None:
        parts = scores.chain._asdict().items()
        record["chain"] = {name: part.tolist() for name, part in parts}  # -inf becomes null
    if scored.gold is not None:
        record["gold"] = scored.gold
    return encode(record).decode()


def labelled_line(labelled: Labelled) -> str:
    """A document with gold labels as one line of JSON, for ``read_labelled``."""
    record = record_of(labelled.document) | {"gold": labelled.gold}
    if labelled.split is not None:
        record["split"] = labelled.split
    return encode(record).decode()


def document_line(document: Document) -> str:
    """A document without scores as one line of JSON, for ``parse_documents``."""
    return encode(record_of(document)).decode()


def write_jsonl(path: str | Path, documents: Iterable[Scored]) -> int:
    """Writes scored documents, atomically, and returns their number."""
    return _write_lines(path, map(scored_line, documents))


def write_npz(path: str | Path, documents: Iterable[Scored]) -> int:
    """Writes documents as JSON lines, and their scores into the ``.npz`` file next to them.

    Both are written atomically. Smaller than scores in JSON. Returns the number of documents.
    """
    count = 0
    with atomic_text(path) as lines, NpzWriter.next_to(Path(path)) as arrays:
        for scored in documents:
            arrays.add(scored)
            record = record_of(scored.document)
            if scored.gold is not None:
                record["gold"] = scored.gold
            lines.write(encode(record).decode() + "\n")
            count += 1
        lines.flush()  # a full disk is noticed before either file is replaced
    return count


def write_documents(path: str | Path, documents: Iterable[Document]) -> int:
    """Writes documents without scores, atomically, and returns their number."""
    return _write_lines(path, map(document_line, documents))


def write_labelled(path: str | Path, documents: Iterable[Labelled]) -> int:
    """Writes documents with gold labels, atomically, and returns their number."""
    return _write_lines(path, map(labelled_line, documents))


def _write_lines(path: str | Path, lines: Iterable[str]) -> int:
    count = 0
    with atomic_text(path) as out:
        for line in lines:
            out.write(line + "\n")
            count += 1
    return count
