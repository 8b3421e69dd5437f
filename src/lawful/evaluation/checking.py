"""The rules' verdict on given labels, without decoding: a line of ``lawful check``."""

from __future__ import annotations

from math import inf
from typing import Literal, TypeAlias

from lawful.base.errors import InputError
from lawful.documents.records import UNKNOWN, Labelled, Scored
from lawful.evaluation.scoreboard import gold_verdict, verdict_on
from lawful.results.wire import Checked, CheckedLine, ValueData, check_data, counts
from lawful.rules.judging.checks import Check
from lawful.rules.language.patterns import one_document
from lawful.rules.rule_set import Rules
from lawful.search.problem import Problem

Source: TypeAlias = Literal["gold", "argmax", "legal"]
"""The labels to judge: the true ones, the most probable ones, or the most probable legal ones."""


@one_document
def check_record(
    scored: Scored | Labelled, rules: Rules, labels: Source
) -> tuple[CheckedLine, list[Check]]:
    """The rules' verdict on a document's labels, as a line and as checks.

    Raises an ``InputError`` if there are no labels to judge, a ``RuleFailure`` if a rule fails.
    """
    if labels == "gold":
        if scored.gold is None:
            raise InputError(f"document {scored.document.id!r} has no gold labels to judge")
        if UNKNOWN in scored.gold:
            raise InputError(
                f"document {scored.document.id!r}: gold of word {scored.gold.index(UNKNOWN)} is "
                f"{UNKNOWN!r}, unknown: such documents are for training only"
            )
        judge, verdict = gold_verdict(scored, rules)
    elif isinstance(scored, Labelled):
        raise InputError(f"document {scored.document.id!r} has no scores")
    else:
        problem = Problem(scored.document, scored.scores, rules, keep=False)
        best = problem.best_legal if labels == "legal" else None
        judge = problem.judge
        verdict = verdict_on(judge, problem.argmax if best is None else best)
    checks = verdict.checks
    if not verdict.legal:
        message = "the labels are not legal"
        checks.append(Check("legal", "violated", message, price=inf, implied=True))
    status: Checked = "violated" if verdict.violated else "satisfied"
    if verdict.is_unchecked:
        status = "unchecked"
    if verdict.legal and not verdict.is_decided:
        status = "undecided"  # the texts have more possible values than could be tried
    fields = {
        name: [ValueData(text=v.text, value=v.value, words=v.words) for v in values]
        for name, values in judge.fields(verdict.reading).items()
    }
    record = CheckedLine(
        id=scored.document.id,
        status=status,
        **counts(checks),
        fields=fields,
        checks=list(map(check_data, checks)),
    )
    return record, checks
