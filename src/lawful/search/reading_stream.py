"""Readings of a document as a stream, by falling worth, each with its best labelling."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from lawful.base.errors import InputError, MemoryBudgetError, shown
from lawful.rules.judging.field_reader import FieldValue
from lawful.search.problem import Problem
from lawful.search.reading_search import Candidate, Labels, Lattice, ReadingSearch


@dataclass(frozen=True, slots=True, eq=False)
class DocumentReading:
    """One reading of a document: the values of its fields, and the best labelling that has them.

    ``labels`` are label indices of a legal labelling. ``price`` is the penalty of the spans by
    themselves: what they violate on their own, and the prices of less plausible values.
    """

    labels: Labels
    log_prob: float
    price: float
    fields: dict[str, list[FieldValue]]


class ReadingStream(Iterator[DocumentReading]):
    """Readings by falling ``log_prob - price``; no two have the same spans and values.

    All agree with the document's pins.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._candidates = ReadingSearch(Lattice(problem.costs, problem.judge, None))
        self._found = filter(self._agrees, self._candidates)

    def __next__(self) -> DocumentReading:
        candidate = next(self._found, None)
        if candidate is None:
            self._check_memory(0)
            raise StopIteration
        return self._reading(candidate)

    def take(self, count: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """The next ``count`` readings as arrays: labels (count, words), log-probabilities."""
        if isinstance(count, bool) or not isinstance(count, Integral) or count < 0:
            raise InputError(f"cannot take {shown(count)} readings, expected a count of 0 or more")
        found = list(islice(self._found, count))
        if len(found) < count:
            self._check_memory(len(found))
        labels = np.empty((len(found), len(self._problem.document)), np.uint32)
        for row, candidate in zip(labels, found, strict=True):
            row[:] = candidate.labels
        return labels, np.array([candidate.log_prob for candidate in found], np.float64)

    def _agrees(self, candidate: Candidate) -> bool:
        judge = self._problem.judge
        reading = self._candidates.lattice.reading(candidate.spans)
        return judge.pinned is None or judge.pinned.are_met(reading, judge.values)

    def _check_memory(self, found: int) -> None:
        """Raises ``MemoryBudgetError`` if the memory budget ended the stream and ``found`` is 0."""
        if self._candidates.stopped_by == "memory" and not found:
            raise MemoryBudgetError("there are more readings than fit into the memory budget")

    def _reading(self, candidate: Candidate) -> DocumentReading:
        fields = self._problem.judge.fields(self._candidates.lattice.reading(candidate.spans))
        return DocumentReading(candidate.labels, candidate.log_prob, candidate.violated, fields)
