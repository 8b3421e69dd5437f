"""Documents and decodings as JSON lines, plain or gzipped; ``-`` is standard input or output.

    {"id": "r1", "words": ["Total", "56.000"], "labels": ["O", "B-total", "I-total"],
     "probs": [[0.9, 0.1, 0.0], [0.2, 0.7, 0.1]]}

Instead of ``probs``, a line may have ``log_probs`` or ``logits``, or its scores may be in the
``.npz`` file of the same name (``lawful.io.npz``). ``boxes``, ``pages``, ``joins``, ``rows``,
``gold``, ``given`` (values by name), ``classes`` (log-probabilities by name and class, ``null`` for
minus infinity), ``pins`` (a person's word: ``lawful.pins``), ``sizes`` (width and height by page),
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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeAlias

import msgspec
import numpy as np

from lawful.cache import Cache, size_of_texts
from lawful.chain import Chain
from lawful.decoding import Decoding
from lawful.document import BadLine, Document, Labelled, Scored, SpanScored
from lawful.errors import InputError, LawfulError
from lawful.io.atomic import atomic_text
from lawful.io.npz import NpzReader, NpzWriter
from lawful.known import Known
from lawful.scores import Scores
from lawful.span_scores import SpanScores

Line: TypeAlias = tuple[int, bytes]
"""The number of a line, from 1, and its text."""

KINDS = {
    "probs": Scores.from_probs,
    "log_probs": Scores.from_log_probs,
    "logits": Scores.from_logits,
}
"""The kinds of scores, by the names that documents have them under."""

MOST_BYTES = 2**24
"""Bytes of lists of labels that a parser remembers."""

_NOT_JSON = re.compile(rb"NaN|Infinity")

LONGEST_LINE = 2**28
"""Maximum length of a line in bytes: 256 MiB. A longer one is a bad line."""

encode = msgspec.json.Encoder(decimal_format="number").encode
"""Plain values as JSON; decimals keep their digits."""


BAD_TEXT = (msgspec.DecodeError, UnicodeDecodeError, LawfulError, RecursionError)
"""Exceptions that mean that a line is no document: not UTF-8, not JSON, or not as expected."""


class DocumentLine(msgspec.Struct):
    """A line of JSON as it is parsed; ``LineParser`` says what is expected of it beyond that."""

    id: str
    words: list[str]
    labels: list[str] | None = None
    boxes: list[list[float]] | None = None
    pages: list[int] | None = None
    joins: list[bool] | None = None
    rows: list[int | None] | None = None
    given: dict[str, str | int | float | None] | None = None
    classes: dict[str, dict[str, float | None]] | None = None
    pins: list[dict[str, str | int | float | list[int] | None]] = []
    sizes: list[list[float]] | None = None
    images: list[str | None] | None = None
    values: dict[str, list[str]] | None = None
    gold: list[str] | None = None
    split: str | None = None
    probs: list[list[float]] | None = None
    log_probs: list[list[float]] | None = None
    logits: list[list[float]] | None = None
    chain: dict[str, list[Any]] | None = None
    spans: list[tuple[int, int, str, float]] | None = None
    types: list[str] | None = None


def read_jsonl(path: str | Path) -> Iterator[Scored | BadLine]:
    """Every line of a file as a scored document or a ``BadLine``.

    A file that is missing or cannot be decompressed raises an ``InputError`` during iteration.
    """
    parser = LineParser(path)
    for number, text in read_lines(path):
        yield parser.parse(number, text)


def read_any(path: str | Path) -> Iterator[Scored | SpanScored | BadLine]:
    """The same for lines with scores of words or of spans."""
    parser = LineParser(path)
    for number, text in read_lines(path):
        yield parser.parse_any(number, text)


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


class LineParser:
    """Parses lines into scored documents, with the ``.npz`` file of the same name if it exists."""

    def __init__(self, path: str | Path) -> None:
        self._arrays = None if str(path) == "-" else NpzReader.next_to(Path(path))
        self._decoder = msgspec.json.Decoder(DocumentLine)
        self._labels: Cache[tuple[str, ...], tuple[str, ...]] = Cache(MOST_BYTES)

    def parse(self, number: int, text: bytes) -> Scored | BadLine:
        """The scored document of a line, or a ``BadLine`` that says why there is none."""
        found = self.parse_any(number, text)
        if isinstance(found, SpanScored):
            why = "the line has scores of spans, and this command needs scores of words"
            return BadLine(number, why, found.document.id)
        return found

    def parse_any(self, number: int, text: bytes) -> Scored | SpanScored | BadLine:
        """The document of a line with its scores, of words or spans; or a ``BadLine``."""
        try:
            check_line(text)
            line = self._decoder.decode(text)
            return self._scored(line, number) if line.spans is None else _spans(line, number)
        except msgspec.ValidationError as error:
            return BadLine(number, str(error))
        except msgspec.DecodeError as error:
            hint = "; NaN and Infinity are not JSON" if _NOT_JSON.search(text) else ""
            return BadLine(number, f"{error}{hint}")
        except BAD_TEXT as error:
            return BadLine(number, str(error))
        except MemoryError:
            return BadLine(number, "not enough memory to read it")

    def _scored(self, line: DocumentLine, number: int) -> Scored:
        document = _document(line, number)
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


def _spans(line: DocumentLine, number: int) -> SpanScored:
    if others := _given(line):
        raise InputError(f"document {line.id!r} has spans and {others[0]}, expected one of them")
    scores = SpanScores(line.spans or (), len(line.words), line.types)
    gold = None if line.gold is None else tuple(line.gold)
    return SpanScored(_document(line, number), scores, gold)


def checked_chain(id_: str, chain: dict[str, Any]) -> dict[str, Any]:
    """A CRF's scores of transitions; raises an ``InputError`` if it has other parts."""
    if not {"between"} <= set(chain) <= set(Chain._fields):
        raise InputError(
            f"document {id_!r} has a chain of {', '.join(chain) or 'nothing'}, "
            f"expected {', '.join(Chain._fields)}"
        )
    return chain


def with_infinity(part: list[Any]) -> list[Any]:
    """The same nested lists with minus infinity, which JSON cannot write, in place of null."""
    return [
        -np.inf if each is None else with_infinity(each) if isinstance(each, list) else each
        for each in part
    ]


def _document(line: DocumentLine, number: int) -> Document:
    return Document(
        line.id,
        tuple(line.words),
        line.boxes,  # type: ignore[arg-type]
        line.pages,  # type: ignore[arg-type]
        line.joins,  # type: ignore[arg-type]
        line.rows,  # type: ignore[arg-type]
        number,
        line.given,
        None if line.classes is None else class_scores(line.classes),
        line.pins,  # type: ignore[arg-type]
        line.sizes,  # type: ignore[arg-type]
        line.images,  # type: ignore[arg-type]
        line.values,  # type: ignore[arg-type]
    )


def class_scores(
    classes: Mapping[str, Mapping[str, float | None]],
) -> dict[str, dict[str, float]]:
    """The scores of classes, with minus infinity, which JSON cannot write, in place of null."""
    return {
        name: {value: -np.inf if p is None else p for value, p in scores.items()}
        for name, scores in classes.items()
    }


def parse_documents(lines: Iterable[Line]) -> Iterator[Document | Labelled | BadLine]:
    """Every line as a document, with its gold labels if it has any, or a ``BadLine``."""
    decoder = msgspec.json.Decoder(DocumentLine)
    for number, text in lines:
        try:
            check_line(text)
            line = decoder.decode(text)
            document = _document(line, number)
            gold = line.gold
            found = document if gold is None else Labelled(document, tuple(gold), line.split)
        except BAD_TEXT as error:
            yield BadLine(number, str(error))
        else:
            yield found


def read_labelled(path: Path, split: str | None = None) -> Iterator[Labelled]:
    """Every line of a file as a document with gold labels; scores are ignored.

    A bad line raises an ``InputError``: without it, this would be another data set.
    """
    decoder = msgspec.json.Decoder(DocumentLine)
    splits = set()
    for number, text in read_lines(path):
        try:
            check_line(text)
            line = decoder.decode(text)
            if line.gold is None:
                raise InputError(f"document {line.id!r} has no gold labels")
            labelled = Labelled(_document(line, number), tuple(line.gold), line.split)
        except BAD_TEXT as error:
            raise InputError(f"{path}, line {number}: {error}") from None
        splits.add(line.split)
        if split in (None, line.split):
            yield labelled
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


def read_decodings(path: str | Path) -> Iterator[DecodedLine | BadLine]:
    """Every line of a file that ``lawful decode`` wrote, or a ``BadLine``."""
    decoder = msgspec.json.Decoder(DecodedLine)
    for number, text in read_lines(path):
        try:
            check_line(text)
            yield msgspec.structs.replace(decoder.decode(text), line=number)
        except BAD_TEXT as error:
            yield BadLine(number, str(error))


def decoding_line(decoding: Decoding, *, ranked: bool = False, known: Sequence[Known] = ()) -> str:
    """``decoding.to_dict`` as one line of JSON, with ``known`` values if there are any."""
    record = decoding.to_dict(ranked=ranked)
    if known:
        record["known"] = {
            each.field: {"known": each.known, "found": each.found, "right": each.right}
            for each in known
        }
    return encode(record).decode()


def scored_line(scored: Scored, *, decimals: int | None = None) -> str:
    """A scored document as one line of JSON, for ``read_jsonl``.

    Probabilities have nine significant digits, or ``decimals`` decimals. None is rounded to zero,
    which would forbid the label.
    """
    log_probs = scored.scores.log_probs
    record = _document_record(scored.document)
    record["labels"] = scored.scores.labels
    if decimals is None:
        # A log-probability too small for exp is kept above zero: the label is not forbidden.
        probs = np.where(np.isinf(log_probs), 0.0, np.exp(np.maximum(log_probs, -690.0)))
        record["probs"] = [[float(f"{p:.9g}") for p in row] for row in probs.tolist()]
    else:
        rounded = np.maximum(np.exp(log_probs).round(decimals), 10.0**-decimals)
        record["probs"] = np.where(np.isinf(log_probs), 0.0, rounded).tolist()
    if scored.scores.chain is not None:
        parts = scored.scores.chain._asdict().items()
        record["chain"] = {name: part.tolist() for name, part in parts}  # -inf becomes null
    if scored.gold is not None:
        record["gold"] = scored.gold
    return encode(record).decode()


def labelled_line(labelled: Labelled) -> str:
    """A document with gold labels as one line of JSON, for ``read_labelled``."""
    record = _document_record(labelled.document) | {"gold": labelled.gold}
    if labelled.split is not None:
        record["split"] = labelled.split
    return encode(record).decode()


def _document_record(document: Document) -> dict[str, Any]:
    record: dict[str, Any] = {"id": document.id, "words": document.words}
    if document.boxes is not None:
        record["boxes"] = [
            [int(edge) if edge.is_integer() else edge for edge in box] for box in document.boxes
        ]
    for name in ("pages", "joins", "rows", "given", "classes", "sizes", "images", "values"):
        if (values := getattr(document, name)) is not None:
            record[name] = values
    if document.pins:
        record["pins"] = [pin.to_dict() for pin in document.pins]
    return record


def document_line(document: Document) -> str:
    """A document without scores as one line of JSON, for ``parse_documents``."""
    return encode(_document_record(document)).decode()


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
            record = _document_record(scored.document)
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
