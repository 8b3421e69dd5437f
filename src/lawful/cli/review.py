"""``lawful review``: a page in the browser on which a person settles what rules could not."""

from __future__ import annotations

import getpass
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from lawful.batch import score_records
from lawful.cli.inputs import Inputs, make_reader
from lawful.cli.options import (
    Command,
    Model,
    OcrOption,
    Out,
    Password,
    PythonFile,
    ReviewGroup,
    RuleFile,
    flag,
    load_rules,
)
from lawful.cli.output import plural, say, warn
from lawful.cli.tagging import UnscoredFile, load_tagger
from lawful.document import BadLine, Scored
from lawful.errors import InputError, LawfulError
from lawful.files import Limits, OcrMode
from lawful.io.atomic import atomic_text
from lawful.io.jsonl import encode
from lawful.review.annotations import annotation_of, read_tasks, take
from lawful.review.desk import Desk
from lawful.review.documents import Documents
from lawful.review.export import Accepted, changes
from lawful.review.pictures import Pictures
from lawful.review.queue import Queue
from lawful.review.serving import check_extra, open_desk, serve, shared
from lawful.review.store import Store
from lawful.review.tasks import Tasks

app = typer.Typer(
    help="Review documents in the browser, and export what was found.", cls=ReviewGroup
)

ExportFormat: TypeAlias = Literal["gold", "changes", "label-studio"]

Database = Annotated[
    Path, typer.Option("--db", metavar="FILE", help="File of the reviews, an SQLite database.")
]
Reviewed = Annotated[
    str,
    typer.Argument(
        metavar="DOCUMENTS",
        help="Scored documents as JSON lines (plain or gzipped); - reads standard input.",
    ),
]


@app.command(
    "open", cls=Command,
    epilog="Example: lawful review open documents.jsonl --rules rules.yaml --images scans/; the "
    "word open may be left out.",
)  # fmt: skip
def open_(
    documents: Annotated[
        list[str],
        typer.Argument(
            metavar="DOCUMENTS",
            help="Scored documents as JSON lines (plain or gzipped; - reads standard input); or "
            "PDF files, images and folders of them, which a model scores first.",
        ),
    ],
    rules: RuleFile,
    python: PythonFile = None,
    images: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Folder of page images or PDF files named by the documents' ids, or a template "
            "such as scans/{id}-{page}.png with pages from 1.",
        ),
    ] = None,
    db: Database = Path("review.db"),
    port: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, max=65535, show_default="any free one",
            help="Port to listen on, on this machine only.",
        ),
    ] = 0,
    no_browser: Annotated[bool, flag("--no-browser", help="Only print the address.")] = False,
    reviewer: Annotated[
        str | None,
        typer.Option(metavar="NAME", show_default="the name of the user", help="Who reviews."),
    ] = None,
    ocr: OcrOption = "auto",
    password: Password = None,
    model: Model = None,
) -> None:  # fmt: skip
    """Open a page in the browser on which a person reviews documents, the worst first."""
    check_extra()
    common = shared(load_rules(rules, python), rules.stem, python)
    inputs = Inputs(documents)
    is_scored = not inputs.has_files and model is None
    if is_scored and len(documents) > 1:
        raise InputError("several files of JSON lines: review them one by one, or join them")
    folders = [Path(each).parent for each in documents if each != "-"]
    folders += [Path(each) for each in documents if Path(each).is_dir()]
    pictures = Pictures(folders, images, password)
    if is_scored:
        found = Documents.open(documents[0])
        if not len(found):
            raise InputError(f"nothing to review in {documents[0]}: no documents")
        store = Store(db)
    else:
        store = Store(db)  # before a model runs for minutes
        found = Documents.of_records(_scored(inputs, ocr, password, model))

    def ready(address: str) -> None:
        say(f"{plural(len(found))}; reviews are kept in {db}")
        say(f"open {address} (Ctrl-C ends it)")

    with open_desk(found, store, common, pictures) as desk:
        with suppress(KeyboardInterrupt):
            serve(desk, reviewer or _user(), port=port, ready=ready, browser=not no_browser)
        say(f"ended; reviews are in {db}")


def _scored(
    inputs: Inputs, ocr: OcrMode, password: str | None, model: str | None
) -> Iterator[Scored | BadLine]:
    """Files as documents, scored by a model; one that cannot be read is said, and listed."""
    tagger = load_tagger(model, None, None)
    limits = Limits()
    reader = make_reader(ocr, None, limits.pages, limits.seconds, password, 1)
    found = inputs.documents(inputs.lines(), reader)
    records = UnscoredFile(tagger, keep_gold=False).records(found)
    for record in score_records(partial(tagger.predict, batch=1), records):
        if isinstance(record, BadLine):
            warn(f"{inputs.name(record.line)}: {record.message}")
        yield record


@app.command(
    "export", cls=Command,
    epilog="Example: lawful review export documents.jsonl --rules rules.yaml --db review.db "
    "--out gold.jsonl",
)  # fmt: skip
def export(
    documents: Reviewed,
    rules: RuleFile,
    python: PythonFile = None,
    db: Database = Path("review.db"),
    out: Out = "-",
    format_: Annotated[
        ExportFormat,
        typer.Option(
            "--format",
            help="Accepted documents as JSON lines with gold labels, a CSV table of all changes, "
            "or Label Studio's JSON.",
        ),
    ] = "gold",
    any_rules: Annotated[
        bool, flag("--any-rules", help="Also export what was accepted under other rules.")
    ] = False,
) -> None:
    """Export reviews: true labels for other commands, a table of changes, or tasks."""
    with _desk(documents, rules, python, db) as desk:
        if format_ == "changes":
            _write(out, changes(desk.store))
            return
        if format_ == "gold":
            accepted = Accepted(desk, any_rules=any_rules)
            say(f"{plural(_write(out, accepted.lines()))} with gold labels")
            _say_others("left out", accepted)
        else:
            tasks = Tasks(desk, any_rules=any_rules)
            count = _write(out, _listed(encode(task).decode() for task in tasks.all()))
            say(
                f"{plural(count - 2, 'task')}; the labelling interface for them:\n{tasks.interface}"
            )
            _say_others("without an annotation", tasks.accepted)


@app.command(
    "import", cls=Command,
    epilog="Example: lawful review import tasks.json documents.jsonl --rules rules.yaml "
    "--db review.db",
)  # fmt: skip
def import_(
    tasks: Annotated[
        Path, typer.Argument(metavar="TASKS", help="Tasks that Label Studio exported as JSON.")
    ],
    documents: Reviewed,
    rules: RuleFile,
    python: PythonFile = None,
    db: Database = Path("review.db"),
) -> None:
    """Import annotations of Label Studio as accepted reviews."""
    try:
        data = tasks.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {tasks}: {error.strerror}") from None
    listed = read_tasks(data, str(tasks))
    taken, bad, unknown = 0, 0, set[str]()
    with _desk(documents, rules, python, db, new=True) as desk:
        for number, task in enumerate(listed):
            try:
                said = annotation_of(task)
                if said is not None:
                    unknown |= set(take(desk, said))
                    taken += 1
            except LawfulError as error:
                warn(f"task {number + 1}: {error}")
                bad += 1
    say(f"{plural(taken)} imported into {db}")
    if unknown:
        warn(f"labels that no field of the rules has, left out: {', '.join(sorted(unknown))}")
    raise typer.Exit(1 if bad else 0)


@contextmanager
def _desk(
    documents: str, rules: Path, python: Path | None, db: Path, *, new: bool = False
) -> Iterator[Desk]:
    """A desk without a page; unless ``new``, there must be reviews."""
    if not new and not db.is_file():
        raise InputError(f"there are no reviews: no file {db}")
    common = shared(load_rules(rules, python), rules.stem, python)
    found = Documents.open(documents)
    desk = Desk(found, Store(db), common, Pictures(), Queue(found, common.rules))
    try:
        yield desk
    finally:
        desk.close()


def _write(out: str, lines: Iterable[str]) -> int:
    """Writes lines atomically and returns their number."""
    count = 0
    with atomic_text(out) as file:
        for line in lines:
            file.write(line)
            count += 1
    return count


def _listed(items: Iterable[str]) -> Iterator[str]:
    """A JSON list, one item per line."""
    yield "["
    between = "\n"
    for item in items:
        yield f"{between}{item}"
        between = ",\n"
    yield "\n]\n"


def _say_others(what: str, accepted: Accepted) -> None:
    """Says how many documents are not accepted, and why."""
    others = "; ".join(f"{count:,} {why}" for why, count in accepted.left_out.items())
    if others:
        say(f"{what}: {others}")


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "reviewer"
