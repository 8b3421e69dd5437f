"""``lawful rules mine``: rules that hold in true labels, as a rule file."""

from __future__ import annotations

import json
from pathlib import Path

import typer
from rich.table import Table

from lawful.base.errors import InputError
from lawful.cli.commands import flag
from lawful.cli.options import RULE_NAMES, Out, Quiet, Seed, rule_path
from lawful.cli.output import plural
from lawful.cli.terminal import figures, results_console, say
from lawful.evaluation.split import sample
from lawful.io.atomic import atomic_text
from lawful.io.jsonl import read_labelled
from lawful.learn.mined_file import how_said, mined_text
from lawful.learn.mining import Mined, mine
from lawful.learn.truth import HELD_OUT, guessed_rules
from lawful.rules.rule_set import Rules

EXAMPLE = "lawful rules mine gold.jsonl --fields-from rules.yaml --out mined.yaml"


def mine_rules(
    documents: Path = typer.Argument(
        ..., metavar="DOCUMENTS", help="Documents as JSON lines with true labels (gold)."
    ),
    fields: Path | None = typer.Option(
        None, "--fields-from", "-f", metavar="FILE", show_default="guessed from the labels",
        callback=rule_path,
        help=f"Rule file that defines the fields, and says what is known: a file, or one of "
        f"{RULE_NAMES}.",
    ),
    all_labels: bool = flag(
        "--all-labels", help="Also guess fields for labels that --fields-from lacks."
    ),
    out: Out = "-",
    figures: str | None = typer.Option(
        None, metavar="FILE", help="Also write the figures as JSON."
    ),
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:  # fmt: skip
    """Propose rules that hold in true labels, as a rule file with figures."""
    pages = list(read_labelled(documents))
    if not pages:
        raise InputError(f"no document in {documents}")
    known = None if fields is None else Rules.load(fields)
    rules = known if known is not None and not all_labels else guessed_rules(pages, known)
    found = mine(pages, rules, seed)
    out_of = sample([page.document.id for page in pages], HELD_OUT, seed)
    rest = sum(page.document.id in out_of for page in pages)
    comments = [
        f"Mined by lawful from {len(pages):,} pages with true labels: found on "
        f"{len(pages) - rest:,}, tested on the other {rest:,} (seed {seed}).",
        "By chance: with values of other pages, or of other words. Weights are suggestions.",
    ]
    with atomic_text(out) as file:
        file.write(mined_text(found, rules, comments))
    if figures is not None:
        with atomic_text(figures) as file:
            record = {"pages": len(pages), "seed": seed, "rules": [m.record() for m in found]}
            print(json.dumps(record, indent=1), file=file)
    if not quiet:
        console = results_console(stderr=True)
        console.print(_table(found))
        new = sum(how_said(each) != "said already" for each in found)
        say(f"{plural(len(found), 'rule')} of {plural(len(pages), 'page')}, {new} new or in part")


def _table(found: list[Mined]) -> Table:
    numbers = ("holds", "of", "share", "held out", "chance", "weight")
    table = figures((), numbers, ("known", "rule"))
    for each in found:
        table.add_row(
            f"{each.pages.holds:,}",
            f"{each.pages.of:,}",
            f"{each.pages.value:.1%}",
            f"{each.held_out.value:.1%}",
            f"{each.chance.value:.1%}",
            f"{each.weight:g}",
            how_said(each).removeprefix("said "),
            each.proposal.text,
        )
    return table
