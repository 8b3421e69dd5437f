"""``lawful evaluate``: decode documents whose true labels are known, and say how that went.

Exit code 0: everything was scored. 1: a line was bad, or had no decoding. 2: nothing to score.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.console import Console
from rich.table import Table

from lawful.batch import Failed, Job, decode_many
from lawful.cli.options import (
    BAD,
    Candidates,
    DecoderName,
    Documents,
    MaxCost,
    PoolOption,
    RuleFile,
    Seconds,
    Skipped,
    Temperature,
    Workers,
    counted,
    told,
    with_gold,
)
from lawful.decoders import check_call
from lawful.decoding import Budget, Decoding, Status
from lawful.document import BadLine, Scored
from lawful.errors import InputError, LawfulError
from lawful.evaluation import Answer, Changes, Counts, Scoreboard, best_legal, gold_obeys
from lawful.io.atomic import atomic_text
from lawful.io.jsonl import DecodedLine, read_decodings
from lawful.rules.definitions import Rules
from lawful.scores import check_temperature

BASELINE = "best legal labelling"
BROKEN_GOLD = "whose gold breaks the rules"
NOT_DECODED = "without a decoding"

Report = Annotated[
    str | None, typer.Option("--out", "-o", help="Where to write it as JSON; - is stdout.")
]


def evaluate(
    documents: Documents,
    rules: RuleFile,
    decodings: Annotated[
        str | None,
        typer.Option(help="What lawful decode wrote for them earlier: score that, decode nothing."),
    ] = None,
    out: Report = None,
    only_satisfied: Annotated[
        bool, typer.Option("--only-satisfied", help="Only pages whose gold satisfies the rules.")
    ] = False,
    decoder: DecoderName = "auto",
    candidates: Candidates = None,
    seconds: Seconds = None,
    max_cost: MaxCost = None,
    temperature: Temperature = 1.0,
    pool: PoolOption = None,
    workers: Workers = 1,
) -> None:
    """Compare decodings with gold labels: values, entities, rules, and what changed for better."""
    loaded = Rules.load(rules)
    budget = Budget(candidates, seconds, max_cost=max_cost)
    check_call(decoder, budget, 0)
    check_temperature(temperature)
    how = Job(documents, loaded, temperature=temperature, pool=pool.value if pool else None)
    skipped = Skipped()
    pages = with_gold(documents, how.prepare, skipped)
    if only_satisfied:
        pages = _satisfied(pages, loaded, skipped)
    if decodings is None:
        results: Iterable[tuple[Scored, Answer]] = decoded(
            pages, loaded, skipped, decoder=decoder, budget=budget, workers=workers
        )
    else:
        results = _made_earlier(decodings, pages, skipped)
    setting = {
        "documents": documents,
        "rules": str(rules),
        **({"decoder": decoder} if decodings is None else {"decodings": decodings}),
        "temperature": temperature,
        "pool": how.pool,
        "only_satisfied": only_satisfied,
    }
    baseline, board = Scoreboard(loaded), Scoreboard(loaded)
    boards = {BASELINE: baseline, decoder if decodings is None else Path(decodings).name: board}
    with reporting(out) as (console, save):
        for scored, decoding in counted(results):
            try:
                board.add(scored, decoding)
            except LawfulError as error:
                skipped.complain(BAD, scored.line, str(error))
                continue
            baseline.add_labels(scored, best_legal(scored, loaded))
        if not board.pages:
            raise InputError(f"nothing to score in {documents}: {skipped or 'no documents'}")
        console.print(score_table(boards))
        console.print()
        console.print(_field_table(board))
        save(setting | {"skipped": dict(skipped)} | record(boards))
    _summarise(board, skipped)
    raise typer.Exit(1 if skipped[BAD] or skipped[NOT_DECODED] else 0)


def decoded(
    documents: Iterable[Scored], rules: Rules, skipped: Skipped, **how: Any
) -> Iterator[tuple[Scored, Decoding]]:
    """Documents with their decodings; those that cannot be decoded are reported."""
    waiting: deque[Scored] = deque()

    def noted() -> Iterator[Scored]:
        for scored in documents:
            waiting.append(scored)
            yield scored

    for result in decode_many(noted(), rules, **how):
        scored = waiting.popleft()
        if isinstance(result, Failed):
            skipped.complain(BAD, scored.line, result.message)
        else:
            yield scored, result


def _satisfied(documents: Iterable[Scored], rules: Rules, skipped: Skipped) -> Iterator[Scored]:
    for scored in documents:
        try:
            keep = gold_obeys(scored, rules)
        except LawfulError as error:
            skipped.complain(BAD, scored.line, str(error))
            continue
        if keep:
            yield scored
        else:
            skipped[BROKEN_GOLD] += 1


def _made_earlier(
    path: str, documents: Iterable[Scored], skipped: Skipped
) -> Iterator[tuple[Scored, Answer]]:
    """Documents with the decodings of a file; of several with one id, in the order of the files."""
    by_id: dict[str, deque[DecodedLine]] = {}
    for line in read_decodings(path):
        if isinstance(line, BadLine):
            skipped.complain(BAD, line.line, f"of {path}: {line.message}")
        else:
            by_id.setdefault(line.id, deque()).append(line)
    for scored in documents:
        found = by_id.get(scored.document.id)
        if found:
            yield scored, found.popleft()
        else:
            message = f"document {scored.document.id!r} is not in {path}"
            skipped.complain(NOT_DECODED, scored.line, message)


@contextmanager
def reporting(out: str | None) -> Iterator[tuple[Console, Callable[[Mapping[str, Any]], None]]]:
    """A console for tables, and what writes a record to ``out`` as JSON, whole or not at all.

    Where the JSON goes to standard output, the tables go to standard error.
    """
    console = Console(stderr=out == "-", highlight=False, emoji=False, markup=False)
    if not console.is_terminal:
        console.width = 120  # a file or a pipe has no width of its own
    if out is None:
        yield console, lambda _: None
        return
    with atomic_text(out) as file:
        yield console, lambda record: print(json.dumps(record, indent=1), file=file)


def record(boards: Mapping[str, Scoreboard]) -> dict[str, Any]:
    """Boards as plain values, each but the first with what it changed against the first."""
    first, *others = boards
    baseline = boards[first]
    results: dict[str, Any] = {first: baseline.record()}
    for name in others:
        board = boards[name]
        results[name] = board.record() | {
            "against": first,
            "changed_pages": board.changed_pages(baseline)._asdict(),
            "changed_values": board.changed_values(baseline)._asdict(),
        }
    return {"pages": baseline.pages, "gold_satisfied": baseline.gold_satisfied, "results": results}


def score_table(boards: Mapping[str, Scoreboard]) -> Table:
    """Boards side by side, each but the first compared with the first."""
    baseline = next(iter(boards.values()))
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(f"{baseline.pages:,} pages")
    for name in boards:
        table.add_column(name, justify="right")

    def row(name: str, cell: Callable[[Scoreboard], str]) -> None:
        table.add_row(name, *map(cell, boards.values()))

    def change(board: Scoreboard, how: Callable[[Scoreboard], Changes]) -> str:
        return "-" if board is baseline else " / ".join(f"{n:,}" for n in how(baseline))

    row("value F1", lambda b: _percent(b.values)[2])
    row("  precision", lambda b: _percent(b.values)[0])
    row("  recall", lambda b: _percent(b.values)[1])
    row("pages with all values right", lambda b: f"{sum(b.right_pages):,}")
    row("pages fixed / broken / unchanged", lambda b: change(b, b.changed_pages))
    row("values fixed / broken / unchanged", lambda b: change(b, b.changed_values))
    row("rules checked", lambda b: f"{b.checked:,}")
    row("  passed", lambda b: f"{b.passed:,}")
    row("rules unchecked", lambda b: f"{b.unchecked:,}")
    row("pages unchecked", lambda b: f"{b.unchecked_pages:,}")
    row("entity F1", lambda b: _percent(b.entities)[2])
    row("pages satisfied or unchecked", lambda b: f"{100 * b.satisfaction:.1f} %")
    row("F1^s, their product", lambda b: f"{100 * b.f1_s:.1f}")
    return table


def _field_table(board: Scoreboard) -> Table:
    """Fields of rules first, with their values; then all other labels."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for heading in ("field", "label"):
        table.add_column(heading)
    for heading in ("entities", "precision", "recall", "F1",
                    "values", "precision", "recall", "F1"):  # fmt: skip
        table.add_column(heading, justify="right")
    fields = {f.label: f.name for f in board.rules.fields}
    others = sorted(set(board.by_label) - set(fields))
    for label in (*fields, *others):
        name = fields.get(label, "")
        entities, values = board.by_label.get(label), board.by_field.get(name)
        if entities is not None or values is not None:
            table.add_row(name, label, *_cells(entities or Counts()), *_cells(values))
    return table


def _cells(counts: Counts | None) -> tuple[str, ...]:
    return ("",) * 4 if counts is None else (f"{counts.true:,}", *_percent(counts))


def _percent(counts: Counts) -> tuple[str, ...]:
    """Precision, recall and F1; what nobody found and nobody looked for has none."""
    if not counts.found and not counts.true:
        return ("-",) * 3
    return tuple(f"{100 * x:.1f}" for x in (counts.precision, counts.recall, counts.f1))


def _summarise(board: Scoreboard, skipped: Skipped) -> None:
    order = (*get_args(Status), *board.statuses)  # decodings of a file may say anything
    statuses = ", ".join(
        f"{board.statuses[status]:,} {status}"
        for status in dict.fromkeys(order)
        if board.statuses[status]
    )
    told.print(
        f"\n{board.pages:,} documents: {statuses}; the gold of {board.gold_satisfied:,} satisfies "
        f"the rules{f'; left out: {skipped}' if skipped.total() else ''}",
        markup=False,
    )
