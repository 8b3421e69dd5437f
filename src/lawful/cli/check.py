"""``lawful check``: the rules' verdict on given labels, without decoding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from lawful.batch import Preparation, bad_line
from lawful.checking import Source, check_record
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
from lawful.document import Scored, SpanScored
from lawful.errors import LawfulError
from lawful.io.atomic import atomic_text
from lawful.io.jsonl import encode, read_any

EXAMPLE = "lawful check scored.jsonl --rules rules.yaml --labels argmax"


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
                record, checks = check_record(scored, loaded, labels)
            except LawfulError as error:
                complaints.add(bad_line(scored, str(error)))
                continue
            tally.update(counts_of(record["status"], checks))
            file.write(encode(record).decode() + "\n")
    if not quiet:
        summarise(tally)
    leave(tally, unchecked)
