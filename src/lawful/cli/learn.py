"""``lawful rules learn``: weights of rules from scored documents with true labels.

Exit code 0: the weights are better than the defaults, and were written. 1: no gain can be shown, so
nothing was written, unless forced. 2: the rules or the input cannot be used.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from lawful.cli.commands import flag
from lawful.cli.groups import Without
from lawful.cli.options import Documents, PoolOption, RuleFile, Seed, load_rules
from lawful.cli.output import plural, reporting
from lawful.cli.score_tables import RunOptions, Skipped, score_table
from lawful.cli.terminal import figures, say
from lawful.io.atomic import atomic_text
from lawful.learn.learned_file import learned_text
from lawful.learn.weights import FOLDS, Learned, Measure, learn

EXAMPLE = "lawful rules learn scored.jsonl --rules rules.yaml --out learned.yaml"


def learn_weights(
    *,
    documents: Documents,
    rules: RuleFile,
    out: str | None = typer.Option(
        None, "--out", "-o", metavar="FILE", help="Rule file to write, if there is a gain."
    ),
    figures: str | None = typer.Option(
        None, metavar="FILE", help="Also write the figures as JSON."
    ),
    force: bool = flag("--force", help="Write the learned weights even if no gain can be shown."),
    measure: Measure | None = typer.Option(
        None,
        show_default="values, if there are any",
        help="What F1 is about: values of fields that rules read, or entities.",
    ),
    folds: int = typer.Option(FOLDS, metavar="N", min=2, help="Number of folds."),
    seed: Seed = 0,
    pool: PoolOption = None,
    run: Annotated[RunOptions, Without("workers")],
) -> None:  # fmt: skip
    """Learn the weights of rules, if unseen documents show that this is a gain."""
    loaded = load_rules(rules, None)
    skipped = Skipped()
    pages = run.pages(documents, pool, skipped, "learn from")
    learned = learn(pages, loaded, folds=folds, seed=seed, measure=measure)
    with reporting(figures) as (console, save):
        if not run.quiet:
            _print(learned, console)
        save({"documents": documents, "rules": str(rules), "seed": seed} | learned.record())
    shown = learned.gain.is_shown
    if out is not None and (shown or force):
        comments = [
            f"Weights learned by lawful from {plural(learned.pages, 'page')} with true labels "
            f"(seed {seed}); rules of {Path(rules).name}.",
            f"F1 of {learned.measure} on unseen pages, against the weights before: {learned.gain}"
            + ("" if shown else ": no gain can be shown"),
        ]
        with atomic_text(out) as file:
            file.write(learned_text(learned, comments))
    if not run.quiet:
        say(_verdict(learned, out, force))
    raise typer.Exit(0 if shown or (force and out is not None) else 1)


def _verdict(learned: Learned, out: str | None, force: bool) -> str:
    gain = f"F1 of {learned.measure} on unseen pages {learned.gain}"
    if learned.gain.is_shown:
        return f"a gain: {gain}" + ("" if out is None else f"; written to {out}")
    kept = "keep the weights that the rules have"
    if out is not None:
        kept += f"; written to {out}, since forced" if force else "; nothing is written"
    return f"no gain can be shown: {gain}; {kept}"


def _print(learned: Learned, console: Console) -> None:
    console.print(score_table(learned.boards))
    left = f", {learned.impossible:,} of them impossible" if learned.impossible else ""
    kept = (
        "the defaults" if learned.spread == 0 else f"spread {learned.spread:g} around the defaults"
    )
    console.print(
        f"\n{plural(learned.pages, 'page')}{left}; temperature {learned.temperature:.2f}; {kept}\n"
    )
    table = figures(["weight of"], ("before", "learned", "95 %", "F1 with it - without it"))
    worth = {(value.part, value.id): value.gain for value in learned.values}
    for weight in learned.weights:
        key = weight.parameter.part, weight.parameter.id
        if weight.is_changed or key in worth:
            table.add_row(
                weight.parameter.name,
                f"{weight.parameter.default:g}",
                f"{weight.value:.2f}",
                f"{weight.low:.2f} to {weight.high:.2f}",
                str(worth.get(key, "")),
            )
    console.print(table)
