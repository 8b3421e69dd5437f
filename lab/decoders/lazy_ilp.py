"""Lazy-ILP: legal labellings from an integer program, each solution excluded before the next."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import Any, ClassVar, Literal

import numpy as np

from lawful.base.clock import seconds_left
from lawful.base.errors import InputError, MissingExtraError, TimeBudgetError
from lawful.results.decoding import Budget, Decoding
from lawful.search.problem import Problem
from lawful.search.walk import Chunk, walk

MIN_SECONDS = 0.02
"""A solver takes at least this long to start."""


@dataclass(frozen=True, slots=True)
class LazyIlp:
    """The paper's method, with PuLP (the ``ilp`` extra). Exact up to the solver's tolerance.

    The scheme is linear: a label needs one of its predecessors on the word before. Rules are not,
    so they judge the solutions: the same candidates as ``paths``, but slower. When the budget ends
    first, the best labelling so far comes back, or else the best legal one.
    """

    solver: Literal["cbc", "highs"] = "cbc"

    name: ClassVar[str] = "lazy_ilp"
    exact: ClassVar[bool] = True
    chains: ClassVar[bool] = False
    default_budget: ClassVar[Budget] = Budget(candidates=2**4)

    def decode(self, problem: Problem, budget: Budget) -> Decoding:
        infeasible: list[bool] = []
        # Proven only if the solver says that no solution is left; it may also just give up.
        return walk(
            self.name,
            problem,
            lambda until: self._solutions(problem, infeasible, until),
            budget,
            legal=True,
            complete=lambda: bool(infeasible),
        )

    def _solutions(
        self, problem: Problem, infeasible: list[bool], until: float = inf
    ) -> Iterator[Chunk]:
        try:
            import pulp
        except ImportError:
            raise MissingExtraError(
                "the lazy_ilp decoder needs PuLP: install the 'lab' extra"
            ) from None
        self._make_solver(pulp, None)  # fails early if there is no solver
        model, variables = _model(pulp, problem, until)
        words = len(problem.costs)
        if words == 0:
            infeasible.append(True)
            yield np.empty((1, 0), dtype=np.intp), np.zeros(1)
            return
        while model is not None:
            seconds = seconds_left(until)
            if seconds is not None and seconds < MIN_SECONDS:
                raise TimeBudgetError("the time is up")
            status = model.solve(self._make_solver(pulp, seconds))
            if status != pulp.LpStatusOptimal or model.sol_status != pulp.LpSolutionOptimal:
                if seconds is not None and status != pulp.LpStatusInfeasible:
                    raise TimeBudgetError("the solver reached its time limit")
                break
            labels = np.array(
                [max(row, key=lambda label: row[label].value()) for row in variables], dtype=np.intp
            )
            yield labels[None], np.array([problem.log_prob(labels)])
            chosen = (row[label] for row, label in zip(variables, labels.tolist(), strict=True))
            model += pulp.lpSum(chosen) <= words - 1
        if model is None or status == pulp.LpStatusInfeasible:
            infeasible.append(True)

    def _make_solver(self, pulp: Any, seconds: float | None) -> Any:
        makers = {"cbc": pulp.PULP_CBC_CMD, "highs": pulp.HiGHS}
        if self.solver not in makers:
            raise InputError(f"unknown solver {self.solver!r}; solvers: {', '.join(makers)}")
        with warnings.catch_warnings():
            # PuLP warns that it will drop its bundled CBC with version 4, which we exclude.
            warnings.simplefilter("ignore", DeprecationWarning)
            solver = makers[self.solver](msg=False, gapRel=0.0, timeLimit=seconds)
        if not solver.available():
            raise MissingExtraError(
                f"PuLP has no {self.solver} solver here: install the 'lab' extra"
            )
        return solver


def _model(pulp: Any, problem: Problem, until: float) -> tuple[Any, list[dict[int, Any]]]:
    """The integer program: one label per word, and a legal predecessor for every label."""
    start, between, end = problem.scheme.allowed
    costs = problem.costs.copy()
    if len(costs):
        costs[0, ~start] = np.inf
        costs[-1, ~end] = np.inf
    model = pulp.LpProblem("labels", pulp.LpMinimize)
    variables: list[dict[int, Any]] = []
    for word, row in enumerate(costs):
        if perf_counter() > until:
            raise TimeBudgetError("the time is up")
        variables.append(
            {
                label: model.add_variable(f"x_{word}_{label}", 0, 1, cat=pulp.LpBinary)
                for label in np.flatnonzero(np.isfinite(row)).tolist()
            }
        )
    if not all(variables):
        return None, variables
    model += pulp.lpSum(
        costs[word, label] * x for word, row in enumerate(variables) for label, x in row.items()
    )
    for word, row in enumerate(variables):
        if perf_counter() > until:
            raise TimeBudgetError("the time is up")
        model += pulp.lpSum(row.values()) == 1
        for label, x in row.items() if word else ():
            if not between[:, label].all():
                before = variables[word - 1]
                model += x <= pulp.lpSum(before[k] for k in before if between[k, label])
    return model, variables
