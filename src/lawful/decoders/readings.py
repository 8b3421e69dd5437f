"""Readings: what rules see of labellings, by falling worth, until the rules accept one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from numbers import Integral
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lawful.decoders.exact import search
from lawful.decoding import Budget, Decoding
from lawful.document import Document
from lawful.errors import InputError, MemoryBudgetError
from lawful.rules.definitions import Rules
from lawful.rules.judge import FieldValue
from lawful.scores import Scores
from lawful.search.problem import Problem
from lawful.search.reading_search import Candidate, Candidates, Labels, Lattice
from lawful.search.walk import conclude


@dataclass(frozen=True, slots=True)
class Readings:
    """Searches readings of fields; each is judged in Python, and counts against the budget.

    When the budget ends first, the best labelling so far comes back, or else the best legal one.
    """

    name: ClassVar[str] = "readings"
    exact: ClassVar[bool] = True
    default_budget: ClassVar[Budget] = Budget(candidates=2**13)

    def decode(self, problem: Problem, budget: Budget) -> Decoding:
        return conclude(self.name, search(problem, budget, None))


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What fields a document may have, and the best labelling that has them.

    ``labels`` are label indices, legal everywhere. ``price`` is what the spans violate by
    themselves, and what it costs to read their texts in other than the most plausible ways.
    """

    labels: Labels
    log_prob: float
    price: float
    fields: dict[str, list[FieldValue]]


class ReadingStream(Iterator[Reading]):
    """Readings by falling ``log_prob - price``; no two have the same spans and values."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._candidates = Candidates(Lattice(problem.scores, problem.judge, None))
        self._found = iter(self._candidates)

    def __next__(self) -> Reading:
        candidate = next(self._found, None)
        if candidate is None:
            self._check_memory(0)
            raise StopIteration
        return self._reading(candidate)

    def take(self, count: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """The next ``count`` readings as arrays: labels (count, words), log-probabilities."""
        if isinstance(count, bool) or not isinstance(count, Integral) or count < 0:
            raise InputError(f"cannot take {count!r} readings, expected a count of 0 or more")
        found = list(islice(self._found, count))
        if len(found) < count:
            self._check_memory(len(found))
        labels = np.empty((len(found), len(self._problem.document)), np.uint32)
        for row, candidate in zip(labels, found, strict=True):
            row[:] = candidate.labels
        return labels, np.array([candidate.log_prob for candidate in found], np.float64)

    def _check_memory(self, found: int) -> None:
        """Complains when readings ended for want of memory, unless some are to be given out."""
        if self._candidates.stopped_by == "memory" and not found:
            raise MemoryBudgetError("there are more readings than memory can hold")

    def _reading(self, candidate: Candidate) -> Reading:
        fields = self._problem.judge.fields(self._candidates.lattice.reading(candidate.spans))
        return Reading(candidate.labels, candidate.log_prob, candidate.violated, fields)


def readings(document: Document, scores: Scores, rules: Rules) -> ReadingStream:
    """What the rules can see of a document, most probable first: one labelling for each.

    Labels that belong to no field do not count: between the spans of fields lies the best legal
    run of all others. A span that a hard rule refuses by itself never appears, one that violates a
    weighted rule pays for it, and an ambiguous text appears in each of its readings where the
    rules' ``ambiguity`` says at what price.
    """
    return ReadingStream(Problem(document, scores, rules, keep=False))
