"""Record batches of scored documents, as they are read.

| column | type |
| --- | --- |
| ``id`` | text |
| ``words`` | list of texts |
| ``scores`` | a list of lists, one per word, or one flat list, of numbers |
| ``labels`` | list of texts; or ``lawful.labels`` in the schema's metadata, or an argument |
| ``boxes``, ``pages``, ``joins``, ``rows``, ``gold`` | as in JSON lines, optional |
| ``sizes``, ``images``, ``given``, ``classes``, ``pins``, ``values``, ``chain`` | or JSON texts |
| ``misreads`` | or JSON texts |

The kind of ``scores`` is ``lawful.kind`` in the metadata, or an argument; or the column is called
``probs``, ``log_probs`` or ``logits``. Lists may be large, views or of a fixed size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lawful.arrow.lists import (
    Lists,
    is_list,
    is_number,
    is_text,
    names,
    numbers,
    plain,
    plain_type,
    texts,
)
from lawful.base.errors import InputError, LawfulError, ScoresError, did_you_mean, shown
from lawful.documents.document import Document
from lawful.documents.label_names import check_names
from lawful.documents.records import FailedDocument, Scored
from lawful.documents.scores import ScoreKind, Scores
from lawful.io.document_line import checked_chain, class_scores, with_infinity
from lawful.io.jsonl import KINDS

Record: TypeAlias = Scored | FailedDocument

LABELS, KIND = b"lawful.labels", b"lawful.kind"
"""Keys of the schema's metadata; the labels are a list in JSON."""

MAX_TOGETHER = 2**18
"""Numbers that are checked at once, for several documents."""

MAX_LISTS = 1024
"""Lists of labels that a reader remembers."""

T = TypeVar("T")
Read: TypeAlias = Callable[[int], T]
"""Reads the row with a number in its batch; raises a ``LawfulError`` if that is not possible."""

_SCORE_KINDS: Mapping[str, ScoreKind] = {
    "probs": "probs",
    "log_probs": "log_probs",
    "logits": "emissions",
}

_TEXTS = ("words", "labels", "gold")
_PER_WORD = ("pages", "joins", "rows")
_MATRICES = ("boxes", "scores", *KINDS)
_NESTED = ("given", "classes", "pins", "sizes", "images", "values", "misreads", "chain")
NAMES = ("id", "words", "scores", *KINDS, "labels", "boxes", *_PER_WORD, "gold", *_NESTED)
"""The names that ``columns`` may give other columns to."""

_UNREADABLE = (pa.ArrowException, ValueError, TypeError, OverflowError)
"""What pyarrow and NumPy raise for values that are damaged, such as a text that is not UTF-8."""


class Columns:
    """The columns of a schema that documents are read from, whose types are checked."""

    def __init__(self, schema: Any, columns: Mapping[str, str] | None = None) -> None:
        """``columns`` has other names of columns; raises an ``InputError`` if one is missing."""
        self.at = _places(schema, columns or {})
        _check_types(schema, self.at)

    def read(
        self, batch: Any, first: int, reader: Callable[[_Rows], Read[T]]
    ) -> list[T | FailedDocument]:
        """What a reader reads in each row, or why it cannot; ``first`` numbers the first row."""
        try:
            rows = _Rows(batch, self.at, first)
            read = reader(rows)
            return [_record(rows, at, read) for at in range(len(batch))]
        except _UNREADABLE as error:
            if len(batch) == 1:
                return [FailedDocument(first, f"the row cannot be read: {error}")]
        each = (self.read(batch.slice(i, 1), first + i, reader) for i in range(len(batch)))
        return [record for some in each for record in some]


class _Rows:
    """The rows of a batch: their parts by name, each a list with one entry per row."""

    def __init__(self, batch: Any, places: Mapping[str, int], first: int) -> None:
        """``first`` is the number of the first row in the input."""
        column = {name: plain(batch.column(place)) for name, place in places.items()}
        self.first = first
        self.ids = texts(column["id"])
        self.texts = {name: _text_tuples(name, column[name]) for name in _TEXTS if name in column}
        per_word = {name: Lists.of(column[name]) for name in _PER_WORD if name in column}
        self.per_word = {
            name: each.split(each.values.to_pylist()) for name, each in per_word.items()
        }
        self.matrices = {name: Matrices(column[name]) for name in _MATRICES if name in column}
        self.nested = {name: column[name] for name in _NESTED if name in column}
        self._has_only_words = not (self.per_word or self.nested or "boxes" in self.matrices)

    def document(self, at: int) -> Document:
        """The document of a row; raises a ``LawfulError`` if it is not as it should be."""
        id_, words = self.ids[at], self.texts["words"][at]
        if id_ is None:
            raise InputError("id is null, expected a name")
        if words is None:
            raise InputError(f"document {shown(id_)} has no words: they are null")
        parts = {} if self._has_only_words else self._parts(at)
        return Document(id_, words, line=self.first + at, **parts)  # type: ignore[arg-type]

    def _parts(self, at: int) -> dict[str, Any]:
        """What a document has besides words."""
        parts: dict[str, Any] = {name: values[at] for name, values in self.per_word.items()}
        if "boxes" in self.matrices:
            parts["boxes"] = self.matrices["boxes"].rows(at)
        for name, values in self.nested.items():
            if name != "chain" and (part := _nested(name, values[at])) is not None:
                parts[name] = part
        return parts

    def chain(self, at: int) -> dict[str, Any] | None:
        """A CRF's scores of transitions, if the row has any; the column must be there."""
        chain = _nested("chain", self.nested["chain"][at])
        return None if chain is None else checked_chain(str(self.ids[at]), chain)


def _text_tuples(name: str, column: Any) -> list[tuple[str | None, ...] | None]:
    """The lists of texts of a column."""
    lists = Lists.of(column)
    return lists.split(texts(lists.values) if name == "words" else names(lists.values))


def _record(rows: _Rows, at: int, read: Read[T]) -> T | FailedDocument:
    try:
        return read(at)
    except LawfulError as error:
        why = str(error)
    except msgspec.DecodeError as error:
        why = f"document {rows.ids[at]!r}: {error}"
    except MemoryError:
        why = "not enough memory to read it"
    return FailedDocument(rows.first + at, why, rows.ids[at])


class DocumentReader:
    """Reads documents without scores from record batches of one schema."""

    def __init__(self, schema: Any, *, columns: Mapping[str, str] | None = None) -> None:
        self._columns = Columns(schema, columns)

    def read(self, batch: Any, first: int = 1) -> list[Document | FailedDocument]:
        """One document per row, in order; ``first`` is the number of the first one."""
        return self._columns.read(batch, first, lambda rows: rows.document)


class ScoredReader:
    """Reads scored documents from record batches of one schema.

    Raises an ``InputError`` if the schema lacks what is needed.
    """

    def __init__(
        self,
        schema: Any,
        *,
        labels: Sequence[str] | None = None,
        kind: str | None = None,
        columns: Mapping[str, str] | None = None,
    ) -> None:
        self._columns = Columns(schema, columns)
        metadata = schema.metadata or {}
        self._scores, self._kind = _score_column(schema, self._columns.at, kind, metadata)
        self._labels: tuple[str, ...] | None = None
        if labels is not None:
            self._labels = check_names(labels)
            self._columns.at.pop("labels", None)
        elif "labels" not in self._columns.at:
            self._labels = _labels_in(metadata)
        self._known: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def read(self, batch: Any, first: int = 1) -> list[Record]:
        """One record per row, in order; ``first`` is the number of the first one."""
        return self._columns.read(batch, first, self._reader)

    def _reader(self, rows: _Rows) -> Read[Scored]:
        known, kind = self._labels, _SCORE_KINDS[self._kind]
        matrices = rows.matrices[self._scores]
        together = None if known is None else matrices.checked(kind, known)
        gold: Any = rows.texts.get("gold")

        def read(at: int) -> Scored:
            document = rows.document(at)
            scores = None if together is None else together[at]
            if scores is None or len(scores.log_probs) != len(document.words):
                labels = self._labels_of(rows, at) if known is None else known
                scores = self._scores_of(matrices, at, document, labels)
            if "chain" in rows.nested and (chain := rows.chain(at)) is not None:
                scores = scores.with_chain(**chain)
            return Scored(document, scores, None if gold is None else gold[at])

        return read

    def _scores_of(
        self, matrices: Matrices, at: int, document: Document, labels: tuple[Any, ...]
    ) -> Scores:
        found = matrices.matrix(at, len(document), len(labels))
        if found is None:
            raise InputError(f"document {shown(document.id)} has no scores: they are null")
        return KINDS[self._kind](found if len(found) else np.empty((0, len(labels))), labels)

    def _labels_of(self, rows: _Rows, at: int) -> tuple[Any, ...]:
        if (found := rows.texts["labels"][at]) is None:
            raise InputError(
                f"document {shown(rows.ids[at])} has no labels: a list of names, one per column"
            )
        # One tuple for all documents with the same labels, so that their scheme is built once.
        if len(self._known) > MAX_LISTS:
            self._known.clear()
        return self._known.setdefault(found, found)


class Matrices:
    """A column of matrices with a row per word: nested lists, or flat ones."""

    def __init__(self, column: Any) -> None:
        self._outer = Lists.of(column)
        inside = plain(self._outer.values)
        self._inner = Lists.of(inside) if is_list(inside.type) else None
        self._values = numbers(inside if self._inner is None else self._inner.values)
        self._width = None if self._inner is None else self._inner.width()
        self._adjacent = self._outer.are_adjacent()

    def checked(self, kind: ScoreKind, labels: tuple[str, ...]) -> list[Scores | None]:
        """The scores of each row, checked together with some of the next rows.

        None if one of these rows has scores that are not as they should be; the reason is found by
        looking at each of them alone.
        """
        found: list[Scores | None] = []
        rows = len(self._outer.starts)
        while len(found) < rows:
            last, some = self._check_from(len(found), kind, labels)
            found += some or [None] * (last - len(found))
        return found

    def _check_from(
        self, row: int, kind: ScoreKind, labels: tuple[str, ...]
    ) -> tuple[int, list[Scores]]:
        """The row after those that are checked together, and their scores if all are fine."""
        starts, ends = self._outer.starts, self._outer.ends
        inner = self._inner
        # Numbers per entry of the outer lists, and per row of scores.
        each, width = (1, len(labels)) if inner is None else (self._width or 0, self._width)
        if not self._adjacent or width != len(labels):
            return len(starts), []
        most = starts[row] + MAX_TOGETHER // max(each, 1)
        last = max(row + 1, int(np.searchsorted(ends, most, "right")))
        first = starts[row]
        sizes, rest = np.divmod((ends[row:last] - first) * each, width)
        if rest.any():
            return last, []
        begin = first if inner is None else inner.starts[first] if first < len(inner.starts) else 0
        matrix = self._values[begin : begin + sizes[-1] * width].reshape(-1, width)
        try:
            return last, Scores.split(matrix, kind, labels, sizes.tolist())
        except ScoresError:
            return last, []

    def matrix(self, row: int, words: int, labels: int) -> NDArray[Any] | list[Any] | None:
        """A matrix, as a view of the column; a list of rows if these differ in length.

        None if it is null. Raises a ``ScoresError`` if a flat list has another length.
        """
        if self._outer.is_null(row):
            return None
        start, end = self._outer.starts[row], self._outer.ends[row]
        if self._inner is not None:
            found: NDArray[Any] | list[Any] = self._nested(start, end)
            return found
        if end - start != words * labels:
            raise ScoresError(
                f"{end - start} scores, expected {words * labels}: {words} words x {labels} labels"
            )
        return self._values[start:end].reshape(words, labels)

    def rows(self, row: int) -> list[Any] | None:
        """The rows as lists of Python numbers; one that is null is ``None``."""
        if self._outer.is_null(row):
            return None
        start, end = self._outer.starts[row], self._outer.ends[row]
        if self._inner is None:  # four numbers per word
            flat = self._values[start:end].tolist()
            return [flat[i : i + 4] for i in range(0, len(flat), 4)]
        return [
            each if each is None else each.tolist() for each in self._nested(start, end, nulls=True)
        ]

    def _nested(self, start: int, end: int, *, nulls: bool = False) -> Any:
        inner = self._inner
        assert inner is not None  # noqa: S101 - callers have looked
        if (width := self._width) is not None and start < end:
            first, last = inner.starts[start], inner.ends[end - 1]
            return self._values[first:last].reshape(end - start, width)
        found: list[Any] = []
        for i in range(start, end):
            if inner.is_null(i) and not nulls:
                raise ScoresError(f"row {i - start} of the scores is null")
            null = inner.is_null(i)
            found.append(None if null else self._values[inner.starts[i] : inner.ends[i]])
        return found


def _places(schema: Any, columns: Mapping[str, str]) -> dict[str, int]:
    """The numbers of the columns that are read, by our names for them."""
    for name in columns:
        if name not in NAMES:
            raise InputError(
                f"columns: unknown name {shown(name)}; {did_you_mean(name, NAMES)}"
                f"names: {', '.join(NAMES)}"
            )
    found = {}
    for name in NAMES:
        theirs = columns.get(name, name)
        places = schema.get_all_field_indices(theirs)
        if len(places) > 1:
            raise InputError(f"{len(places)} columns are called {shown(theirs)}, expected one")
        if places:
            found[name] = places[0]
        elif name in columns or name in ("id", "words"):
            raise InputError(
                f"no column {shown(theirs)}; columns: {', '.join(schema.names)}; "
                f'columns={{"{name}": …}} names another one'
            )
    return found


def _score_column(
    schema: Any, at: Mapping[str, int], kind: str | None, metadata: Mapping[bytes, bytes]
) -> tuple[str, str]:
    """The name of the column of scores, and their kind."""
    found = [name for name in ("scores", *KINDS) if name in at]
    if len(found) > 1 and kind in found:
        found = [kind]
    if len(found) != 1:
        raise InputError(
            f"the columns have {' and '.join(found) or 'no scores'}, expected one of scores, "
            f"{', '.join(KINDS)}; columns: {', '.join(schema.names)}; "
            'columns={"scores": …} names another one'
        )
    (name,) = found
    if kind is None and name in KINDS:
        kind = name
    if kind is None and (theirs := schema.names[at[name]]) in KINDS:
        kind = theirs
    if kind is None and KIND in metadata:
        kind = metadata[KIND].decode("utf-8", "replace")
    if kind not in KINDS:
        raise InputError(
            f"the kind of scores is {shown(kind)}, expected one of {', '.join(KINDS)}: as the "
            "argument kind, or as lawful.kind in the schema's metadata"
        )
    return name, kind


def _labels_in(metadata: Mapping[bytes, bytes]) -> tuple[str, ...]:
    """The labels in the schema's metadata."""
    if LABELS not in metadata:
        raise InputError(
            "no label names: give the argument labels, a column labels, or lawful.labels in the "
            "schema's metadata, which some engines drop"
        )
    try:
        return check_names(msgspec.json.decode(metadata[LABELS], type=list[str]))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"lawful.labels in the schema's metadata: {error}") from None


def _check_types(schema: Any, at: Mapping[str, int]) -> None:
    """Raises an ``InputError`` for a column of a type that is wrong for every document."""
    for name, place in at.items():
        type_ = plain_type(schema.field(place).type)
        inside = plain_type(type_.value_type) if is_list(type_) else None
        nothing = pa.types.is_null(type_) or (inside is not None and pa.types.is_null(inside))
        if nothing and name != "id":
            continue
        if name == "id":
            fits, expected = is_text(type_) or pa.types.is_integer(type_), "texts"
        elif name in _TEXTS:
            fits, expected = inside is not None and is_text(inside), "lists of texts"
        elif name in _MATRICES:
            deep = plain_type(inside.value_type) if inside and is_list(inside) else inside
            fits = deep is not None and (is_number(deep) or pa.types.is_null(deep))
            expected = "lists of lists of numbers, or flat lists"
        elif name in _PER_WORD:
            fits, expected = inside is not None, "lists"
        else:
            continue
        if not fits:
            raise InputError(f"column {schema.names[place]!r} holds {type_}, expected {expected}")


def _nested(name: str, scalar: Any) -> Any:
    """A nested value as in JSON lines: a struct, a map, or a text in JSON."""
    value = scalar.as_py()
    is_json = isinstance(value, str)
    value = msgspec.json.decode(value) if is_json else _mappings(value)
    if value is None:
        return None
    if name == "classes" and isinstance(value, dict):
        return class_scores({key: scores for key, scores in value.items() if scores is not None})
    if name == "pins" and isinstance(value, list) and not is_json:
        return [_pin(each) if isinstance(each, dict) else each for each in value]
    if name in ("values", "chain") and isinstance(value, dict):
        present = {key: part for key, part in value.items() if part is not None}
        if name == "values":
            return present
        return {key: with_infinity(part) for key, part in present.items()}
    return value


def _pin(struct: Mapping[str, Any]) -> dict[str, Any]:
    """A pin without the members of the struct that belong to other kinds of pins."""
    if struct.get("words") is None:
        keys = ["field", "value"]
    else:
        other = next((key for key in ("not", "text") if struct.get(key) is not None), "field")
        keys = ["words", other]
    return {key: struct.get(key) for key in keys}


def _mappings(value: Any) -> Any:
    """The same value with dictionaries in place of maps, which pyarrow has as lists of pairs."""
    if isinstance(value, dict):
        return {key: _mappings(part) for key, part in value.items()}
    if not isinstance(value, list):
        return value
    if value and all(isinstance(each, tuple) for each in value):
        return {key: _mappings(part) for key, part in value}
    return [_mappings(each) for each in value]
