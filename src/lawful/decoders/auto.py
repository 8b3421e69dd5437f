"""Auto: picks the decoder by what the rules are, and says why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from lawful.decoders.exact import Exact
from lawful.decoders.paths import Paths
from lawful.decoding import Budget, Decoding
from lawful.rules.definitions import Rules
from lawful.rules.plan import plan_of
from lawful.search.problem import Problem


@dataclass(frozen=True, slots=True)
class Auto:
    """The default: exact, unless a rule does not say what it reads. Its budget is the chosen one's.

    What comes back is what the chosen decoder gives, with the reason in ``chosen``.
    """

    name: ClassVar[str] = "auto"
    exact: ClassVar[bool] = True
    chains: ClassVar[bool] = True
    default_budget: ClassVar[Budget] = Budget()

    def decode(self, problem: Problem, budget: Budget) -> Decoding:
        decoder, why = self.choose(problem.judge.rules)
        if problem.scores.chain is not None:
            decoder, why = Paths(), "the scores have transitions"
        decoding = decoder.decode(problem, budget.filled(decoder.default_budget))
        return replace(decoding, chosen=why)

    def decode_ranked(self, problem: Problem, budget: Budget, alternatives: int) -> Decoding:
        """With the next best decodings, which only readings can tell apart."""
        decoding = Exact().decode_ranked(problem, budget.filled(Exact.default_budget), alternatives)
        return replace(decoding, chosen="it finds alternatives")

    @staticmethod
    def choose(rules: Rules) -> tuple[Exact | Paths, str]:
        """The decoder for these rules, and why."""
        blind = [r.id for r in rules.parsed if r.function is not None and not r.reads]
        if blind:
            return Paths(), f"rule {blind[0]!r} does not say which fields it reads"
        python = [repr(rule.id) for rule in plan_of(rules).python]
        if not python:
            return Exact(), "every rule is compiled"
        return Exact(), f"every rule is compiled but {', '.join(python)}, judged in Python"
