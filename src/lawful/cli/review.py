"""``lawful review``: a page in the browser on which a person settles what rules could not."""

from __future__ import annotations

import getpass
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from lawful.base.errors import InputError, LawfulError
from lawful.cli.commands import Command, ReviewGroup, flag
from lawful.cli.groups import Without, with_groups
from lawful.cli.inputs import Inputs
from lawful.cli.options import (
    FileOptions,
    ModelOptions,
    Out,
    PassOptions,
    PythonFile,
    RawCsv,
    RuleFile,
    load_rules,
    rules_option,
)
from lawful.cli.output import plural
from lawful.cli.review_inputs import model_of, rules_of, scored
from lawful.cli.terminal import say, warn
from lawful.cli.trust_options import Trusting
from lawful.io.atomic import atomic_text
from lawful.io.jsonl import encode
from lawful.io.paths import check_there, read_bytes
from lawful.pipeline.call import Call
from lawful.review.accepted import accepted_in, csv_lines, json_lines, write_parquet, write_xlsx
from lawful.review.annotations import annotation_of, read_tasks, take
from lawful.review.desk import Desk
from lawful.review.documents import Documents
from lawful.review.export import Accepted, changes
from lawful.review.learning import Learner
from lawful.review.needed import Costs
from lawful.review.pictures import Pictures
from lawful.review.queue import Queue
from lawful.review.serving import check_extra, open_desk, serve, shared
from lawful.review.store import Store
from lawful.review.tasks import Tasks

app = typer.Typer(
    help="Review documents in the browser, and export what was found.", cls=ReviewGroup
)

ExportFormat: TypeAlias = Literal[
    "gold", "csv", "xlsx", "jsonl", "parquet", "changes", "label-studio"
]
TABLES = ("csv", "xlsx", "jsonl", "parquet")
"""Formats of accepted values, which need the reviews only."""

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
    epilog="Example: lawful review open documents.jsonl --rules rules.yaml --images-from scans/; "
    "the word open may be left out.",
)  # fmt: skip
@with_groups
def open_(
    documents: list[str] = typer.Argument(
        ..., metavar="DOCUMENTS",
        help="Scored documents as JSON lines (plain or gzipped; - reads standard input); or PDF "
        "files, images and folders of them, which a model scores first.",
    ),
    rules: Annotated[
        Path | None, rules_option("Rules (default for files: of the model, or of their kind)")
    ] = None,
    schema: str | None = typer.Option(
        None, metavar="SCHEMA", show_default=False,
        help="Fields and rules of a Pydantic model as file.py:Class, whose file is executed, or "
        "of a JSON Schema: those of lawful extract --schema.",
    ),
    python: PythonFile = None,
    *,
    images: str | None = typer.Option(
        None, "--images-from", metavar="DIR",
        help="Folder of page images or PDF files named by the documents' ids, or a template such "
        "as scans/{id}-{page}.png with pages from 1.",
    ),
    db: Database = Path("review.db"),
    port: int = typer.Option(
        0, metavar="N", min=0, max=65535, show_default="any free one",
        help="Port to listen on, on this machine only.",
    ),
    no_browser: bool = flag("--no-browser", help="Only print the address."),
    reviewer: str | None = typer.Option(
        None, metavar="NAME", show_default="the name of the user", help="Who reviews."
    ),
    needs: str | None = typer.Option(
        None, "--needs", metavar="NAMES", show_default="as the rules say",
        help="The fields that matter, as in total,issued with --rules receipt: others are not "
        "asked about.",
    ),
    passing: Annotated[PassOptions, Without("audit", "review_out")],
    error_cost: float = typer.Option(
        20.0, metavar="X", min=0, help="What an error that nobody sees costs, in looks."
    ),
    files: Annotated[FileOptions, Without("pages", "max_pages", "file_seconds")],
    by: Annotated[ModelOptions, Without("pool", "batch", "device", "backend")],
    language: Literal["en", "de", "fr"] | None = typer.Option(
        None, show_default="as the browser asks",
        help="Language of the page, and of rules' messages.",
    ),
    teach: bool = flag(
        "--teach",
        help="Teach a quick model again after each accepted document, and sort the others by its "
        "answers; without --model, documents need no scores.",
    ),
    teach_out: Path | None = typer.Option(
        None, metavar="FOLDER", show_default="beside --db, as in review.db.model",
        help="With --teach: folder to write the taught model to.",
    ),
) -> None:  # fmt: skip
    """Open a page in the browser on which a person reviews documents, the worst first."""
    check_extra()
    inputs = Inputs(documents)
    is_scored = not inputs.has_files and by.model is None and not teach
    _check_there(documents)
    if teach_out is not None and not teach:
        raise InputError("--teach-out needs --teach")
    if rules is None and schema is None and is_scored:
        raise InputError(f"give --rules: {documents[0]} has scores of labels that only you know")
    by_kind = rules is None and python is None and passing.trust is None
    rules, sets = rules_of(rules, python, schema, by.model, needs, by_kind=by_kind, teach=teach)
    name = " or ".join(sets) or rules.stem
    common = shared(sets, name, python)._replace(language=language)
    call = Call(common.rules)
    trusting = Trusting.load(passing, call, (rules, python))
    if is_scored and len(documents) > 1:
        raise InputError("several files of JSON lines: review them one by one, or join them")
    learner = None
    pictures = Pictures(_folders_of(documents), images, files.password, Path(f"{db}.pictures"))
    if is_scored:
        found = Documents.open(documents[0])
        if not len(found):
            raise InputError(f"nothing to review in {documents[0]}: no documents")
        store = Store(db)
    else:
        store = Store(db)  # before a model runs for minutes
        tagger = model_of(sets, by.model, inputs, teach=teach)
        xml = by.model is None and passing.trust is None and not teach
        arriving = scored(inputs, files.reader(), tagger, sets if xml else None)
        found = Documents.arriving(arriving, inputs.files_after(0))
        if teach:
            learner = Learner(common.rules, teach_out or Path(f"{db}.model"), tagger)

    def ready(address: str) -> None:
        what = "documents are being read" if found.coming else plural(len(found))
        say(f"{what}; reviews are kept in {db}")
        say(f"open {address} (Ctrl-C ends it)")

    with open_desk(
        found, store, common, pictures,
        trust=trusting.model, costs=Costs(error_cost), learner=learner,
    ) as desk:  # fmt: skip
        with suppress(KeyboardInterrupt):
            serve(desk, reviewer or _user(), port=port, ready=ready, browser=not no_browser)
        say(f"ended; reviews are in {db}")
        if learner is not None and learner.out.is_dir():
            say(f"the taught model is in {learner.out}; lawful extract FILES --model takes it")


def _folders_of(documents: list[str]) -> list[Path]:
    """The folders of documents, in which their pictures may be."""
    folders = [Path(each).parent for each in documents if each != "-"]
    return folders + [Path(each) for each in documents if Path(each).is_dir()]


def _check_there(documents: list[str]) -> None:
    for each in documents:
        if each != "-":
            check_there(Path(each))


@app.command(
    "export", cls=Command,
    epilog="Example: lawful review export --db review.db --out accepted.csv; or with labels: "
    "lawful review export documents.jsonl --rules rules.yaml --out gold.jsonl",
)  # fmt: skip
def export(
    context: typer.Context,
    documents: str | None = typer.Argument(
        None, metavar="DOCUMENTS",
        help="Scored documents as JSON lines; of values as tables, only these (default: all that "
        "were reviewed).",
    ),
    rules: Annotated[Path | None, rules_option("Rules, which gold labels need")] = None,
    python: PythonFile = None,
    db: Database = Path("review.db"),
    out: Out = "-",
    format_: ExportFormat | None = typer.Option(
        None, "--format", show_default="by the name of --out, or gold",
        help="Accepted values as csv, xlsx, jsonl or parquet; accepted documents as JSON lines "
        "with gold labels, a CSV table of all changes, or Label Studio's JSON.",
    ),
    rows: str | None = typer.Option(
        None, metavar="KIND", help="Of csv: one line per row of this kind, as in item."
    ),
    raw_csv: RawCsv = False,
    any_rules: bool = flag("--any-rules", help="Also export what was accepted under other rules."),
) -> None:  # fmt: skip
    """Export reviews: accepted values, true labels, a table of changes, or tasks."""
    form = format_ or _form_of(out)
    if form in TABLES:
        _export_values(form, documents, db, out, rows, raw=raw_csv)
        return
    if documents is None or rules is None:
        raise InputError(f"--format {form} needs the documents, and --rules")
    if rows is not None:
        raise InputError("--rows needs --format csv")
    with _desk(documents, rules, python, db, new=form == "label-studio") as desk:
        if form == "changes":
            _write(out, changes(desk.store))
            return
        if form == "gold":
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


def _form_of(out: str) -> ExportFormat:
    """The format that a file's name says."""
    suffix = Path(out).suffix.lower()
    return {".csv": "csv", ".xlsx": "xlsx", ".parquet": "parquet"}.get(suffix, "gold")  # type: ignore[return-value]


def _export_values(
    form: ExportFormat, documents: str | None, db: Path, out: str, rows: str | None, *, raw: bool
) -> None:
    """Writes accepted values, which are in the reviews."""
    keys = None
    if documents is not None:
        with closing(Documents.open(documents)) as found:
            keys = {(slip.id, slip.hash) for slip in found.slips}
    with closing(Store(_existing(db))) as store:
        values = list(accepted_in(store, keys))
        states = store.states()
    kinds = dict.fromkeys(kind for each in values for kind in each.kinds)
    if rows is not None and (form != "csv" or (values and rows not in kinds)):
        raise InputError(
            f"--rows {rows} needs --format csv and a kind of rows: {', '.join(kinds) or 'none'}"
        )
    if form in ("xlsx", "parquet"):
        if out == "-":
            raise InputError(f"--format {form} needs --out FILE")
        (write_xlsx if form == "xlsx" else write_parquet)(Path(out), values)
    elif form == "csv":
        _write(out, csv_lines(values, rows, raw=raw))
    else:
        _write(out, json_lines(values))
    say(f"{plural(len(values))} with accepted values")
    if texts := sum(not each.is_whole for each in values):
        warn(f"{plural(texts)} accepted by an earlier version of lawful: texts as printed")
    others = Counter(s.verdict or "not decided" for s in states.values() if s.verdict != "accepted")
    if keys is None and others:
        left = "; ".join(f"{count:,} {why}" for why, count in others.items())
        say(f"left out: {left}")


@app.command(
    "import", cls=Command,
    epilog="Example: lawful review import tasks.json documents.jsonl --rules rules.yaml "
    "--db review.db",
)  # fmt: skip
def import_(
    *,
    tasks: Path = typer.Argument(
        ..., metavar="TASKS", help="Tasks that Label Studio exported as JSON."
    ),
    documents: Reviewed,
    rules: RuleFile,
    python: PythonFile = None,
    db: Database = Path("review.db"),
) -> None:
    """Import annotations of Label Studio as accepted reviews."""
    listed = read_tasks(read_bytes(tasks), str(tasks))
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
    if not new:
        _existing(db)
    loaded = load_rules(rules, python)
    common = shared(loaded, rules.stem, python)
    found = Documents.open(documents)
    desk = Desk(found, Store(db), common, Pictures(), Queue(found, common.sets))
    try:
        yield desk
    finally:
        desk.close()


def _existing(db: Path) -> Path:
    if not db.is_file():
        raise InputError(f"there are no reviews: no file {db}")
    return db


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
