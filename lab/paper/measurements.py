"""Cells of a table: measurements of one method with one budget on one set of pages."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from statistics import mean, pstdev

import numpy as np

from lab.paper.measure import measure
from lab.paper.methods import MASS_CANDIDATES, Method
from lab.paper.pages import Pages
from lawful.evaluation.scoreboard import Scoreboard
from lawful.results.decoding import Budget

PATIENCE = 60.0
"""Time limit in seconds, for the search on one page and for starting another repeat."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The measurements; ratios are between 0 and 1, lists have one entry per page."""

    outputs: str
    data: str
    units: str
    semantics: str
    fingerprint: str  # hash of the pages and the rules
    method: str
    candidates: int
    mass: float | None  # if that is the budget
    asked: int  # requested repeats; slow ones are repeated less often
    pages: int
    f1s: float
    f1: float
    satisfied: float  # as in the paper, including pages on which no rule could be checked
    unchecked: float  # share of pages on which no rule could be checked
    value_f1: float
    repeats: int
    seconds: float  # per page, mean over repeats
    deviation: float  # standard deviation of seconds over repeats
    memory: float | None  # MiB
    page_words: list[int]
    page_seconds: list[float]
    page_tried: list[int]
    page_accepted: list[bool]  # whether the labels obey the rules

    @property
    def key(self) -> Hashable:
        """The identity of the cell, known before it is measured."""
        return (
            self.outputs, self.units, self.semantics, self.fingerprint,
            self.method, self.candidates, self.mass, self.asked,
        )  # fmt: skip

    @property
    def budget(self) -> str:
        """The budget as text."""
        return f"{self.candidates:,}" if self.mass is None else f"mass {self.mass:g}"


@dataclass(frozen=True, slots=True)
class Task:
    """A cell to be measured."""

    pages: Pages
    fingerprint: str
    method: Method
    candidates: int
    mass: float | None = None
    repeats: int = 3

    @property
    def key(self) -> Hashable:
        """The key of the cell."""
        return (
            self.pages.name, self.pages.units, self.pages.semantics, self.fingerprint,
            self.method.name, self.candidates, self.mass, self.repeats,
        )  # fmt: skip

    def __str__(self) -> str:
        budget = f"{self.candidates:,}" if self.mass is None else f"mass {self.mass:g}"
        return f"{self.pages.name}, {self.pages.units}: {self.method.name} {budget}"

    def measure(self) -> Cell:
        """Decodes the pages in a separate process and compares with the gold labels.

        As in the paper, a method that accepts no candidate within its budget answers with its
        first candidate, which is the argmax for methods that try assignments.
        """
        pages, rules = self.pages.pages, self.pages.rules
        budget = Budget(self.candidates, PATIENCE, self.mass)
        found = measure(pages, rules, self.method.decoder, budget, self.repeats, PATIENCE)
        argmax = self.pages.semantics == "paper" and self.method.order == "assignments"
        board, accepted = Scoreboard(rules), []
        for page, labels, proven in zip(pages, found.labels, found.proven, strict=True):
            if argmax and not proven:
                labels = page.word_scores.log_probs.argmax(axis=1)  # noqa: PLW2901
            before = board.satisfied
            board.add_labels(page, [page.word_scores.labels[i] for i in labels])
            accepted.append(board.satisfied > before)
        by_repeat = [mean(times) for times in found.seconds]
        return Cell(
            outputs=self.pages.name,
            data=self.pages.data,
            units=self.pages.units,
            semantics=self.pages.semantics,
            fingerprint=self.fingerprint,
            method=self.method.name,
            candidates=self.candidates,
            mass=self.mass,
            asked=self.repeats,
            pages=len(pages),
            f1s=board.f1_s,
            f1=board.entities.f1,
            satisfied=board.satisfaction,
            unchecked=board.unchecked_pages / len(pages),
            value_f1=board.values.f1,
            repeats=len(by_repeat),
            seconds=mean(by_repeat),
            deviation=pstdev(by_repeat),
            memory=found.memory,
            page_words=[len(page.document) for page in pages],
            page_seconds=np.mean(found.seconds, axis=0).round(7).tolist(),
            page_tried=found.tried,
            page_accepted=accepted,
        )


def plan(
    pages: Pages,
    methods: Sequence[Method],
    *,
    masses: Sequence[float],
    slow_pages: int,
    repeats: int,
) -> Iterator[Task]:
    """The tasks of a table, in order; slow methods get only the first ``slow_pages``."""
    everything = pages, pages.fingerprint
    few = pages.only(pages.pages[:slow_pages])
    first = few, few.fingerprint
    for method in methods:
        some = first if method.slow else everything
        for candidates in method.budgets:
            yield Task(*some, method, candidates, repeats=repeats)
        for mass in masses if method.masses else ():
            yield Task(*some, method, MASS_CANDIDATES, mass, repeats=repeats)
