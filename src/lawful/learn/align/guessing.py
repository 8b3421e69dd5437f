"""Guesses about a file of true values: which column has the ids, and what the others are.

The column of ids is the one with the names of most documents. Without rules, every other column is
a field, whose type its values tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from lawful.base.errors import InputError, shown
from lawful.candidates.grounding.key_words import alike, words_of
from lawful.candidates.grounding.matches import fold
from lawful.io.jsonl import check_line, read_lines
from lawful.learn.align.reading import ID, csv_rows, is_csv, month_first
from lawful.learn.truth import new_name, type_of
from lawful.rules.definitions import Field
from lawful.rules.rule_set import Rules

_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}$")

ID_DIGITS = 5
"""Digits from which on whole numbers are taken for numbers of something, which are texts."""

NAMED = 0.8
"""Share of values that must be as is usual for their type."""


@dataclass(frozen=True, slots=True)
class Guess:
    """What the columns of a file of true values are."""

    id: str
    columns: Mapping[str, str]  # by name of the field
    rules: Rules
    unused: tuple[str, ...]


def id_parts(id_: str) -> list[str]:
    """The folders of an id, and its name without the suffix of a file."""
    return _SUFFIX.sub("", id_.replace("\\", "/")).split("/")


def guess_columns(
    path: str | Path,
    ids: Iterable[str],
    rules: Rules | None = None,
    given: Mapping[str, str] | None = None,
) -> Guess:
    """What the columns of a file are, for documents with these ids; ``given`` ones are certain."""
    given = given or {}
    columns = _columns(path)
    if not any(columns.values()):
        raise InputError(f"{path} has no values: expected a row per document, below the columns")
    if missing := [column for column in given.values() if column not in columns]:
        raise InputError(
            f"{path} has no column {shown(missing[0])}; columns: {', '.join(map(shown, columns))}"
        )
    known = {id_parts(id_)[-1] for id_ in ids}
    id_column = given.get(ID) or _id_column(path, columns, known)
    rest = {name: texts for name, texts in columns.items() if name != id_column}
    if rules is None:
        rules, found = _guessed(rest, {column: name for name, column in given.items()})
    else:
        names = [f.name for f in rules.fields]
        if unknown := [name for name in given if name not in (ID, *names)]:
            raise InputError(f"no field {shown(unknown[0])}; fields: {', '.join(names)}")
        found = _matched(rest, rules, given)
    kinds = {kind.name for kind in rules.rows} & rest.keys()
    if not found and not kinds:
        raise InputError(
            f"no column of {path} is a field ({', '.join(rest) or 'none but the id'}); fields: "
            f"{', '.join(f.name for f in rules.fields)}; --truth-column FIELD=COLUMN says which"
        )
    unused = tuple(name for name in rest if name not in {*found.values(), *kinds})
    return Guess(id_column, found, rules, unused)


def _columns(path: str | Path) -> dict[str, list[Any]]:
    """The values of each column, as far as there are any."""
    columns: dict[str, list[Any]] = {}
    if is_csv(path):
        rows = csv_rows(path)
        _, header = next(rows)
        columns = {name: [] for name in header if name}
        for _, row in rows:
            for name, cell in zip(header, row, strict=False):
                if name and cell:
                    columns[name].append(cell)
        return columns
    for _, line in read_lines(path):
        try:
            check_line(line)
            record = msgspec.json.decode(line, type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError, InputError, RecursionError):
            continue  # whoever uses the values says what is wrong
        for name, value in record.items():
            if value is not None and value != "":
                columns.setdefault(name, []).append(value)
    return columns


def _id_column(path: str | Path, columns: Mapping[str, Sequence[Any]], known: set[str]) -> str:
    counts = {
        name: sum(isinstance(v, str | int) and id_parts(str(v))[-1] in known for v in values)
        for name, values in columns.items()
    }
    best = max(counts, key=lambda name: (counts[name], name == ID), default="")
    if not counts.get(best):
        some = ", ".join(shown(each) for each in sorted(known)[:3])
        first = next(iter(columns), None)
        there = ", ".join(shown(v) for v in columns[first][:3]) if first else "nothing"
        raise InputError(
            f"no column of {path} names any of the documents: these are {some}; the first column "
            f"({first}) has {there}"
        )
    return best


def _guessed(
    columns: Mapping[str, Sequence[Any]], names: Mapping[str, str]
) -> tuple[Rules, dict[str, str]]:
    """A field for every column, of the name that it is given or else its own."""
    taken = set(names.values())
    fields, found = [], {}
    for column, values in columns.items():
        texts = [str(v) for v in values if isinstance(v, str | int | float) and str(v)]
        if not texts or len(texts) < len(values):
            continue  # empty, or lists
        name = names.get(column) or new_name("_".join(words_of(column)) or column, taken)
        fields.append(Field(name, name, _type(texts), optional=True))
        found[name] = column
    return Rules(fields), found


def _type(texts: Sequence[str]) -> str:
    """The type of a column: long whole numbers are texts, since they name something."""
    whole = [text.isdigit() for text in texts]
    if sum(whole) >= NAMED * len(texts) and (
        sum(len(text) >= ID_DIGITS for text in texts) >= NAMED * len(texts)
        or any(text.startswith("0") and len(text) > 1 for text in texts)
    ):
        return "text"
    found = type_of(texts)
    return "us_date" if found == "date" and month_first(texts) else found


def _matched(columns: Iterable[str], rules: Rules, given: Mapping[str, str]) -> dict[str, str]:
    """The columns of fields: by name, by label, or else by the words that both names share."""
    found = {name: column for name, column in given.items() if name != ID}
    columns = [column for column in columns if column not in found.values()]
    for same in (_is_name, _is_like_name, _share_words):
        for f in rules.fields:
            these = [column for column in columns if same(f, column)]
            if f.name not in found and len(these) == 1:
                rivals = [g for g in rules.fields if g.name not in found and same(g, these[0])]
                if rivals == [f]:
                    found[f.name] = these[0]
                    columns.remove(these[0])
    return found


def _is_name(f: Field, column: str) -> bool:
    return column in (f.name, f.label)


def _is_like_name(f: Field, column: str) -> bool:
    return fold(column) in (fold(f.name), fold(f.label))


def _share_words(f: Field, column: str) -> bool:
    names = {word for name in (f.name, f.label) for word in words_of(name)}
    return any(alike(a, b) for a in names for b in words_of(column) if len(b) > 2)
