"""``lawful data``: data sets converted to JSON lines, described, and split."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from lawful.base.errors import InputError
from lawful.cli.commands import Command, Group
from lawful.cli.counts import Tally, counts_of_known
from lawful.cli.options import RULE_NAMES, LinesOut, Seed
from lawful.cli.output import plural
from lawful.cli.terminal import results_console, say
from lawful.documents.document import Document
from lawful.documents.records import Labelled
from lawful.evaluation.split import PARTS, split_documents
from lawful.evaluation.survey import GoldVerdicts, Survey, judge_gold, survey
from lawful.io.atomic import atomic_text, make_folder
from lawful.io.jsonl import read_labelled, read_lines, write_documents, write_labelled
from lawful.io.paths import check_there, read_bytes
from lawful.readers.formats import FORMATS
from lawful.readers.labelled import READERS, reader_named
from lawful.readers.page import make_document
from lawful.results.known import Known
from lawful.rules.packs import PACKS, rules_named

app = typer.Typer(help="Convert, describe and split data sets.", no_args_is_help=True, cls=Group)

DataFormat = Annotated[
    str, typer.Argument(metavar="FORMAT", help=f"Data set: one of {', '.join(READERS)}.")
]
AnyFormat = Annotated[
    str,
    typer.Argument(
        metavar="FORMAT",
        help=f"Data set: one of {', '.join(READERS)}; or an OCR engine's format: "
        f"{', '.join(FORMATS)}.",
    ),
]
Data = Annotated[
    Path, typer.Argument(metavar="PATH", help="Folder of the data set, or one of its files.")
]
Split = Annotated[
    str | None,
    typer.Option(metavar="NAME", show_default="all", help="Split to read, such as train."),
]
ByPage = Annotated[
    bool, typer.Option("--by-page", metavar="", help="Make every page a document of its own.")
]


@app.command(
    cls=Command, epilog="Example: lawful data convert facturx invoices/ --out invoices.jsonl"
)
def convert(
    format_: AnyFormat,
    path: Data,
    out: LinesOut = "-",
    split: Split = None,
    by_page: ByPage = False,
) -> None:
    """Convert a data set, or files of an OCR engine, to JSON lines without scores."""
    if format_ in FORMATS:
        say(plural(write_documents(out, _convert(format_, path))))
        return
    counts: Counter[str] = Counter()
    found = _count_known(_read(format_, path, split, by_page), counts)
    say(plural(write_labelled(out, found)))
    if known := Tally(counts).known:
        say(f"known values that label words: {known}")


@app.command(
    cls=Command,
    epilog="Example: lawful data info invoices.jsonl --rules invoice",
)
def info(
    format_: str = typer.Argument(
        ..., metavar="[FORMAT]",
        help=f"Data set: one of {', '.join(READERS)}; jsonl need not be named.",
    ),
    path: Path | None = typer.Argument(
        None, metavar="PATH", help="Folder of the data set, or one of its files."
    ),
    rules: str | None = typer.Option(
        None, "--rules", "-r", metavar="FILE",
        show_default="those of the data set, if there are any",
        help=f"Rules to judge the gold labels by: a file, or one of {RULE_NAMES}.",
    ),
    split: Split = None,
    by_page: ByPage = False,
) -> None:  # fmt: skip
    """Print the size of a data set, and how many of its gold labels obey the rules."""
    if path is None and format_ not in READERS and Path(format_).exists():
        format_, path = "jsonl", Path(format_)
    reader_named(format_)
    if path is None:
        raise InputError(f"where is the data set? lawful data info {format_} PATH")
    named = rules or (format_ if format_ in PACKS else None)
    loaded = None if named is None else rules_named(named)
    documents = list(_read(format_, path, split, by_page))
    console = results_console()
    console.print(_survey_table(survey(documents)))
    if loaded is not None:
        truth = judge_gold(documents, loaded)
        whose = f"the rules for {named}" if named in PACKS else named
        console.print(f"\ngold labels under {whose}:")
        console.print(_truth_table(truth))
        console.print()
        console.print(_states_table(truth))
        if truth.absent:
            console.print(f"\nfields that occur in no document: {', '.join(truth.absent)}")


@app.command(cls=Command, epilog="Example: lawful data rules receipt > my-rules.yaml")
def rules(
    name: str = typer.Argument(..., metavar="NAME", help=f"One of {', '.join(PACKS)}."),
) -> None:
    """Print rules that have a name, as a rule file to start from."""
    if name not in PACKS:
        raise InputError(f"no rules called {name!r}; rules by name: {', '.join(PACKS)}")
    sys.stdout.write(PACKS[name].read_text(encoding="utf-8"))


@app.command(
    "split", cls=Command,
    epilog="Example: lawful data split invoices.jsonl --rules invoice --out build/split",
)  # fmt: skip
def split_file(
    documents: Path = typer.Argument(
        ..., metavar="DOCUMENTS", help="Documents as JSON lines with gold labels."
    ),
    rules: str = typer.Option(
        ..., "--rules", "-r", metavar="FILE",
        help=f"Rules that test documents obey: a file, or one of {RULE_NAMES}.",
    ),
    out: Path = typer.Option(..., "--out", "-o", metavar="FOLDER", help="Folder to write."),
    seed: Seed = 0,
) -> None:  # fmt: skip
    """Split documents into train, validation and test files, as the paper does."""
    loaded = rules_named(rules)
    pages = list(read_labelled(documents))
    if not pages:
        raise InputError(f"no document in {documents}")
    found = {label[2:] for page in pages for label in page.gold}
    if loaded.fields and not found & {f.label for f in loaded.fields}:
        wanted = ", ".join(f.label for f in loaded.fields)
        raise InputError(f"no label of {rules} occurs in {documents}; its labels: {wanted}")
    parts = split_documents(pages, loaded, seed)
    make_folder(out)
    packed = ".gz" if documents.suffix == ".gz" else ""
    lines = [text.decode().strip() for _, text in read_lines(documents)]
    for part in PARTS:
        some = [
            line for page, line in zip(pages, lines, strict=True) if parts[page.document.id] == part
        ]
        path = out / f"{part}.jsonl{packed}"
        with atomic_text(path) as file:
            file.writelines(f"{line}\n" for line in some)
        say(f"{path}: {plural(len(some))}")


def _convert(format_: str, path: Path) -> Iterator[Document]:
    """The documents of an OCR engine's file, or of all such files in a folder."""
    check_there(path)
    files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
    for file in files:
        try:
            yield make_document(str(file), FORMATS[format_](read_bytes(file)))
        except InputError as error:
            raise InputError(f"{file}: {error}") from None


def _count_known(documents: Iterable[Labelled], counts: Counter[str]) -> Iterator[Labelled]:
    """The documents; counts by label how many have a known value, and how many a label of it."""
    for labelled in documents:
        labels = {label[2:] for label in labelled.gold}
        for label, texts in (labelled.document.values or {}).items():
            if any(text.strip("0.") for text in texts):  # not zero
                counts.update(counts_of_known([Known(label, texts, (), label in labels)]))
        yield labelled


def _read(format_: str, path: Path, split: str | None, by_page: bool) -> Iterator[Labelled]:
    found = False
    for labelled in reader_named(format_)(path, split):
        found = True
        yield from labelled.by_page() if by_page else [labelled]
    if not found:
        raise InputError(f"no document in {path}")


def _survey_table(found: Survey) -> Table:
    splits = ", ".join(f"{name} {count:,}" for name, count in found.splits.items())
    table = Table("", "", box=None, show_header=False, pad_edge=False)
    table.add_row("documents", f"{found.documents:,}{f' ({splits})' if splits else ''}")
    table.add_row("pages", f"{found.pages:,}")
    table.add_row(
        "words",
        f"{found.words:,}: {found.words / found.pages:.1f} per page, "
        f"{found.longest:,} in the longest document",
    )
    if found.pieces is not None:
        table.add_row(
            "word pieces",
            f"{found.pieces:,}: {found.pieces / found.pages:.1f} per page, "
            f"{found.most_pieces:,} in the longest document",
        )
    table.add_row(
        "labels", f"{found.types} types; {found.labels} labels with prefixes, including O"
    )
    return table


def _truth_table(truth: GoldVerdicts) -> Table:
    table = Table("", "", "", box=None, show_header=False, pad_edge=False)
    for what, count in (
        ("no rule violated", truth.lawful),
        ("and every text has a value", truth.readable),
        ("and labels are legal, repeated fields agree", truth.clean),
        ("of the first, no rule could be checked", truth.unchecked),
    ):
        table.add_row(what, f"{count:,}", f"{count / truth.documents:.1%}")
    return table


def _states_table(truth: GoldVerdicts) -> Table:
    table = Table("", "satisfied", "violated", "vacuous", box=None, pad_edge=False)
    for name, states in truth.states.items():
        table.add_row(name, *(f"{states[s]:,}" for s in ("satisfied", "violated", "vacuous")))
    for name, count in truth.implied.items():
        table.add_row(name, "", f"{count:,}", "")
    for column in table.columns[1:]:
        column.justify = "right"
    return table
