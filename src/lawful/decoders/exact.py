"""Exact: the best labelling under the rules, with a proof, by a search over readings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from math import exp, inf
from time import perf_counter
from typing import Any, ClassVar

from lawful import _core
from lawful.clock import seconds_left
from lawful.decoding import Budget, Decoding, Limit
from lawful.rules.plan import Plan
from lawful.search.clash import Trial, find_clash
from lawful.search.classes import ClassSearch, best_of_classes
from lawful.search.confidence import confidences
from lawful.search.problem import ROUNDING, Problem
from lawful.search.reading_search import Candidates, Lattice
from lawful.search.walk import Walk, chunked, conclude

PROOF_SHARE = 0.6
"""Share of the time for the search for a proof; the rest is for finding any answer."""

MOST_WALKED = 1024
MOST_WORDS_WALKED = 2**19
"""Labellings that are tried for an answer after a search that did not finish, and their words in
total: on a document of thousands of words, judging a labelling takes many milliseconds."""

LEAST_FOR_A_CLASH = 2**14
"""Least number of candidates, in total, for finding out which rules clash."""

TRIAL_SLACKS = (8.0, 32.0, inf)
"""Nats above the best labelling within which a labelling that satisfies some rules is looked for:
most are near, and a proof that there is none needs all spans."""

NEAR = 4.0
"""Nats within which a page may well have one reading only, so that a search is not needed."""

WIDTH = 32
"""Partial readings that are followed at each word for an answer after an unfinished search."""


@dataclass(frozen=True, slots=True)
class Exact:
    """Searches readings, not labellings, with the compiled rules inside the search. Exact.

    Each extension of a partial reading counts as one candidate. When the budget ends first, the
    best labelling seen so far comes back. If hard rules refuse every labelling, the best legal one
    comes back, with the rules that clash.
    """

    name: ClassVar[str] = "exact"
    exact: ClassVar[bool] = True
    spans: ClassVar[bool] = True
    chains: ClassVar[bool] = False
    default_budget: ClassVar[Budget] = Budget(candidates=2**17)

    def decode(self, problem: Problem, budget: Budget) -> Decoding:
        found = find_best(problem, budget, problem.judge.plan())
        return self._conclude(found)

    def decode_ranked(self, problem: Problem, budget: Budget, alternatives: int) -> Decoding:
        """The best labelling, and the next best ones whose fields have other values."""
        began = perf_counter()
        found, ranking = rank_classes(problem, budget, alternatives + 1)
        if found.best is None and len(problem.judge.choices) > 1:
            left = replace(budget, seconds=seconds_left(found.deadline) or None)
            return best_of_classes(problem, left, problem.judge.choices, self.decode)
        decoding = self._conclude(found)
        if found.best is None:
            return decoding
        others = []
        for other in ranking.others:
            if perf_counter() > found.deadline:
                ranking = replace(ranking, stopped_by="seconds")
                break
            others.append(conclude(self.name, other))
        decoding = replace(
            decoding,
            alternatives=tuple(others),
            margin=ranking.margin(found),
            confidence=confidences(found, ranking.others, found.deadline),
            stopped_by=decoding.stopped_by or ranking.stopped_by,
        )
        return replace(decoding, seconds=perf_counter() - began)

    def _conclude(self, found: Walk) -> Decoding:
        decoding = conclude(self.name, found)
        if decoding.status != "infeasible":
            return decoding
        clash, minimal = find_clash(found.problem, _left(found), _is_feasible)
        return replace(
            decoding,
            clash=clash,
            clash_minimal=minimal,
            seconds=perf_counter() - found.began,
        )


def find_best(
    problem: Problem,
    budget: Budget,
    plan: Plan | None,
    slacks: Sequence[float] | None = None,
    *,
    any_answer: bool = False,
) -> Walk:
    """The finished search for the best labelling; with ``any_answer``, for any that rules accept.

    Without a plan, every reading is judged in Python and counts as one candidate.
    """
    found = Walk(problem, budget, perf_counter())
    if problem.best_legal is None:
        found.proven = True
        return found
    found.consider(problem.best_legal, problem.log_prob(problem.best_legal))
    if found.worth == found.last:
        found.proven = True
        return found
    if any_answer and found.best is not None:
        return found
    found.stopped_by = found.spent()
    if found.stopped_by is not None:
        return found
    if found.last - found.worth < NEAR and found.open <= found.worth:
        # If other labellings that may be better have the same fields, their penalty is the same.
        found.proven = problem.is_sole_reading(problem.best_legal, found.worth)
        if found.proven:
            return found
    walked = 0 if plan is None else _walked(budget, problem)
    candidates = _candidates(found, plan, reserved=walked, slacks=slacks)
    candidates.stop_above(-found.worth)
    found.tried = 0  # the best legal labelling may come again, among the readings
    for candidate in candidates:
        reading = candidates.lattice.reading(candidate.spans)
        found.consider(candidate.labels, candidate.log_prob, reading)
        candidates.stop_above(-found.worth)
        if _end(found, candidates, plan, found.worth) or (any_answer and found.best is not None):
            break
    if plan is not None:
        found.tried = 1 + candidates.extended
    _finish(found, candidates, walked)
    return found


def _finish(found: Walk, candidates: Candidates, walked: int) -> None:
    """Records what is proven; if the budget ended first, looks for an answer nearby."""
    _settle(found, candidates)
    if walked and found.stopped_by in ("seconds", "candidates", "memory"):
        _look_for_an_answer(found, candidates, walked)
        _settle(found, candidates)


def _look_for_an_answer(found: Walk, candidates: Candidates, walked: int) -> None:
    """After an unfinished search, tries labellings near the model's best; proves nothing."""
    problem, budget = found.problem, found.budget
    guess = candidates.guess(WIDTH, found.until)
    if guess is not None:
        found.consider(guess.labels, guess.log_prob, candidates.lattice.reading(guess.spans))
        found.tried -= 1  # guesses do not count against the budget
    seconds = seconds_left(found.until)
    if seconds != 0.0:
        some = replace(budget, candidates=walked, seconds=seconds, mass=None)
        near = Walk(problem, some, perf_counter(), worth=found.worth)
        stream = _core.paths(problem.costs, problem.scheme.transitions)
        near.run(chunked(stream), legal=True, complete=lambda: False)
        found.tried += near.tried
        found.open = max(found.open, near.open)
        if near.worth > found.worth:
            found.best, found.reading, found.worth = near.best, near.reading, near.worth


@dataclass(frozen=True, slots=True)
class Ranking:
    """The next best labellings by worth, whose field values differ from the answer and each other.

    Any labelling not listed is worth at most ``rest``, its class included. ``stopped_by`` is the
    limit that ended the search, or ``None`` if the list is proven to be right and complete.
    """

    others: list[Walk]
    rest: float
    stopped_by: Limit | None

    def margin(self, found: Walk) -> float | None:
        """A lower bound on how much more the answer is worth than any with other values."""
        if not found.proven:
            return None
        others = max([self.rest, *(other.total for other in self.others)])
        return max(0.0, found.total - others)


def rank_classes(problem: Problem, budget: Budget, count: int) -> tuple[Walk, Ranking]:
    """``rank`` over all classes of a document; answers of different classes differ, too."""
    search = ClassSearch(problem, budget, problem.judge.choices)
    parts: list[tuple[Walk, Ranking]] = []
    walks: list[Walk] = []  # the best ones so far

    def least() -> float:
        return walks[-1].total if len(walks) == count else -inf

    for part, share in search.until_worth(least):
        found, ranking = rank(part, share, count)
        parts.append((found, ranking))
        search.tried += found.tried
        more = [found, *ranking.others] if found.best is not None else []
        walks[:] = nlargest(count, [*walks, *more], key=lambda walk: walk.total)
    if len(parts) == 1 and search.rest == -inf:
        return parts[0]
    limits = [search.stopped_by, *(ranking.stopped_by for _, ranking in parts)]
    stopped_by: Limit = next((limit for limit in limits if limit is not None), "max_cost")
    best = walks[0] if walks else parts[0][0]
    most = [walk.total if walk.proven else walk.most + walk.problem.prior for walk, _ in parts]
    bound = max(search.rest, *most)
    found = replace(
        best,
        proven=best.proven and best.total >= bound - ROUNDING,
        last=bound - best.problem.prior,
        tried=search.tried,
        mass=sum(walk.mass * exp(walk.problem.prior) for walk, _ in parts),
    )
    if best.proven and not found.proven:
        found.stopped_by = stopped_by
    rest = max([search.rest, *(ranking.rest for _, ranking in parts)])
    return found, _ranked(found, walks[1:], rest, count, stopped_by)


def rank(problem: Problem, budget: Budget, count: int) -> tuple[Walk, Ranking]:
    """The finished search for the best labelling, and the next best ones with other values.

    ``count`` includes the best one.
    """
    found = Walk(problem, budget, perf_counter())
    judge = problem.judge
    plan = judge.plan(whole=True)
    walked = _walked(budget, problem)
    candidates = _candidates(found, plan, reserved=walked)
    best: dict[Any, Walk] = {}
    ranked: list[Walk] = []
    for candidate in candidates:
        reading = candidates.lattice.reading(candidate.spans)
        worth = found.consider(candidate.labels, candidate.log_prob, reading, settle=False)
        values = judge.seen_values(reading)
        if worth > (best[values].worth if values in best else -inf):
            best[values] = replace(found, best=candidate.labels, worth=worth, reading=reading)
            ranked = nlargest(count, best.values(), key=lambda entry: entry.worth)
        last = ranked[-1].worth if len(ranked) == count else -inf
        candidates.stop_above(-last)
        if _end(found, candidates, plan, last):
            break
    if ranked:  # of several that are worth the same, the first in the ranking
        found.best, found.reading = ranked[0].best, ranked[0].reading
    found.tried = 1 + candidates.extended
    _finish(found, candidates, walked)
    return found, _ranking(found, best, candidates, count)


def _ranking(found: Walk, best: dict[Any, Walk], candidates: Candidates, count: int) -> Ranking:
    """The ``count - 1`` best walks whose values differ from the answer's."""
    rest = max(_bound(found, candidates), found.open) + found.problem.prior
    answer = None if found.reading is None else found.problem.judge.seen_values(found.reading)
    unlike = (walk for values, walk in best.items() if values != answer)
    others = nlargest(count - 1, unlike, key=lambda entry: entry.worth)
    return _ranked(found, others, rest, count, candidates.stopped_by or "max_cost")


def _ranked(found: Walk, others: list[Walk], rest: float, count: int, stopped_by: Limit) -> Ranking:
    """The ranking of these walks, with what is proven about each of them.

    ``stopped_by`` is the limit that kept the search from proving all of it, if that is so.
    """
    for other in others:
        other.last, other.open = rest - other.problem.prior, -inf
        other.tried, other.mass = found.tried, found.mass
        other.proven = other.total >= rest - ROUNDING
        other.stopped_by = None if other.proven else stopped_by
    cut = len(others) < count - 1 and rest > -inf
    whole = not cut and all(other.proven for other in others)
    return Ranking(others, rest, None if whole else stopped_by)


def _walked(budget: Budget, problem: Problem) -> int:
    """The number of candidates reserved for ``_look_for_an_answer``."""
    most = inf if budget.candidates is None else budget.candidates // 16
    return int(min(MOST_WALKED, most, MOST_WORDS_WALKED // max(len(problem.document), 1)))


def _candidates(
    found: Walk, plan: Plan | None, reserved: int, slacks: Sequence[float] | None = None
) -> Candidates:
    problem, budget = found.problem, found.budget
    most = inf if plan is None or budget.candidates is None else budget.candidates - 1 - reserved
    lattice = Lattice(problem.costs, problem.judge, plan)
    max_cost = inf if budget.max_cost is None else budget.max_cost
    if problem.pin_labels is not None and problem.best_legal is not None:
        # The lattice's best labelling may break a pin, which the best legal one does not.
        max_cost += max(0.0, -problem.log_prob(problem.best_legal) - lattice.best)
    return Candidates(
        lattice,
        extensions=most,
        until=found.began + PROOF_SHARE * (found.until - found.began),
        max_cost=max_cost,
        guess=plan is not None,
        slacks=slacks,
    )


def _end(found: Walk, candidates: Candidates, plan: Plan | None, worth: float) -> bool:
    """Ends the search at a proof or at a limit; returns whether it did."""
    if worth >= -candidates.bound - ROUNDING:
        return True
    mass = found.budget.mass
    spent = found.spent() if plan is None else None
    if spent is None and mass is not None and found.mass >= mass:
        spent = "mass"
    if spent is not None:
        candidates.stop(spent)
    return candidates.stopped_by is not None


def _bound(found: Walk, candidates: Candidates) -> float:
    """The most that an unseen labelling may be worth: not searched yet, or below the floor."""
    return max(-inf if candidates.complete else -candidates.bound, found.floor)


def _settle(found: Walk, candidates: Candidates) -> None:
    """Records what the search has proven."""
    floor = found.floor
    bound = _bound(found, candidates)
    found.last = bound
    most = max(bound, found.open)
    found.proven = found.worth >= most - ROUNDING or most == -inf
    found.stopped_by = None
    if not found.proven:
        found.stopped_by = candidates.stopped_by or "combinations"
        if floor > -inf and max(-candidates.bound, found.worth, found.open) <= floor + ROUNDING:
            found.stopped_by = "max_cost"


def _left(found: Walk) -> Budget:
    """The budget for finding the clash: as many candidates as the proof took, and the time left."""
    seconds = found.budget.seconds
    if seconds is not None:
        seconds = max(1e-9, found.deadline - perf_counter())
    return Budget(candidates=max(found.tried, LEAST_FOR_A_CLASH), seconds=seconds)


def _is_feasible(problem: Problem, budget: Budget) -> Trial:
    """Whether some labelling violates no hard rule; not known if the budget ended first."""
    found = find_best(problem, budget, problem.judge.plan(), TRIAL_SLACKS, any_answer=True)
    feasible = True if found.best is not None else False if found.proven else None
    return Trial(feasible, found.tried, found.best, found.reading)
