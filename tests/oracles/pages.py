"""What a document says besides its words, from the definitions: rows, places, given values."""

from __future__ import annotations

from fractions import Fraction
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from tests.oracles.checks_by_hand import possible_values

PLACES = ("start", "end", "line", "page", "left", "top", "right", "bottom")


class Found(NamedTuple):
    """A span of a field with its value, which is ``None`` if the text cannot be read."""

    name: str
    start: int
    end: int
    value: Any


def runs(ids):
    """By word, the number of its run of equal ids, from 1; ``None`` for a word without an id."""
    known = [[id_ for id_ in ids[: i + 1] if id_ is not None] for i in range(len(ids))]
    return [
        None if id_ is None else len(list(groupby(before)))
        for id_, before in zip(ids, known, strict=True)
    ]


def lines_of(document):
    """By word, the number of its printed line; words of one line have the same top."""
    if document.boxes is None:
        return None
    pages = document.pages or [0] * len(document)
    return runs([(page, box.y0) for page, box in zip(pages, document.boxes, strict=True)])


def line_of(document, word):
    """The number of a word's printed line among all; a line counts where its first word is."""
    pages = document.pages or [0] * len(document)
    tops = [(page, box.y0) for page, box in zip(pages, document.boxes, strict=True)]
    return list(dict.fromkeys(tops)).index(tops[word]) + 1


def held_by(kind, kinds):
    """The fields of the kinds of rows that sections of a kind hold."""
    inner = [each for each in kinds if each.name == kind.of]
    return [name for each in inner for name in (*each.fields, *held_by(each, kinds))]


def sections_of(document, kind, found, kinds):
    """The sections of a kind: lists of spans, also of the rows that they hold."""
    own = [each for each in found if each.name in (*kind.fields, *held_by(kind, kinds))]
    if kind.by == "page":
        pages = [1] * len(document) if document.pages is None else runs(document.pages)
        own = [each for each in own if pages[each.start] is not None]
        return [list(page) for _, page in groupby(own, lambda each: pages[each.start])]
    lines = lines_of(document) if document.rows is None else runs(document.rows)
    numbers = [None] * len(document) if lines is None else lines
    groups = []
    for each in own:
        last = groups[-1] if groups else []
        ended = [numbers[e.start] for e in last if e.name == kind.ends][:1]
        if not last or each.name == kind.starts or ended not in ([], [numbers[each.start] or 0]):
            groups.append([])
        groups[-1].append(each)
    return [group for group in groups if kind.starts in (None, group[0].name)]


def rows_of(document, kind, found, kinds=()):
    """The rows of a kind: lists of spans. ``found`` has the spans of all fields, in order."""
    if kind.of is not None:
        return sections_of(document, kind, found, kinds)
    own = [each for each in found if each.name in kind.fields]
    numbers = lines_of(document) if document.rows is None else runs(document.rows)
    if kind.starts is None and numbers is not None:
        own = [each for each in own if numbers[each.start] is not None]
        return [list(row) for _, row in groupby(own, lambda each: numbers[each.start])]
    starter = kind.starts or kind.fields[0]
    begins = [i for i, each in enumerate(own) if each.name == starter]
    return [own[i:j] for i, j in pairwise([*begins, len(own)])]


def words_of_rows(document, kind, found, kinds=()):
    """The words of each of these rows: a printed one, or all since the last value before it."""
    rows = rows_of(document, kind, found, kinds)
    numbers = lines_of(document) if document.rows is None else runs(document.rows)
    if kind.by == "page":
        numbers = [1] * len(document) if document.pages is None else runs(document.pages)
    known = kind.by is not None if kind.of is not None else kind.starts is None
    if known and numbers is not None:
        words = [[i for i, n in enumerate(numbers) if n == numbers[row[0].start]] for row in rows]
        return [(row[0], row[-1] + 1) for row in words]
    own = [e for e in found if e.name in (*kind.fields, *held_by(kind, kinds))]
    begins = [max([e.end for e in own if e.start < row[0].start], default=0) for row in rows]
    ends = [row[-1].end for row in rows[:-1]] + [len(document)]
    return list(zip(begins, ends, strict=True)) if rows else []


def first_value(name, found):
    """The first value of a field among some spans."""
    return next(
        (each.value for each in found if each.name == name and each.value is not None), None
    )


def place_of(document, name, found):
    """Where a field is among some spans, by word: ``start`` and so on are its first value's place.

    ``first`` and ``last`` are the edges of all its spans. What is unknown is ``None``.
    """
    spans = [each for each in found if each.name == name]
    place = dict.fromkeys(("first", "last", *PLACES))
    if spans:
        place |= {"first": spans[0].start, "last": spans[-1].end}
    readable = next((each for each in spans if each.value is not None), None)
    if readable is None:
        return place
    start, end = readable.start, readable.end
    place |= {"start": start, "end": end}
    if document.pages is not None:
        place["page"] = document.pages[start]
    if document.boxes is not None:
        page = document.pages or [0] * len(document)
        boxes = [document.boxes[i] for i in range(start, end) if page[i] == page[start]]
        place |= {
            "line": line_of(document, start),
            "left": Fraction(str(min(box.x0 for box in boxes))),
            "top": Fraction(str(min(box.y0 for box in boxes))),
            "right": Fraction(str(max(box.x1 for box in boxes))),
            "bottom": Fraction(str(max(box.y1 for box in boxes))),
        }
    return place


def given_value(document, name, type_):
    """The value of this name that the document brings, or ``None``."""
    given = (document.given or {}).get(name)
    if given is None:
        return None
    return possible_values(given, type_)[0] if isinstance(given, str) else Fraction(str(given))


def late_spans(order, found):
    """The spans that come after a span of a field that is later in the order."""
    rank = order.fields.index
    own = [each for each in found if each.name in order.fields]
    return [
        each
        for each in own
        if any(rank(other.name) > rank(each.name) and other.start < each.start for other in own)
    ]
