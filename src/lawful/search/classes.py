"""Documents that may be of several classes: one search per class, and the best of their answers.

Classes come by falling probability. No answer of a class is worth more than its log-probability and
that of the best legal labelling together, so the first class for which this is too little ends the
search, with a proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import exp, inf
from time import perf_counter

from lawful.base.clock import is_up
from lawful.results.decoding import Budget, Decoding, Limit
from lawful.rules.classes import ClassChoice
from lawful.search.problem import ROUNDING, Problem


@dataclass(slots=True)
class ClassSearch:
    """The problems of a document's classes, one after another, within one budget for all.

    After the last one, answers of all other classes are worth at most ``rest``; ``stopped_by`` is
    the limit that kept them from being searched.
    """

    problem: Problem
    budget: Budget
    choices: Sequence[ClassChoice]
    tried: int = 0  # by the caller, after each class
    rest: float = -inf
    stopped_by: Limit | None = None
    began: float = field(default_factory=perf_counter)

    def until_worth(self, enough: Callable[[], float]) -> Iterator[tuple[Problem, Budget]]:
        """Yields each problem and its share of the budget, until none can be worth ``enough``.

        The first one comes in any case.
        """
        if len(self.choices) == 1:
            yield self.problem, self.budget
            return
        best = self.problem.best_legal
        legal = -inf if best is None else self.problem.log_prob(best)
        for i, choice in enumerate(self.choices):
            self.rest = choice.log_prob + legal
            if i and (best is None or enough() >= self.rest - ROUNDING):
                return
            share = self._share(choice, last=i + 1 == len(self.choices))
            if share is None:
                return
            yield self.problem.of_class(choice), share
        self.rest = -inf

    def _share(self, choice: ClassChoice, *, last: bool) -> Budget | None:
        """Half of what is left, or all of it for the last class; ``None`` if it is spent."""
        budget = self.budget
        candidates, seconds, max_cost = budget.candidates, budget.seconds, budget.max_cost
        if max_cost is not None:
            max_cost -= self.choices[0].log_prob - choice.log_prob
            if max_cost < 0:
                self.rest -= max_cost  # to the floor: nothing below is considered
                self.stopped_by = "max_cost"
                return None
        if candidates is not None:
            candidates -= self.tried
            if candidates < 1:
                self.stopped_by = "candidates"
                return None
            candidates = candidates if last or candidates in (1, inf) else candidates // 2
        deadline = budget.deadline(self.began)
        if self.tried and is_up(deadline):
            self.stopped_by = "seconds"
            return None
        share = Budget(candidates, seconds, budget.mass, max_cost).ending(deadline)
        return share if last or share.seconds is None else replace(share, seconds=share.seconds / 2)


def best_of_classes(
    problem: Problem,
    budget: Budget,
    choices: Sequence[ClassChoice],
    decode: Callable[[Problem, Budget], Decoding],
) -> Decoding:
    """The best decoding over these classes of a document."""
    search = ClassSearch(problem, budget, choices)
    parts: list[Decoding] = []
    mass = 0.0
    for part, share in search.until_worth(lambda: max(each.worth for each in parts)):
        parts.append(decode(part, share))
        search.tried += parts[-1].tried
        mass += parts[-1].mass * exp(part.prior)
    best = max(parts, key=lambda each: each.worth)  # the first, the most probable class, of equals
    open_ = [each for each in parts if each.status != "infeasible"]
    bound = max([search.rest, *(each.bound for each in open_)])
    infeasible = not open_ and search.rest == -inf
    optimal = best.optimal and best.worth >= bound - ROUNDING
    stopped_by = None
    if not optimal and not infeasible:
        highest = max(open_, key=lambda each: each.bound, default=best)
        stopped_by = best.stopped_by or search.stopped_by or highest.stopped_by
    clash = {rule: None for part in parts for rule in part.clash}
    return replace(
        best,
        status=best.status if optimal or infeasible else "exhausted",
        optimal=optimal,
        bound=best.worth if optimal else bound,
        tried=search.tried,
        mass=min(mass, 1.0),
        seconds=perf_counter() - search.began,
        stopped_by=stopped_by,
        clash=tuple(clash) if infeasible else (),
        clash_minimal=infeasible
        and all(p.clash_minimal and set(p.clash) == set(clash) for p in parts),
    )
