"""Auto: picks the decoder by what the rules are, and says why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from lawful.decoders.exact import Exact
from lawful.decoders.paths import Paths
from lawful.decoders.search import Problem
from lawful.decoding import Budget, Decoding
from lawful.rules.compile import plan_of
from lawful.rules.model import Rules


@dataclass(frozen=True, slots=True)
class Auto:
    """The default: exact, unless a rule does not say what it reads."""

    name: ClassVar[str] = "auto"
    exact: ClassVar[bool] = True
    default_budget: ClassVar[Budget] = Exact.default_budget

    def decode(self, problem: Problem, budget: Budget) -> Decoding:
        decoder, why = self.choose(problem.judge.rules)
        if decoder.name == "paths" and budget == self.default_budget:
            budget = decoder.default_budget
        return replace(decoder.decode(problem, budget), chosen=why)

    def decode_ranked(self, problem: Problem, budget: Budget, alternatives: int) -> Decoding:
        """With the next best decodings; these need readings, whatever the rules are."""
        return Exact().decode_ranked(problem, budget, alternatives)

    @staticmethod
    def choose(rules: Rules) -> tuple[Exact | Paths, str]:
        """The decoder for these rules, and why."""
        blind = [r.id for r in rules.compiled if r.function is not None and not r.reads]
        if blind:
            return Paths(), f"rule {blind[0]} does not say which fields it reads"
        python = plan_of(rules).python
        if not python:
            return Exact(), "every rule is compiled"
        return Exact(), f"readings by what rules see; in Python: {', '.join(r.id for r in python)}"
