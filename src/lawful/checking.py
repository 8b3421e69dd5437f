"""The rules' verdict on given labels, without decoding: a line of ``lawful check``."""

from __future__ import annotations

from math import inf
from typing import Any, Literal, TypeAlias

from lawful.decoding import check_dict
from lawful.document import Scored, SpanScored
from lawful.errors import InputError
from lawful.evaluation import gold_verdict, verdict_on
from lawful.rules.checks import Check
from lawful.rules.patterns import one_document
from lawful.rules.rule_set import Rules
from lawful.search.problem import Problem

Source: TypeAlias = Literal["gold", "argmax", "legal"]
"""The labels to judge: the true ones, the most probable ones, or the most probable legal ones."""


@one_document
def check_record(
    scored: Scored | SpanScored, rules: Rules, labels: Source
) -> tuple[dict[str, Any], list[Check]]:
    """The rules' verdict on a document's labels, as plain values and as checks.

    Raises an ``InputError`` if there are no labels to judge, a ``RuleFailure`` if a rule fails.
    """
    problem = Problem(scored.document, scored.scores, rules, keep=False)
    if labels == "gold":
        if scored.gold is None:
            raise InputError(f"document {scored.document.id!r} has no gold labels to judge")
        judge, verdict = gold_verdict(scored, rules)
    else:
        best = problem.best_legal if labels == "legal" else None
        judge = problem.judge
        verdict = verdict_on(judge, problem.argmax if best is None else best)
    checks = verdict.checks
    if not verdict.legal:
        message = "the labels are not legal"
        checks.append(Check("legal", "violated", message, price=inf, implied=True))
    status = "violated" if verdict.violated else "satisfied"
    if verdict.is_unchecked:
        status = "unchecked"
    if verdict.legal and not verdict.is_decided:
        status = "undecided"  # the texts have more possible values than could be tried
    fields = {
        name: [{"text": v.text, "value": v.value, "words": v.words} for v in values]
        for name, values in judge.fields(verdict.reading).items()
    }
    record = {
        "id": scored.document.id,
        "status": status,
        "checked": len(verdict.states) - verdict.states.count("vacuous"),
        "rules": len(verdict.states),
        "fields": fields,
        "checks": [check_dict(c) for c in checks],
    }
    return record, checks
