"""What documents with true values teach about a field, and which of their rows is which line.

Of a row, its values are known, but not where they stand: the amount may also be printed in a total,
the day on a line above, and rows may be in another order than they are printed. So first only what
is certain is taught, and then a model that has learned that chooses among the other places.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from lawful.models.linear import Example, Floats, fit
from lawful.models.quick import TaughtField
from lawful.models.row_links import pairs_of
from lawful.models.span_features import Features, hopes
from lawful.models.spans import CandidateSpans, Ints
from lawful.rules.definitions import Field
from lawful.values import type_named

PRIOR = 0.3
"""Precision of the weights."""

STEPS, SCOUT_STEPS = 25, 10
"""Steps of a fit, and of the first one, which only chooses candidates."""

SCOUTS = 30
"""Documents that the first fit is made on."""

KEPT = 200
"""Candidates without the value that are kept, per document and field."""

TOGETHER = 2.0
"""Nats that a line is more probably that of a row for each value of it that it has."""

FAR = 0.1
"""Nats per line that a value is less probably that of a row whose other values are elsewhere."""


@dataclass(slots=True)
class Lesson:
    """The candidates of a field in one document, and which of them have the true value."""

    starts: Ints
    ends: Ints
    values: list[Any]
    rows: NDArray[np.int32]
    groups: Ints  # those that exclude each other have the same number
    right: NDArray[np.bool_]
    open: NDArray[np.bool_]  # not known
    wanted: Ints  # which of the values of true rows each has, -1 for none

    def only(self, kept: NDArray[np.intp]) -> Lesson:
        return Lesson(
            self.starts[kept], self.ends[kept], [self.values[i] for i in kept.tolist()],
            self.rows[kept], self.groups[kept], self.right[kept], self.open[kept],
            self.wanted[kept],
        )  # fmt: skip

    def chosen(self, scores: Floats) -> Lesson:
        """The candidates that may have the value, and those of the highest scores."""
        if len(scores) <= KEPT:
            return self
        kept = self.right | (self.wanted >= 0)
        kept[np.argpartition(-scores, KEPT)[:KEPT]] = True
        return self.only(np.flatnonzero(kept))

    def example(self) -> Example:
        known = ~self.open
        return Example(self.rows[known], self.right[known], self.groups[known])


@dataclass(slots=True)
class Pupil:
    """What is known of one field: its lessons, by the id of the document."""

    field: Field
    taught: TaughtField  # changes where its values are learned to stand elsewhere
    lessons: dict[str, Lesson] = dataclasses.field(default_factory=dict)
    given: int = 0  # documents whose value is known
    same: set[Any] = dataclasses.field(default_factory=set)  # up to two different values
    linked: dict[str, Lesson] = dataclasses.field(default_factory=dict)  # seen from anchors
    prior: Floats | None = None  # weights to stay near to, of an earlier model
    scout: Floats | None = None
    unseen: list[str] = dataclasses.field(default_factory=list)  # with whole lessons

    def add(self, id_: str, lesson: Lesson) -> None:
        if self.scout is not None:
            self.lessons[id_] = lesson.chosen(self.scout[lesson.rows].sum(axis=1))
            return
        self.lessons[id_] = lesson
        self.unseen.append(id_)
        if len(self.unseen) == SCOUTS:
            self.shorten()

    def shorten(self) -> None:
        """Fits the scout, and keeps what matters of the lessons so far."""
        if any(len(self.lessons[id_].right) > KEPT for id_ in self.unseen):
            random = np.random.default_rng(0)
            some = [
                lesson.chosen(random.random(len(lesson.right)))
                for lesson in map(self.lessons.__getitem__, self.unseen)
            ]
            self.scout = self._fit(some, SCOUT_STEPS)
            for id_ in self.unseen:
                lesson = self.lessons[id_]
                self.lessons[id_] = lesson.chosen(self.scout[lesson.rows].sum(axis=1))
        self.unseen = []

    def forget(self, id_: str) -> None:
        self.lessons.pop(id_, None)
        self.linked.pop(id_, None)
        self.unseen = [each for each in self.unseen if each != id_]

    def fit(self, ids: Iterable[str], start: Floats | None = None) -> Floats:
        """The weights that the lessons of these documents teach."""
        known = self.last
        return self._fit([known[id_] for id_ in ids if id_ in known], STEPS, start)

    def _fit(self, some: Sequence[Lesson], steps: int, start: Floats | None = None) -> Floats:
        examples = [each.example() for each in some]
        hoped = hopes() if self.prior is None else self.prior
        if not any(len(each.right) for each in examples):
            return hoped
        return fit(examples, hoped, prior=PRIOR, steps=steps, start=start)

    @property
    def last(self) -> Mapping[str, Lesson]:
        """The lessons of candidates seen from anchors, if there are such, or else by themselves."""
        return self.linked or self.lessons


@dataclass(frozen=True, slots=True)
class TrueRows:
    """The rows of one document: by field, the number of the value in ``Lesson.wanted``."""

    rows: list[dict[str, int]]
    anchor: str  # the field whose value tells where a row is


def anchor_of(rows: Iterable[Mapping[str, Any]], fields: Mapping[str, Field]) -> str:
    """The field that best tells rows apart: an amount, or else a number; the last of several."""
    names = dict.fromkeys(name for row in rows for name in row)
    order = {"money": 2, "number": 1}
    return max(reversed(names), key=lambda name: order.get(fields[name].type, 0))


def place(known: TrueRows, lessons: Mapping[str, Lesson], scores: Mapping[str, Floats]) -> None:
    """Says in lessons which candidates are right: with a model's scores, or as far as is certain.

    Of each row, the line is chosen that has its anchor and most of its other values; values that
    are not there are looked for elsewhere.
    """
    for lesson in lessons.values():
        lesson.right[:] = False
        lesson.open[:] = False
    unsure = []
    lines = _lines(known, lessons, scores.get(known.anchor))
    for row, line in zip(known.rows, lines, strict=True):
        for name, value in row.items():
            if name not in lessons:
                continue
            lesson = lessons[name]
            here = np.flatnonzero(lesson.wanted == value)
            if not len(here):
                continue
            if line is None:
                unsure.append((lesson, here))
            elif len(there := here[lesson.groups[here] == line]):
                lesson.right[there] = True
            elif len(np.unique(lesson.groups[here])) == 1:
                lesson.right[here] = True
            elif name in scores:
                far = FAR * np.abs(lesson.groups[here] - line)
                best = here[(scores[name][here] - far).argmax()]
                lesson.right[here[lesson.groups[here] == lesson.groups[best]]] = True
            else:
                unsure.append((lesson, here))
    for lesson, here in unsure:
        lesson.open |= np.isin(lesson.groups, lesson.groups[here[~lesson.right[here]]])
        lesson.open &= ~np.isin(lesson.groups, lesson.groups[lesson.right])


def _lines(
    known: TrueRows, lessons: Mapping[str, Lesson], scores: Floats | None
) -> list[int | None]:
    """By row, its line, if it is printed, and certain or chosen by scores."""
    found: list[int | None] = [None] * len(known.rows)
    if (lesson := lessons.get(known.anchor)) is None:
        return found
    options: list[tuple[float, int, int]] = []
    best: list[frozenset[int]] = []
    for number, row in enumerate(known.rows):
        here = np.flatnonzero(lesson.wanted == row.get(known.anchor, -2))
        worth: dict[int, float] = {}
        for at in here.tolist():
            line = int(lesson.groups[at])
            score = 0.0 if scores is None else float(scores[at])
            worth[line] = max(worth.get(line, -np.inf), score)
        for line, score in worth.items():
            worth[line] = score + TOGETHER * sum(
                bool(((other.wanted == row.get(name, -2)) & (other.groups == line)).any())
                for name, other in lessons.items()
            )
        options += ((-each, number, line) for line, each in worth.items())
        top = max(worth.values(), default=0.0)
        best.append(frozenset(line for line, each in worth.items() if each == top))
    rivals = Counter(best)
    taken: set[int] = set()
    for _, number, line in sorted(options):
        is_sure = scores is not None or len(best[number]) <= rivals[best[number]]
        if is_sure and found[number] is None and line not in taken:
            found[number] = line
            taken.add(line)
    return found


def settle(
    pupils: Mapping[str, Pupil],
    tables: Mapping[str, Sequence[TrueRows]],
    fits: Callable[[Pupil], Floats],
    rounds: int = 2,
) -> None:
    """Chooses the places of rows that are not certain, by what the others teach."""
    for _ in range(rounds):
        weights = {name: fits(p) for name, p in pupils.items() if p.lessons}
        for id_, some in tables.items():
            for table in some:
                lessons = {
                    name: pupils[name].lessons[id_]
                    for name in dict.fromkeys(name for row in table.rows for name in row)
                    if id_ in pupils[name].lessons
                }
                scores = {n: weights[n][each.rows].sum(axis=1) for n, each in lessons.items()}
                place(table, lessons, scores)


ELSEWHERE = 0.03
"""Share of a field's values in other lines than their row, from which on it is looked for there."""


def link(
    pupils: Mapping[str, Pupil],
    tables: Mapping[str, Sequence[TrueRows]],
    features_of: Callable[[str], Features],
) -> None:
    """Lessons for fields whose values often stand elsewhere: candidates seen from their anchors."""
    found: dict[str, list[tuple[str, str, list[tuple[int, int]]]]] = {}
    away: Counter[str] = Counter()
    for id_, some in tables.items():
        for table in some:
            anchors = pupils[table.anchor].lessons.get(id_)
            if anchors is None:
                continue
            places = _places(table, anchors)
            for name in dict.fromkeys(n for row in table.rows for n in row if n != table.anchor):
                lesson = pupils[name].lessons.get(id_)
                if lesson is None or pupils[name].taught.type == "text":
                    continue
                rows = [(at, row[name]) for at, row in places if name in row]
                for at, value in rows:
                    there = lesson.groups[lesson.wanted == value]
                    away[name] += len(there) > 0 and anchors.groups[at] not in there
                found.setdefault(name, []).append((id_, table.anchor, rows))
    for name, each in found.items():
        pupil = pupils[name]
        pupil.linked = {}
        pupil.taught = msgspec.structs.replace(pupil.taught, anchor="")
        if away[name] < ELSEWHERE * sum(len(rows) for _, _, rows in each):
            continue
        # Tables that lack values of the usual anchor have another one, which teaches nothing here.
        usual = Counter(name for _, name, _ in each).most_common(1)[0][0]
        anchor = pupils[usual]
        pupil.taught = msgspec.structs.replace(pupil.taught, anchor=anchor.taught.label)
        for id_, of, rows in each:
            if rows and of == usual:
                pupil.linked[id_] = _linked(pupil, anchor.lessons[id_], id_, rows, features_of(id_))


def _places(table: TrueRows, anchors: Lesson) -> list[tuple[int, dict[str, int]]]:
    """The rows whose place is known: the candidate that is the anchor, in order, and the row.

    Rows with the same anchor are told apart by nothing here, and take their lines in order.
    """
    lines: dict[int, dict[int, int]] = {}  # by value and line, the candidate
    for at in np.flatnonzero(anchors.right & (anchors.wanted >= 0)).tolist():
        lines.setdefault(int(anchors.wanted[at]), {}).setdefault(int(anchors.groups[at]), at)
    free = {value: sorted(each.values()) for value, each in lines.items()}
    found = []
    for row in table.rows:
        if here := free.get(row.get(table.anchor, -1)):
            found.append((here.pop(0), row))
    return sorted(found, key=lambda each: int(anchors.starts[each[0]]))


def _linked(
    pupil: Pupil, anchors: Lesson, id_: str, rows: Sequence[tuple[int, int]], features: Features
) -> Lesson:
    lesson = pupil.lessons[id_]
    candidates = CandidateSpans(
        type_named(pupil.taught.type).kind, lesson.starts, lesson.ends, lesson.values
    )
    words = anchors.starts[[at for at, _ in rows]]
    pairs = pairs_of(features, words, candidates, pupil.taught.names)
    wanted = np.array([value for _, value in rows], np.int64)[pairs.anchors]
    right = lesson.wanted[pairs.candidates] == wanted
    at = pairs.candidates
    return Lesson(
        lesson.starts[at], lesson.ends[at], [lesson.values[i] for i in at.tolist()], pairs.rows,
        pairs.anchors, right, np.zeros(len(right), bool), np.where(right, wanted, -1),
    )  # fmt: skip
