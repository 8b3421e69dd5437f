"""``lawful evaluate``: decodings compared with gold labels.

Exit code 0: all documents were scored. 1: a line was bad or had no decoding. 2: nothing to score.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, get_args

import typer
from rich.table import Table

from lawful.batch import AnyRecord, Call, Preparation, bad_line, decode_any
from lawful.cli.automation import Outcomes, print_automation, save_trust
from lawful.cli.complaints import Complaints
from lawful.cli.options import (
    Alternatives,
    BadLinesOption,
    Candidates,
    DecoderName,
    Documents,
    MaxCost,
    PoolOption,
    PythonFile,
    Quiet,
    Report,
    RuleFile,
    Seconds,
    Seed,
    Temperature,
    Workers,
    flag,
    load_rules,
)
from lawful.cli.output import Progress, plural, reporting, say, warn
from lawful.cli.scoreboards import Skipped, boards_record, percent, score_table, with_gold
from lawful.cli.tally import BAD
from lawful.cli.trusting import setting_of
from lawful.decoding import Budget, Decoding, Status
from lawful.document import BadLine, Scored, SpanScored
from lawful.errors import InputError, LawfulError
from lawful.evaluation import Answer, Counts, Scoreboard, best_legal, gold_obeys
from lawful.io.jsonl import DecodedLine, read_any, read_decodings
from lawful.rules.rule_set import Rules

EXAMPLE = "lawful evaluate scored.jsonl --rules rules.yaml --out scores.json"

BASELINE = "best legal labelling"
BROKEN_GOLD = "whose gold breaks the rules"
NOT_DECODED = "without a decoding"


def evaluate(
    documents: Documents,
    rules: RuleFile,
    python: PythonFile = None,
    decodings: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Score decodings that lawful decode has written, instead of decoding.",
        ),
    ] = None,
    out: Report = None,
    only_satisfied: Annotated[
        bool,
        flag("--only-satisfied", help="Score only documents whose gold labels satisfy the rules."),
    ] = False,
    automation: Annotated[
        bool,
        flag(
            "--automation",
            help="Also show how many documents need no review, and the error rate among them.",
        ),
    ] = False,
    wanted: Annotated[
        float,
        typer.Option(
            "--error", metavar="P", help="With --automation, the error rate that is wanted."
        ),
    ] = 0.01,
    fields: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="With --automation, the fields that have to be right, separated by commas.",
            show_default="all",
        ),
    ] = None,
    out_trust: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="With --automation, write the model of trust for lawful decode --trust.",
        ),
    ] = None,
    seed: Seed = 0,
    decoder: DecoderName = "auto",
    candidates: Candidates = None,
    seconds: Seconds = None,
    max_cost: MaxCost = None,
    alternatives: Alternatives = 0,
    temperature: Temperature = 1.0,
    pool: PoolOption = None,
    workers: Workers = 1,
    bad_lines: BadLinesOption = "skip",
    quiet: Quiet = False,
) -> None:
    """Compare decodings with gold labels: values, entities, rules, and changes."""
    loaded = load_rules(rules, python)
    call = Call(loaded, decoder, Budget(candidates, seconds, max_cost=max_cost), alternatives)
    preparation = Preparation(pool, temperature)
    outcomes = None
    if automation:
        outcomes = Outcomes(loaded, fields)
        _check_automation(decodings, only_satisfied)
    elif fields or out_trust:
        raise InputError("--fields and --out-trust need --automation")
    skipped = Skipped()
    records = preparation.apply_to_any(with_gold(read_any(documents), skipped))
    if only_satisfied:
        records = _satisfied(records, loaded, skipped)
    results: Iterable[tuple[Scored | SpanScored, Answer] | BadLine]
    if decodings is None:
        results = decode_any(records, call, workers=workers)
    else:
        results = _from_file(decodings, records, skipped)
    setting = {
        "documents": documents,
        "rules": str(rules),
        **({"decoder": decoder} if decodings is None else {"decodings": decodings}),
        "temperature": temperature,
        "pool": pool,
        "only_satisfied": only_satisfied,
    }
    baseline, board = Scoreboard(loaded), Scoreboard(loaded)
    boards = {BASELINE: baseline, decoder if decodings is None else Path(decodings).name: board}
    with reporting(out) as (console, save):
        with (
            Progress(quiet=quiet) as progress,
            Complaints(bad_lines, skipped) as complaints,
        ):
            answers: Iterator[tuple[Scored | SpanScored, Answer]]
            answers = complaints.without_bad(progress.documents(results))
            for scored, answer in answers:
                try:
                    board.add(scored, answer)
                except LawfulError as error:
                    complaints.add(bad_line(scored, str(error)))
                    continue
                baseline.add_labels(scored, best_legal(scored, loaded))
                if outcomes is not None and isinstance(answer, Decoding):
                    outcomes.add(scored, answer)
        if not board.pages:
            raise InputError(f"nothing to score in {documents}: {skipped or 'no documents'}")
        console.print(score_table(boards))
        console.print()
        console.print(_field_table(board))
        record = setting | {"skipped": dict(skipped)} | boards_record(boards)
        if outcomes is not None:
            found = outcomes.automate(wanted, seed)
            print_automation(found, console)
            record["automation"] = found.record() | {"seed": seed}
            save_trust(found, out_trust, setting_of(call, preparation, rules, python))
        save(record)
    if not quiet:
        _summarise(board, skipped)
    raise typer.Exit(1 if skipped[BAD] or skipped[NOT_DECODED] else 0)


def _check_automation(decodings: str | None, only_satisfied: bool) -> None:
    if decodings is not None:
        raise InputError("--automation needs to decode by itself: leave out --decodings")
    if only_satisfied:
        raise InputError(
            "--automation is about all documents: leave out --only-satisfied, which chooses them "
            "by their gold labels"
        )


def _satisfied(records: Iterable[AnyRecord], rules: Rules, skipped: Skipped) -> Iterator[AnyRecord]:
    """The records whose gold labels satisfy the rules, and bad lines."""
    for record in records:
        try:
            keep = isinstance(record, BadLine) or gold_obeys(record, rules)
        except LawfulError as error:
            yield bad_line(record, str(error))
            continue
        if keep:
            yield record
        else:
            skipped[BROKEN_GOLD] += 1


def _from_file(
    path: str, records: Iterable[AnyRecord], skipped: Skipped
) -> Iterator[tuple[Scored | SpanScored, DecodedLine] | BadLine]:
    """Records with their decodings from a file, matched by id; equal ids in order."""
    by_id: dict[str, deque[DecodedLine]] = {}
    for line in read_decodings(path):
        if isinstance(line, BadLine):
            yield BadLine(line.line, f"of {path}: {line.message}")
        else:
            by_id.setdefault(line.id, deque()).append(line)
    for record in records:
        if isinstance(record, BadLine):
            yield record
        elif found := by_id.get(record.document.id):
            yield record, found.popleft()
        else:
            skipped[NOT_DECODED] += 1
            warn(f"line {record.line}: document {record.document.id!r} is not in {path}")


def _field_table(board: Scoreboard) -> Table:
    """Fields of the rules first, with their values; then all other labels."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for heading in ("field", "label"):
        table.add_column(heading)
    for heading in ("entities", "precision", "recall", "F1",
                    "values", "precision", "recall", "F1"):  # fmt: skip
        table.add_column(heading, justify="right")
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
