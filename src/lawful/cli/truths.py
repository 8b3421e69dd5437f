"""Documents and their true values, as ``lawful align`` and ``lawful train`` take them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, get_args

import typer
from rich.table import Table

from lawful.cli.output import plural, warn
from lawful.document import UNKNOWN, BadLine, Document, Labelled
from lawful.errors import InputError, shown
from lawful.io.jsonl import parse_documents, read_lines
from lawful.rules.rule_set import Rules
from lawful.truth import Aligned, State, Truth, read_truth

MOST_SHOWN = 5
"""Bad lines of a file that are shown; of the others, only the number is."""

TruthOption = Annotated[
    Path | None,
    typer.Option(
        "--truth", "-t", metavar="FILE",
        help="True values by document: a CSV file or JSON lines, with a column id.",
    ),
]  # fmt: skip
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column", metavar="FIELD=COLUMN",
        help="The column of a field, or of the id, if it has another name. May be repeated.",
    ),
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Known:
    """Documents with true values."""

    documents: Sequence[Document]
    truths: Mapping[str, Truth]  # by id of the document
    without: int  # documents that have no true values
    bad: int  # lines that could not be used


def read_known(path: Path, truth: Path | None, rules: Rules, columns: Sequence[str]) -> Known:
    """Documents with their true values: those of a file, or those that they bring themselves."""
    documents: dict[str, Document] = {}
    bad = []
    for found in parse_documents(read_lines(path)):
        if isinstance(found, BadLine):
            bad.append(found)
            continue
        document = found.document if isinstance(found, Labelled) else found
        if document.id in documents:
            raise InputError(f"two documents of {path} have the id {shown(document.id)}")
        documents[document.id] = document
    _complain(path, bad)
    if truth is None:
        own = (Truth.of_document(document, rules) for document in documents.values())
        truths: Mapping[str, Truth] = {each.id: each for each in own if each.values}
        if not truths:
            raise InputError(f"no document of {path} brings values of its own: give --truth")
    else:
        file = read_truth(truth, rules, _columns(columns))
        _complain(truth, file.bad)
        bad += file.bad
        if file.ignored:
            warn(f"{truth}: no fields, so not used: {', '.join(file.ignored)}")
        truths = file.truths
    known = [document for document in documents.values() if document.id in truths]
    if not known:
        raise InputError(
            f"no document of {path} has true values in {truth}: ids of documents are "
            f"{_some(documents)}, and of true values {_some(truths)}"
        )
    return Known(known, truths, len(documents) - len(known), len(bad))


def _columns(given: Sequence[str]) -> dict[str, str]:
    found = {}
    for each in given:
        name, equals, column = each.partition("=")
        if not equals or not name or not column:
            raise InputError(f"--column is {shown(each)}, expected FIELD=COLUMN")
        found[name] = column
    return found


def _complain(path: Path, bad: Sequence[BadLine]) -> None:
    for each in bad[:MOST_SHOWN]:
        warn(f"{path}, line {each.line}: {each.message}")
    if len(bad) > MOST_SHOWN:
        warn(f"{path}: {plural(len(bad) - MOST_SHOWN, 'more bad line')}")


def _some(ids: Mapping[str, object]) -> str:
    return ", ".join(shown(id_) for id_ in list(ids)[:2]) or "none"


def table_of(aligned: Iterable[Aligned], rules: Rules) -> Table:
    """By field, in how many documents its value was found."""
    counts: Counter[tuple[str, State]] = Counter()
    tied: Counter[str] = Counter()
    for each in aligned:
        counts.update(each.states.items())
        tied.update(each.tied)
    table = Table("field", *get_args(State), "by a rule", box=None)
    for name in (f.name for f in rules.fields):
        row = [counts[name, state] for state in get_args(State)]
        if any(row):
            table.add_row(name, *map(str, row), str(tied[name] or ""))
    return table


def labels_in_words(aligned: Iterable[Aligned]) -> str:
    """How many words are labelled, and how many are left open."""
    labels = Counter(label for each in aligned for label in each.labelled.gold)
    given = sum(count for label, count in labels.items() if label not in ("O", UNKNOWN))
    return f"{plural(given, 'word')} labelled, {labels[UNKNOWN]:,} left open"
