"""Rows of a document, such as the lines of an invoice: which words form one, and what it holds.

The words of a row stand together. Which ones they are is known before the search if the document
has row ids (``Document.rows``) or boxes, from which printed lines follow; otherwise, or if the rule
file says so, a row goes from one span of a field to the next span of this field.

Sections are rows of rows: what stands between two headings, down to a subtotal, or on one page.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lawful.base.errors import RulesError, shown
from lawful.documents.document import Document
from lawful.documents.reading_order import printed_lines
from lawful.rules.judging.reading import Occurrence, Reading, Spans
from lawful.rules.number_checks import as_names

PREVIOUS = "previous"
"""The name, in rules of a row, of the row before it."""


@dataclass(frozen=True, slots=True)
class RowKind:
    """A kind of rows: its fields, each of which has at most one value per row.

    Every row should have a value of the fields ``required``. ``starts`` is the field that begins a
    row. Without it, rows are those that the document has, or
    its printed lines; if it has neither row ids nor boxes, a row begins with the first field.
    In results, a row without a value of the fields ``shared`` has that of a row before it.

    A kind that is ``of`` another one has sections: they hold the values of that kind, and of kinds
    that it is of, between them. A section goes from one span of ``starts`` to the next one, ends
    after the printed line of a span of ``ends``, or is one page (``by``).
    """

    name: str
    fields: tuple[str, ...]
    starts: str | None = None
    required: tuple[str, ...] = ()
    of: str | None = None
    ends: str | None = None
    by: Literal["page"] | None = None
    shared: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isidentifier():
            raise RulesError(f"rows {shown(self.name)}: expected a name of letters, digits and _")
        where = f"rows {self.name!r}"
        if self.name == PREVIOUS:
            raise RulesError(f"{where}: this name means the row before; choose another one")
        object.__setattr__(self, "fields", as_names(self.fields, f"{where}: fields"))
        if not self.fields:
            raise RulesError(f"{where}: fields is [], expected a list of fields")
        for key, name in (("starts", self.starts), ("ends", self.ends)):
            if name is not None and name not in self.fields:
                raise RulesError(
                    f"{where}: {key} is {shown(name)}, expected one of its fields: "
                    f"{', '.join(self.fields)}"
                )
        self._check_section(where)
        for key in ("required", "shared"):
            names = as_names(getattr(self, key), f"{where}: {key}")
            object.__setattr__(self, key, names)
            if unknown := [name for name in names if name not in self.fields]:
                raise RulesError(
                    f"{where}: {key} has {shown(unknown[0])}, expected some of its fields: "
                    f"{', '.join(self.fields)}"
                )
        if both := [name for name in self.shared if name in self.required]:
            raise RulesError(
                f"{where}: {both[0]} is shared, so not every row has one of its own; take it out "
                "of required"
            )

    def _check_section(self, where: str) -> None:
        if self.of is not None and not isinstance(self.of, str):
            raise RulesError(f"{where}: of is {shown(self.of)}, expected a kind of rows")
        if self.by not in (None, "page"):
            raise RulesError(f"{where}: by is {shown(self.by)}, expected 'page'")
        if self.of is not None and self.shared:
            raise RulesError(f"{where}: shared is for rows, not for sections of them")
        if self.of is None:
            for key, value in (("ends", self.ends), ("by", self.by)):
                if value is not None:
                    raise RulesError(f"{where}: {key} is for sections; say of which rows (of)")
            return
        if self.by is None and self.starts is None and self.ends is None:
            raise RulesError(
                f"{where}: nothing says where a section begins or ends; give it starts or ends, "
                "one of its fields, or by: page"
            )
        if self.by is not None and (self.starts or self.ends):
            raise RulesError(f"{where}: by is 'page', so it has no starts or ends")


ByRow: TypeAlias = Mapping[int, Spans]
"""By number of a row, its spans of one field."""


class Row(NamedTuple):
    """One row of a reading: its fields' spans, in the order of words; of a section, all spans."""

    spans: Mapping[int, tuple[Occurrence, ...]]  # by index of the field


class Sections(NamedTuple):
    """The sections of a kind: the kind of rows that they hold, and which section has each row."""

    of: str
    total: int  # how many there are
    numbers: tuple[int | None, ...]  # by row, in order: its section's number, from 1


class KeptPlace(NamedTuple):
    """The words in which a value of a field must begin: a row of the best legal labelling."""

    start: int
    end: int
    kind: str
    row: int  # its number in tables


@dataclass(frozen=True, slots=True)
class RowNumbers:
    """The rows that the words of a document form, whatever their labels are."""

    numbers: NDArray[np.uint32]  # by word, from 1; 0 for a word in no row
    starts: NDArray[np.uint32] = field(init=False)  # by number, its first word
    ends: NDArray[np.uint32] = field(init=False)  # by number, the boundary after its last word
    by_word: list[int] = field(init=False)  # ``numbers`` as a list, which is faster to look into

    def __post_init__(self) -> None:
        words = np.arange(len(self.numbers), dtype=np.uint32)
        ends = np.zeros(int(self.numbers.max(initial=0)) + 1, np.uint32)
        starts = np.full_like(ends, len(words))
        np.minimum.at(starts, self.numbers, words)
        np.maximum.at(ends, self.numbers, words + 1)
        object.__setattr__(self, "starts", starts)
        object.__setattr__(self, "ends", ends)
        object.__setattr__(self, "by_word", self.numbers.tolist())

    @classmethod
    def of(cls, document: Document) -> RowNumbers | None:
        """By row ids, or by printed lines; ``None`` if the document has neither ids nor boxes."""
        if document.rows is not None:
            return cls(_runs(document.rows))
        return None if document.boxes is None else cls(_runs(printed_lines(document)))

    def divide(self, spans: Spans) -> ByRow:
        """The spans by the number of their row, without those in no row."""
        found: dict[int, list[Occurrence]] = {}
        for span in spans:
            if key := self.by_word[span.start]:
                found.setdefault(key, []).append(span)
        return {key: tuple(each) for key, each in found.items()}

    def of_spans(
        self, starts: NDArray[np.uint32], ends: NDArray[np.uint32]
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """By span, the number of its row, and whether the row ends with it."""
        numbers = self.numbers[starts]
        return numbers, ((numbers > 0) & (self.ends[numbers] <= ends)).astype(np.uint8)


def _runs(ids: Iterable[int | None]) -> NDArray[np.uint32]:
    """Numbers of runs of words with the same id; words without an id are in no run."""
    numbers: list[int] = []
    last: int | None = None
    run = 0
    for id_ in ids:
        if id_ is not None and id_ != last:
            run, last = run + 1, id_
        numbers.append(0 if id_ is None else run)
    return np.array(numbers, np.uint32)


def page_numbers(document: Document) -> RowNumbers:
    """By word, the number of its page; without pages, all words are on one."""
    pages = document.pages
    if pages is None:
        return RowNumbers(np.ones(len(document), np.uint32))
    return RowNumbers(_runs(pages))


def rows_of(
    kind: RowKind,
    index: Mapping[str, int],
    reading: Reading,
    by_row: Callable[[Spans], ByRow] | None,
) -> list[Row]:
    """The rows of a kind in a reading, in the order of words; rows without any field are none.

    ``by_row`` divides spans by the numbers of their rows, if these are known before the search.
    """
    members = [index[name] for name in kind.fields]
    if kind.starts is None and by_row is not None:
        known: dict[int, dict[int, Spans]] = {}
        for f in members:
            for key, spans in by_row(reading[f]).items():
                known.setdefault(key, {})[f] = spans
        return [Row(known[key]) for key in sorted(known)]
    found: dict[int, dict[int, list[Occurrence]]] = {}
    starter = index[kind.starts or kind.fields[0]]
    key = 0
    for span, member in sorted((span, f) for f in members for span in reading[f]):
        key += member == starter
        if key:
            found.setdefault(key, {}).setdefault(member, []).append(span)
    return [Row({f: tuple(each) for f, each in row.items()}) for row in found.values()]


def sections_of(
    kind: RowKind,
    held: Iterable[str],
    index: Mapping[str, int],
    reading: Reading,
    numbers: RowNumbers | None,
    pages: RowNumbers | None,
) -> list[Row]:
    """The sections of a kind in a reading, with spans of their own fields and those ``held``."""
    members = [index[name] for name in (*kind.fields, *held)]
    starts = None if kind.starts is None else index[kind.starts]
    ends = None if kind.ends is None else index[kind.ends]
    rows: list[dict[int, list[Occurrence]]] = []
    open_: int | None = None  # what tells the open section from the next one
    ended: int | None = None  # the printed line with which it ends
    for span, member in sorted((span, f) for f in members for span in reading[f]):
        number = 1 if pages is None else pages.by_word[span.start]
        line = 0 if numbers is None else numbers.by_word[span.start]
        if member == starts or number != open_ or (ended is not None and line != (ended or None)):
            open_ = ended = None
        if not number or (open_ is None and starts is not None and member != starts):
            continue
        if open_ is None:
            rows.append({})
        open_ = number
        rows[-1].setdefault(member, []).append(span)
        if member == ends and ended is None:
            ended = line
    return [Row({f: tuple(each) for f, each in row.items()}) for row in rows]


def words_of_rows(
    rows: Sequence[Row],
    members: Iterable[int],
    reading: Reading,
    numbers: RowNumbers | None,
    words: int,
) -> list[tuple[int, int]]:
    """The words of each row of a reading: the first, and the one after the last.

    A row that begins with a field also has the words since the last value of ``members``, the
    fields of these rows, before it. ``numbers`` are those of the rows, if they are known before
    the search.
    """
    first = [min(spans[0].start for spans in row.spans.values()) for row in rows]
    if numbers is not None:
        own = [int(numbers.numbers[start]) for start in first]
        return [(int(numbers.starts[n]), int(numbers.ends[n])) for n in own]
    last = [max(spans[-1].end for spans in row.spans.values()) for row in rows]
    ends = sorted({0, *(span.end for f in members for span in reading[f])})
    begin = [ends[bisect_right(ends, start) - 1] for start in first]
    return list(zip(begin, [*last[:-1], words], strict=True)) if rows else []


def table_numbers(
    rows: Sequence[Row], texts: frozenset[int], pages: Sequence[int | None]
) -> list[int]:
    """By printed line, the number of its row in tables, from 1.

    A description is often printed above or below the numbers of its row. So a line that has only
    fields of ``texts`` joins the line before or after it on its page, if that has numbers and none
    of these fields. In a sequence of such neighbours, every line of texts needs one of numbers, and
    the reverse: otherwise it is not clear what belongs together, and all lines stay as they are.
    """
    fields = [frozenset(row.spans) for row in rows]
    is_text = [each <= texts for each in fields]
    joins = list(range(len(rows)))  # by line, the one that it joins
    start = 0
    for end in range(1, len(rows) + 1):
        if (
            end < len(rows)
            and is_text[end - 1] != is_text[end]
            and not fields[end - 1] & fields[end]
            and pages[end - 1] == pages[end]
        ):
            continue
        if (end - start) % 2 == 0:  # as many lines of texts as of numbers
            for i in range(start, end, 2):
                host = i + is_text[i]
                joins[i] = joins[i + 1] = host
        start = end
    numbers = {line: number for number, line in enumerate(sorted(set(joins)), 1)}
    return [numbers[line] for line in joins]
