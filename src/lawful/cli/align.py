"""``lawful align``: gold labels from true values.

Exit code 0: all documents were aligned. 1: a line was bad. 2: no document has true values.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lawful.cli.options import BackendOption, Device, rules_option
from lawful.cli.output import plural
from lawful.cli.scoring import load_tagger
from lawful.cli.terminal import results_console, say, warn
from lawful.cli.truth_files import Columns, TruthOption, labels_in_words, read_known, table_of
from lawful.io.jsonl import write_labelled
from lawful.learn.align import align_scored
from lawful.learn.align.aligning import MARGIN
from lawful.models.extraction import check_labels
from lawful.models.teaching import align_all
from lawful.rules.rule_set import Rules

EXAMPLE = "lawful align documents.jsonl --truth values.csv --rules rules.yaml --out labelled.jsonl"


def align(
    *,
    documents: Path = typer.Argument(..., metavar="DOCUMENTS", help="Documents as JSON lines."),
    rules: Annotated[Path, rules_option("Fields and rules")],
    out: Path = typer.Option(
        ..., "--out", "-o", metavar="FILE", help="Labelled documents, for training."
    ),
    truth: TruthOption = None,
    column: Columns = None,
    margin: float = typer.Option(
        MARGIN, metavar="NATS",
        help="How much better a choice must be than any other; what is closer stays open.",
    ),
    model: str | None = typer.Option(
        None, "--model", "-m", metavar="MODEL", show_default="one that the values teach",
        help="Choose among the occurrences of a value by the scores of this model: a folder, or a "
        "name on the hub.",
    ),
    device: Device = None,
    backend: BackendOption = None,
) -> None:  # fmt: skip
    """Label the words that carry true values, for training.

    Without --truth, documents bring their values themselves, as e-invoices do. A word that may or
    may not be the field has the label ?, and training leaves it out.
    """
    loaded = Rules.load(rules)
    known = read_known(documents, truth, loaded, column or ())
    if model is None:
        aligned = align_all(known.documents, known.truths, loaded, margin=margin)
    else:
        tagger = load_tagger(model, device, backend)
        check_labels(loaded, tagger, warn)
        scored = tagger.predict(known.documents)
        aligned = align_scored(scored, known.truths, loaded, margin=margin)
    write_labelled(out, (each.labelled for each in aligned))
    results_console(stderr=True).print(table_of(aligned, loaded))
    say(f"{out}: {plural(len(aligned))}; {labels_in_words(aligned)}")
    if known.without:
        say(f"{plural(known.without)} left out, without true values")
    raise typer.Exit(1 if known.bad else 0)
