"""Arguments and options that several commands share, each defined once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_args

import typer

from lawful.base.errors import InputError, RulesError, did_you_mean
from lawful.cli.commands import flag
from lawful.documents.scores import Pooling
from lawful.models.tagger import Backend
from lawful.readers import OcrMode
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
_FILES = "Reading files"
_TRUST = "Trust"
_PARQUET = "Parquet files"


def rule_path(given: Path | None) -> Path | None:
    """The rule file of a path, or of a name: the paper's rules for a data set, or a rule pack."""
    if given is None or given.exists() or given.suffix:
        return given
    if str(given) not in PACKS:
        hint = did_you_mean(given, PACKS)
        raise InputError(f"no rule file {given}; {hint}names of rules: {RULE_NAMES}")
    return PACKS[str(given)]


def ending_format(out: str) -> Format | None:
    """The format that the end of a name says, if any; ``.gz`` after it does not matter."""
    end = Path(out.removesuffix(".gz")).suffix
    if end.lower() in _OTHERS:
        known = ", ".join(ENDINGS)
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
    if ending_format(given) not in (None, "jsonl"):
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
ScoredFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES",
        help="Scored documents: JSON lines (plain or gzipped, with or without pins), Parquet "
        "files, or folders of these; - reads standard input.",
    ),
]
LabelsOption = Annotated[
    Path | None,
    typer.Option(
        "--label-names", metavar="FILE", rich_help_panel=_PARQUET,
        show_default="those in the files",
        help="Label names of Parquet files that lack them: a list in JSON, or one name per line.",
    ),
]  # fmt: skip
KindOption = Annotated[
    str | None,
    typer.Option(
        "--kind", metavar="KIND", rich_help_panel=_PARQUET, show_default="as the files say",
        help="Kind of the scores in Parquet files: probs, log_probs or logits.",
    ),
]  # fmt: skip
ColumnsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--column", metavar="NAME=COLUMN", rich_help_panel=_PARQUET, show_default=False,
        help="Read a column of Parquet files under another name, such as words=tokens.",
    ),
]  # fmt: skip
CandidateLines = Annotated[
    str,
    typer.Argument(
        metavar="DOCUMENTS",
        help="JSON lines with samples, candidates, or the response of a service (plain or "
        "gzipped); - reads standard input.",
    ),
]
UnscoredDocuments = Annotated[
    str,
    typer.Argument(
        metavar="DOCUMENTS",
        help="Documents as JSON lines with words and boxes, and pins if there are any (plain or "
        "gzipped); - reads standard input.",
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
OcrOption = Annotated[
    OcrMode,
    typer.Option(
        rich_help_panel=_FILES,
        help="Read pages of PDF files by OCR if they have hardly any words, always, or never.",
    ),
]
Pages = Annotated[
    str | None,
    typer.Option(
        metavar="PAGES", rich_help_panel=_FILES, show_default="all",
        help="Pages to read of every file, such as 1-3,last or 5-.",
    ),
]  # fmt: skip
MaxPages = Annotated[
    int,
    typer.Option(
        metavar="N", rich_help_panel=_FILES, min=1,
        help="Maximum number of pages per file; no page of a longer file is read.",
    ),
]  # fmt: skip
SplitOption = Annotated[
    bool,
    flag(
        "--split", rich_help_panel=_FILES,
        help="A file may hold several documents: find the pages at which new ones begin.",
    ),
]  # fmt: skip
Password = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT", rich_help_panel=_FILES, envvar=PASSWORD_VARIABLE,
        help="Password of encrypted PDF files. Safer as environment variable, where other users "
        "of this machine cannot see it.",
    ),
]  # fmt: skip
FileSeconds = Annotated[
    float,
    typer.Option(metavar="S", rich_help_panel=_FILES, help="Maximum time to read one file."),
]


def _cache(more: str = "") -> Any:
    text = (
        "Folder that keeps what was read, so that a file of the same content is read once: at most "
        "1 GiB, and nothing of files with a password."
    )
    return typer.Option(
        "--cache", metavar="FOLDER", rich_help_panel=_FILES, show_default="~/.cache/lawful",
        help=text + more,
    )  # fmt: skip


CacheFolder = Annotated[Path | None, _cache()]
CacheOfAnswers = Annotated[
    Path | None, _cache(" If it is named, also answers of the language model.")
]
NoCache = Annotated[
    bool,
    flag("--no-cache", rich_help_panel=_FILES, help="Read every file, and keep nothing of it."),
]
Images = Annotated[
    bool,
    flag(
        "--images",
        help="With --format html, draw the images that documents name. They are read from this "
        "machine, so use it only for documents that you trust.",
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
FormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format", show_default="by the end of --out's name, otherwise jsonl",
        help="Output format: JSON lines, a CSV table, an HTML report or a Parquet file.",
    ),
]  # fmt: skip
RowsOption = Annotated[
    str | None,
    typer.Option(
        metavar="KIND",
        help="With --format csv, write a table of these rows, not of the documents.",
        show_default=False,
    ),
]
RawCsv = Annotated[
    bool,
    flag("--raw-csv", help="Do not protect CSV cells that spreadsheets would take for formulas."),
]
BadLinesOption = Annotated[
    BadLines, typer.Option(help="Skip lines that cannot be used, or fail at the first one.")
]
UncheckedOption = Annotated[
    Unchecked,
    typer.Option(
        help="Whether documents on which no rule could be checked pass or fail in the exit code."
    ),
]
Quiet = Annotated[bool, flag("--quiet", "-q", help="Show no progress and no summary.")]
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

# Trust.

TrustFile = Annotated[
    Path | None,
    typer.Option(
        "--trust", metavar="FILE", rich_help_panel=_TRUST,
        help="What lawful trust fit has written: it says which documents pass, by a promise about "
        "their error rate.",
    ),
]  # fmt: skip
Audit = Annotated[
    float,
    typer.Option(
        metavar="P", rich_help_panel=_TRUST,
        help="Send this share of the documents that would pass to a person, too, to check the "
        "promise by (lawful trust check).",
    ),
]  # fmt: skip
ReviewOut = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", rich_help_panel=_TRUST,
        help="Write documents that do not pass to this file, and only the others to --out.",
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

# Models.

Model = Annotated[
    str | None,
    typer.Option(
        "--model", "-m", metavar="MODEL", rich_help_panel=_MODEL, show_default="the receipt model",
        help="Model to score the words with: a folder, or a name on the hub.",
    ),
]  # fmt: skip
ModelPool = Annotated[
    Pooling,
    typer.Option(
        metavar="HOW", rich_help_panel=_MODEL,
        help=f"Pooling of the scores of a word's pieces: one of {_POOLINGS}.",
    ),
]  # fmt: skip
Batch = Annotated[
    int, typer.Option(metavar="N", rich_help_panel=_MODEL, help="Batch size, in windows.", min=1)
]
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
