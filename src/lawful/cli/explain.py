"""``lawful explain``: one document, before and after the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice, starmap
from math import exp, isinf

import typer
from msgspec.structs import replace
from rich.console import Console

from lawful import _core
from lawful.base.errors import InputError
from lawful.cli.error_summary import Complaints
from lawful.cli.options import BadLinesOption, Documents, PythonFile, RuleFile, load_rules
from lawful.cli.terminal import results_console
from lawful.documents.records import Scored
from lawful.io.jsonl import read_jsonl
from lawful.pipeline.call import Call, DecodeOptions
from lawful.results.decoding import Decoding, describe_difference, differences
from lawful.rules.judging.checks import RuleCounts
from lawful.rules.rule_set import Rules
from lawful.search.problem import Problem

EXAMPLE = "lawful explain scored.jsonl --rules rules.yaml --id receipt-7"

THREE = DecodeOptions(alternatives=3)


def explain(
    documents: Documents,
    rules: RuleFile,
    python: PythonFile = None,
    id_: str | None = typer.Option(
        None, "--id", metavar="ID", show_default="the first one", help="Document to explain."
    ),
    how: DecodeOptions = THREE,
    bad_lines: BadLinesOption = "skip",
) -> None:
    """Explain one decoding: the model's answer, the changes, their cost, the alternatives."""
    call = replace(how, alternatives=0).call(load_rules(rules, python))
    with Complaints(bad_lines, Counter()) as complaints:
        some: Iterator[Scored] = complaints.without_bad(read_jsonl(documents, "yield"))
        for scored in some:
            if id_ is None or scored.document.id == id_:
                _explain(call.given(scored), call, how.alternatives)
                return
    raise InputError(f"no document{'' if id_ is None else f' {id_!r}'} in {documents}")


def _explain(scored: Scored, call: Call, alternatives: int) -> None:
    console = results_console()
    console.soft_wrap = True
    problem = Problem(scored.document, scored.scores, call.rules)
    console.print(f"{scored.document.id}: {len(scored.document)} words")
    _explain_argmax(console, problem)
    decoding = call.decode(scored)
    why = f" ({decoding.chosen})" if decoding.chosen else ""
    console.print(f"\ndecoded by {decoding.decoder}{why}:", style="bold")
    console.print(str(decoding))
    _explain_rows(console, problem, decoding)
    if alternatives and scored.scores.chain is None:
        ranked = Call(call.rules, budget=call.budget, alternatives=alternatives).decode(scored)
        _explain_alternatives(console, ranked, call.rules, alternatives)
    _explain_candidates(console, problem)


def _explain_argmax(console: Console, problem: Problem) -> None:
    """The model's answer, and the rules' verdict on it."""
    checks = problem.judge.checks(problem.judge.settled(problem.argmax)[0])
    legal = problem.scheme.allows(problem.argmax)
    console.print("\nthe model's answer:", style="bold")
    console.print(
        f"  p = {exp(problem.log_prob(problem.argmax)):.2g}, {'' if legal else 'il'}legal, "
        f"{RuleCounts.of(checks)}"
    )
    for found in checks:
        console.print(f"  {found}")


def _explain_rows(console: Console, problem: Problem, decoding: Decoding) -> None:
    """The rows of the answer, and what tells which words form one."""
    for kind in problem.judge.rules.rows:
        source = f"a row begins with {kind.starts or kind.fields[0]}"
        if kind.starts is None and problem.judge.row_numbers is not None:
            source = "by row ids" if problem.document.rows is not None else "by printed lines"
        console.print(f"\nrows of {kind.name}, {source}:", style="bold")
        for number, row in enumerate(decoding.rows(kind.name), 1):
            values = ", ".join(f"{name} {value.text}" for name, value in row.items())
            console.print(f"  {number}. {values}")


def _explain_alternatives(console: Console, best: Decoding, rules: Rules, wanted: int) -> None:
    """The next best decodings, by their differences from the best one, and the confidences."""
    console.print("\nthe next best values:", style="bold")
    single = {f.name for f in rules.fields if not f.many}
    for other in best.alternatives:
        changes = starmap(describe_difference, differences(best, other, single))
        violated = ", ".join(check.id for check in other.violations)
        console.print(
            f"  {best.worth - other.worth:.2f} nats worse: {'; '.join(changes)}"
            f"{f' (violates {violated})' if violated else ''}"
        )
    if len(best.alternatives) < wanted:
        cut = best.stopped_by is not None or not best.optimal
        console.print("  no others within the budget" if cut else "  no others")
    if best.confidence:
        console.print("\nconfidence of each field:", style="bold")
    for name, sure in best.confidence.items():
        console.print(f"  {name}: {sure}")


def _explain_candidates(console: Console, problem: Problem) -> None:
    """The most probable legal labellings, and the rules' verdict on each."""
    console.print("\nthe most probable legal labellings, as the rules judge them:", style="bold")
    words = problem.document.words
    best = problem.names(problem.argmax if problem.best_legal is None else problem.best_legal)
    stream = _core.paths(problem.costs, problem.scheme.transitions)
    for rank, (labels, log_prob) in enumerate(islice(stream, 6), 1):
        penalty = problem.judge.cost(labels).most
        verdict = "refused" if isinf(penalty) else f"- {penalty:g} nats" if penalty else "accepted"
        changes = "; ".join(
            f"{word} {before} -> {now}"
            for word, before, now in zip(words, best, problem.names(labels), strict=True)
            if before != now
        )
        console.print(f"  {rank}. log p = {log_prob:8.3f}  {verdict:<12} {changes or 'best'}")
