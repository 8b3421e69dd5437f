"""True pages: documents with true labels, as rules see them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from keyword import iskeyword
from typing import NamedTuple

import numpy as np

from lawful.base.errors import InputError
from lawful.documents.document import Document
from lawful.documents.labels import Scheme
from lawful.documents.records import Labelled
from lawful.evaluation.scoreboard import scheme_of
from lawful.evaluation.split import sample
from lawful.rules.definitions import Field, Repeat
from lawful.rules.judging.field_reader import Seen
from lawful.rules.judging.judge import Judge
from lawful.rules.judging.reading import Reading
from lawful.rules.judging.rows import PREVIOUS, RowKind
from lawful.rules.language.functions import FUNCTIONS
from lawful.rules.rule_set import Rules
from lawful.values import read

MIN_PAGES = 30
"""Pages below which nothing is learned: of 30 pages, a rule that holds on all of them may still be
wrong on one in nine."""

HELD_OUT = 1 / 3
"""Share of the pages on which rules are tested that were found on the others."""


class TruePage(NamedTuple):
    """A document and the reading of its true labels."""

    document: Document
    reading: Reading
    seen: Seen
    held_out: bool


@dataclass(frozen=True, slots=True)
class TruePages:
    """The true pages of a data set under the fields of some rules."""

    rules: Rules
    scheme: Scheme
    pages: list[TruePage]

    @classmethod
    def of(cls, documents: Sequence[Labelled], rules: Rules, seed: int = 0) -> TruePages:
        """Reads the true labels; raises an ``InputError`` for too few pages."""
        check_enough(len(documents))
        scheme = scheme_of(documents, rules)
        out = sample([page.document.id for page in documents], HELD_OUT, seed)
        pages = []
        for labelled in documents:
            judge = Judge(labelled.document, rules, scheme)
            reading, _ = judge.settled(scheme.indices(labelled.gold))
            held_out = labelled.document.id in out
            pages.append(TruePage(labelled.document, reading, judge.see(reading), held_out))
        return cls(rules, scheme, pages)


def check_enough(count: int) -> None:
    """Raises an ``InputError`` for fewer than ``MIN_PAGES`` pages."""
    if count < MIN_PAGES:
        raise InputError(
            f"{count} page{'s' * (count != 1)} with true labels, expected at least {MIN_PAGES}: "
            "of fewer, too many rules hold by luck"
        )


def guessed_rules(documents: Iterable[Labelled], known: Rules | None = None) -> Rules:
    """Fields for all labels that occur, with types that can read nearly all their texts.

    The fields and rows of ``known`` rules stay as they are. A field is a list if a tenth of its
    pages have several different texts; of type text, if half of them have. Lists whose labels
    begin alike form a kind of rows. Repeats of a text need not agree: nobody has said so.
    """
    texts: dict[str, list[str]] = {}
    several, pages = Counter[str](), Counter[str]()
    scheme = "BIO" if known is None else known.scheme
    everything = list(documents)
    spans_of = scheme_of(everything, Rules((), scheme=scheme))
    for labelled in everything:
        found: dict[str, set[str]] = {}
        for type_, start, end in spans_of.spans(spans_of.indices(labelled.gold)):
            text = labelled.document.text(start, end)
            texts.setdefault(type_, []).append(text)
            found.setdefault(type_, set()).add(text)
        pages.update(found.keys())
        several.update(type_ for type_, each in found.items() if len(each) > 1)
    old = () if known is None else known.fields
    taken = {f.name for f in old} | {kind.name for kind in (known.rows if known else ())}
    new: list[Field] = []
    for label in sorted(set(texts) - {f.label for f in old}):
        name = new_name(label, taken)
        type_ = type_of(texts[label])
        is_text = type_ == "text"
        many = several[label] >= (0.5 if is_text else 0.1) * pages[label]
        repeat: Repeat | None = "any" if is_text and not many else None
        new.append(Field(name, label, type_, many=many, repeat=repeat))
    grouped: dict[str, list[str]] = {}
    for f in new:
        if f.many and (parts := re.split(r"[._-]", f.label))[1:]:
            grouped.setdefault(parts[0], []).append(f.name)
    rows = [
        RowKind(new_name(f"{prefix}_row", taken), tuple(names))
        for prefix, names in grouped.items()
        if len(names) > 1
    ]
    if known is None:
        return Rules(new, scheme=scheme, rows=rows)
    return replace(known, fields=(*old, *new), rows=(*known.rows, *rows))


def new_name(label: str, taken: set[str]) -> str:
    """A name for a field, made from its label, that is not taken yet."""
    name = re.sub(r"\W+", "_", label.lower()).strip("_") or "field"
    name = f"_{name}" if not name.isidentifier() else name
    while name in taken or iskeyword(name) or name in (PREVIOUS, *FUNCTIONS):
        name += "_"
    taken.add(name)
    return name


_READABLE = 0.9


def type_of(texts: Sequence[str]) -> str:
    """The narrowest type that reads nearly all texts."""
    some = [texts[i] for i in np.linspace(0, len(texts) - 1, min(len(texts), 300)).astype(int)]
    signs = sum("%" in text for text in some)
    for type_ in ("date", "money", "number"):
        if sum(bool(read(text, type_)) for text in some) >= _READABLE * len(some):
            digits = sum(any(letter.isdigit() for letter in text) for text in some)
            if type_ != "date" and digits < len(some) / 2:
                continue
            return "percent" if type_ != "date" and signs > len(some) / 2 else type_
    return "text"
