"""``lawful check``: the rules' verdict on given labels, without decoding."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Annotated, Any, Literal, TypeAlias

import typer

from lawful.batch import Preparation, bad_line
from lawful.cli.complaints import Complaints
from lawful.cli.options import (
    BadLinesOption,
    Documents,
    Out,
    PoolOption,
    PythonFile,
    Quiet,
    RuleFile,
    UncheckedOption,
    load_rules,
)
from lawful.cli.output import Progress, leave, summarise
from lawful.cli.tally import Tally, counts_of
from lawful.decoding import check_dict
from lawful.document import Scored, SpanScored
from lawful.errors import InputError, LawfulError
from lawful.evaluation import gold_verdict, verdict_on
from lawful.io.atomic import atomic_text
from lawful.io.jsonl import encode, read_any
from lawful.rules.checks import Check
from lawful.rules.rule_set import Rules
from lawful.search.problem import Problem

EXAMPLE = "lawful check scored.jsonl --rules rules.yaml --labels argmax"

Source: TypeAlias = Literal["gold", "argmax", "legal"]


def check(
    documents: Documents,
    rules: RuleFile,
    python: PythonFile = None,
    out: Out = "-",
    labels: Annotated[
        Source,
        typer.Option(
            help="Labels to judge: the true ones (gold), the most probable label of every word "
            "(argmax), or the most probable legal labelling (legal)."
        ),
    ] = "gold",
    pool: PoolOption = None,
    bad_lines: BadLinesOption = "skip",
    unchecked: UncheckedOption = "fail",
    quiet: Quiet = False,
) -> None:
    """Check labels against rules, without decoding."""
    loaded = load_rules(rules, python)
    records = Preparation(pool).apply_to_any(read_any(documents))
    tally = Tally()
    with (
        atomic_text(out) as file,
        Progress(quiet=quiet) as progress,
        Complaints(bad_lines, tally) as complaints,
    ):
        some: Iterator[Scored | SpanScored] = complaints.without_bad(progress.documents(records))
        for scored in some:
            try:
                record, checks = _judge(scored, loaded, labels)
            except LawfulError as error:
                complaints.add(bad_line(scored, str(error)))
                continue
            tally.update(counts_of(record["status"], checks))
            file.write(encode(record).decode() + "\n")
    if not quiet:
        summarise(tally)
    leave(tally, unchecked)


def _judge(
    scored: Scored | SpanScored, rules: Rules, labels: Source
) -> tuple[dict[str, Any], list[Check]]:
    """The rules' verdict on a document's labels, as plain values and as checks."""
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
