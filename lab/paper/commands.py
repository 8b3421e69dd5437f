"""``python -m lab experiments``: the paper's experiments, on predictions or on generated receipts.

Measurements are kept in the folder ``--out`` and are not repeated, so an interrupted run continues
where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, TypeAlias, TypeVar, get_args

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lab.paper import measurements as cells
from lab.paper import plots, semantics, tables
from lab.paper.methods import METHODS, Method, methods_named
from lab.paper.pages import Pages, Semantics, Units, load
from lab.paper.store import Record, Store
from lawful.base.errors import InputError, MissingExtraError
from lawful.cli.commands import Command, Group, flag
from lawful.cli.options import RULE_NAMES, Seed
from lawful.cli.terminal import Interrupted, messages, say, warn
from lawful.evaluation.split import Part
from lawful.io.atomic import atomic_text, make_folder
from lawful.results.decoding import Budget

app = typer.Typer(help="Repeat the paper's experiments.", no_args_is_help=True, cls=Group)

PartName: TypeAlias = Literal["all", Part]

Predictions = Annotated[
    list[Path] | None,
    typer.Option(
        "--predictions", metavar="FILE", show_default="generated receipts",
        help="Scored documents as JSON lines; may be repeated.",
    ),
]  # fmt: skip
RuleNames = Annotated[
    list[str] | None,
    typer.Option(
        "--rules", "-r", metavar="FILE",
        help=f"Rules for all predictions, or for each: a file, or one of {RULE_NAMES}.",
    ),
]  # fmt: skip
Data = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Gold labels by document id, where the predictions have none."
    ),
]
PartOption = Annotated[
    PartName,
    typer.Option(
        metavar="PART", help=f"Part of the paper's split: one of {', '.join(get_args(PartName))}."
    ),
]
Count = Annotated[
    int | None,
    typer.Option("--pages", metavar="N", show_default="all", help="Number of pages.", min=1),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", metavar="FOLDER", show_default="build/paper or build/semantics",
        help="Folder to write.",
    ),
]  # fmt: skip


@app.command(
    "paper", cls=Command,
    epilog="Example: python -m lab experiments paper --predictions cord.jsonl.gz --rules cord",
)  # fmt: skip
def run_paper(
    predictions: Predictions = None,
    rules: RuleNames = None,
    data: Data = None,
    units: Annotated[
        str,
        typer.Option(metavar="LIST", help="Units to decode: some of pieces, first, mean."),
    ] = "pieces",
    semantics_name: Annotated[
        Semantics,
        typer.Option("--semantics", help="Read rules as in the paper, or as lawful does."),
    ] = "paper",
    all_pages: bool = flag(
        "--all-pages", help="Also decode pages whose gold labels break the rules."
    ),
    part: PartOption = "all",
    seed: Seed = 0,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="LIST", show_default="all", help=f"Methods: some of {', '.join(METHODS)}."
        ),
    ] = None,
    mass: Annotated[
        str,
        typer.Option(metavar="LIST", help="Probability masses to stop at, one more row for each."),
    ] = "0.5,0.9,0.99",
    pages: Count = None,
    slow_pages: Annotated[
        int, typer.Option(metavar="N", help="Number of pages for lazy_ilp.", min=1)
    ] = 5,
    repeats: Annotated[
        int, typer.Option(metavar="N", help="Number of runs per measurement.", min=1)
    ] = 3,
    out: Out = None,
) -> None:
    """Measure every method and budget of the paper's results table, and lawful's decoders."""
    chosen = _methods(methods)
    masses = [_mass(text) for text in filter(None, mass.split(","))]
    wanted = [_units(text) for text in units.split(",")]
    tasks: list[cells.Task] = []
    for given in load(predictions or [], rules or [], data):
        selected = _select(given.under(semantics_name), part, seed, pages, all_pages=all_pages)
        by_units = {each.units: each for each in map(selected.in_units, wanted)}
        for each in by_units.values():
            tasks += cells.plan(each, chosen, masses=masses, slow_pages=slow_pages, repeats=repeats)
    folder = out or Path("build/paper")
    found = _measured(tasks, folder, cells.Cell)
    tables.write_csv(folder / "table.csv", found)
    _say(tables.markdown(found), folder / "table.md")
    _draw(plots.draw_cells, found, folder)


@app.command(
    "semantics", cls=Command,
    epilog="Example: python -m lab experiments semantics -r wildreceipt --predictions wild.jsonl",
)  # fmt: skip
def run_semantics(
    predictions: Predictions = None,
    rules: RuleNames = None,
    data: Data = None,
    units: Annotated[Units, typer.Option(help="Units to decode.")] = "mean",
    part: PartOption = "all",
    seed: Seed = 0,
    pages: Count = None,
    out: Out = None,
) -> None:
    """Measure the effect of presence, repeat and weight of rules on the values, on all pages."""
    sets = [
        _select(given, part, seed, pages, all_pages=True).in_units(units)
        for given in load(predictions or [], rules or [], data)
    ]
    tasks = [task for each in sets for task in semantics.plan(each)]
    folder = out or Path("build/semantics")
    found = _measured(tasks, folder, semantics.Outcome)
    _say(semantics.markdown(found), folder / "semantics.md")
    _draw(plots.draw_outcomes, found, folder)


def _methods(names: str | None) -> list[Method]:
    """The methods of these names; by default, all that are installed."""
    if names is not None:
        return methods_named(names.split(","))
    for method in METHODS.values():
        if not method.is_here:
            warn(f"left out: {method.name}, which needs the 'lab' extra")
    return [method for method in METHODS.values() if method.is_here]


def _units(text: str) -> Any:
    if text not in get_args(Units):
        raise InputError(f"unknown units {text!r}; units: {', '.join(get_args(Units))}")
    return text


def _mass(text: str) -> float:
    try:
        mass = float(text)
    except ValueError:
        raise InputError(f"mass is {text!r}, expected shares such as 0.5,0.9") from None
    Budget(mass=mass)
    return mass


def _select(
    given: Pages, part: PartName, seed: int, count: int | None, *, all_pages: bool
) -> Pages:
    """The first ``count`` pages of a part; unless ``all_pages``, only those whose gold obeys."""
    chosen = given if part == "all" else given.of_part(part, seed)
    if not all_pages:
        chosen = chosen.satisfied()
    if not chosen.pages:
        raise InputError(f"none of the {len(given.pages)} pages of {given.name} is left to decode")
    first = "" if count is None else f", the first {count:,}"
    sizes = f"{len(chosen.pages):,} of {len(given.pages):,} pages"
    say(f"{given.name}: {sizes}{first}")
    return chosen.only(chosen.pages[:count])


class _Task(Protocol):
    @property
    def key(self) -> Hashable: ...

    def measure(self) -> Any: ...


RecordT = TypeVar("RecordT", bound=Record)


def _measured(tasks: Sequence[_Task], folder: Path, record_type: type[RecordT]) -> list[RecordT]:
    """The records of the tasks, in order: those of earlier runs, and the others measured now."""
    make_folder(folder)
    store = Store(folder / f"{record_type.__name__.lower()}s.jsonl", record_type)
    try:
        return [store.take(task.key, task.measure) for task in _shown(tasks)]
    except KeyboardInterrupt:
        done = sum(task.key in store for task in tasks)
        raise Interrupted(
            f"interrupted; {done} of {len(tasks)} measurements are in {folder}: "
            "the same command continues from there"
        ) from None


def _shown(tasks: Sequence[_Task]) -> Iterator[_Task]:
    """The same tasks, with a progress bar and the current task on standard error."""
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    bar = Progress(*columns, console=messages, transient=True, disable=not messages.is_terminal)
    with bar:
        shown = bar.add_task("", total=len(tasks))
        for task in tasks:
            bar.update(shown, description=str(task))
            yield task
            bar.advance(shown)


def _say(text: str, path: Path) -> None:
    with atomic_text(path) as file:
        file.write(text + "\n")
    print(text)


def _draw(
    draw: Callable[[Sequence[Any], Path], list[Path]], found: Sequence[Any], folder: Path
) -> None:
    """Draws the figures, if matplotlib is installed."""
    try:
        files = draw(found, folder)
    except MissingExtraError as error:
        warn(f"no figures: {error}")
    else:
        say(f"written to {folder}: {', '.join(file.name for file in files)}")
