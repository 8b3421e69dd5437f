"""``lawful rules debug``: where true labels break rules, and why.

Exit code 0: all rules are fine on all pages. 1: some are not. 2: the rules or the input cannot be
used.
"""

from __future__ import annotations

from pathlib import Path

import typer
from rich.console import Console

from lawful.base.errors import InputError
from lawful.cli.options import PythonFile, Quiet, Report, RuleFile, Seed, load_rules
from lawful.cli.output import plural, reporting
from lawful.cli.terminal import say
from lawful.documents.records import Labelled
from lawful.evaluation.scoreboard import scheme_of
from lawful.io.atomic import atomic_text
from lawful.io.jsonl import read_labelled
from lawful.learn.debugging import Finding, debug
from lawful.learn.diagnosis import CAUSES
from lawful.report.rule_page import write_rule_page
from lawful.rules.judging.field_reader import FieldValue
from lawful.rules.judging.judge import Judge
from lawful.rules.rule_set import Rules

EXAMPLE = "lawful rules debug gold.jsonl --rules rules.yaml --html rules.html"


def debug_rules(
    *,
    documents: Path = typer.Argument(
        ..., metavar="DOCUMENTS", help="Documents as JSON lines with true labels (gold)."
    ),
    rules: RuleFile,
    python: PythonFile = None,
    out: Report = None,
    html: str | None = typer.Option(None, metavar="FILE", help="Also write a page to look at."),
    examples: int = typer.Option(2, metavar="N", min=0, help="Pages to print for each cause."),
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Find pages whose true labels break a rule, grouped by cause, and rules of no use."""
    loaded = load_rules(rules, python)
    pages = list(read_labelled(documents))
    if not pages:
        raise InputError(f"no document in {documents}")
    findings = debug(pages, loaded, seed)
    with reporting(out) as (console, save):
        if not quiet:
            for finding in findings:
                _print(finding, examples, console)
        save(
            {
                "documents": str(documents),
                "rules": str(rules),
                "pages": len(pages),
                "findings": [finding.record() for finding in findings],
            }
        )
    if html is not None:
        with atomic_text(html) as file:
            title = f"{Path(rules).stem} on {documents.name}"
            write_rule_page(file, findings, pages, _true_values(pages, loaded), title)
    fine = sum(finding.is_fine for finding in findings if not finding.implied)
    count = sum(not finding.implied for finding in findings)
    if not quiet:
        say(f"{plural(len(pages), 'page')}, {plural(count, 'rule')}: {fine} fine")
    raise typer.Exit(0 if all(finding.is_fine for finding in findings) else 1)


def _true_values(pages: list[Labelled], rules: Rules) -> list[dict[str, list[FieldValue]]]:
    scheme = scheme_of(pages, rules)
    judges = [(Judge(page.document, rules, scheme), page.gold) for page in pages]
    return [judge.fields(judge.settled(scheme.indices(gold))[0]) for judge, gold in judges]


def _print(finding: Finding, examples: int, console: Console) -> None:
    checked = finding.satisfied + finding.violated
    share = f"{finding.satisfied:,} of {checked:,} pages hold, {finding.vacuous:,} vacuous"
    if finding.implied:
        share = f"violated on {plural(finding.violated, 'page')}"
    text = "" if finding.implied or finding.text == finding.id else f": {finding.text}"
    console.print(f"{finding.id}{text}\n  {share}", soft_wrap=True)
    if finding.never:
        console.print(f"  never applies: {finding.never}")
    if finding.is_wrong:
        console.print("  holds nowhere: the rule is probably wrong")
    if finding.implied_by:
        console.print(f"  implied by {', '.join(finding.implied_by)}, as far as values show")
    if finding.against:
        console.print(f"  never holds together with {', '.join(finding.against)}")
    for group in finding.groups:
        detail = f" ({group.detail})" if group.detail else ""
        console.print(f"  {len(group.pages):,} {CAUSES[group.cause]}{detail}", soft_wrap=True)
        if group.advice:
            console.print(f"      {group.advice}", soft_wrap=True)
        for each in group.pages[:examples]:
            more = f" [{each.reason.detail}]" if each.reason.detail and not detail else ""
            console.print(f"      {each.id}: {each.message}{more}", soft_wrap=True)
