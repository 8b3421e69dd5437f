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
    indices, of the smallest unsigned type that fits. Several threads may share a stream: each
    candidate goes to one of them.
    """

    def __iter__(self) -> Self: ...
    def __next__(self) -> tuple[Labels, float]: ...
    def take(
        self, count: int, *, out: tuple[Labels, Floats] | None = None
    ) -> tuple[Labels, Floats]:
        """The next ``count`` candidates as arrays, from where the last call or iteration stopped.

        Labels are (count, words), log-probabilities (count,); both are shorter when the stream
        ends first. ``out`` takes the arrays of an earlier call and uses them again; the result
        is then those arrays or views of their first rows. The GIL is released. Ctrl-C or a spent
        memory budget loses no candidate: the next call starts where this one did.
        """

    @property
    def words(self) -> int: ...
    @property
    def labels(self) -> int: ...
    @property
    def yielded(self) -> int:
        """How many candidates have been handed out."""

    @property
    def memory(self) -> int:
        """Bytes that the stream holds, the copy of the scores included."""

    def _limit(self, candidates: int) -> None: ...

class Transitions:
    def __init__(self, start: Floats, between: Floats, end: Floats) -> None: ...
    @property
    def labels(self) -> int: ...
    @property
    def classes(self) -> int: ...

def assignments(costs: Floats, memory: int | None = None) -> Stream: ...
def paths(costs: Floats, transitions: Transitions, memory: int | None = None) -> Stream: ...

SCALE: int
"""Decimals of a number under compiled rules: numbers count units of ``10**-SCALE``."""

NUMBER_LIMIT: int
"""Numbers of this size do not fit: constants are smaller, and sums that reach it are unsure."""

MISSING: int
"""The number that stands for the value of a field that does not occur."""

UNREADABLE: int
"""The number that stands for the value of a text that cannot be read."""

FIRST_VALUE: int
"""The number of a field's first value; the others follow."""

class Op(Enum):
    """The instructions of a ``Program``.

    Each takes its operands off a stack and leaves one outcome there. ``operand`` and ``index``
    are those of the ``Instruction``.
    """

    constant = 0
    """The constant ``index``."""
    absent = 1
    """Nothing is known."""
    idle = 2
    """The rule does not apply."""
    lookup = 3
    """What the lookup ``index`` says about the first value of its field."""
    slot = 4
    """The slot ``index`` of the state."""
    of_list = 5
    """The slot ``index``, about a list; the slot ``operand`` says whether all of it was read."""
    scale = 6
    """Times ten to the ``operand``."""
    add = 7
    subtract = 8
    multiply = 9
    negate = 10
    abs = 11
    round = 12
    """To a multiple of the constant ``index``; half goes away from zero."""
    least = 13
    """Of ``operand`` numbers."""
    greatest = 14
    """Of ``operand`` numbers."""
    equal = 15
    """Up to a tolerance, the constant ``index``, as the other comparisons."""
    unequal = 16
    below = 17
    at_most = 18
    above = 19
    at_least = 20
    and_ = 21
    """Of ``operand`` truths, in Kleene's logic."""
    or_ = 22
    """Of ``operand`` truths, in Kleene's logic."""
    not_ = 23
    choose = 24
    """The second or the third operand, as the first is true or false."""

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

    Raises ``ValueError`` when the instructions do not leave exactly one outcome, and
    ``OverflowError`` for a constant that does not fit into 127 bits.
    """

    def __init__(self, instructions: Sequence[Instruction], constants: Sequence[int]) -> None: ...
    @property
    def instructions(self) -> list[Instruction]: ...
    @property
    def constants(self) -> list[int]: ...

class OutcomeState(Enum):
    """What is known of the outcome of an expression."""

    known = 0
    missing = 1
    """A field that it needs is not there."""
    unsure = 2
    """Its number does not fit, so that Python must decide."""
    idle = 3
    """The rule does not apply."""

class Lookup:
    """What an expression over one field comes to, by the number of the field's value.

    The ``slot`` of a state holds that number; a list has none. A search copies the lookups that it
    is given.
    """

    def __init__(self, slot: int) -> None: ...
    def append(self, state: OutcomeState, number: int = 0) -> None:
        """Says what it comes to for the value of the next number.

        Raises ``OverflowError`` for a number that does not fit into 127 bits.
        """

    def __len__(self) -> int: ...

class FieldPlan:
    """What a search remembers of a field: the slots of its state, where rules need them.

    A field that is no list has ``first``, the number of its first value that could be read, and
    ``disagrees``, 1 when there was another value, which costs ``disagreement``. A list has
    ``readable``, 1 when all of it could be read, 2 for none, 3 for some, and ``sum``, ``least`` and
    ``greatest``, by the lookup ``numbers`` of its values. Both may have ``count``, how often the
    field occurs, and ``all``, all of its values.
    """

    def __init__(
        self,
        *,
        many: bool,
        has_default: bool,
        disagreement: float,
        first: int | None = None,
        disagrees: int | None = None,
        count: int | None = None,
        readable: int | None = None,
        sum: int | None = None,  # noqa: A002 - as in the rule language
        least: int | None = None,
        greatest: int | None = None,
        all: int | None = None,  # noqa: A002 - as in the core
        numbers: int | None = None,
    ) -> None: ...

class RulePlan:
    """A compiled rule, with what it costs when it is violated and when it cannot be checked.

    ``fields`` are those that it reads by their first value; ``early`` says that it reads nothing
    else, so that it is decided with the last of them. Of the fields in ``any``, it may take any
    value: it holds if it holds for one combination.
    """

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
    """What a term of an equation reads of its field."""

    first = 0
    """The first value."""
    sum = 1
    """The sum of a list, which must be there."""
    sum_or_zero = 2
    """The sum of a list, zero where it is not there."""
    count = 3
    """How often the field occurs."""

class Term:
    """A multiple of what an equation reads of one field, by a lookup unless it is a count."""

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

class Plan:
    """Everything a search must know about the rules: made once for all documents."""

    def __init__(
        self,
        *,
        fields: Sequence[FieldPlan],
        slots: int,
        rules: Sequence[RulePlan],
        equations: Sequence[Equation],
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

class Lattice:
    def __init__(self, costs: Floats, layout: Layout) -> None: ...
    @property
    def best(self) -> float:
        """The cost of the best legal labelling."""

class Spans:
    """The spans of fields that a labelling within ``slack`` of the best one may have."""

    def __init__(
        self, lattice: Lattice, slack: float, most: int, seconds: float | None = None
    ) -> None:
        """Raises ``TimeBudgetError`` when the seconds are spent, as ``Search`` does."""

    @property
    def complete(self) -> bool:
        """False when there were more than ``most``."""

    @property
    def field(self) -> Numbers: ...
    @property
    def start(self) -> Numbers: ...
    @property
    def end(self) -> Numbers: ...

class SearchStatus(Enum):
    found = 0
    nothing = 1
    """There is nothing more up to the limit."""
    paused = 2
    """The extensions of partial readings, or the seconds, are spent."""

class Search:
    """The readings of spans by rising cost; ``span``, ``value`` and ``price`` are by reading.

    Without ``spans``, those of given spans, one of each ``field``, in this order. Threads that
    share a search wait for each other.
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
    ) -> None: ...
    def next(self, extensions: int, seconds: float | None = None) -> SearchStatus: ...
    def dive(self, tries: int, seconds: float | None = None) -> bool:
        """Follows the best partial readings to the end; whether one got there.

        That is a good reading, which is not proven to be the best.
        """

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

class Mass:
    """How much of a model's probability is left by rules.

    Takes what ``Search`` takes, and by field the most that the readings of any text weigh
    together, where the most plausible one weighs 1. ``everything``: there are no other spans.
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
        memory: int,
        seconds: float | None = None,
    ) -> None: ...
    @property
    def log_total(self) -> float:
        """The log-probability of all legal labellings together."""

    def of(
        self,
        answers: list[list[int]],
        least: float,
        states: int,
        work: int,
        seconds: float | None = None,
    ) -> Shares: ...

class Shares:
    """Shares of the probability of all legal labellings."""

    @property
    def same(self) -> list[float]:
        """By field, where it is as it was answered."""

    @property
    def all(self) -> float:
        """Everything that was counted."""

    @property
    def open(self) -> float:
        """What was not looked at: no more than this."""

    @property
    def unsure(self) -> bool:
        """Some rule was not decided, so that ``same`` and ``all`` may be too much."""
