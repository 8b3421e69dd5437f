from collections.abc import Iterator
from typing import Any, Self, TypeAlias

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
