"""The referee's integer program for HiGHS: the part of CP-SAT's interface that it uses.

Truth values are columns from 0 to 1, clauses are rows, and a linear constraint that holds under
conditions gets a large constant (big M). HiGHS calculates with floating-point numbers and
tolerances, so unlike CP-SAT's its answers are not exact. Do not import it in a process that has
imported OR-tools, which has its own copy of HiGHS.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import highspy
import numpy as np

OPTIMAL, FEASIBLE, INFEASIBLE, UNKNOWN = range(4)
_FAR = 2**61


class Variable(NamedTuple):
    """A truth value, or its opposite."""

    column: int
    positive: bool = True

    def negated(self) -> Variable:
        return Variable(self.column, not self.positive)


class LinearExpr(NamedTuple):
    """A weighted sum of truth values, and a constant."""

    variables: Sequence[Variable]
    numbers: Sequence[int]
    constant: int = 0

    @classmethod
    def weighted_sum(cls, variables: Sequence[Variable], numbers: Sequence[int]) -> LinearExpr:
        return cls(variables, numbers)

    def __add__(self, number: int) -> LinearExpr:  # type: ignore[override]
        return self._replace(constant=self.constant + number)


class Domain(NamedTuple):
    """Intervals of whole numbers."""

    intervals: list[list[int]]

    @classmethod
    def from_intervals(cls, intervals: list[list[int]]) -> Domain:
        return cls(intervals)


class _Conditional:
    """A linear constraint that waits for its conditions."""

    def __init__(self, model: CpModel, sums: LinearExpr, domain: Domain) -> None:
        self.model, self.sums, self.domain = model, sums, domain

    def only_enforce_if(self, *conditions: Variable) -> None:
        """Adds the constraint; several intervals need a truth value each."""
        pieces = [self.model.new_bool_var("") for _ in self.domain.intervals]
        self.model.add_bool_or(*pieces, *(condition.negated() for condition in conditions))
        size = sum(map(abs, self.sums.numbers)) + abs(self.sums.constant)
        for piece, (low, high) in zip(pieces, self.domain.intervals, strict=True):
            for bound, sign in ((low, 1), (high, -1)):
                if abs(bound) >= _FAR:
                    continue
                # sign * (sums - bound) >= -(size + |bound|) unless the piece is true
                big = size + abs(bound)
                terms = [
                    (x, sign * n)
                    for x, n in zip(self.sums.variables, self.sums.numbers, strict=True)
                ]
                least = sign * (bound - self.sums.constant) - big
                self.model.add_row([*terms, (piece, -big)], least)


class CpModel:
    """A program of truth values."""

    def __init__(self) -> None:
        self.columns = 0
        self.fixed: dict[int, int] = {}
        self.rows: list[tuple[list[tuple[int, float]], float, float]] = []
        self.costs = LinearExpr((), ())

    def new_bool_var(self, _: str) -> Variable:
        self.columns += 1
        return Variable(self.columns - 1)

    def new_constant(self, value: int) -> Variable:
        variable = self.new_bool_var("")
        self.fixed[variable.column] = value
        return variable

    def add_row(
        self, terms: Iterable[tuple[Variable, float]], low: float, high: float = highspy.kHighsInf
    ) -> None:
        """A weighted sum of truth values is between two numbers."""
        sums: dict[int, float] = {}
        for (column, positive), number in terms:
            if not positive:  # 1 - x
                low, high = low - number, high - number
            sums[column] = sums.get(column, 0.0) + (number if positive else -number)
        self.rows.append((list(sums.items()), low, high))

    def add_exactly_one(self, variables: Sequence[Variable]) -> None:
        self.add_row([(x, 1.0) for x in variables], 1.0, 1.0)

    def add_at_most_one(self, *variables: Variable) -> None:
        self.add_row([(x, 1.0) for x in variables], -highspy.kHighsInf, 1.0)

    def add_bool_or(self, *variables: Any) -> None:
        listed = variables[0] if variables and isinstance(variables[0], list) else variables
        self.add_row([(x, 1.0) for x in listed], 1.0)

    def add_implication(self, one: Variable, other: Variable) -> None:
        self.add_bool_or(one.negated(), other)

    def add_linear_expression_in_domain(self, sums: LinearExpr, domain: Domain) -> _Conditional:
        return _Conditional(self, sums, domain)

    def minimize(self, costs: LinearExpr) -> None:
        self.costs = costs

    def validate(self) -> str:
        return ""


class CpSolver:
    """HiGHS, one thread."""

    def __init__(self) -> None:
        self.parameters = SimpleNamespace(max_time_in_seconds=60.0)
        self.solution: Any = None
        self.best_objective_bound = 0.0

    def solve(self, model: CpModel) -> int:
        highs = highspy.Highs()
        highs.silent()
        highs.setOptionValue("threads", 1)
        highs.setOptionValue("time_limit", float(self.parameters.max_time_in_seconds))
        highs.setOptionValue("mip_rel_gap", 0.0)
        highs.setOptionValue("mip_abs_gap", 1e-6)
        costs = np.zeros(model.columns)
        for x, number in zip(model.costs.variables, model.costs.numbers, strict=True):
            costs[x.column] += number / 1e6  # in nats
        for column in range(model.columns):
            low = float(model.fixed.get(column, 0))
            high = float(model.fixed.get(column, 1))
            highs.addCol(costs[column], low, high, 0, np.array([], np.int32), np.array([]))
            highs.changeColIntegrality(column, highspy.HighsVarType.kInteger)
        for terms, low, high in model.rows:
            columns = np.array([column for column, _ in terms], np.int32)
            highs.addRow(low, high, len(terms), columns, np.array([n for _, n in terms], float))
        highs.run()
        status = highs.getModelStatus()
        info = highs.getInfo()
        self.best_objective_bound = 1e6 * info.mip_dual_bound
        if status in (
            highspy.HighsModelStatus.kInfeasible,
            highspy.HighsModelStatus.kUnboundedOrInfeasible,
        ):
            return INFEASIBLE
        if info.primal_solution_status != 2:  # none is feasible
            return UNKNOWN
        self.solution = highs.getSolution().col_value
        return OPTIMAL if status == highspy.HighsModelStatus.kOptimal else FEASIBLE

    def boolean_value(self, x: Variable) -> bool:
        return (self.solution[x.column] > 0.5) == x.positive

    def status_name(self, status: int) -> str:
        return ("optimal", "feasible", "infeasible", "unknown")[status]
