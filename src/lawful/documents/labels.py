"""Labelling schemes as tables: which label may start, follow another, and end; labels as spans.

A label is a prefix and a type, such as ``B-total``; a scheme is a table over prefixes. ``O``, and
any other label without a prefix, is outside all spans (except under ``IO``, where a name without
prefix is a type). A bare prefix (``B``, ``I``) has the empty type, for tasks with a single type of
span.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from lawful._core import LabelSpans, Transitions
from lawful.base.errors import SchemeError, shown
from lawful.documents.chain import LARGEST_COST
from lawful.documents.label_names import (
    CLOSES,
    MAX_LABELS,
    OPENS,
    SCHEMES,
    check_names,
    parse_label,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


_NO_SPANS = "a table of transitions does not say which labels form spans; use Scheme.named"


class Span(NamedTuple):
    """The words ``[start, end)``, of one type."""

    type: str
    start: int
    end: int


class _Spans(NamedTuple):
    """By label, the type of its spans (-1: outside), and whether it opens or closes a span."""

    types: tuple[str, ...]
    type_of: NDArray[np.intp]
    opens: tuple[bool, ...]
    closes: tuple[bool, ...]


class _TransitionCosts(NamedTuple):
    """Costs of transitions, added to the costs of labels; ``inf`` forbids."""

    start: NDArray[np.float64]  # (labels,)
    between: NDArray[np.float64]  # (labels, labels): from, to
    end: NDArray[np.float64]  # (labels,)


def bio_spans(labels: Sequence[str]) -> Iterator[Span]:
    """The spans of BIO labels that begin with a ``B-``, in order of words."""
    start = None
    for word, label in enumerate((*labels, "O")):
        if start is not None and not label.startswith("I-"):
            yield Span(labels[start][2:], start, word)
            start = None
        if label.startswith("B-"):
            start = word


class Scheme:
    """The legal label sequences, optionally with transition scores; immutable.

    Made once for many documents: ``Scheme.named`` for the usual schemes, ``Scheme.table`` for any
    other, ``with_scores`` for a CRF.
    """

    def __init__(
        self,
        costs: _TransitionCosts,
        labels: tuple[str, ...],
        spans: _Spans | None = None,
    ) -> None:
        """From checked costs; the class methods check them."""
        self._costs = costs
        self._labels = labels
        self._spans = spans
        self._numbers_of: dict[tuple[str, ...], NDArray[np.integer[Any]]] = {}
        self._finders: dict[tuple[str, ...], LabelSpans] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Scheme, (self._costs, self._labels, self._spans)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the labels; their numbers if a table has no names."""
        return self._labels

    @property
    def is_named(self) -> bool:
        """Whether its labels have names, and not only numbers, as in a table."""
        return self._labels != tuple(map(str, range(len(self))))

    @classmethod
    def named(cls, name: str, labels: Iterable[str]) -> Scheme:
        """BIO (or IOB2), IOB1, IO, IOBES (or BIOES) or BILOU over ``labels``, in any order.

        A label may lack its ``B-`` or ``I-`` partner; one that can then never be reached is never
        legal. A label without prefix is outside all spans, like ``O``.
        """
        prefixes = SCHEMES.get(name.upper()) if isinstance(name, str) else None
        if prefixes is None:
            raise SchemeError(f"unknown scheme {shown(name)}; schemes: {', '.join(SCHEMES)}")
        names = check_names(labels)
        if len(names) > MAX_LABELS:
            raise SchemeError(f"there are {len(names):,} labels, expected at most {MAX_LABELS:,}")
        parsed = [parse_label(label, name.upper(), prefixes.known) for label in names]
        index = np.array([prefixes.known.index(prefix) for prefix, _ in parsed])
        types = {type_: i for i, (_, type_) in enumerate(parsed)}
        type_index = np.array([types[type_] for _, type_ in parsed])

        follow, continue_ = (
            np.array(
                [[to in table.get(from_, "") for to in prefixes.known] for from_ in prefixes.known]
            )
            for table in (prefixes.follow, prefixes.continue_)
        )
        pairs = np.ix_(index, index)
        same_type = type_index[:, None] == type_index[None, :]
        legal = cls.table(
            follow[pairs] | continue_[pairs] & same_type,
            start=np.array([prefix in prefixes.first for prefix, _ in parsed]),
            end=np.array([prefix in prefixes.last for prefix, _ in parsed]),
        )
        inside = dict.fromkeys(type_ for prefix, type_ in parsed if prefix != "O")
        number = {type_: i for i, type_ in enumerate(inside)}
        spans = _Spans(
            tuple(inside),
            np.array([number[type_] if prefix != "O" else -1 for prefix, type_ in parsed]),
            tuple(prefix in OPENS for prefix, _ in parsed),
            tuple(prefix in CLOSES for prefix, _ in parsed),
        )
        return cls(legal._costs, names, spans)

    @classmethod
    def table(
        cls,
        between: ArrayLike,
        *,
        start: ArrayLike | None = None,
        end: ArrayLike | None = None,
        labels: Iterable[str] | None = None,
    ) -> Scheme:
        """Any scheme: ``between[i, j]`` says whether label ``j`` may follow label ``i``.

        ``start`` and ``end`` say which labels may come first and last; by default, all may.
        """
        allowed = _as_table(between, "between", None)
        size = len(allowed)
        names = tuple(map(str, range(size))) if labels is None else check_names(labels)
        if len(names) != size:
            raise SchemeError(
                f"{len(names)} label{'s' * (len(names) != 1)}, but between is a table of {size}"
            )
        everyone = np.ones(size, dtype=np.bool_)
        first = everyone if start is None else _as_table(start, "start", size)
        last = everyone if end is None else _as_table(end, "end", size)
        costs = (np.where(table, 0.0, np.inf) for table in (first, allowed, last))
        return cls(_TransitionCosts(*costs), names)

    @classmethod
    def of_spans(
        cls,
        labels: tuple[str, ...],
        types: tuple[str, ...],
        type_of: NDArray[np.intp],
        *,
        first: NDArray[np.bool_],
        last: NDArray[np.bool_],
        goes_on: NDArray[np.bool_],
    ) -> Self:
        """Labels of which some are the first ones of spans, and some the last ones.

        ``type_of`` is the type of each label's span; one outside all spans (-1) is first and last.
        ``goes_on[i, j]`` says whether label ``j`` continues the span of label ``i``; any first
        label may follow any last one.
        """
        legal = cls.table(last[:, None] & first[None, :] | goes_on, start=first, end=last)
        inside = type_of >= 0
        marks = _Spans(types, type_of, tuple(first & inside), tuple(last & inside))
        return cls(legal._costs, labels, marks)

    def with_scores(
        self, *, start: ArrayLike | None = None, between: ArrayLike, end: ArrayLike | None = None
    ) -> Scheme:
        """The same scheme with learned scores added to its transitions, for a bare matrix.

        A ``Scores`` has its own transition scores: ``Scores.with_chain``. Scores are added to
        log-probabilities: higher is better, ``-inf`` forbids. Forbidden transitions stay forbidden.
        """
        size = len(self)
        costs = self._costs
        return Scheme(
            _TransitionCosts(
                start=costs.start - (0 if start is None else _as_scores(start, "start", (size,))),
                between=costs.between - _as_scores(between, "between", (size, size)),
                end=costs.end - (0 if end is None else _as_scores(end, "end", (size,))),
            ),
            self._labels,
            self._spans,
        )

    def score(self, labels: NDArray[np.integer[Any]]) -> float:
        """The sum of a labelling's transition scores; ``-inf`` if it is not legal."""
        if not len(labels):
            return 0.0
        start, between, end = self._costs
        steps = float(between[labels[:-1], labels[1:]].sum())
        return -(float(start[labels[0]]) + steps + float(end[labels[-1]]))

    def __len__(self) -> int:
        return len(self._costs.end)

    @property
    def size(self) -> int:
        """About how many bytes it holds: three tables of transitions, and the names."""
        return 24 * len(self) ** 2 + 300 * len(self) + sum(map(len, self._labels))

    def __repr__(self) -> str:
        return f"<lawful.Scheme of {len(self)} labels>"

    @cached_property
    def transitions(self) -> Transitions:
        """The scheme in the core's form; compiled on first use."""
        return Transitions(*self._costs)

    def indices(self, names: Iterable[str]) -> NDArray[np.integer[Any]]:
        """The indices of a sequence of label names."""
        index = {name: i for i, name in enumerate(self._labels)}
        return np.array([index[name] for name in names], dtype=np.intp)

    @property
    def types(self) -> tuple[str, ...]:
        """The types of spans that the labels have."""
        return () if self._spans is None else self._spans.types

    @cached_property
    def reachable_types(self) -> frozenset[str]:
        """The types that occur in some legal sequence."""
        start, between, _ = self.allowed
        reached = start.copy()
        while True:
            further = reached | between[reached].any(axis=0)
            if np.array_equal(further, reached):
                break
            reached = further
        types = (self.type_of(label) for label in np.flatnonzero(reached).tolist())
        return frozenset(type_ for type_ in types if type_ is not None)

    def labels_of(self, types: tuple[str, ...]) -> NDArray[np.bool_]:
        """A mask of the labels of these types, (labels,)."""
        return self.numbers_of(types) > 0

    def numbers_of(self, types: tuple[str, ...]) -> NDArray[np.integer[Any]]:
        """Different numbers above 0 for the labels of these types, and 0 for others: (labels,)."""
        found = self._numbers_of.get(types)
        if found is None:
            numbers = [self.type_of(i) in types and i + 1 for i in range(len(self))]
            found = self._numbers_of[types] = np.array(numbers, np.min_scalar_type(len(self)))
        return found

    def type_of(self, label: int) -> str | None:
        """The type of spans that a label is part of; ``None`` outside all spans."""
        found = -1 if self._spans is None else int(self._spans.type_of[label])
        return None if found < 0 else self.types[found]

    @property
    def marks(self) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """By label, whether it always opens a span, and whether it always closes one."""
        if self._spans is None:
            raise SchemeError(_NO_SPANS)
        return np.array(self._spans.opens, np.uint8), np.array(self._spans.closes, np.uint8)

    def spans(self, labels: NDArray[np.integer[Any]]) -> list[Span]:
        """The spans of a sequence of label indices, in order of words.

        An illegal sequence is accepted: an inside label that continues nothing opens a span.
        """
        types = self.types
        found = self.spans_of(types, labels)
        return [Span(types[type_], start, end) for type_, start, end in found]

    def spans_of(
        self, types: tuple[str, ...], labels: NDArray[np.integer[Any]]
    ) -> list[tuple[int, int, int]]:
        """The spans of these types: the place of the type in the tuple, start and end."""
        finder = self._finders.get(types)
        if finder is None:
            finder = self._finders[types] = self._finder(types)
        return finder.find(labels.astype(np.uint32, copy=False))

    def _finder(self, types: tuple[str, ...]) -> LabelSpans:
        if self._spans is None:
            raise SchemeError(_NO_SPANS)
        place = {type_: i for i, type_ in enumerate(types)}
        known = [place.get(type_, -1) for type_ in self.types]
        which = [-1 if type_ < 0 else known[type_] for type_ in self._spans.type_of.tolist()]
        return LabelSpans(np.array(which, np.int32), *self.marks)

    @property
    def transition_costs(self) -> tuple[NDArray[np.float64], ...]:
        """The costs to start with a label, to follow another, to end; infinite if forbidden."""
        return tuple(self._costs)

    def text_ends(self, starts: NDArray[np.uint32], ends: NDArray[np.uint32]) -> NDArray[Any]:
        """Where the texts of spans end, which is where the spans end unless they stand for less."""
        return ends

    @cached_property
    def fillers(self) -> NDArray[np.bool_]:
        """A mask of labels outside all spans that the words of any span may have instead.

        Whatever is before and after the span stays legal.
        """
        if self._spans is None:
            raise SchemeError(_NO_SPANS)
        start, between, end = self.allowed
        _, type_of, opens, closes = self._spans
        same = (type_of[:, None] == type_of) & ~np.array(opens) & ~np.array(closes)[:, None]
        before = end | (between & ~same).any(axis=1)  # labels with which spans may end
        after = start | (between & ~same).any(axis=0)
        follows, precedes = between[before].all(axis=0), between[:, after].all(axis=1)
        found: NDArray[np.bool_] = (type_of < 0) & start & end & follows & precedes
        return found & between.diagonal()

    @cached_property
    def allowed(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Which labels may start (labels,), follow another (labels, labels) and end (labels,)."""
        start, between, end = (np.isfinite(costs) for costs in self._costs)
        return start, between, end

    def allow(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Which of these sequences of label indices (rows, words) are legal."""
        start, between, end = self.allowed
        if rows.shape[1] == 0:
            return np.ones(len(rows), dtype=np.bool_)
        steps = between[rows[:, :-1], rows[:, 1:]].all(axis=1)
        return np.asarray(start[rows[:, 0]] & steps & end[rows[:, -1]])

    def allows_around(self, labels: NDArray[np.integer[Any]], words: Iterable[int]) -> bool:
        """Whether a labelling is legal that differs from a legal one in these words."""
        start, between, end = self.allowed
        row = labels.tolist()
        for word in words:
            first, last = word == 0, word == len(row) - 1
            before = start[row[word]] if first else between[row[word - 1], row[word]]
            after = end[row[word]] if last else between[row[word], row[word + 1]]
            if not (before and after):
                return False
        return True

    def allows(self, labels: Sequence[int] | NDArray[np.integer[Any]]) -> bool:
        """Whether this sequence of label indices is legal."""
        row = np.asarray(labels)
        if not row.size:
            row = row.astype(np.intp)
        if row.ndim != 1 or row.dtype.kind not in "iu":
            raise SchemeError(f"{shown(labels)} is not a sequence of label indices")
        if row.size and not 0 <= row.min() <= row.max() < len(self):
            raise SchemeError(f"label indices run from 0 to {len(self) - 1}, found {shown(labels)}")
        return bool(self.allow(row[None])[0])


def _as_table(values: ArrayLike, name: str, size: int | None) -> NDArray[np.bool_]:
    table = _as_array(values, name)
    if table.dtype != np.bool_ and not np.isin(table, (0, 1)).all():
        raise SchemeError(f"{name} holds {table.dtype} values, expected only true and false")
    if size is None and (table.ndim != 2 or table.shape[0] != table.shape[1] or not table.size):
        raise SchemeError(f"{name} has shape {table.shape}, expected labels x labels")
    if size is not None and table.shape != (size,):
        raise SchemeError(
            f"{name} has shape {table.shape}, expected ({size},): one value per label"
        )
    return table.astype(np.bool_)


def _as_scores(values: ArrayLike, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    array = _as_array(values, name)
    if array.shape != shape:
        raise SchemeError(f"{name} has shape {array.shape}, expected {shape}")
    if array.dtype.kind not in "fiub":
        raise SchemeError(f"{name} holds {array.dtype}, expected real numbers")
    scores = array.astype(np.float64)
    fine = (np.abs(scores) <= LARGEST_COST) | (scores == -np.inf)
    if not fine.all():
        where = tuple(int(i) for i in np.unravel_index(int((~fine).argmax()), shape))
        raise SchemeError(
            f"{name}[{', '.join(map(str, where))}] is {scores[where]}, expected a number of size "
            f"up to {LARGEST_COST:g}, or -inf to forbid the transition"
        )
    return scores


def _as_array(values: ArrayLike, name: str) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError as error:
        raise SchemeError(f"{name} is not a table: its rows differ in length") from error
