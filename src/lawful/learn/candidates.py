"""Candidate readings of a page: the true one, and those that some weights may prefer to it.

Weights decide between readings that differ in what they violate. So a page's candidates are the
most probable readings, and what the exact search finds under weights that are tried: those so far,
multiples of the defaults, and none. They do not depend on the true labels, except for the true
reading itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice
from math import inf, isfinite

import numpy as np

from lawful import _core
from lawful.base.errors import InputError
from lawful.decoders.exact import find_best
from lawful.documents.records import Scored
from lawful.learn.optimizer import ScoredReadings
from lawful.learn.parameters import Parameters, Vector
from lawful.results.decoding import Budget
from lawful.rules.judging.field_reader import Labels
from lawful.rules.judging.fields import Kept
from lawful.rules.judging.judge import Judge
from lawful.rules.judging.reading import Reading
from lawful.rules.rule_set import Rules
from lawful.search.problem import Problem
from lawful.search.reading_search import Lattice, ReadingSearch

NEAR = 12.0
"""Nats below the best reading within which readings are candidates."""

MAX_NEAR = 40
"""Readings near the best one that are candidates."""

FACTORS = (0.0, 0.3, 1.0, 2.0)
"""Multiples of the default weights whose answers are candidates."""

BUDGET = Budget(candidates=2**12)
"""For each answer: one that is not proven best is a candidate as well."""


class Finder:
    """Finds candidates of pages under a set of rules."""

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self._tried = [parameters.apply(factor * parameters.defaults) for factor in FACTORS]
        self._free = parameters.apply(0 * parameters.defaults)

    def page(self, scored: Scored) -> CandidatePage | None:
        """A page with its first candidates; ``None`` if its truth is impossible.

        That is if a true label has probability zero, or if the truth violates a hard rule.
        """
        if scored.gold is None:
            raise InputError(f"document {scored.document.id!r} has no gold labels")
        problem = Problem(scored.document, scored.scores, self.parameters.counting_rules)
        judge, gold = problem.judge, problem.scheme.indices(scored.gold)
        kept = judge.kept
        judge.keep_only(Kept())  # a field of the best legal labelling may be missing in truth
        reading, _ = judge.settled(gold)
        page = CandidatePage(scored, self.parameters, reading, judge)
        if not page.add(reading, _best_log_prob(problem, gold)):
            return None
        judge.keep_only(kept)
        self._add_near(page)
        for rules in self._tried:
            page.add_best(rules)
        return page

    def _add_near(self, page: CandidatePage) -> None:
        """Adds the readings of highest probability, whatever they violate."""
        problem = Problem(page.scored.document, page.scored.scores, self._free)
        problem.judge.share_values(page.judge)
        search = ReadingSearch(Lattice(problem.costs, problem.judge, None))
        search.stop_above(search.lattice.best + NEAR)
        for candidate in islice(search, MAX_NEAR):
            page.add(search.lattice.reading(candidate.spans), candidate.log_prob)


@dataclass(slots=True)
class CandidatePage:
    """A page and its candidates so far."""

    scored: Scored
    parameters: Parameters
    true: Reading
    judge: Judge  # by rules that count
    found: dict[Reading, tuple[float, Vector]] = field(default_factory=dict)

    def copy(self) -> CandidatePage:
        """The same page, to which other candidates can be added."""
        return replace(self, found=dict(self.found))

    def add_best(self, rules: Rules) -> bool:
        """Adds the answer under some weights; whether it is a new candidate."""
        problem = Problem(self.scored.document, self.scored.scores, rules)
        problem.judge.share_values(self.judge)
        best = find_best(problem, BUDGET, problem.judge.plan())
        if best.best is None:
            return False
        reading = best.reading
        if reading is None:
            reading, _ = problem.judge.settled(best.best)
        return self.add(reading, problem.log_prob(best.best))

    def add(self, reading: Reading, log_prob: float) -> bool:
        """Adds a reading with the log-probability of a labelling that has it; whether it is new.

        Readings that violate a hard rule are left out.
        """
        known = self.found.get(reading)
        if known is not None and known[0] >= log_prob:
            return False
        charged, rest = self.parameters.count(self.judge.checks(reading))
        score = log_prob - rest - self.judge.price(reading)
        if not isfinite(score):
            return False
        self.found[reading] = score, charged
        return known is None

    def candidates(self) -> ScoredReadings:
        """The candidates so far, the true reading first."""
        others = [each for reading, each in self.found.items() if reading != self.true]
        every = [self.found[self.true], *others]
        return ScoredReadings(
            np.array([score for score, _ in every]), np.array([charged for _, charged in every])
        )


def _best_log_prob(problem: Problem, gold: Labels) -> float:
    """The log-probability of the best labelling with the same spans of fields as the truth.

    All other candidates have the best labels of words in no field, too.
    """
    names = tuple(f.label for f in problem.judge.rules.fields)
    relevant = problem.scheme.labels_of(names)
    costs = np.where(relevant, np.inf, problem.costs)
    fixed = relevant[gold]
    costs[fixed] = np.inf
    costs[fixed, gold[fixed]] = problem.costs[fixed, gold[fixed]]
    labels, _ = _core.paths(costs, problem.scheme.transitions).take(1)
    return problem.log_prob(labels[0]) if len(labels) else -inf
