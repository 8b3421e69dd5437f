"""``lawful bench``: the paper's experiments, on your predictions or on generated receipts.

Everything measured is kept in the folder ``--out`` and not measured again, so a run that was
interrupted goes on where it stopped.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeVar

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lawful.cli.options import told
from lawful.datasets import RULES
from lawful.decoding import Budget
from lawful.errors import InputError, MissingExtraError
from lawful.experiments import cells, plots, semantics, tables
from lawful.experiments.methods import METHODS, Method, methods_named
from lawful.experiments.pages import Pages, load
from lawful.experiments.store import Record, Store
from lawful.io.atomic import atomic_text, make_folder

app = typer.Typer(help="Run the paper's experiments again.", no_args_is_help=True)

_INTERRUPTED = 130  # 128 and the number of SIGINT, as shells have it


class SemanticsName(StrEnum):
    """What rules mean."""

    paper = "paper"
    lawful = "lawful"


class UnitsName(StrEnum):
    """What is decoded."""

    pieces = "pieces"
    first = "first"
    mean = "mean"


class PartName(StrEnum):
    """Which part of the paper's split."""

    all = "all"
    train = "train"
    validation = "validation"
    test = "test"


Predictions = Annotated[
    list[Path] | None,
    typer.Option("--predictions", help="Scored documents; may be repeated (default: generated)."),
]
RuleNames = Annotated[
    list[str] | None,
    typer.Option(
        "--rules", "-r", help=f"A rule file, or one of {', '.join(RULES)}; for all, or for each."
    ),
]
Data = Annotated[
    Path | None, typer.Option(help="Gold labels by document id, where predictions have none.")
]
Part = Annotated[PartName, typer.Option(help="Of the paper's split of the pages.")]
Seed = Annotated[int, typer.Option(help="Of the split.")]
Count = Annotated[int | None, typer.Option("--pages", help="The first so many.", min=1)]


Out = Annotated[Path | None, typer.Option(help="The folder to write (default: build/<command>).")]


@app.command("paper")
def run_paper(
    predictions: Predictions = None,
    rules: RuleNames = None,
    data: Data = None,
    units: Annotated[str, typer.Option(help="Some of pieces, first, mean.")] = "pieces",
    semantics_name: Annotated[
        SemanticsName,
        typer.Option("--semantics", help="Rules mean what the paper says, or their file."),
    ] = SemanticsName.paper,
    all_pages: Annotated[
        bool, typer.Option("--all-pages", help="Those too whose gold breaks the rules.")
    ] = False,
    part: Part = PartName.all,
    seed: Seed = 0,
    methods: Annotated[
        str | None, typer.Option(help=f"Some of {', '.join(METHODS)} (default: all).")
    ] = None,
    mass: Annotated[
        str, typer.Option(help="Probability masses to stop at, as further rows.")
    ] = "0.5,0.9,0.99",
    pages: Count = None,
    slow_pages: Annotated[int, typer.Option(help="The first so many for lazy_ilp.", min=1)] = 5,
    repeats: Annotated[int, typer.Option(help="Of every cell.", min=1)] = 3,
    out: Out = None,
) -> None:
    """The paper's table of results: every method and budget, with lawful's decoders beside them."""
    chosen = _methods(methods)
    masses = [_mass(text) for text in filter(None, mass.split(","))]
    wanted = [_units(text) for text in units.split(",")]
    tasks: list[cells.Task] = []
    for given in load(predictions or [], rules or [], data):
        selected = _select(
            given.under(semantics_name.value), part, seed, pages, all_pages=all_pages
        )
        kinds = {each.units: each for each in map(selected.in_units, wanted)}
        for each in kinds.values():
            tasks += cells.plan(each, chosen, masses=masses, slow_pages=slow_pages, repeats=repeats)
    folder = out or Path("build/paper")
    found = _measured(tasks, folder, cells.Cell)
    tables.write_csv(folder / "table.csv", found)
    _say(tables.markdown(found), folder / "table.md")
    _draw(plots.draw_cells, found, folder)


@app.command("semantics")
def run_semantics(
    predictions: Predictions = None,
    rules: RuleNames = None,
    data: Data = None,
    units: Annotated[UnitsName, typer.Option(help="What to decode.")] = UnitsName.mean,
    part: Part = PartName.all,
    seed: Seed = 0,
    pages: Count = None,
    out: Out = None,
) -> None:
    """What rules do to values, by what they mean: presence, repeats and weight, on all pages."""
    sets = [
        _select(given, part, seed, pages, all_pages=True).in_units(units.value)
        for given in load(predictions or [], rules or [], data)
    ]
    tasks = [task for each in sets for task in semantics.plan(each)]
    folder = out or Path("build/semantics")
    found = _measured(tasks, folder, semantics.Outcome)
    _say(semantics.markdown(found), folder / "semantics.md")
    _draw(plots.draw_outcomes, found, folder)


def _methods(names: str | None) -> list[Method]:
    """Those asked for; of all, those that are installed."""
    if names is not None:
        return methods_named(names.split(","))
    for method in METHODS.values():
        if not method.is_here:
            told.print(f"left out: {method.name}, which needs the 'paper' extra", style="yellow")
    return [method for method in METHODS.values() if method.is_here]


def _units(text: str) -> Any:
    if text not in list(UnitsName):
        raise InputError(f"unknown units {text!r}; units: {', '.join(UnitsName)}")
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
    """The pages to decode: of the part asked for, and only those that can be got right."""
    chosen = given if part is PartName.all else given.of_part(part.value, seed)
    if not all_pages:
        chosen = chosen.satisfied()
    if not chosen.pages:
        raise InputError(f"none of the {len(given.pages)} pages of {given.name} is left to decode")
    first = "" if count is None else f", the first {count:,}"
    sizes = f"{len(chosen.pages):,} of {len(given.pages):,} pages"
    told.print(f"{given.name}: {sizes}{first}", markup=False)
    return chosen.only(chosen.pages[:count])


class _Task(Protocol):
    @property
    def key(self) -> Hashable: ...

    def measure(self) -> Any: ...


Kind = TypeVar("Kind", bound=Record)


def _measured(tasks: Sequence[_Task], folder: Path, kind: type[Kind]) -> list[Kind]:
    """What came out, in order: kept in the folder from earlier runs, or measured now."""
    make_folder(folder)
    store = Store(folder / f"{kind.__name__.lower()}s.jsonl", kind)
    try:
        return [store.take(task.key, task.measure) for task in _shown(tasks)]
    except KeyboardInterrupt:
        done = sum(task.key in store for task in tasks)
        told.print(
            f"lawful: interrupted; {done} of {len(tasks)} are measured and kept in {folder}: "
            "the same command goes on from there",
            style="red",
            markup=False,
        )
        sys.exit(_INTERRUPTED)


def _shown(tasks: Sequence[_Task]) -> Iterator[_Task]:
    """The same, with a bar and what is in hand on standard error, if that is a terminal."""
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    bar = Progress(*columns, console=told, transient=True, disable=not told.is_terminal)
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
    """The figures; without matplotlib there is still the table."""
    try:
        files = draw(found, folder)
    except MissingExtraError as error:
        told.print(f"no figures: {error}", style="yellow", markup=False)
    else:
        told.print(f"written to {folder}: {', '.join(file.name for file in files)}", markup=False)
