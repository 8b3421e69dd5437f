"""Data sets: one reader per data set, and the paper's rules for it as a rule file.

``READERS`` yield documents with gold labels. Both ``READERS`` and ``RULES``, which has the paths of
rule files, are keyed by the name of the data set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

from lawful.datasets.cord import read_cord
from lawful.datasets.docile import read_docile
from lawful.datasets.facturx import read_facturx
from lawful.datasets.wildreceipt import read_wildreceipt
from lawful.document import Labelled
from lawful.errors import InputError, RulesError
from lawful.io.jsonl import read_labelled
from lawful.packs import PACKS
from lawful.rules.rule_set import Rules

__all__ = ["READERS", "RULES", "RULE_FILES", "Reader", "reader_named", "rules_named"]


class Reader(Protocol):
    """Yields the documents of a data set, of all its splits or of one, in file order.

    Raises an ``InputError`` if files are missing, or that names the file and line that is wrong.
    """

    def __call__(self, path: Path, split: str | None = None) -> Iterator[Labelled]: ...


READERS: Mapping[str, Reader] = {
    "cord": read_cord,
    "wildreceipt": read_wildreceipt,
    "docile": read_docile,
    "facturx": read_facturx,
    "jsonl": read_labelled,
}

RULES: Mapping[str, Path] = {
    name: Path(__file__).with_name(f"{name}.yaml") for name in ("cord", "wildreceipt", "docile")
}
"""Rule files with the paper's rules, by data set."""

RULE_FILES: Mapping[str, Path] = {**RULES, **PACKS}
"""All rule files that have a name: those of data sets, and the rule packs."""


def reader_named(name: str) -> Reader:
    """The reader of a format; an unknown one raises an ``InputError`` that lists all."""
    if name not in READERS:
        raise InputError(f"unknown format {name!r}; formats: {', '.join(READERS)}")
    return READERS[name]


def rules_named(name: str) -> Rules:
    """The paper's rules for a data set, a rule pack, or the rules of a file."""
    path = RULE_FILES.get(name, Path(name))
    if not path.exists():
        raise RulesError(f"no rule file {name!r}; rules by name: {', '.join(RULE_FILES)}")
    return Rules.load(path)
