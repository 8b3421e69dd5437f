"""``lawful evaluate``: decodings compared with gold labels.

Exit code 0: all documents were scored. 1: a line was bad or had no decoding. 2: nothing to score.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import get_args

import typer
from rich.table import Table

from lawful.base.errors import InputError, LawfulError
from lawful.cli.commands import flag
from lawful.cli.counts import BAD
from lawful.cli.options import Documents, PythonFile, Report, RuleFile, load_rules
from lawful.cli.output import plural, reporting
from lawful.cli.score_tables import RunOptions, Skipped, score_table, with_gold
from lawful.cli.terminal import figures, say, warn
from lawful.documents.records import FailedDocument, Scored
from lawful.evaluation.report import Report as Evaluation
from lawful.evaluation.report import boards_record, percent
from lawful.evaluation.scoreboard import Answer, Counts, Scoreboard, gold_obeys
from lawful.io.jsonl import DecodedLine, read_decodings, read_jsonl
from lawful.pipeline.batch import decode_records
from lawful.pipeline.call import DecodeOptions, Record, bad_line, in_words
from lawful.results.decoding import Status
from lawful.rules.rule_set import Rules

EXAMPLE = "lawful evaluate scored.jsonl --rules rules.yaml --out scores.json"

BROKEN_GOLD = "whose gold breaks the rules"
NOT_DECODED = "without a decoding"


def evaluate(
    documents: Documents,
    rules: RuleFile,
    python: PythonFile = None,
    decodings: str | None = typer.Option(
        None,
        metavar="FILE",
        help="Score decodings that lawful decode has written, instead of decoding.",
    ),
    out: Report = None,
    only_satisfied: bool = flag(
        "--only-satisfied", help="Score only documents whose gold labels satisfy the rules."
    ),
    *,
    how: DecodeOptions,
    run: RunOptions,
) -> None:  # fmt: skip
    """Compare decodings with gold labels: values, entities, rules, and changes."""
    loaded = load_rules(rules, python)
    call = how.call(loaded)
    skipped = Skipped()
    records = in_words(with_gold(read_jsonl(documents, "yield"), skipped), how.pool)
    if only_satisfied:
        records = _satisfied(records, loaded, skipped)
    results: Iterable[tuple[Scored, Answer] | FailedDocument] = (
        decode_records(records, call, workers=run.workers)
        if decodings is None
        else _from_file(decodings, records, skipped)
    )
    setting = {
        "documents": documents,
        "rules": str(rules),
        **({"decoder": how.decoder} if decodings is None else {"decodings": decodings}),
        "temperature": how.temperature,
        "pool": how.pool,
        "only_satisfied": only_satisfied,
    }
    report = Evaluation.empty(loaded, how.decoder if decodings is None else Path(decodings).name)
    board = report.scores
    with reporting(out) as (console, save):
        for _ in run.made(results, skipped, report.add):
            pass
        if not board.pages:
            raise InputError(f"nothing to score in {documents}: {skipped or 'no documents'}")
        console.print(score_table(report.boards))
        console.print()
        console.print(_field_table(board))
        record = setting | {"skipped": dict(skipped)} | boards_record(report.boards)
        save(record)
    if not run.quiet:
        _summarise(board, skipped)
    raise typer.Exit(1 if skipped[BAD] or skipped[NOT_DECODED] else 0)


def _satisfied(records: Iterable[Record], rules: Rules, skipped: Skipped) -> Iterator[Record]:
    """The records whose gold labels satisfy the rules, and bad lines."""
    for record in records:
        try:
            keep = isinstance(record, FailedDocument) or gold_obeys(record, rules)
        except LawfulError as error:
            yield bad_line(record, str(error))
            continue
        if keep:
            yield record
        else:
            skipped[BROKEN_GOLD] += 1


def _from_file(
    path: str, records: Iterable[Record], skipped: Skipped
) -> Iterator[tuple[Scored, DecodedLine] | FailedDocument]:
    """Records with their decodings from a file, matched by id; equal ids in order."""
    by_id: dict[str, deque[DecodedLine]] = {}
    for line in read_decodings(path):
        if isinstance(line, FailedDocument):
            yield FailedDocument(line.line, f"of {path}: {line.message}")
        else:
            by_id.setdefault(line.id, deque()).append(line)
    for record in records:
        if isinstance(record, FailedDocument):
            yield record
        elif found := by_id.get(record.document.id):
            yield record, found.popleft()
        else:
            skipped[NOT_DECODED] += 1
            warn(f"line {record.line}: document {record.document.id!r} is not in {path}")


def _field_table(board: Scoreboard) -> Table:
    """Fields of the rules first, with their values; then all other labels."""
    measures = ("precision", "recall", "F1")
    table = figures(("field", "label"), ("entities", *measures, "values", *measures))
    fields = [(f.name, f.label) for f in board.rules.fields]
    others = sorted(set(board.by_label) - {label for _, label in fields})
    for name, label in (*fields, *(("", label) for label in others)):
        entities, values = board.by_label.get(label), board.by_field.get(name)
        if entities is not None or values is not None:
            table.add_row(name, label, *_cells(entities or Counts()), *_cells(values))
    return table


def _cells(counts: Counts | None) -> tuple[str, ...]:
    return ("",) * 4 if counts is None else (f"{counts.true:,}", *percent(counts))


def _summarise(board: Scoreboard, skipped: Skipped) -> None:
    order = (*get_args(Status), *board.statuses)  # a file may have other statuses
    statuses = ", ".join(
        f"{board.statuses[status]:,} {status}"
        for status in dict.fromkeys(order)
        if board.statuses[status]
    )
    say(
        f"\n{plural(board.pages)}: {statuses}; the gold of {board.gold_satisfied:,} satisfies "
        f"the rules{f'; left out: {skipped}' if skipped.total() else ''}"
    )
