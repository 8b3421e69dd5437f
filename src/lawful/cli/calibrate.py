"""``lawful calibrate``: a temperature at which a model's confidence matches its accuracy.

Exit code 0: a temperature was fitted. 1: the same, but a line was bad. 2: nothing to fit on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import inf, isinf
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from lawful.base.errors import InputError
from lawful.cli.counts import BAD
from lawful.cli.groups import Without
from lawful.cli.options import Documents, PythonFile, Report, Seed, load_rules, rules_option
from lawful.cli.output import plural, reporting
from lawful.cli.score_tables import RunOptions, Skipped, score_table
from lawful.cli.terminal import figures, say
from lawful.documents.records import Scored
from lawful.evaluation.calibration import (
    BINS,
    COLDEST,
    HOTTEST,
    Bin,
    Fit,
    Reliability,
    Words,
    fit_temperature,
    measure,
)
from lawful.evaluation.report import boards_record
from lawful.evaluation.scoreboard import Scoreboard
from lawful.evaluation.split import sample
from lawful.pipeline.batch import decode_records
from lawful.pipeline.call import Call, DecodeOptions
from lawful.rules.rule_set import Rules

EXAMPLE = "lawful calibrate scored.jsonl --rules rules.yaml"


def calibrate(
    documents: Documents,
    out: Report = None,
    share: float = typer.Option(0.5, metavar="P", help="Share of the documents to fit on."),
    seed: Seed = 0,
    rules: Annotated[
        Path | None, rules_option("Also decode the held-out documents under these rules")
    ] = None,
    python: PythonFile = None,
    *,
    how: Annotated[DecodeOptions, Without("alternatives", "confidence", "needs", "temperature")],
    run: RunOptions,
) -> None:
    """Fit a temperature on documents with gold labels, and measure it on the others."""
    if rules is None and python is not None:
        raise InputError("--python adds to the rules of --rules, which is not given")
    call = how.call(Rules(()) if rules is None else load_rules(rules, python))
    skipped = Skipped()
    with reporting(out) as (console, save):
        pages = run.pages(documents, how.pool, skipped, "fit on")
        chosen = sample([page.document.id for page in pages], share, seed)
        fitted = [page for page in pages if page.document.id in chosen]
        rest = [page for page in pages if page.document.id not in chosen]
        words, tested = Words.of(fitted), Words.of(rest or fitted)
        fit = fit_temperature(words)
        temperature = float(f"{fit.temperature:.3g}")  # as printed, for the user to type
        before, after = measure(tested), measure(tested, temperature)
        _say_fit(console, fit, len(fitted), words)
        _say_measured(console, len(rest), before, after)
        boards: dict[str, Scoreboard] = {}
        tried: dict[str, list[int]] = {}
        if rules is not None:
            boards, tried = _boards(rest or fitted, call, (1.0, temperature), skipped, run)
            _say_effect(console, call, temperature, boards, tried)
        console.print(f"\nto use it: --temperature {temperature:g}")
        save(
            {
                "documents": documents,
                "pool": how.pool,
                "share": share,
                "seed": seed,
                "temperature": temperature,
                "at_edge": fit.at_edge,
                "fitted_on": {
                    "documents": len(fitted),
                    "words": len(words),
                    "impossible": words.impossible,
                },
                "held_out": len(rest),
                "before": before.record(),
                "after": after.record(),
                "decoded": boards_record(boards) | {"tried": tried} if boards else None,
                "skipped": dict(skipped),
            }
        )
    if skipped.total() and not run.quiet:
        say(f"left out: {skipped}")
    raise typer.Exit(1 if skipped[BAD] else 0)


def _boards(
    pages: list[Scored],
    call: Call,
    temperatures: Iterable[float],
    skipped: Skipped,
    run: RunOptions,
) -> tuple[dict[str, Scoreboard], dict[str, list[int]]]:
    """Scoreboards of the same pages at each temperature, and the candidates tried for each page.

    Empty if no page can be decoded at every temperature.
    """
    runs = []
    for temperature in temperatures:
        call = replace(call, temperature=temperature)
        results = decode_records(pages, call, workers=run.workers)
        found = run.made(results, skipped, lambda scored, it: (scored, it))
        runs.append((temperature, {scored.line: (scored, it) for scored, it in found}))
        pages = [page for page in pages if page.line in runs[-1][1]]
    boards, tried = {}, {}
    for temperature, found_by_line in runs if pages else ():
        name = f"temperature {temperature:g}"
        boards[name] = board = Scoreboard(call.rules)
        for page in pages:
            board.add(*found_by_line[page.line])
        tried[name] = [found_by_line[page.line][1].tried for page in pages]
    return boards, tried


def _say_fit(console: Console, fit: Fit, documents: int, words: Words) -> None:
    console.print(
        f"temperature {fit.temperature:.3g}, fitted on {plural(documents)}, {len(words):,} words"
    )
    if fit.at_edge:
        console.print(
            f"this is an end of the range that was searched, {COLDEST:g} to {HOTTEST:g}: "
            + (
                "the model is right about (nearly) all of these words; fit on more documents"
                if fit.temperature == COLDEST
                else "the model's probabilities carry no information about these words"
            )
        )
    if words.impossible:
        console.print(
            f"left out: {words.impossible:,} of these words, whose true label has probability zero "
            "at any temperature"
        )


def _say_measured(console: Console, held_out: int, before: Reliability, after: Reliability) -> None:
    which = (
        f"{plural(held_out)} held out"
        if held_out
        else "the same document, which says nothing about others"
    )
    console.print(
        f"\nmeasured on {which}, {before.words:,} words, best label right for {before.accuracy:.1%}"
    )
    table = figures([""], (f"temperature {each.temperature:g}" for each in (before, after)))
    mean = "mean negative log-likelihood"
    if before.impossible:
        mean += f" (without {before.impossible:,} words for which it is infinite)"
    table.add_row(mean, *(f"{found.nll:.4f}" for found in (before, after)))
    table.add_row("mean confidence", *(f"{100 * f.confidence:.1f} %" for f in (before, after)))
    table.add_row(
        f"expected calibration error (top label, {BINS} bins)",
        *(f"{100 * found.ece:.2f} %" for found in (before, after)),
    )
    console.print(table)
    if after.nll < before.nll and after.ece > before.ece:
        console.print(
            "the likelihood is higher and yet the calibration worse: the model is overconfident on "
            "some words\nand underconfident on others (often with pooled word pieces), which no "
            "single temperature corrects"
        )
    console.print()
    console.print(_reliability_table(before, after))


def _reliability_table(before: Reliability, after: Reliability) -> Table:
    """Accuracy of the best label by bin of confidence, at both temperatures."""
    table = figures(["bin"], 2 * ("words", "confidence", "accuracy", "gap"))
    sides = [{found.low: found for found in side.bins} for side in (before, after)]
    for low in sorted({*sides[0], *sides[1]}):
        table.add_row(
            f"{100 * low:3.0f} - {100 * (low + 1 / BINS):3.0f} %",
            *(cell for side in sides for cell in _bin_cells(side.get(low))),
        )
    return table


def _bin_cells(found: Bin | None) -> tuple[str, ...]:
    if found is None:
        return ("",) * 4
    shares = (found.confidence, found.accuracy, found.gap)
    return f"{found.words:,}", *(f"{100 * share:.1f}" for share in shares)


def _say_effect(
    console: Console,
    call: Call,
    temperature: float,
    boards: dict[str, Scoreboard],
    tried: dict[str, list[int]],
) -> None:
    if not boards:
        console.print("\nnone of these documents can be decoded under the rules")
        return
    console.print("\nunder the rules:")
    table = score_table(boards)
    shares = (50, 95, 100)
    numbers = (np.percentile(each, shares, method="higher") for each in tried.values())
    table.add_row(
        "candidates tried: median / 95 % / maximum",
        *(" / ".join(f"{number:,.0f}" for number in each) for each in numbers),
    )
    console.print(table)
    if priced := _prices_in_nats(call):
        console.print(
            f"not scaled by the temperature: {', '.join(priced)}; at {temperature:g}, they count\n"
            f"{temperature:g} times as much against the model's log-probabilities as at 1"
        )
    elif not call.by_field and (call.budget is None or call.budget.mass is None):
        console.print(
            "a temperature cannot change these answers: it scales all costs alike, and these rules "
            "are all hard"
        )


def _prices_in_nats(call: Call) -> list[str]:
    """The settings that compare a number of nats with the model's log-probabilities."""
    rules, budget = call.rules, call.budget
    implied = (rules.defaults.weight, *rules.defaults.weights.values())
    weights = [*implied, *(rule.weight for rule in rules.parsed)]
    own = [order.weight for order in rules.orders] + [words.weight for words in rules.words]
    own += [rules.boundaries.weight] if rules.boundaries else []
    weights += [weight for weight in own if weight is not None]
    found = {
        "weights": not all(map(isinf, weights)),
        "unchecked": any(rule.unchecked not in (0, inf) for rule in rules.parsed),
        "ambiguity": any(f.ambiguity not in (None, 0, inf) for f in rules.fields),
        "--max-cost": budget is not None and budget.max_cost is not None,
    }
    return [name for name, is_used in found.items() if is_used]
