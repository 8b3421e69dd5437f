"""The walk over candidates, best first, until the best labelling is proven or a limit is reached.

Candidates come by falling log-probability. A labelling's worth is its log-probability minus its
penalty, or ``-inf`` if it violates a hard rule. Later candidates are never more probable, so the
walk stops, with a proof, as soon as the next candidate's log-probability is not above the worth of
the best labelling so far.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from math import exp, inf
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lawful import _core
from lawful.base.errors import MemoryBudgetError, TimeBudgetError
from lawful.results.decoding import Budget, Decoding, Limit, Status
from lawful.rules.judging.reading import Cost, Reading
from lawful.search.explain import class_values, corrections, span_corrections
from lawful.search.fallback import fallback
from lawful.search.problem import MAX_NATS, ROUNDING, Labels, Problem

Chunk: TypeAlias = tuple[NDArray[np.integer[Any]], NDArray[np.float64]]
"""Candidates as arrays: labels (candidates, words) and log-probabilities."""

LARGEST_CHUNK = 256

SEARCH_SHARE = 0.9
"""Share of a call's time for the search; the rest is for checks and explanations."""

SECONDS_PER_WORD = 5e-6
"""Least time per word for checks and explanations."""


@dataclass(slots=True)
class Walk:
    """A walk over candidates, and the best labelling found so far."""

    problem: Problem
    budget: Budget
    began: float
    tried: int = 0
    mass: float = 0.0
    seen: set[int] = field(default_factory=set)  # hashes of labellings whose mass is counted
    last: float = 0.0  # log-probability of the last candidate
    best: Labels | None = None  # none: every labelling so far violates a hard rule
    reading: Reading | None = None  # of the best; none: the one that costs the least
    worth: float = -inf  # of the best
    open: float = -inf  # the most that a labelling with undecided rules may be worth
    proven: bool = False
    stopped_by: Limit | None = None
    lattice: object = None  # of a search over readings, if there was one

    @property
    def until(self) -> float:
        """When the search must end, so that time is left for checks and explanations."""
        seconds = self.budget.seconds
        if seconds is None:
            return inf
        reserved = max((1 - SEARCH_SHARE) * seconds, SECONDS_PER_WORD * len(self.problem.document))
        return self.began + seconds - min(reserved, seconds / 2)

    @property
    def deadline(self) -> float:
        """When the whole call must end."""
        return self.budget.deadline(self.began)

    def run(self, chunks: Iterator[Chunk], *, legal: bool, complete: Callable[[], bool]) -> Walk:
        """Judges candidates until they end, the answer is proven, or the budget is spent.

        With ``legal``, all candidates are known to be legal. ``complete`` is called when they end:
        whether no others exist, which proves the answer, or that there is none.
        """
        try:
            self._run(chunks, legal=legal, complete=complete)
        except TimeBudgetError:
            self.stopped_by = "seconds"
        except MemoryBudgetError:
            self.stopped_by = "memory"
        if self.proven and self.open > self.worth:
            self.proven = False
            spent = perf_counter() > self.until
            self.stopped_by = "seconds" if spent else "combinations"
        return self

    def _run(self, chunks: Iterator[Chunk], *, legal: bool, complete: Callable[[], bool]) -> None:
        floor = self.floor
        for rows, log_probs in chunks:
            allowed = np.ones(len(rows), bool) if legal else self.problem.scheme.allow(rows)
            costs = self.problem.judge.costs(rows[allowed], self.until)
            for row, log_prob, is_legal in zip(
                rows, log_probs.tolist(), allowed.tolist(), strict=True
            ):
                if log_prob <= self.worth:
                    self.proven = True
                    return
                if log_prob < floor - ROUNDING:
                    self.last, self.stopped_by = floor, "max_cost"
                    return
                self.stopped_by = self.spent()
                if self.stopped_by is not None:
                    return
                self.tried += 1
                self.mass += exp(log_prob)
                self.last = log_prob
                if is_legal:
                    self._judge(row, log_prob, next(costs))
        self.proven = complete() or (self.best is not None and self.worth >= self.last)
        if not self.proven:
            self.stopped_by = "candidates"

    def _judge(self, labels: Labels, log_prob: float, cost: Cost) -> None:
        """Keeps a labelling of this cost, with its best reading, if it is the best so far."""
        reading = None
        if log_prob - cost.most > self.worth:
            judge = self.problem.judge
            reading, cost = judge.settled(labels, self.until)
        self._take(labels, log_prob, cost, reading)

    def consider(
        self,
        labels: Labels,
        log_prob: float,
        reading: Reading | None = None,
        *,
        settle: bool = True,
    ) -> float:
        """Judges a legal labelling, and keeps it if it is the best so far; returns its worth.

        It is judged by ``reading``; with ``settle``, by a cheaper choice of values if there is one.
        """
        self.tried += 1
        self.last = log_prob
        key = hash(labels.astype(np.uint32).tobytes())
        if key not in self.seen:  # a labelling may come again, with another reading
            self.seen.add(key)
            self.mass += exp(log_prob)
        judge = self.problem.judge
        cost = Cost(inf, inf) if reading is None else judge.weigh(reading, self.until)
        if settle and cost.most > 0:
            settled, least = judge.settled(labels, self.until)
            if least.most <= cost.most:
                reading, cost = settled, least
        return self._take(labels, log_prob, cost, reading)

    def _take(
        self, labels: Labels, log_prob: float, cost: Cost, reading: Reading | None = None
    ) -> float:
        """Keeps a labelling if it is the best so far; returns its worth."""
        worth = log_prob - cost.most
        if worth > self.worth:
            self.best, self.worth, self.reading = labels, worth, reading
        if cost.least < cost.most:
            self.open = max(self.open, log_prob - cost.least)
        return worth

    @property
    def total(self) -> float:
        """The worth of the best labelling, with the log-probability of the document's class."""
        return self.worth + self.problem.prior

    @property
    def most(self) -> float:
        """No labelling is worth more than this, in a walk that has not proven its best."""
        return max(self.last, self.open, self.worth)

    @property
    def floor(self) -> float:
        """The least log-probability that ``max_cost`` admits."""
        most, best = self.budget.max_cost, self.problem.best_legal
        if most is None or best is None:
            return -inf
        return self.problem.log_prob(best) - most

    def spent(self) -> Limit | None:
        """The limit that is reached, if any: candidates, mass or seconds."""
        budget = self.budget
        if budget.candidates is not None and self.tried >= budget.candidates:
            return "candidates"
        if budget.mass is not None and self.mass >= budget.mass:
            return "mass"
        return "seconds" if perf_counter() >= self.until else None


def walk(
    decoder: str,
    problem: Problem,
    chunks: Iterator[Chunk] | Callable[[float], Iterator[Chunk]],
    budget: Budget,
    *,
    legal: bool,
    complete: Callable[[], bool],
    instead: Labels | None = None,
) -> Decoding:
    """The decoding found by a walk over these candidates.

    ``chunks`` may be a function of the moment at which the search must end, for candidates that
    take long to compute. If no candidate is accepted, the answer is ``instead``, or else the best
    legal labelling that agrees with the pins.
    """
    found = Walk(problem, budget, perf_counter())
    some = chunks(found.until) if callable(chunks) else chunks
    found.run(some, legal=legal, complete=complete)
    return conclude(decoder, found, instead)


def conclude(decoder: str, found: Walk, instead: Labels | None = None) -> Decoding:
    """The result of a walk as a decoding; ``instead`` is its answer if the walk found none."""
    problem, deadline = found.problem, found.deadline
    labels = found.best
    if labels is None:
        labels = fallback(problem, deadline) if instead is None else instead
    reading = found.reading
    if reading is None:
        reading, _ = problem.judge.settled(labels, found.until)
    checks = problem.judge.checks(reading, found.until)
    undecided = found.best is not None and not all(check.decided for check in checks)
    if found.proven and undecided:  # a rule of weight 0 costs nothing, but is still undecided
        found = replace(found, proven=False, stopped_by="combinations")
    if found.proven and -inf < found.worth < -MAX_NATS:
        found = replace(found, proven=False, stopped_by="rounding")
    violated = [check for check in checks if check.state == "violated"]
    status: Status = "exhausted"
    if found.proven and found.best is None:
        status = "infeasible"
    elif found.proven:
        held = any(check.state == "satisfied" for check in checks)
        status = "relaxed" if violated else "satisfied" if held else "unchecked"
    violations = Counter(check.id for check in violated)
    worth = found.worth if found.best is not None else -inf
    return Decoding(
        id=problem.document.id,
        decoder=decoder,
        status=status,
        optimal=found.proven and found.best is not None,
        labels=problem.names(labels),
        fields=problem.judge.fields(reading),
        log_prob=problem.log_prob(labels) + problem.prior,
        penalty=problem.judge.price(reading) + sum(check.price for check in checks),
        bound=problem.prior + (worth if found.proven else found.most),
        checks=tuple(checks),
        corrections=tuple(corrections(problem, labels, violations, deadline)),
        span_corrections=tuple(span_corrections(problem, labels, violations, deadline)),
        tried=found.tried,
        mass=min(found.mass, 1.0),
        seconds=perf_counter() - found.began,
        stopped_by=found.stopped_by,
        words=problem.document.words,
        chosen=problem.chosen,
        row_kinds={kind.name: kind.fields for kind in problem.judge.rules.rows},
        shared=frozenset(name for kind in problem.judge.rules.rows for name in kind.shared),
        sections=problem.judge.sections(reading),
        classes=class_values(problem, labels, violations, deadline),
    )


def chunked(stream: _core.Stream) -> Iterator[Chunk]:
    """A stream in chunks of growing size: the first candidate is often the only one needed."""
    size = 1
    while True:
        rows, log_probs = stream.take(size)
        if not len(rows):
            return
        yield rows, log_probs
        size = min(2 * size, LARGEST_CHUNK)
