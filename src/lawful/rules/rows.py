"""Rows of a document, such as the lines of an invoice: which words form one, and what it holds.

The words of a row stand together. Which ones they are is known before the search if the document
has row ids (``Document.rows``) or boxes, from which printed lines follow; otherwise, or if the rule
file says so, a row goes from one span of a field to the next span of this field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lawful.document import Document
from lawful.errors import RulesError, shown
from lawful.lines import printed_lines
from lawful.rules.reading import Occurrence, Reading
from lawful.rules.settings import as_names

PREVIOUS = "previous"
"""The name, in rules of a row, of the row before it."""


@dataclass(frozen=True, slots=True)
class RowKind:
    """A kind of rows: its fields, each of which has at most one value per row.

    ``starts`` is the field that begins a row. Without it, rows are those that the document has, or
    its printed lines; if it has neither row ids nor boxes, a row begins with the first field.
    """

    name: str
    fields: tuple[str, ...]
    starts: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isidentifier():
            raise RulesError(f"rows {shown(self.name)}: expected a name of letters, digits and _")
        where = f"rows {self.name!r}"
        if self.name == PREVIOUS:
            raise RulesError(f"{where}: this name means the row before; choose another one")
        object.__setattr__(self, "fields", as_names(self.fields, f"{where}: fields"))
        if not self.fields:
            raise RulesError(f"{where}: fields is [], expected a list of fields")
        if self.starts is not None and self.starts not in self.fields:
            raise RulesError(
                f"{where}: starts is {shown(self.starts)}, expected one of its fields: "
                f"{', '.join(self.fields)}"
            )


class Row(NamedTuple):
    """One row of a reading: its fields' spans, in the order of words."""

    spans: Mapping[int, tuple[Occurrence, ...]]  # by index of the field


@dataclass(frozen=True, slots=True)
class RowNumbers:
    """The rows that the words of a document form, whatever their labels are."""

    numbers: NDArray[np.uint32]  # by word, from 1; 0 for a word in no row
    ends: NDArray[np.uint32] = field(init=False)  # by number, the boundary after its last word

    def __post_init__(self) -> None:
        ends = np.zeros(int(self.numbers.max(initial=0)) + 1, np.uint32)
        np.maximum.at(ends, self.numbers, np.arange(1, len(self.numbers) + 1, dtype=np.uint32))
        object.__setattr__(self, "ends", ends)

    @classmethod
    def of(cls, document: Document) -> RowNumbers | None:
        """By row ids, or by printed lines; ``None`` if the document has neither ids nor boxes."""
        if document.rows is not None:
            return cls(_runs(document.rows))
        lines = line_numbers(document)
        return None if lines is None else cls(lines)

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


def line_numbers(document: Document) -> NDArray[np.uint32] | None:
    """By word, the number of its printed line in reading order, from 1; ``None`` without boxes."""
    return None if document.boxes is None else _runs(printed_lines(document))


def rows_of(
    kind: RowKind, index: Mapping[str, int], reading: Reading, numbers: RowNumbers | None
) -> list[Row]:
    """The rows of a kind in a reading, in the order of words; rows without any field are none."""
    members = [index[name] for name in kind.fields]
    spans = sorted((span, f) for f in members for span in reading[f])
    starter = index[kind.starts or kind.fields[0]]
    by_word = None if kind.starts is not None or numbers is None else numbers.numbers.tolist()
    found: dict[Any, dict[int, list[Occurrence]]] = {}
    key = 0
    for span, f in spans:
        if by_word is not None:
            key = by_word[span.start]
        elif f == starter:
            key += 1
        if key:
            found.setdefault(key, {}).setdefault(f, []).append(span)
    return [Row({f: tuple(each) for f, each in row.items()}) for row in found.values()]


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
