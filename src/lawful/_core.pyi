from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, Self, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

Labels: TypeAlias = NDArray[np.unsignedinteger[Any]]
Floats: TypeAlias = NDArray[np.float64]

class Stream(Iterator[tuple[Labels, float]]):
    """Candidates by falling probability: an iterator of ``(labels, log_prob)``.

    Each candidate comes once, ties in a repeatable order. ``labels`` is a new array of label
    indices, of the smallest unsigned type that fits. Threads may share a stream: each candidate
    goes to one of them.
    """

    def __iter__(self) -> Self: ...
    def __next__(self) -> tuple[Labels, float]: ...
    def take(
        self, count: int, *, out: tuple[Labels, Floats] | None = None
    ) -> tuple[Labels, Floats]:
        """The next ``count`` candidates as arrays, from where the last call or iteration stopped.

        Labels are (count, words), log-probabilities (count,); both are shorter if the stream ends
        first. ``out`` reuses the arrays of an earlier call; the result is then these arrays or
        views of their first rows. The GIL is released. Ctrl-C or a spent memory budget loses no
        candidate: the next call starts where this one did.
        """

    @property
    def words(self) -> int: ...
    @property
    def labels(self) -> int: ...
    @property
    def yielded(self) -> int:
        """The number of candidates yielded so far."""

    @property
    def memory(self) -> int:
        """Bytes that the stream holds, including its copy of the scores."""

    def _limit(self, candidates: int) -> None: ...

class Transitions:
    def __init__(self, start: Floats, between: Floats, end: Floats) -> None: ...
    @property
    def labels(self) -> int: ...
    @property
    def classes(self) -> int: ...

def characters(
    unicode: int, unmapped: int, box: int, angle: int, page: int, count: int
) -> tuple[NDArray[np.uint32], NDArray[np.bool_], Floats, Floats]:
    """What PDFium says of the characters of a text page: codes, whether unmapped, boxes, angles.

    The arguments are addresses: of FPDFText_GetUnicode, _HasUnicodeMapError, _GetLooseCharBox and
    _GetCharAngle, and of an open page with at least so many characters. Boxes are left, bottom,
    right, top.
    """

def lines(boxes: Floats, order: NDArray[np.int64], least: float) -> NDArray[np.int64]:
    """By word of boxes, (words, 4), the number of its line, from 0.

    In ``order``, a word joins the line whose last word overlaps most with it in height, by at least
    this share of the smaller height, or begins another one.
    """

def assignments(costs: Floats, memory: int | None = None) -> Stream: ...
def paths(costs: Floats, transitions: Transitions, memory: int | None = None) -> Stream: ...

SCALE: int
"""Decimals of numbers in compiled rules, which count units of ``10**-SCALE``."""

NUMBER_LIMIT: int
"""Absolute limit of numbers: constants are below it, and sums that reach it are unsure."""

MISSING: int
"""The value number of a missing field."""

UNREADABLE: int
"""The value number of an unreadable text."""

FIRST_VALUE: int
"""The lowest number of a readable value."""

class Op(Enum):
    """The instructions of a ``Program``.

    Each takes its operands off the stack and leaves one outcome there. ``operand`` and ``index``
    are attributes of the ``Instruction``.
    """

    constant = 0
    """The constant ``index``."""
    absent = 1
    """An outcome that is missing."""
    idle = 2
    """The rule does not apply."""
    lookup = 3
    """The entry of lookup ``index`` for the first value of its field."""
    slot = 4
    """The slot ``index`` of the state."""
    of_list = 5
    """The slot ``index`` of a list; the slot ``operand`` says whether all of it was readable."""
    scale = 6
    """Times ten to the ``operand``."""
    add = 7
    subtract = 8
    multiply = 9
    negate = 10
    abs = 11
    round = 12
    """To a multiple of the constant ``index``; halves go away from zero."""
    least = 13
    """The least of ``operand`` numbers."""
    greatest = 14
    """The greatest of ``operand`` numbers."""
    equal = 15
    """Like all comparisons, up to a tolerance: the constant ``index``."""
    unequal = 16
    below = 17
    at_most = 18
    above = 19
    at_least = 20
    and_ = 21
    """Conjunction of ``operand`` conditions, in Kleene's logic."""
    or_ = 22
    """Disjunction of ``operand`` conditions, in Kleene's logic."""
    not_ = 23
    choose = 24
    """The second operand if the first is true, the third if it is false."""

class Instruction:
    """One step of a program."""

    def __init__(self, op: Op, operand: int = 0, index: int = 0) -> None: ...
    @property
    def op(self) -> Op: ...
    @property
    def operand(self) -> int: ...
    @property
    def index(self) -> int: ...

class Program:
    """An expression of the rule language, compiled for a stack machine.

    Raises ``ValueError`` if the instructions do not leave exactly one outcome, and
    ``OverflowError`` for a constant that does not fit into 127 bits.
    """

    def __init__(self, instructions: Sequence[Instruction], constants: Sequence[int]) -> None: ...
    @property
    def instructions(self) -> list[Instruction]: ...
    @property
    def constants(self) -> list[int]: ...

class OutcomeState(Enum):
    """States of the outcome of an expression."""

    known = 0
    missing = 1
    """A field that it needs is missing."""
    unsure = 2
    """Its number does not fit, so Python must decide."""
    idle = 3
    """The rule does not apply."""

class Lookup:
    """The table of an expression over one field, by the number of the field's value.

    The ``slot`` of a state holds that number, except for lists. A search copies its lookups.
    """

    def __init__(self, slot: int) -> None: ...
    def append(self, state: OutcomeState, number: int = 0) -> None:
        """Adds the outcome for the value with the next number.

        Raises ``OverflowError`` for a number that does not fit into 127 bits.
        """

    def __len__(self) -> int: ...

class FieldPlan:
    """The slots of the search's state for one field; ``cpp/rules/plan.hpp`` says what each has."""

    def __init__(
        self,
        *,
        many: bool,
        has_default: bool,
        disagreement: float,
        whole: bool = False,
        **slots: int | None,  # and the kind of rows, and lookups
    ) -> None: ...

class RulePlan:
    """A compiled rule, with its weight if violated and its price if a value is missing."""

    def __init__(
        self,
        *,
        program: Program,
        weight: float,
        unchecked: float,
        fields: Sequence[int],
        early: bool,
        any: Sequence[int],  # noqa: A002 - as in rule files
    ) -> None: ...

class TermKind(Enum):
    """Kinds of numbers that a term of an equation takes from its field."""

    first = 0
    """The first value."""
    sum = 1
    """The sum of a list, which must be present."""
    sum_or_zero = 2
    """The sum of a list, zero if it is missing."""
    count = 3
    """The number of spans of the field."""

class Term:
    """A multiple of a number of one field: by a lookup, unless it is a count."""

    def __init__(self, *, kind: TermKind, field: int, lookup: int, factor: int) -> None: ...

class Equation:
    """A rule as terms and a constant that must add up to zero, up to a tolerance.

    Raises ``OverflowError`` for numbers that do not fit into 127 bits.
    """

    def __init__(
        self,
        *,
        terms: Sequence[Term],
        constant: int,
        tolerance: int,
        weight: float,
        unchecked: float,
        early: bool,
    ) -> None: ...

class ListSlots:
    def __init__(self, **slots: int | None) -> None: ...

class SectionPlan:
    def __init__(
        self, *, by_page: bool, ender: int | None, ended: int, held: Sequence[tuple[int, ListSlots]]
    ) -> None: ...

class RowSum:
    def __init__(self, *, condition: Program, lookup: int, **slots: int) -> None: ...

class RowPlan:
    def __init__(
        self,
        *,
        open: int,  # noqa: A002 - as in the core
        history: int,
        starter: int | None,
        always: bool,
        rules: Sequence[RulePlan],
        previous: Sequence[tuple[int, int]],
        remembers: bool,
        required: Sequence[tuple[int, float]],
        sums: Sequence[RowSum],
        section: SectionPlan | None,
    ) -> None: ...

class OrderPlan:
    def __init__(self, *, slot: int, ranks: Sequence[int], weight: float) -> None: ...

class Plan:
    """Everything that a search needs to know about the rules; made once for all documents."""

    def __init__(
        self,
        *,
        fields: Sequence[FieldPlan],
        slots: int,
        rules: Sequence[RulePlan],
        equations: Sequence[Equation],
        rows: Sequence[RowPlan] = (),
        orders: Sequence[OrderPlan] = (),
        constant: int | None = None,
    ) -> None: ...

Flags: TypeAlias = NDArray[np.uint8]
Numbers: TypeAlias = NDArray[np.uint32]

class Layout:
    def __init__(
        self,
        start: Flags,
        between: Flags,
        end: Flags,
        types: NDArray[np.int32],
        opens: Flags,
        closes: Flags,
        fields: int,
    ) -> None: ...

def cost_of(costs: Floats, labels: NDArray[np.integer[Any]]) -> float:
    """The sum of the costs of a labelling's labels, of (words, labels).

    Raises ``ValueError`` for another number of words, ``IndexError`` for an unknown label.
    """

def have_one_kind(
    costs: Floats, labels: NDArray[np.integer[Any]], kinds: Numbers, most: float
) -> bool:
    """Whether in all labellings up to a cost each word has a label of the same kind as in this one.

    ``kinds`` has one entry per label. Transitions are left aside. Raises as ``cost_of`` does.
    """

class LabelSpans:
    """How labels form spans."""

    def __init__(self, types: NDArray[np.int32], opens: Flags, closes: Flags) -> None: ...
    def find(self, labels: Numbers) -> list[tuple[int, int, int]]:
        """The type, start and end of each span; raises ``IndexError`` for an unknown label."""

class Lattice:
    def __init__(self, costs: Floats, layout: Layout) -> None: ...
    @property
    def best(self) -> float:
        """The cost of the best legal labelling."""

class Spans:
    """The field spans of all labellings within ``slack`` of the best one."""

    def __init__(
        self, lattice: Lattice, slack: float, most: int, seconds: float | None = None
    ) -> None:
        """Raises ``TimeBudgetError`` when the seconds are spent; so does ``Search``."""

    @property
    def complete(self) -> bool:
        """False if there were more than ``most``."""

    @property
    def field(self) -> Numbers: ...
    @property
    def start(self) -> Numbers: ...
    @property
    def end(self) -> Numbers: ...

class SearchStatus(Enum):
    found = 0
    nothing = 1  # no readings are left up to the limit
    paused = 2  # the extensions, the seconds or the work are spent

class Search:
    """Readings by rising cost.

    ``span``, ``value`` and ``price`` are parallel: each possible value of a span has the index of
    the span, the number of the value, and its price. ``readings`` are indices into these. Without
    ``spans``, all readings have the same spans, whose fields are ``field``. Bounds are made when
    ``patience`` steps have been tried, ``without`` some kinds of them: ``equations``, ``detours``,
    ``projections``, ``admission``, ``cases``. Threads that share a search wait for each other.
    """

    @overload
    def __init__(
        self,
        spans: Spans,
        span: Numbers,
        value: Numbers,
        price: Floats,
        plan: Plan | None,
        lookups: Sequence[Lookup],
        missing: Floats,
        slack: float,
        max_cost: float | None,
        memory: int,
        patience: int,
        seconds: float | None = None,
        row: NDArray[np.uint32] | None = None,
        closes: Flags | None = None,
        page: Numbers | None = None,
        seen_as: NDArray[np.uint32] | None = None,
        kept: Sequence[Sequence[tuple[int, int]]] = (),
        without: Sequence[str] = (),
    ) -> None: ...
    @overload
    def __init__(
        self,
        *,
        field: Numbers,
        span: Numbers,
        value: Numbers,
        price: Floats,
        plan: Plan,
        lookups: Sequence[Lookup],
        missing: Floats,
        limit: float,
        memory: int,
        patience: int,
        seconds: float | None = None,
        row: NDArray[np.uint32] | None = None,
        closes: Flags | None = None,
        page: Numbers | None = None,
    ) -> None: ...
    def next(
        self, extensions: int, seconds: float | None = ..., work: int | None = ...
    ) -> SearchStatus: ...
    def stop_above(self, cost: float) -> None:
        """Drops all readings that cost more, penalty included."""

    def nothing_below(self, cost: float) -> None: ...  # no reading costs less, penalty included
    def dive(self, width: int, seconds: float | None = None, work: int | None = None) -> bool:
        """Completes the best partial readings, ``width`` of them per node; whether one was."""

    def dive_beyond(
        self, most: float, width: int, seconds: float | None = None, work: int | None = None
    ) -> bool:
        """The same from the beginning, for a reading below ``most``, even beyond the slack."""

    def improve(self, last: bool, seconds: float | None = None, work: int | None = None) -> bool:
        """Makes the last reading, or that of the best labels, better; false if it is forbidden."""

    @property
    def cost(self) -> float: ...
    @property
    def violated(self) -> float: ...
    @property
    def labels(self) -> Numbers: ...
    @property
    def choices(self) -> Numbers: ...
    @property
    def bound(self) -> float: ...
    @property
    def extended(self) -> int: ...
    @property
    def memory(self) -> int: ...
    @property
    def work(self) -> int: ...

class Mass:
    """The share of a model's probability that remains under rules.

    The arguments are those of ``Search``, and ``most_weight``: by field, the most that the
    possible values of a text weigh together, if the most plausible one weighs 1. If
    ``everything``, there are no other spans. ``negligible`` is a log-weight: labels of no field
    that add less count as not listed.
    """

    def __init__(
        self,
        spans: Spans,
        span: Numbers,
        value: Numbers,
        price: Floats,
        plan: Plan,
        lookups: Sequence[Lookup],
        missing: Floats,
        most_weight: Floats,
        everything: bool,
        negligible: float,
        memory: int,
        seconds: float | None = None,
        row: NDArray[np.uint32] | None = None,
        closes: Flags | None = None,
        page: Numbers | None = None,
        seen_as: NDArray[np.uint32] | None = None,
        kept: Sequence[Sequence[tuple[int, int]]] = (),
    ) -> None: ...
    @property
    def log_total(self) -> float:
        """The log-probability of all legal labellings together."""

    def of(
        self,
        answers: list[tuple[list[int], float] | None],
        lost: float,
        states: int,
        work: int,
        steps: int,
        whole: bool,
        seconds: float | None = None,
    ) -> Shares:
        """How much has each answer: its values, and the share that it may have."""

class Shares:
    """Shares of the probability of all legal labellings."""

    same: list[float]  # by field, with the answer's value
    all: float  # what was counted
    # At most so much was not: by field that is asked about, with its answer and without; in all.
    open_same: list[float]
    open_other: list[float]
    open: float
    unsure: bool  # some rule was not decided, so that ``same`` and ``all`` are upper bounds
