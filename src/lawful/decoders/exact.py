"""Exact: the best labelling under the rules, with a proof, by a search over readings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from math import exp, inf
from time import perf_counter
from typing import Any, ClassVar

from lawful import _core
from lawful.base.clock import is_up
from lawful.results.decoding import Budget, Decoding, Limit
from lawful.rules.compiled.plan import Plan
from lawful.search.classes import ClassSearch, best_of_classes
from lawful.search.confidence import QUICK, confidences
from lawful.search.conflicts import Trial, find_clash
from lawful.search.problem import ROUNDING, Problem
from lawful.search.reading_search import Lattice, ReadingSearch
from lawful.search.walk import Walk, chunked, conclude

PROOF_SHARE = 0.6
"""Share of the time for the search for a proof; the rest is for finding any answer."""

MAX_WALKED = 1024
MAX_WORDS_WALKED = 2**19
"""Labellings that are tried for an answer after a search that did not finish, and their words in
total: on a document of thousands of words, judging a labelling takes many milliseconds."""

MAX_SQUARED = 2**29
"""The same, times the words of the document: in the longest ones, few labellings are near."""

WALKED_LESS = 8
"""The same if there is some answer: so many times fewer are tried, and none after a local search,
which finds more."""

MIN_FOR_A_CLASH = 2**14
"""Least number of candidates, in total, for finding out which rules clash; else, as many as the
proof took that they do."""

TRIAL_SLACKS = (8.0, 32.0, inf)
"""Nats above the best labelling within which a labelling that satisfies some rules is looked for:
most are near, and a proof that there is none needs all spans."""

NEAR = 4.0
"""Nats within which a page may well have one reading only, so that a search is not needed."""

WORK_PER_CANDIDATE, MIN_WORK = 2**9, 2**26
"""Elementary steps, of a few nanoseconds, after which an extension counts as several candidates;
and the least number of steps, for few candidates."""

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
        return self._conclude(find_best(problem, budget, problem.judge.plan()))

    def decode_ranked(self, problem: Problem, budget: Budget, alternatives: int) -> Decoding:
        """What ``decode`` finds, and the next best labellings whose fields have other values.

        These are searched for after it, with as many candidates again, in the time that is left.
        If none are asked for, confidences are quick.
        """
        began = perf_counter()
        deadline = budget.deadline(began)
        parts: list[tuple[Decoding, Walk]] = []

        def decode(part: Problem, share: Budget) -> Decoding:
            found = find_best(part, share, part.judge.plan())
            parts.append((self._conclude(found), found))
            return parts[-1][0]

        decoding = best_of_classes(problem, budget, problem.judge.choices, decode)
        _, found = max(parts, key=lambda part: part[0].worth)
        if found.best is None:
            return decoding
        if not alternatives:
            sure = confidences(found, (), deadline, QUICK)
            return replace(decoding, confidence=sure, seconds=perf_counter() - began)
        ranking = Ranking([], inf, "seconds")
        if not is_up(deadline):
            ranking = rank_classes(problem, budget.ending(deadline), alternatives + 1)
        ranking = ranking.beside(found, alternatives, decoding.bound)
        others = []
        for other in ranking.walks:
            if is_up(deadline):
                ranking = replace(ranking, stopped_by="seconds")
                break
            others.append(conclude(self.name, other))
        return replace(
            decoding,
            alternatives=tuple(others),
            margin=ranking.margin(found.total) if decoding.optimal else None,
            confidence=confidences(found, ranking.walks, deadline),
            stopped_by=decoding.stopped_by or ranking.stopped_by,
            tried=decoding.tried + ranking.tried,
            mass=max(decoding.mass, min(1.0, ranking.mass)),
            seconds=perf_counter() - began,
        )

    def _conclude(self, found: Walk) -> Decoding:
        return with_clash(conclude(self.name, found), found.problem, found.deadline)


def with_clash(decoding: Decoding, problem: Problem, deadline: float) -> Decoding:
    """The decoding; if it is infeasible, with hard rules that cannot hold together."""
    if decoding.status != "infeasible":
        return decoding
    began = perf_counter()
    left = Budget(candidates=max(decoding.tried, MIN_FOR_A_CLASH)).ending(deadline)
    chained = problem.scores.chain is not None
    clash, minimal = find_clash(problem, left, _walk_to_an_answer if chained else _is_feasible)
    seconds = decoding.seconds + perf_counter() - began
    return replace(decoding, clash=clash, clash_minimal=minimal, seconds=seconds)


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


def _finish(found: Walk, candidates: ReadingSearch, walked: int) -> None:
    """Records what is proven; if the budget ended first, looks for an answer nearby."""
    _settle(found, candidates)
    if walked and found.stopped_by in ("seconds", "candidates", "memory"):
        _look_for_an_answer(found, candidates, walked)
        _settle(found, candidates)


def _look_for_an_answer(found: Walk, candidates: ReadingSearch, walked: int) -> None:
    """After an unfinished search, tries labellings near the model's best; proves nothing."""
    problem, budget = found.problem, found.budget
    guess = candidates.guess(WIDTH, found.until)
    if guess is not None:
        found.consider(guess.labels, guess.log_prob, candidates.lattice.reading(guess.spans))
        found.tried -= 1  # guesses do not count against the budget
    if found.best is not None:
        walked = 0 if candidates.has_improved else walked // WALKED_LESS
    if walked and not is_up(found.until):
        some = replace(budget, candidates=walked, mass=None).ending(found.until)
        near = Walk(problem, some, perf_counter(), worth=found.worth)
        stream = _core.paths(problem.costs, problem.scheme.transitions)
        near.run(chunked(stream), legal=True, complete=lambda: False)
        found.tried += near.tried
        found.open = max(found.open, near.open)
        if near.worth > found.worth:
            found.best, found.reading, found.worth = near.best, near.reading, near.worth


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best labellings by worth, whose field values, or classes, differ from each other.

    Any labelling not listed is worth at most ``rest``, its class included. ``stopped_by`` is the
    limit that ended the search, or ``None`` if the list is proven to be right and complete.
    """

    walks: list[Walk]
    rest: float
    stopped_by: Limit | None
    tried: int = 0
    mass: float = 0.0  # of the labellings seen

    def beside(self, answer: Walk, count: int, bound: float) -> Ranking:
        """The ``count`` best ones with other values than the answer, and what is proven of each.

        No labelling at all is worth more than ``bound``.
        """
        listed = [walk for walk in self.walks if not _is_alike(walk, answer)]
        others, left = listed[:count], listed[count:]
        rest = min(bound, max([self.rest, *(walk.total for walk in left)]))
        for other in others:
            other.last, other.open = rest - other.problem.prior, -inf
            other.proven = other.total >= rest - ROUNDING
            other.stopped_by = None if other.proven else self.stopped_by
        cut = len(others) < count and rest > -inf
        whole = not cut and all(other.proven for other in others)
        stopped_by = None if whole else self.stopped_by
        return replace(self, walks=others, rest=rest, stopped_by=stopped_by)

    def margin(self, worth: float) -> float:
        """A lower bound on how much more an answer of this worth is worth than all others."""
        return max(0.0, worth - max([self.rest, *(walk.total for walk in self.walks)]))


def _is_alike(one: Walk, other: Walk) -> bool:
    """Whether two labellings have the same class and the same values."""
    judges = one.problem.judge, other.problem.judge
    if judges[0].choice != judges[1].choice or one.reading is None or other.reading is None:
        return False
    return judges[0].seen_values(one.reading) == judges[1].seen_values(other.reading)


def rank_classes(problem: Problem, budget: Budget, count: int) -> Ranking:
    """``rank`` over all classes of a document; answers of different classes differ, too."""
    search = ClassSearch(problem, budget, problem.judge.choices)
    parts: list[Ranking] = []
    walks: list[Walk] = []  # the best ones so far
    mass = 0.0

    def least() -> float:
        return walks[-1].total if len(walks) == count else -inf

    for part, share in search.until_worth(least):
        parts.append(rank(part, share, count))
        search.tried += parts[-1].tried
        mass += parts[-1].mass * exp(part.prior)
        walks[:] = nlargest(count, [*walks, *parts[-1].walks], key=lambda walk: walk.total)
    limits = [search.stopped_by, *(ranking.stopped_by for ranking in parts)]
    stopped_by: Limit = next((limit for limit in limits if limit is not None), "max_cost")
    rest = max([search.rest, *(ranking.rest for ranking in parts)])
    return Ranking(walks, rest, stopped_by, search.tried, mass)


def rank(problem: Problem, budget: Budget, count: int) -> Ranking:
    """The ``count`` best labellings with different values; ``stopped_by`` is the limit, if any."""
    found = Walk(problem, budget, perf_counter())
    judge = problem.judge
    plan = judge.plan(whole=True)
    candidates = _candidates(found, plan, reserved=0)
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
    rest = max(_bound(found, candidates), found.open) + problem.prior
    stopped_by: Limit = "combinations" if budget.max_cost is None else "max_cost"
    tried = 1 + candidates.extended
    return Ranking(ranked, rest, candidates.stopped_by or stopped_by, tried, found.mass)


def _walked(budget: Budget, problem: Problem) -> int:
    """The number of candidates reserved for ``_look_for_an_answer``."""
    most = inf if budget.candidates is None else budget.candidates // 16
    words = max(len(problem.document), 1)
    return int(min(MAX_WALKED, most, MAX_WORDS_WALKED // words, MAX_SQUARED // words**2))


def _candidates(
    found: Walk, plan: Plan | None, reserved: int, slacks: Sequence[float] | None = None
) -> ReadingSearch:
    problem, budget = found.problem, found.budget
    most = inf if plan is None or budget.candidates is None else budget.candidates - 1 - reserved
    lattice = found.lattice = Lattice(problem.costs, problem.judge, plan)
    max_cost = inf if budget.max_cost is None else budget.max_cost
    if problem.pin_labels is not None and problem.best_legal is not None:
        # The lattice's best labelling may break a pin, which the best legal one does not.
        max_cost += max(0.0, -problem.log_prob(problem.best_legal) - lattice.best)
    return ReadingSearch(
        lattice,
        extensions=most,
        work=max(MIN_WORK, WORK_PER_CANDIDATE * most),
        until=found.began + PROOF_SHARE * (found.until - found.began),
        max_cost=max_cost,
        guess=plan is not None,
        slacks=slacks,
    )


def _end(found: Walk, candidates: ReadingSearch, plan: Plan | None, worth: float) -> bool:
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


def _bound(found: Walk, candidates: ReadingSearch) -> float:
    """The most that an unseen labelling may be worth: not searched yet, or below the floor."""
    return max(-inf if candidates.complete else -candidates.bound, found.floor)


def _settle(found: Walk, candidates: ReadingSearch) -> None:
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


def _is_feasible(problem: Problem, budget: Budget) -> Trial:
    """Whether some labelling violates no hard rule; not known if the budget ended first."""
    found = find_best(problem, budget, problem.judge.plan(), TRIAL_SLACKS, any_answer=True)
    return _trial(found)


def _walk_to_an_answer(problem: Problem, budget: Budget) -> Trial:
    """The same for a CRF's scores, which a search over readings cannot use."""
    found = Walk(problem, budget, perf_counter())
    stream = chunked(_core.paths(problem.costs, problem.scheme.transitions))
    return _trial(found.run(stream, legal=True, complete=lambda: True))


def _trial(found: Walk) -> Trial:
    feasible = True if found.best is not None else False if found.proven else None
    return Trial(feasible, found.tried, found.best, found.reading)
