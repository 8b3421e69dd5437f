"""``lawful check``: the rules' verdict on given labels, without decoding."""

from __future__ import annotations

from collections.abc import Iterator

import typer

from lawful.base.errors import LawfulError
from lawful.cli.counts import Tally, counts_of
from lawful.cli.error_summary import Complaints
from lawful.cli.options import (
    Documents,
    EndOptions,
    LinesOut,
    PoolOption,
    PythonFile,
    RuleFile,
    load_rules,
)
from lawful.cli.output import Progress, leave
from lawful.documents.records import FailedDocument, Labelled, Scored
from lawful.documents.scores import Pooling
from lawful.evaluation.checking import Source, check_record
from lawful.io.atomic import atomic_text
from lawful.io.jsonl import encode, read_jsonl, read_judged
from lawful.pipeline.call import in_words

EXAMPLE = "lawful check scored.jsonl --rules rules.yaml --labels argmax"


def check(
    documents: Documents,
    rules: RuleFile,
    python: PythonFile = None,
    out: LinesOut = "-",
    labels: Source = typer.Option(
        "gold",
        help="Labels to judge: the true ones (gold), the most probable label of every word "
        "(argmax), or the most probable legal labelling (legal).",
    ),
    pool: PoolOption = None,
    *,
    end: EndOptions,
) -> None:  # fmt: skip
    """Check labels against rules, without decoding."""
    loaded = load_rules(rules, python)
    records = _records(documents, labels, pool)
    tally = Tally()
    with (
        atomic_text(out) as file,
        Progress(quiet=end.quiet) as progress,
        Complaints(end.bad_lines, tally) as complaints,
    ):
        some: Iterator[Scored | Labelled] = complaints.without_bad(progress.documents(records))
        for scored in some:
            try:
                record, checks = check_record(scored, loaded, labels)
            except LawfulError as error:
                complaints.add(FailedDocument(scored.line or 0, str(error), scored.document.id))
                continue
            tally.update(counts_of(record.status, checks))
            file.write(encode(record).decode() + "\n")
    leave(tally, end)


def _records(
    path: str, labels: Source, pool: Pooling | None
) -> Iterator[Scored | Labelled | FailedDocument]:
    """The documents of a file; true labels need no scores."""
    for record in read_judged(path) if labels == "gold" else read_jsonl(path, "yield"):
        if isinstance(record, Labelled):
            yield record
        else:
            yield from in_words([record], pool)
