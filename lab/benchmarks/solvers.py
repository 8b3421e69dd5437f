"""The exact search, CP-SAT and HiGHS on the outputs of real models, in one run.

    python -m lab.benchmarks.solvers [--pages 40] [--hardest 10] [--seconds 10]
        [--rules default,hard]

CP-SAT and HiGHS solve the integer program of ``tests.oracles.referee`` over spans and their values,
with the spans that may matter. Of each model's outputs, the pages are the first ones and those that
take the search the most partial readings. Rules are the data set's, without a price for rules that
cannot be checked, which the program does not have. All have one thread and the same limit of
seconds per page; HiGHS and CP-SAT run in processes of their own. Times include building the model.
It needs ``make .venv/benched`` and ``../shared``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isclose
from multiprocessing import get_context
from time import perf_counter
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from lab.benchmarks.data import outputs_of, rules_of
from lab.benchmarks.study import study
from lab.benchmarks.tail import MEANINGS
from lawful import Budget, Rules, Scored, decode
from tests.fixtures.outputs import OUTPUTS

Solver: TypeAlias = Literal["cp-sat", "highs"]


class Result(NamedTuple):
    """The answer for one page."""

    seconds: float
    proven: bool
    worth: float


def search(page: Scored, rules: Rules, seconds: float) -> Result:
    """The exact search's answer."""
    begin = perf_counter()
    budget = Budget(candidates=float("inf"), seconds=seconds)
    found = decode(page.document, page.scores, rules, decoder="exact", budget=budget)
    proven = found.optimal or found.status == "infeasible"
    return Result(perf_counter() - begin, proven, found.worth)


def solve(page: Scored, rules: Rules, seconds: float, solver: Solver) -> Result:
    """The answer of an integer program."""
    from tests.oracles.referee import referee

    begin = perf_counter()
    found = referee(page.document, page.scores, rules, seconds=seconds, solver=solver)
    proven = found.status in ("optimal", "infeasible")
    return Result(perf_counter() - begin, proven, found.worth)


SOLVERS: dict[str, Callable[[Scored, Rules, float], Result]] = {
    "lawful": search,
    "CP-SAT": partial(solve, solver="cp-sat"),
    "HiGHS": partial(solve, solver="highs"),
}


def run(solver: str, pages: list[Scored], rules: Rules, seconds: float) -> list[Result]:
    """The answers for all pages, after a first page that does not count."""
    SOLVERS[solver](pages[0], rules, seconds)
    return [SOLVERS[solver](page, rules, seconds) for page in pages]


def choose(pages: list[Scored], rules: Rules, first: int, hardest: int) -> list[Scored]:
    """The first pages, and those that take the search the most partial readings."""
    tried = [decode(p.document, p.scores, rules, decoder="exact").tried for p in pages]
    order = sorted(range(len(pages)), key=lambda i: -tried[i])[:hardest]
    return [pages[i] for i in dict.fromkeys([*range(min(first, len(pages))), *order])]


def main() -> None:
    arguments = study(
        __doc__, outputs=True, pages=40, hardest=10, seconds=10.0, rules=",".join(MEANINGS)
    )
    print(
        f"{'outputs':<13}{'rules':<9}{'solver':<8}{'pages':>6}{'proven':>8}{'median ms':>11}"
        f"{'95 % ms':>10}{'worst ms':>10}{'fastest on':>12}{'other worth':>13}"
    )
    for name in OUTPUTS:
        every = outputs_of(name)
        for meaning in arguments.rules.split(","):
            rules = rules_of(name, **MEANINGS[meaning], unchecked=0.0)
            pages = choose(every, rules, arguments.pages, arguments.hardest)
            found: dict[str, list[Result]] = {}
            for solver in SOLVERS:
                with get_context("spawn").Pool(1) as pool:
                    found[solver] = pool.apply(run, (solver, pages, rules, arguments.seconds))
            for solver, results in found.items():
                times = np.array([1000 * each.seconds for each in results])
                fastest = sum(
                    each.proven
                    and all(
                        not other[i].proven or other[i].seconds >= each.seconds
                        for other in found.values()
                    )
                    for i, each in enumerate(results)
                )
                differ = sum(
                    each.proven
                    and ours.proven
                    and each.worth != ours.worth
                    and not isclose(each.worth, ours.worth, abs_tol=1e-3)
                    for each, ours in zip(results, found["lawful"], strict=True)
                )
                median, late, worst = np.percentile(times, (50, 95, 100))
                print(
                    f"{name:<13}{meaning:<9}{solver:<8}{len(pages):>6}"
                    f"{sum(each.proven for each in results):>8}{median:>11.1f}{late:>10.1f}"
                    f"{worst:>10.1f}{fastest:>12}{differ:>13}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
