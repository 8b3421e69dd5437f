"""``lawful teach``: from documents and true values to a model, in a minute, without a GPU."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import typer
from rich.table import Table

from lawful.base.errors import InputError, shown
from lawful.base.extras import needed
from lawful.cli.commands import flag
from lawful.cli.inputs import Inputs
from lawful.cli.options import RULE_NAMES, FileOptions, InputsArgument, Quiet, Workers
from lawful.cli.output import Progress, plural
from lawful.cli.terminal import results_console, say, warn
from lawful.cli.training_progress import Forecast
from lawful.cli.truth_files import Columns, TruthOption, columns_of, complain, matched
from lawful.documents.document import Document
from lawful.documents.records import UNKNOWN, FailedDocument, Labelled
from lawful.evaluation.split import sample
from lawful.io.atomic import atomic_text
from lawful.learn.align import read_truth
from lawful.learn.align.guessing import Guess, guess_columns
from lawful.learn.align.reading import ID, TruthFile
from lawful.learn.mined_file import how_said, mined_text
from lawful.learn.mining import mine
from lawful.learn.truth import MIN_PAGES
from lawful.models.checkpoint import ONNX, QUICK, WEIGHTS
from lawful.models.shipped import RULES_FILE, base_named, model_for
from lawful.models.teaching import MOST, Taught, Teacher
from lawful.pipeline.workers import Idle
from lawful.readers import Reader
from lawful.review.accepted import accepted_in
from lawful.review.store import Store
from lawful.rules.packs import rules_named
from lawful.rules.rule_set import Rules
from lawful.rules.to_file import rules_data, rules_text

EXAMPLE = "lawful teach documents/ --truth values.csv --out my-model"

PROPOSED = "proposed.yaml"
SHOWN = 5
FEW = 5
"""Documents below which accuracy says little."""


def teach(
    documents: InputsArgument,
    truth: TruthOption = None,
    reviews: Path | None = typer.Option(
        None, "--reviews", metavar="FILE",
        help="Reviews (lawful review --db): values that were accepted are true. Needs --rules.",
    ),
    *,
    out: Path = typer.Option(
        ..., "--out", "-o", metavar="FOLDER", help="Folder to write the model to."
    ),
    rules: str | None = typer.Option(
        None, "--rules", "-r", metavar="FILE", show_default="fields guessed from the columns",
        help=f"Fields and rules: a file, or one of {RULE_NAMES}.",
    ),
    column: Columns = None,
    deep: bool = flag(
        "--deep",
        help="Teach a transformer besides, in minutes, and keep the better model; needs the extra "
        "train.",
    ),
    base: str | None = typer.Option(
        None, metavar="MODEL", show_default="receipts or invoices",
        help="With --deep: the model to start from, as for lawful train.",
    ),
    files: FileOptions,
    workers: Workers = 1,
    quiet: Quiet = False,
) -> None:  # fmt: skip
    """Teach a model from files and true values, in seconds, without a GPU.

    Values are found in the documents by themselves; nothing needs labels. The folder that is
    written is a model like any other, with the rules (rules.yaml) that extract uses with it.
    """
    if (truth is None) == (reviews is None):
        raise InputError("teach needs true values: --truth FILE, or --reviews FILE")
    inputs = Inputs(documents)
    if base is not None and not deep:
        raise InputError("--base is for --deep")
    if deep:
        needed("torch", "lawful teach --deep")
        needed("transformers", "lawful teach --deep")
    if "-" in documents:
        raise InputError("standard input cannot be read twice: give a file of documents")
    reader = files.reader(workers)
    ids = inputs.ids()
    loaded = None if rules is None else rules_named(rules)
    file, known_rules = _known(truth or reviews, reviews, ids, loaded, column)
    truths, _ = matched(ids, file.truths)
    if not truths:
        raise InputError(
            f"no document has true values in {truth or reviews}: ids of documents are "
            f"{', '.join(map(shown, sorted(ids)[:2]))}, and of true values "
            f"{', '.join(map(shown, sorted(file.truths)[:2]))}"
        )
    _say_what_is_missing(len(ids), len(truths), len(file.truths))
    chosen = frozenset(truths)
    if len(truths) > MOST:
        chosen = sample(list(truths), MOST / len(truths), seed=0)
        say(f"{MOST:,} of these are enough: others are not read")
    teacher = Teacher(known_rules)
    bad = len(file.bad)
    with Progress(quiet=quiet) as progress:
        for found in progress.documents(_read(inputs, reader, workers, chosen)):
            if isinstance(found, FailedDocument):
                warn(f"{inputs.name(found.line)}: {found.message}")
                bad += 1
            elif not len(found):
                warn(f"{found.id}: has no words, so nothing is learned from it")
                bad += 1
            else:
                teacher.add(found, truths[found.id])
    taught = teacher.teach(say if not quiet else lambda _: None)
    _show(taught, has_rules=bool(known_rules.rules))
    if not deep or not _deep(teacher, known_rules, base, out):
        taught.tagger.save(out)
    with atomic_text(out / RULES_FILE) as text:
        said = [f"Fields of {truth or reviews}, as lawful teach read it."]
        text.write(rules_text(rules_data(known_rules), said))
    _propose(teacher, known_rules, out)
    say(f"{out}: taught on {plural(taught.documents)}; try it with: "
        f"lawful extract FILES --model {out}")  # fmt: skip
    raise typer.Exit(1 if bad else 0)


def _known(
    path: Path | None, reviews: Path | None, ids: Collection[str], rules: Rules | None,
    column: list[str] | None,
) -> tuple[TruthFile, Rules]:  # fmt: skip
    """True values of a file, or of reviews, and the rules that say what their fields are."""
    assert path is not None  # noqa: S101 - one of them is given
    if reviews is None:
        guess = guess_columns(path, ids, rules, columns_of(column or ()))
        _show_columns(path, guess)
        file = read_truth(path, guess.rules, {**guess.columns, ID: guess.id})
        complain(path, file.bad)
        return file, guess.rules
    if rules is None:
        raise InputError("--reviews needs --rules, which say what the fields are")
    if not path.is_file():
        raise InputError(f"there are no reviews: no file {path}")
    with closing(Store(path)) as store:
        found = {each.id: each.truth for each in accepted_in(store)}
    names = {f.name for f in rules.fields}
    if unknown := {n for each in found.values() for n in each.values} - names:
        raise InputError(
            f"{path} has values of {', '.join(sorted(unknown))}, which are no fields of the rules"
        )
    return TruthFile(found, (), ()), rules


def _read(
    inputs: Inputs, reader: Reader, workers: int, chosen: frozenset[str]
) -> Iterator[Document | FailedDocument]:
    """The documents of these ids, each once, and why others cannot be read."""
    lines = inputs.lines(chosen)
    seen = set()
    for found in inputs.documents(lines, reader, workers=workers):
        if isinstance(found, Idle):
            continue
        document = found.document if isinstance(found, Labelled) else found
        if isinstance(document, FailedDocument):
            yield document
        elif document.id in seen:
            message = f"a second document with the id {shown(document.id)}"
            yield FailedDocument(document.line or 0, message, document.id)
        elif document.id in chosen:
            seen.add(document.id)
            yield document


def _show_columns(truth: Path, guess: Guess) -> None:
    table = Table("column", "is", "type", box=None)
    table.add_row(guess.id, "the document", "")
    types = {f.name: f.type for f in guess.rules.fields}
    for name, column in guess.columns.items():
        table.add_row(column, name, types[name])
    for column in guess.unused:
        table.add_row(column, "not used", "")
    results_console(stderr=True).print(table)


def _say_what_is_missing(documents: int, matched: int, truths: int) -> None:
    say(f"{plural(matched)} with true values")
    if documents > matched:
        say(f"{plural(documents - matched)} without, which are not used")
    if truths > matched:
        warn(f"{plural(truths - matched, 'row')} of true values without a document")


def _show(taught: Taught, *, has_rules: bool) -> None:
    """What was found and learned, how good it is, and what a person should look at first."""
    table = Table("field", "values", "printed", "right in cross-validation", box=None)
    if has_rules:
        table.add_column("with rules")
    for each in taught.fields:
        row = [each.name, f"{each.given:,}", f"{each.found:,}", _share(each.right, each.given)]
        table.add_row(*row, *([_share(each.with_rules, each.given)] * has_rules))
    results_console(stderr=True).print(table)
    for name in taught.left_out:
        warn(f"{name}: left out, since none of its values is printed in its document")
    for each in taught.fields:
        if each.constant:
            warn(f"{each.name}: all values are equal, so it learns a word, not a place")
    if taught.documents < FEW:
        warn(f"{plural(taught.documents)}: too few to say how good this is; 20 are a start")
    if taught.doubts:
        say("correct or check first, where the model, taught on the others, finds something else:")
    for doubt in taught.doubts[:SHOWN]:
        say(
            f"  {doubt.id}: {doubt.field} is {shown(doubt.value)}, found {shown(doubt.found)} "
            f"({doubt.sure:.0%} sure)"
        )


def _deep(teacher: Teacher, rules: Rules, base: str | None, out: Path) -> bool:
    """Teaches a network, and writes it if it is better than the quick model."""
    from lawful.models.deep import compare, teach_deep
    from lawful.models.tagger import BOXLESS

    warnings.filterwarnings("ignore", BOXLESS)  # teaching on documents without boxes is deliberate
    start = base_named(base) if base else str(model_for(rules))
    if any((out / name).exists() for name in (WEIGHTS, ONNX)):
        raise InputError(f"{out} already has a model: choose another folder, or delete it")
    say("--deep: a network learns from four fifths of the documents, and is tested on the rest")
    found = compare(teacher, start, Forecast().step)
    say(
        f"of the values of {plural(found.documents)} that were held back, the quick model has "
        f"{found.quick:,}, the network {found.deep:,}"
    )
    if not found.better:
        say("the quick model is kept")
        return False
    say("the network is kept: it learns once more, from all documents")
    teach_deep(teacher, start, out, Forecast().step)
    (out / QUICK).unlink(missing_ok=True)  # of an earlier run
    return True


def _share(right: int | None, of: int) -> str:
    return "-" if right is None or not of else f"{right:,} of {of:,} ({right / of:.0%})"


def _propose(teacher: Teacher, rules: Rules, out: Path) -> None:
    """Writes rules that hold in the values, for a person to choose from."""
    if len(teacher.documents) < MIN_PAGES:
        return
    pages = [
        replace(page, gold=tuple("O" if label == UNKNOWN else label for label in page.gold))
        for page in (each.labelled for each in teacher.aligned())
    ]
    found = [each for each in mine(pages, rules) if how_said(each) == "new"]
    if found:
        with atomic_text(out / PROPOSED) as file:
            file.write(mined_text(found, rules, ["Rules that hold in the true values: choose."]))
        hold = "holds" if len(found) == 1 else "hold"
        say(f"{plural(len(found), 'rule')} that {hold} in the values, in {out / PROPOSED}:")
        for each in found[:SHOWN]:
            say(f"  {each.proposal.text} ({each.pages.holds:,} of {each.pages.of:,})")
