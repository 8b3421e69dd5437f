"""Auto: picks the decoder that suits the rules and the scores, and says why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from lawful.decoders.exact import Exact
from lawful.decoders.paths import Paths
from lawful.decoding import Budget, Decoding
from lawful.rules.plan import plan_of
from lawful.rules.rule_set import Rules
from lawful.search.problem import Problem
from lawful.span_scores import SpanScores


@dataclass(frozen=True, slots=True)
class Auto:
    """The default: ``exact``, or ``paths`` for scores with transitions or rules without ``reads``.

    Returns the chosen decoder's decoding, with the reason for the choice in ``chosen``. The default
    budget is that of the chosen decoder.
    """

    name: ClassVar[str] = "auto"
    exact: ClassVar[bool] = True
    spans: ClassVar[bool] = True
    chains: ClassVar[bool] = True
    default_budget: ClassVar[Budget] = Budget()

    def decode(self, problem: Problem, budget: Budget) -> Decoding:
        decoder, why = self.choose(problem.judge.rules)
        if not isinstance(problem.scores, SpanScores) and problem.scores.chain is not None:
            decoder, why = Paths(), "the scores have transitions"
        problem.chosen = why
        return decoder.decode(problem, budget.filled(decoder.default_budget))

    def decode_ranked(self, problem: Problem, budget: Budget, alternatives: int) -> Decoding:
        """Always ``exact``: alternatives differ in their readings, which only it searches."""
        decoding = Exact().decode_ranked(problem, budget.filled(Exact.default_budget), alternatives)
        return replace(decoding, chosen="it finds alternatives")

    @staticmethod
    def choose(rules: Rules) -> tuple[Exact | Paths, str]:
        """The decoder for these rules, and the reason."""
        blind = [r.id for r in rules.parsed if r.function is not None and not r.reads]
        if blind:
            return Paths(), f"rule {blind[0]!r} does not say which fields it reads"
        python = [repr(rule.id) for rule in plan_of(rules).python]
        if not python:
            return Exact(), "every rule is compiled"
        return Exact(), f"every rule is compiled except {', '.join(python)}, judged in Python"
