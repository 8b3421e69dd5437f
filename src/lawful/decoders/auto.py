"""Auto: picks the decoder that suits the rules and the scores, and says why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from lawful.decoders.exact import Exact
from lawful.decoders.paths import Paths
from lawful.results.decoding import Budget, Decoding
from lawful.rules.compiled.plan import plan_of
from lawful.rules.rule_set import Rules
from lawful.search.problem import Problem


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
        if problem.scores.chain is not None:
            decoder, why = Paths(), "the scores have transitions"
        problem.chosen = why
        return decoder.decode(problem, budget.filled(decoder.default_budget))

    def decode_ranked(self, problem: Problem, budget: Budget, alternatives: int) -> Decoding:
        """What ``decode`` finds, with what ``exact`` knows of its values.

        If ``exact`` has another answer, nothing is known.
        """
        decoder, why = self.choose(problem.judge.rules)
        ranked = Exact().decode_ranked(problem, budget.filled(Exact.default_budget), alternatives)
        if isinstance(decoder, Exact):
            return replace(ranked, chosen=why)
        found = self.decode(problem, budget)
        if found.fields != ranked.fields or found.classes != ranked.classes:
            return found
        margin = ranked.margin if found.optimal else None
        return replace(
            found, alternatives=ranked.alternatives, confidence=ranked.confidence, margin=margin
        )

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
