"""Documents and their true values, as ``lawful align`` and ``lawful train`` take them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, get_args

import typer
from rich.table import Table

from lawful.base.errors import InputError, shown
from lawful.cli.output import plural
from lawful.cli.terminal import say, warn
from lawful.documents.document import Document
from lawful.documents.records import UNKNOWN, FailedDocument, Labelled
from lawful.io.jsonl import parse_documents, read_lines
from lawful.learn.align import Aligned, State, Truth, read_truth
from lawful.learn.align.guessing import id_parts
from lawful.rules.rule_set import Rules

MAX_SHOWN = 5
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
        "--truth-column", metavar="FIELD=COLUMN",
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
        if isinstance(found, FailedDocument):
            bad.append(found)
            continue
        document = found.document if isinstance(found, Labelled) else found
        if document.id in documents:
            raise InputError(f"two documents of {path} have the id {shown(document.id)}")
        documents[document.id] = document
    complain(path, bad)
    if truth is None:
        own = (Truth.of_document(document, rules) for document in documents.values())
        truths: Mapping[str, Truth] = {each.id: each for each in own if each.values}
        if not truths:
            raise InputError(f"no document of {path} brings values of its own: give --truth")
    else:
        file = read_truth(truth, rules, columns_of(columns))
        complain(truth, file.bad)
        bad += file.bad
        if file.ignored:
            warn(f"{truth}: no fields, so not used: {', '.join(file.ignored)}")
        truths, by_name = matched(documents, file.truths)
        if by_name:
            say(f"{plural(by_name)} matched with true values by the name of the file")
    known = [document for document in documents.values() if document.id in truths]
    if not known:
        raise InputError(
            f"no document of {path} has true values in {truth}: ids of documents are "
            f"{_some(documents)}, and of true values {_some(truths)}"
        )
    return Known(known, truths, len(documents) - len(known), len(bad))


def matched(documents: Iterable[str], truths: Mapping[str, Truth]) -> tuple[dict[str, Truth], int]:
    """True values by the ids of documents, and how many ids differ by folder or suffix.

    ``scans/r1.pdf`` has the values of ``r1``, unless there is a second document or row of that
    name. Those of ``test/r1`` are not meant: it is another folder.
    """
    ids = list(documents)
    found = {id_: truths[id_] for id_ in ids if id_ in truths}
    rows: dict[str, list[str]] = {}
    for id_ in truths.keys() - found.keys():
        rows.setdefault(id_parts(id_)[-1], []).append(id_)
    pairs = [
        (id_, row)
        for id_ in ids
        if id_ not in found
        for row in rows.get(id_parts(id_)[-1], ())
        if _is_same_file(id_parts(id_), id_parts(row))
    ]
    times = Counter(id_ for id_, _ in pairs), Counter(row for _, row in pairs)
    sure = [(id_, row) for id_, row in pairs if times[0][id_] == times[1][row] == 1]
    found |= {id_: replace(truths[row], id=id_) for id_, row in sure}
    return found, len(sure)


def _is_same_file(one: list[str], other: list[str]) -> bool:
    """Whether two paths are one, as far as both say."""
    count = min(len(one), len(other))
    return one[-count:] == other[-count:]


def columns_of(given: Sequence[str]) -> dict[str, str]:
    """The columns of --truth-column, by name of the field."""
    found = {}
    for each in given:
        name, equals, column = each.partition("=")
        if not equals or not name or not column:
            raise InputError(f"--truth-column is {shown(each)}, expected FIELD=COLUMN")
        found[name] = column
    return found


def complain(path: Path, bad: Sequence[FailedDocument]) -> None:
    """Warns of the first bad lines of a file, and of the number of the others."""
    for each in bad[:MAX_SHOWN]:
        warn(f"{path}, line {each.line}: {each.message}")
    if len(bad) > MAX_SHOWN:
        warn(f"{path}: {plural(len(bad) - MAX_SHOWN, 'more bad line')}")


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
