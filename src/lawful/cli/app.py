"""The command line: arguments in, the functions of the package called, people told what came of it.

Results go to standard output or a file; everything said about them goes to standard error. The
exit code is 0 when every document is satisfied, 1 when some are not (on some no rule could be
checked, or a line was bad and skipped), 2 when the command, the rules or the input cannot be used.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import deque
from collections.abc import Iterator
from enum import StrEnum
from itertools import islice, starmap
from math import exp, inf, isinf
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import lawful
from lawful import _core
from lawful.batch import Job, Result, decode_lines
from lawful.cli import calibrate, data, evaluate, experiments, models
from lawful.cli.options import (
    Candidates,
    DecoderName,
    Documents,
    MaxCost,
    PoolOption,
    RuleFile,
    Seconds,
    Temperature,
    Workers,
    told,
)
from lawful.cli.output import (
    WRITERS,
    BadLines,
    Format,
    Unchecked,
    UncheckedOption,
    complain,
    good,
    leave,
    summarise,
)
from lawful.cli.tally import Tally
from lawful.decoders import check_call
from lawful.decoders.auto import Auto
from lawful.decoding import Budget, check_dict, differences, how_checked
from lawful.document import BadLine, Scored
from lawful.errors import InputError, LawfulError
from lawful.io.atomic import atomic_text
from lawful.io.jsonl import encode, read_jsonl, read_lines
from lawful.rules.checks import Check
from lawful.rules.definitions import Rules
from lawful.rules.files import json_schema
from lawful.rules.plan import plan_of
from lawful.search.problem import Problem
from lawful.values import format_value

app = typer.Typer(
    help="Find the most probable labelling that obeys your rules.",
    epilog="Exit code 0: every document satisfied. 1: some are not; on some, no rule could be "
    "checked (unless --unchecked pass). 2: unusable input or rules.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(data.app, name="data")
app.add_typer(experiments.app, name="bench")


class Source(StrEnum):
    """Which labels to judge."""

    gold = "gold"
    argmax = "argmax"
    legal = "legal"


Out = Annotated[str, typer.Option("--out", "-o", help="Where to write; - is stdout.")]
Mass = Annotated[float | None, typer.Option(help="Most of the model's probability to look at.")]
Alternatives = Annotated[
    int, typer.Option(help="How many of the next best sets of values to give, too.", min=0)
]


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    """Find the most probable labelling that obeys your rules."""
    if show:
        print(lawful.__version__)
        raise typer.Exit


@app.command()
def decode(
    documents: Documents,
    rules: RuleFile,
    out: Out = "-",
    decoder: DecoderName = "auto",
    candidates: Candidates = None,
    seconds: Seconds = None,
    mass: Mass = None,
    max_cost: MaxCost = None,
    alternatives: Alternatives = 0,
    temperature: Temperature = 1.0,
    pool: PoolOption = None,
    workers: Workers = 1,
    format_: Annotated[Format, typer.Option("--format", help="How to write it.")] = Format.jsonl,
    bad_lines: Annotated[BadLines, typer.Option(help="Skip bad lines, or stop.")] = BadLines.skip,
    unchecked: UncheckedOption = Unchecked.fail,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.")] = False,
) -> None:
    """Decode documents under rules: labels, fields, checks and corrections."""
    loaded = Rules.load(rules)
    budget = Budget(candidates, seconds, mass, max_cost)
    check_call(decoder, budget, alternatives)
    job = Job(
        documents,
        rules,
        decoder,
        budget,
        temperature,
        pool.value if pool else None,
        alternatives,
    )
    tally = Tally()
    with atomic_text(out) as file, _Progress(documents, quiet) as progress:
        results = progress.over(job, read_lines(documents), workers)
        results = good(results, bad_lines, tally)
        WRITERS[format_](file, results, loaded, ranked=alternatives > 0)
    if not quiet:
        summarise(tally)
    leave(tally, unchecked)


@app.command()
def check(
    documents: Documents,
    rules: RuleFile,
    out: Out = "-",
    labels: Annotated[Source, typer.Option(help="Which labels to judge.")] = Source.gold,
    pool: PoolOption = None,
    unchecked: UncheckedOption = Unchecked.fail,
) -> None:
    """Judge labels without decoding: the document's own (gold), the argmax, or the best legal."""
    loaded = Rules.load(rules)
    job = Job(documents, loaded, pool=pool.value if pool else None)
    tally = Tally()
    with atomic_text(out) as file:
        for scored in read_jsonl(documents):
            result = scored if isinstance(scored, BadLine) else _judge(job, scored, loaded, labels)
            if isinstance(result, BadLine):
                complain(result, BadLines.skip, tally)
                continue
            record, checks = result
            tally.add(record["status"], checks)
            file.write(encode(record).decode() + "\n")
    summarise(tally)
    leave(tally, unchecked)


def _judge(
    job: Job, scored: Scored, rules: Rules, labels: Source
) -> tuple[dict[str, Any], list[Check]] | BadLine:
    """What the rules say of a document's labels, as plain values, and as checks."""
    try:
        scored = job.prepare(scored)
        problem = Problem(scored.document, scored.scores, rules, keep=False)
        if labels is Source.gold:
            if scored.gold is None:
                raise InputError(f"document {scored.document.id!r} has no gold labels to judge")
            chosen = problem.scheme.indices(scored.gold)
        else:
            best = problem.best_legal if labels is Source.legal else None
            chosen = problem.argmax if best is None else best
        reading, cost = problem.judge.settle(problem.judge.read(chosen))
        checks = problem.judge.checks(reading)
        legal = problem.scheme.allows(chosen)
    except LawfulError as error:
        return BadLine(scored.line or 0, str(error))
    if not legal:
        message = "the labels are not legal"
        checks.append(Check("legal", "violated", message, price=inf, implied=True))
    states = {c.state for c in checks}
    judged = [c.state for c in checks if not c.implied]
    status = next((s for s in ("violated", "satisfied") if s in states), "unchecked")
    if legal and (cost.least < cost.most or not all(c.decided for c in checks)):
        status = "undecided"  # there are more ways to read the texts than could be tried
    fields = {
        name: [{"text": v.text, "value": v.value, "words": v.words} for v in values]
        for name, values in problem.judge.fields(reading).items()
    }
    record = {
        "id": scored.document.id,
        "status": status,
        "checked": len(judged) - judged.count("vacuous"),
        "rules": len(judged),
        "fields": fields,
        "checks": [check_dict(c) for c in checks],
    }
    return record, checks


@app.command()
def explain(
    documents: Documents,
    rules: RuleFile,
    id_: Annotated[str | None, typer.Option("--id", help="Which document; the first.")] = None,
    decoder: DecoderName = "auto",
    candidates: Candidates = None,
    seconds: Seconds = None,
    max_cost: MaxCost = None,
    alternatives: Alternatives = 3,
    pool: PoolOption = None,
) -> None:
    """One document: what was wrong, what changed, what it cost, and what came next."""
    loaded = Rules.load(rules)
    job = Job(documents, loaded, decoder, pool=pool.value if pool else None)
    budget = Budget(candidates, seconds, max_cost=max_cost)
    check_call(decoder, budget, 0)
    for scored in read_jsonl(documents):
        if isinstance(scored, BadLine):
            told.print(f"line {scored.line}: {scored.message}", style="yellow", markup=False)
        elif id_ is None or scored.document.id == id_:
            _explain(job.prepare(scored), loaded, decoder, budget, alternatives)
            return
    raise InputError(f"no document{'' if id_ is None else f' {id_!r}'} in {documents}")


def _explain(scored: Scored, rules: Rules, decoder: str, budget: Budget, alternatives: int) -> None:
    console = Console(highlight=False, emoji=False, soft_wrap=True)
    problem = Problem(scored.document, scored.scores, rules)
    before = problem.judge.checks(problem.judge.settle(problem.judge.read(problem.argmax))[0])
    console.print(f"{scored.document.id}: {len(scored.document)} words", markup=False)
    console.print("\nwhat the model said:", style="bold")
    legal = problem.scheme.allows(problem.argmax)
    console.print(
        f"  p = {exp(problem.log_prob(problem.argmax)):.2g}, {'' if legal else 'il'}legal, "
        f"{how_checked(before)}"
    )
    for found in before:
        console.print(f"  {found}", markup=False)
    decoding = lawful.decode(scored.document, scored.scores, rules, decoder=decoder, budget=budget)
    why = f" ({decoding.chosen})" if decoding.chosen else ""
    console.print(f"\nwhat {decoding.decoder} made of it{why}:", style="bold", markup=False)
    console.print(str(decoding), markup=False)
    _explain_others(console, scored, rules, budget, alternatives)
    console.print("\nthe most probable legal labellings, and what the rules say:", style="bold")
    stream = _core.paths(problem.costs, problem.scheme.transitions)
    best = problem.argmax if problem.best_legal is None else problem.best_legal
    for rank, (labels, log_prob) in enumerate(islice(stream, 6)):
        penalty = problem.judge.cost(labels).most
        verdict = "refused" if isinf(penalty) else f"- {penalty:g} nats" if penalty else "accepted"
        changes = [
            f"{scored.document.words[i]} {problem.scores.labels[best[i]]} -> "
            f"{problem.scores.labels[labels[i]]}"
            for i in (labels != best).nonzero()[0]
        ]
        console.print(
            f"  {rank + 1}. log p = {log_prob:8.3f}  {verdict:<12} {'; '.join(changes) or 'best'}",
            markup=False,
            soft_wrap=True,
        )


def _explain_others(
    console: Console, scored: Scored, rules: Rules, budget: Budget, alternatives: int
) -> None:
    """The best values, and by what they say otherwise, the next best."""
    if not alternatives or scored.scores.chain is not None:
        return
    best = lawful.decode(
        scored.document, scored.scores, rules, budget=budget, alternatives=alternatives
    )
    console.print("\nthe next best values of fields:", style="bold")
    single = {f.name for f in rules.fields if not f.many}
    for other in best.alternatives:
        changes = starmap(_change, differences(best, other, single))
        violated = ", ".join(check.id for check in other.violations)
        console.print(
            f"  {best.worth - other.worth:.2f} nats worse: {'; '.join(changes)}"
            f"{f' (violates {violated})' if violated else ''}",
            markup=False,
            soft_wrap=True,
        )
    if len(best.alternatives) < alternatives:
        cut = best.stopped_by is not None or not best.optimal
        console.print("  no others within the budget" if cut else "  no others")
    if best.confidence:
        console.print("\nhow sure each field is:", style="bold")
    for name, sure in best.confidence.items():
        console.print(f"  {name}: {sure}", markup=False)


def _change(name: str, gone: str, new: str) -> str:
    """How an alternative differs in one field; of a list, what it has more or less."""
    if gone and new:
        return f"{name} {gone} -> {new}"
    return f"{name} with {new}" if new else f"{name} without {gone}"


@app.command()
def rules(
    file: Annotated[Path | None, typer.Argument(help="The rule file.")] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema.")] = False,
) -> None:
    """Validate a rule file and list what it reads, or print the JSON Schema of rule files."""
    if schema:
        print(json.dumps(json_schema(), indent=2))
        return
    if file is None:
        raise InputError("name a rule file, or ask for --schema")
    loaded = Rules.load(file)
    console = Console(highlight=False, emoji=False, markup=False)
    table = Table("field", "label", "type", "presence", "repeat", "default", "ambiguity", box=None)
    for f in loaded.fields:
        many = f"list of {f.type}" if f.many else f.type
        repeat = "-" if f.many else f.repeat
        default = "" if f.default is None else format_value(f.default)
        ambiguity = "never" if f.ambiguity is None or isinf(f.ambiguity) else f"{f.ambiguity:g}"
        table.add_row(f.name, f.label, many, f.presence, repeat, default, ambiguity)
    console.print(table)
    plan = plan_of(loaded)
    table = Table("rule", "weight", "unchecked", "reads", "judged", box=None)
    for rule in loaded.compiled:
        weight = "hard" if isinf(rule.weight) else f"{rule.weight:g}"
        how = plan.how[rule.id]
        reason = f" ({how.reason})" if how.reason else ""
        judged = f"{_WAYS[how.way]}{reason}"
        table.add_row(rule.id, weight, f"{rule.unchecked:g}", ", ".join(rule.reads), judged)
    console.print(table)
    chosen, why = Auto.choose(loaded)
    console.print(f"auto decodes with {chosen.name}: {why}")
    count = len(loaded.compiled)
    told.print(f"{file}: {len(loaded.fields)} fields, {count} rules, scheme {loaded.scheme}: fine")


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="The HTML report.")] = Path("lawful-demo.html"),
    pages: Annotated[int, typer.Option(help="How many pages to show in full.", min=0)] = 3,
) -> None:
    """Decode the shipped receipts, show what changed, and compare ways of decoding them."""
    from lawful.demo.show import show

    show(out, pages)


app.command()(evaluate.evaluate)
app.command()(calibrate.calibrate)
for command in (models.train, models.predict, models.extract, models.export):
    app.command()(command)


# What commands share.


_WAYS = {
    "local": "on its field's value, as soon as that is read",
    "compiled": "inside the search",
    "python": "in Python, on each reading that the search proposes",
}


class _Progress:
    """A bar on standard error while documents go by; nothing at all when that is no terminal."""

    def __init__(self, path: str, quiet: bool) -> None:
        size = None  # in bytes; unknown for what comes through a pipe or is packed
        if path != "-" and not path.endswith(".gz") and Path(path).is_file():
            size = Path(path).stat().st_size
        self._bar = Progress(
            TextColumn("{task.fields[documents]} documents, {task.fields[rate]}/s"),
            BarColumn(),
            TimeRemainingColumn(),
            console=told,
            transient=True,
            disable=quiet or not told.is_terminal,
        )
        self._task = self._bar.add_task("", total=size, documents=0, rate="-")

    def __enter__(self) -> _Progress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def over(self, job: Job, lines: Iterator[tuple[int, bytes]], workers: int) -> Iterator[Result]:
        """The results of a job, counted as they come; lines are read ahead of them."""
        sizes: deque[int] = deque()

        def measured() -> Iterator[tuple[int, bytes]]:
            for number, text in lines:
                sizes.append(len(text))
                yield number, text

        for done, result in enumerate(decode_lines(job, measured(), workers), 1):
            rate = f"{done / (self._bar.tasks[0].elapsed or 1e-9):,.0f}"
            self._bar.update(self._task, advance=sizes.popleft(), documents=f"{done:,}", rate=rate)
            yield result


_INTERRUPTED = 130  # 128 and the number of SIGINT, as shells have it


def run() -> None:
    """The command line with its exit codes; lawful's own errors are printed, not thrown."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # leave nothing half-written either
    try:
        code = app(standalone_mode=False) or 0
    except LawfulError as error:
        told.print(f"lawful: {error}", style="red", markup=False, soft_wrap=True)
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort):
        code = _INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has had enough; what is left in the buffer is not wanted.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        told.print(f"lawful: {error}", style="red", markup=False)
        sys.exit(2)
    except Exception as error:
        # Typer's own complaints about arguments know how to show themselves.
        if hasattr(error, "show") and hasattr(error, "exit_code"):
            error.show()
            sys.exit(error.exit_code)
        raise
    if code == _INTERRUPTED:
        told.print("lawful: interrupted; no output file was written", style="red")
    sys.exit(code)
