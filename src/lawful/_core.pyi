from collections.abc import Iterator
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

Flags: TypeAlias = NDArray[np.uint8]
Numbers: TypeAlias = NDArray[np.uint32]
Lookup: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], Flags]
Lookups: TypeAlias = list[Lookup]

class Layout:
    def __init__(
        self,
        start: Flags,
        between: Flags,
        end: Flags,
        kind: NDArray[np.int32],
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

class Plan:
    def __init__(
        self,
        fields: list[tuple[bool, bool, list[int], float]],
        slots: int,
        lookup_slots: list[int],
        rules: list[
            tuple[
                tuple[list[tuple[int, int, int]], list[str]],
                float,
                float,
                list[int],
                bool,
                list[int],
            ]
        ],
        equations: list[tuple[list[tuple[int, int, int, int]], str, str, float, float, bool]],
    ) -> None: ...

class State(Enum):
    found = 0
    nothing = 1
    paused = 2

class Search:
    """The readings of spans by rising cost; ``span``, ``value`` and ``price`` are by reading.

    Without ``spans``, those of given spans, one of each ``field``, in this order.
    """

    @overload
    def __init__(
        self,
        spans: Spans,
        span: Numbers,
        value: Numbers,
        price: Floats,
        plan: Plan | None,
        lookups: Lookups,
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
        lookups: Lookups,
        missing: Floats,
        limit: float,
        memory: int,
        patience: int,
        seconds: float | None = None,
    ) -> None: ...
    def next(self, extensions: int, seconds: float | None = None) -> State:
        """``paused``: the extensions of partial readings, or the seconds, are spent."""

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
    def readings(self) -> Numbers: ...
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
        lookups: Lookups,
        missing: Floats,
        most_readings: Floats,
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
    ) -> tuple[list[float], float, float, bool]:
        """Shares of that: by field where it is as answered, all that was counted, and what is open.

        The last says that some rule was not decided, so that the first two may be too much.
        """

def judge(
    plan: Plan, lookups: Lookups, missing: Floats, field: Numbers, value: Numbers, ends: Numbers
) -> Floats:
    """What each of many labellings violates, by the fields and values of their spans in order.

    ``ends`` says where each labelling's spans end. Rules that stay Python are not asked, nor is
    what spans violate by themselves.
    """
