"""Arguments and options that several commands share, each defined once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, get_args

import typer

from lawful.base.errors import InputError, RulesError, did_you_mean
from lawful.base.options import option, switch
from lawful.documents.scores import Pooling
from lawful.models.tagger import Backend
from lawful.readers import Limits, OcrMode, Reader, Selection
from lawful.readers.cache import ReadCache
from lawful.readers.ocr import Ocr
from lawful.readers.pdf import PASSWORD_VARIABLE
from lawful.rules.packs import PACKS
from lawful.rules.python_files import load_python
from lawful.rules.rule_set import Rules

BadLines: TypeAlias = Literal["skip", "fail"]
Unchecked: TypeAlias = Literal["pass", "fail"]
Format: TypeAlias = Literal["jsonl", "csv", "html", "parquet"]

ENDINGS: dict[str, Format] = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv", ".html": "html",
    ".htm": "html", ".parquet": "parquet",
}  # fmt: skip
"""Formats by the ends of names of output files."""

_OTHERS = frozenset((".npz", ".xlsx", ".xls", ".ods", ".tsv", ".arrow", ".feather", ".pdf"))
"""Ends of names of files that nothing here writes; with any other, it is JSON lines."""

RULE_NAMES = ", ".join(PACKS)
_POOLINGS = ", ".join(get_args(Pooling))

_DECODING = "Decoding"
_MODEL = "Model"


def rule_path(given: Path | None) -> Path | None:
    """The rule file of a path, or of a name: the paper's rules for a data set, or a rule pack."""
    if given is None or given.exists() or given.suffix:
        return given
    if str(given) not in PACKS:
        hint = did_you_mean(given, PACKS)
        raise InputError(f"no rule file {given}; {hint}names of rules: {RULE_NAMES}")
    return PACKS[str(given)]


def ending_format(out: str, forms: Sequence[str] = get_args(Format)) -> Format | None:
    """The format that the end of a name says, if any; ``.gz`` after it does not matter.

    An ``InputError`` about the name of another file offers the ends of ``forms``.
    """
    end = Path(out.removesuffix(".gz")).suffix
    if end.lower() in _OTHERS:
        known = ", ".join(end for end, form in ENDINGS.items() if form in forms)
        raise InputError(f"{out}: {end} files are not written; expected one of {known}")
    return ENDINGS.get(end.lower())


def form_of(context: typer.Context) -> Format:
    """The output format of a command: that of ``--format``, or that of the names of its outputs.

    From then on it is the value of ``--format``. Raises an ``InputError`` if they disagree.
    """
    form: Format | None = context.params["format_"]
    source = f"--format is {form}"
    for name in ("out", "review_out"):
        out, option = context.params.get(name), name.replace("_", "-")
        if out is None or Path(out).is_dir() or (named := ending_format(out)) is None:
            continue
        if form is not None and named != form:
            raise InputError(
                f"--{option} {out} is the name of a {named} file, and {source}: choose one of both"
            )
        form, source = named, f"--{option} {out} that of a {named} file"
        if form == "parquet" and out.endswith(".gz"):
            raise InputError(
                f"--{option} {out}: Parquet files are compressed already; leave out .gz"
            )
    form = form or "jsonl"
    context.params["format_"] = form
    return form


def lines_path(given: str) -> str:
    """The output file of a command that writes JSON lines; other formats are an ``InputError``."""
    if ending_format(given, ("jsonl",)) not in (None, "jsonl"):
        raise InputError(f"--out {given}: expected a name such as x.jsonl, as it is JSON lines")
    return given


def rules_option(what: str) -> Any:
    """The option ``--rules`` with a help text for one command."""
    text = f"{what}: a file, or one of {RULE_NAMES}."
    return typer.Option("--rules", "-r", metavar="FILE", help=text, callback=rule_path)


def load_rules(path: Path, python: Path | None) -> Rules:
    """The rules of a rule file, and those of a Python file."""
    rules = Rules.load(path)
    if python is None:
        return rules
    more = load_python(python)
    try:
        return rules.with_rules(*more)
    except RulesError as error:
        raise RulesError(f"{python}: {error}") from None


# Input and output.

Documents = Annotated[
    str,
    typer.Argument(
        metavar="DOCUMENTS",
        help="Scored documents as JSON lines (plain or gzipped), with or without pins; "
        "- reads standard input.",
    ),
]
InputsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES",
        help="PDF files, images, what OCR engines write, folders of them, or documents as JSON "
        "lines with words and boxes (plain or gzipped); - reads these from standard input.",
    ),
]
RuleFile = Annotated[Path, rules_option("Rules")]
PythonFile = Annotated[
    Path | None,
    typer.Option(
        "--python", metavar="FILE",
        help="Python file whose rules, made with @lawful.rule, are added. Executes the file.",
    ),
]  # fmt: skip
Out = Annotated[
    str,
    typer.Option("--out", "-o", metavar="FILE", help="Output file; - writes to standard output."),
]
LinesOut = Annotated[
    str,
    typer.Option(
        "--out", "-o", metavar="FILE", callback=lines_path,
        help="Output file of JSON lines; - writes to standard output.",
    ),
]  # fmt: skip
OutOrFolder = Annotated[
    str,
    typer.Option(
        "--out", "-o", metavar="FILE",
        help="Output file; - writes to standard output; a folder, such as out/, gets one file per "
        "input file.",
    ),
]  # fmt: skip
Report = Annotated[
    str | None,
    typer.Option(
        "--out", "-o", metavar="FILE",
        help="Also write the results as JSON to this file; - writes to standard output.",
    ),
]  # fmt: skip
Resume = Annotated[
    bool | None,
    typer.Option(
        "--resume/--no-resume", metavar="", show_default=False,
        help="Continue an unfinished run with the same --out, if there is one, or start again.",
    ),
]  # fmt: skip
RawCsv = Annotated[
    bool,
    typer.Option(
        "--raw-csv", metavar="",
        help="Do not protect CSV cells that spreadsheets would take for formulas.",
    ),
]  # fmt: skip
ScoredOut = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Also write the documents with their scores as JSON lines, for lawful review: "
        "candidates as spans of their page.",
    ),
]
BadLinesOption = Annotated[
    BadLines, typer.Option(help="Skip lines that cannot be used, or fail at the first one.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", metavar="", help="Show no progress and no summary.")
]
Seed = Annotated[int, typer.Option(metavar="N", help="Random seed.")]

# Decoding.

PoolOption = Annotated[
    Pooling | None,
    typer.Option(
        metavar="HOW", rich_help_panel=_DECODING,
        help=f"Merge word pieces into words before decoding: one of {_POOLINGS}.",
    ),
]  # fmt: skip
Workers = Annotated[
    int,
    typer.Option(metavar="N", rich_help_panel=_DECODING, help="Number of processes that decode."),
]

# Models.

Device = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", rich_help_panel=_MODEL, show_default="a GPU if there is one",
        help="Device to run the model on, such as cpu or cuda.",
    ),
]  # fmt: skip
BackendOption = Annotated[
    Backend | None,
    typer.Option(
        rich_help_panel=_MODEL, show_default="the one the model has weights for",
        help="Library that runs the model.",
    ),
]  # fmt: skip


# Groups of options.

_CACHE = (
    "Folder that keeps what was read, so that a file of the same content is read once: at most "
    "1 GiB, and nothing of files with a password."
)


@dataclass(frozen=True, slots=True)
class FileOptions:
    """How files are read."""

    PANEL: ClassVar[str] = "Reading files"

    ocr: OcrMode = option(
        "auto",
        help="Read pages of PDF files by OCR if they have hardly any words, always, or never.",
    )
    pages: str | None = option(
        None, metavar="PAGES", show_default="all",
        help="Pages to read of every file, such as 1-3,last or 5-.",
    )  # fmt: skip
    max_pages: int = option(
        300, metavar="N", min=1,
        help="Maximum number of pages per file; no page of a longer file is read.",
    )  # fmt: skip
    file_seconds: float = option(120.0, metavar="S", help="Maximum time to read one file.")
    password: str | None = option(
        None, metavar="TEXT", envvar=PASSWORD_VARIABLE,
        help="Password of encrypted PDF files. Safer as environment variable, where other users "
        "of this machine cannot see it.",
    )  # fmt: skip
    cache: Path | None = option(None, metavar="FOLDER", show_default="~/.cache/lawful", help=_CACHE)
    no_cache: bool = switch("--no-cache", help="Read every file, and keep nothing of it.")

    def reader(self, workers: int = 1) -> Reader:
        """The reader of these files; several workers use one thread each."""
        if self.no_cache and self.cache is not None:
            raise InputError("--cache and --no-cache: choose one of them")
        limits = Limits(pages=self.max_pages, seconds=self.file_seconds)
        selected = None if self.pages is None else Selection(self.pages)
        engine = Ocr(threads=-1 if workers == 1 else 1)
        cache = None if self.no_cache else ReadCache.open(self.cache)
        return Reader(self.ocr, limits, selected, self.password, engine, cache)


@dataclass(frozen=True, slots=True)
class AskedFileOptions(FileOptions):
    """The same for files that a language model may be asked about, or that are divided."""

    cache: Path | None = option(
        None, metavar="FOLDER", show_default="~/.cache/lawful",
        help=f"{_CACHE} If it is named, also answers of the language model.",
    )  # fmt: skip
    split: bool = switch(
        "--split",
        help="A file may hold several documents: find the pages at which new ones begin.",
    )


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The model that scores words."""

    PANEL: ClassVar[str] = "Model"

    model: str | None = option(
        None, "--model", "-m", metavar="MODEL", show_default="the receipt model",
        help="Model to score the words with: a folder, or a name on the hub.",
    )  # fmt: skip
    pool: Pooling = option(
        "mean", metavar="HOW",
        help=f"Pooling of the scores of a word's pieces: one of {_POOLINGS}.",
    )  # fmt: skip
    batch: int = option(32, metavar="N", help="Batch size, in windows.", min=1)
    device: Device = None
    backend: BackendOption = None


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How decodings are written."""

    resume: Resume = None
    format_: Format | None = option(
        None, "--format", show_default="by the end of --out's name, otherwise jsonl",
        help="Output format: JSON lines, a CSV table, an HTML report or a Parquet file.",
    )  # fmt: skip
    rows: str | None = option(
        None, metavar="KIND", show_default=False,
        help="With --format csv, write a table of these rows, not of the documents.",
    )  # fmt: skip
    raw_csv: RawCsv = False
    images: bool = switch(
        "--images",
        help="With --format html, draw the images that documents name. They are read from this "
        "machine, so use it only for documents that you trust.",
    )


@dataclass(frozen=True, slots=True)
class PassOptions:
    """Which documents pass."""

    PANEL: ClassVar[str] = "Trust"

    trust: Path | None = option(
        None, metavar="FILE",
        help="What lawful trust fit has written: it says which documents pass, by a promise about "
        "their error rate.",
    )  # fmt: skip
    audit: float = option(
        0.0, metavar="P",
        help="Send this share of the documents that would pass to a person, too, to check the "
        "promise by (lawful trust check).",
    )  # fmt: skip
    review_out: str | None = option(
        None, metavar="FILE",
        help="Write documents that do not pass to this file, and only the others to --out.",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class EndOptions:
    """What is done about bad lines, and what is said in the end."""

    bad_lines: BadLinesOption = "skip"
    unchecked: Unchecked = option(
        "fail",
        help="Whether documents on which no rule could be checked pass or fail in the exit code.",
    )
    quiet: Quiet = False
