"""Documents as JSON lines, one object a line; ``.gz`` too, and ``-`` for standard input.

    {"id": "r1", "words": ["Total", "56.000"], "labels": ["O", "B-total", "I-total"],
     "probs": [[0.9, 0.1, 0.0], [0.2, 0.7, 0.1]]}

Instead of ``probs``, scores may be ``log_probs`` or ``logits``, or sit in an ``.npz`` file of the
same name (``scores/<id>`` for every document, ``labels`` and ``kind`` for all). ``boxes``,
``pages``, ``joins`` and ``gold`` are optional, and so is ``chain``: a CRF's scores of transitions,
``{"between": [[..]..], "start": [..], "end": [..]}``. Files are read line by line:
one may be larger than memory.

``read_labelled`` leaves out the scores and insists on ``gold``; a line may then say which ``split``
of a data set it is from.
"""

from __future__ import annotations

import gzip
import re
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy as np

from lawful.document import BadLine, Document, Labelled, Scored
from lawful.errors import InputError, LawfulError
from lawful.scores import Chain, Scores

_KINDS = {
    "probs": Scores.from_probs,
    "log_probs": Scores.from_log_probs,
    "logits": Scores.from_logits,
}


_NOT_JSON = re.compile(rb"NaN|Infinity")
_UNREADABLE = (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile)


class _Line(msgspec.Struct):
    id: str
    words: list[str]
    labels: list[str] | None = None
    boxes: list[list[float]] | None = None
    pages: list[int] | None = None
    joins: list[bool] | None = None
    gold: list[str] | None = None
    split: str | None = None
    probs: list[list[float]] | None = None
    log_probs: list[list[float]] | None = None
    logits: list[list[float]] | None = None
    chain: dict[str, list[Any]] | None = None


def read_jsonl(path: str | Path) -> Iterator[Scored | BadLine]:
    """Every line of a file as a scored document, or what is wrong with it.

    A file that is not there, or cannot be unpacked, is an ``InputError`` when that is noticed.
    """
    parser = LineParser(path)
    for number, text in read_lines(path):
        yield parser.parse(number, text)


def read_lines(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """The lines that hold something, with their numbers, as they stand in the file."""
    number = 0
    with _open(path) as lines:
        while True:
            number += 1
            try:
                text = lines.readline()
            except (OSError, EOFError, zlib.error) as error:
                raise InputError(f"{path}: unreadable after line {number - 1}: {error}") from None
            if not text:
                return
            if text.strip():
                yield number, text


class LineParser:
    """Makes scored documents of lines; knows the ``.npz`` file beside them."""

    def __init__(self, path: str | Path) -> None:
        self._beside = None if str(path) == "-" else _npz_beside(Path(path))
        self._decoder = msgspec.json.Decoder(_Line)
        self._labels: dict[tuple[str, ...], tuple[str, ...]] = {}

    def parse(self, number: int, text: bytes) -> Scored | BadLine:
        """The document of a line, or what is wrong with it."""
        try:
            return self._scored(self._decoder.decode(text), number)
        except msgspec.ValidationError as error:
            return BadLine(number, str(error))
        except msgspec.DecodeError as error:
            hint = "; NaN and Infinity are not JSON" if _NOT_JSON.search(text) else ""
            return BadLine(number, f"{error}{hint}")
        except (LawfulError, RecursionError) as error:
            return BadLine(number, str(error))
        except _UNREADABLE as error:  # the .npz file
            return BadLine(number, f"cannot be read: {error}")

    def _scored(self, line: _Line, number: int) -> Scored:
        document = _document(line, number)
        kind, rows, beside = self._rows(line)
        labels = line.labels
        if labels is None and self._beside is not None and "labels" in self._beside:
            labels = [str(name) for name in self._beside["labels"]]
        if labels is None:
            raise InputError(f"document {line.id!r} has no labels: a list of names, one a column")
        if not len(rows):
            rows = np.empty((0, len(labels)))
        # One tuple for all documents with the same labels, so that their scheme is made once.
        names = self._labels.setdefault(tuple(labels), tuple(labels))
        scores = replace(_KINDS[kind](rows, names), labels=names)
        if (chain := self._chain(line, beside=beside)) is not None:
            scores = scores.with_chain(**chain)
        gold = None if line.gold is None else tuple(line.gold)
        return Scored(document, scores, gold)

    def _chain(self, line: _Line, *, beside: bool) -> dict[str, Any] | None:
        """A CRF's scores of transitions: the line's own, or those for all in the .npz file."""
        found = self._beside
        chain = line.chain
        # An older file beside lines with scores of their own has nothing to say of them.
        if chain is None and beside and found is not None and "chain/between" in found:
            names = (name for name in Chain._fields if f"chain/{name}" in found)
            chain = {name: found[f"chain/{name}"] for name in names}
        elif chain is not None:
            chain = {name: _numbers(part) for name, part in chain.items()}
        if chain is not None and not {"between"} <= set(chain) <= set(Chain._fields):
            raise InputError(
                f"document {line.id!r} has a chain of {', '.join(chain) or 'nothing'}, "
                "expected between, start and end"
            )
        return chain

    def _rows(self, line: _Line) -> tuple[str, Any, bool]:
        given = [kind for kind in _KINDS if getattr(line, kind) is not None]
        if len(given) == 1:
            return given[0], getattr(line, given[0]), False
        beside = self._beside
        if not given and beside is not None and f"scores/{line.id}.npy" in beside:
            kind = str(beside["kind"]) if "kind" in beside else "log_probs"
            if kind not in _KINDS:
                raise InputError(f"unknown kind of scores {kind!r}; kinds: {', '.join(_KINDS)}")
            # With its ending, so that "x.npy" is not taken for "x".
            return kind, beside[f"scores/{line.id}.npy"], True
        found = " and ".join(given) or "no scores"
        raise InputError(
            f"document {line.id!r} has {found}, expected one of {', '.join(_KINDS)}"
            + ("" if beside is None else f" or scores/{line.id} in the .npz file")
        )


def _numbers(part: list[Any]) -> list[Any]:
    """The same lists with minus infinity for null, since JSON has no word for it."""
    return [
        -np.inf if each is None else _numbers(each) if isinstance(each, list) else each
        for each in part
    ]


def _document(line: _Line, number: int) -> Document:
    return Document(
        line.id,
        tuple(line.words),
        line.boxes,  # type: ignore[arg-type]
        line.pages,  # type: ignore[arg-type]
        line.joins,  # type: ignore[arg-type]
        number,
    )


def read_documents(path: str | Path) -> Iterator[Document | Labelled | BadLine]:
    """Every line of a file as a document, with its true labels where it has them."""
    decoder = msgspec.json.Decoder(_Line)
    for number, text in read_lines(path):
        try:
            line = decoder.decode(text)
            document = _document(line, number)
            gold = line.gold
            found = document if gold is None else Labelled(document, tuple(gold), line.split)
        except (msgspec.DecodeError, LawfulError, RecursionError) as error:
            yield BadLine(number, str(error))
        else:
            yield found


def read_labelled(path: Path, split: str | None = None) -> Iterator[Labelled]:
    """Every line of a file as a document with its true labels; scores need not be there.

    A line that cannot be used is an ``InputError``: a data set with holes is another data set.
    """
    decoder = msgspec.json.Decoder(_Line)
    splits = set()
    for number, text in read_lines(path):
        try:
            line = decoder.decode(text)
            if line.gold is None:
                raise InputError(f"document {line.id!r} has no gold labels")
            labelled = Labelled(_document(line, number), tuple(line.gold), line.split)
        except (msgspec.DecodeError, LawfulError, RecursionError) as error:
            raise InputError(f"{path}, line {number}: {error}") from None
        splits.add(line.split)
        if split in (None, line.split):
            yield labelled
    if split is not None and split not in splits:
        known = ", ".join(sorted(filter(None, splits))) or "none"
        raise InputError(f"no split {split!r} in {path}; splits: {known}")


def npz_name(path: Path) -> Path:
    """The file beside lines that may have their scores."""
    return path.with_name(path.name.removesuffix(".gz").removesuffix(".jsonl") + ".npz")


def _npz_beside(path: Path) -> Mapping[str, Any] | None:
    beside = npz_name(path)
    if not beside.exists():
        return None
    try:
        return np.load(beside, allow_pickle=False)  # type: ignore[no-any-return]
    except _UNREADABLE as error:
        raise InputError(f"{beside}: cannot be read: {error}") from None


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
    """What is needed of a decoding that was written earlier to compare it with the truth."""

    id: str
    labels: list[str]
    status: str
    line: int = 0


def read_decodings(path: str | Path) -> Iterator[DecodedLine | BadLine]:
    """Every line of a file that ``lawful decode`` wrote, or what is wrong with it."""
    decoder = msgspec.json.Decoder(DecodedLine)
    for number, text in read_lines(path):
        try:
            yield msgspec.structs.replace(decoder.decode(text), line=number)
        except (msgspec.DecodeError, RecursionError) as error:
            yield BadLine(number, str(error))
