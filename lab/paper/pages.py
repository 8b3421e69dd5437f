"""Pages for experiments: scored, with gold labels, selected as in the paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias

from lab.datasets import RULES
from lawful.base.errors import InputError
from lawful.documents.label_names import labels_of_pieces
from lawful.documents.records import Labelled, Scored
from lawful.evaluation.scoreboard import gold_obeys
from lawful.evaluation.split import split_documents
from lawful.io.jsonl import read_jsonl, read_labelled
from lawful.rules.definitions import PAPER
from lawful.rules.packs import rules_named
from lawful.rules.rule_set import Rules

GENERATED = 200
"""Number of generated receipts if no predictions are given."""

Semantics: TypeAlias = Literal["paper", "lawful"]
Units: TypeAlias = Literal["pieces", "first", "mean"]


@dataclass(frozen=True, slots=True)
class Pages:
    """A named set of pages, and the rules to decode them under."""

    name: str
    data: str  # the data set, if its rules are the paper's; otherwise empty
    rules: Rules
    pages: tuple[Scored, ...]
    units: str = "pieces"
    semantics: Semantics = "paper"

    @property
    def fingerprint(self) -> str:
        """A hash of the pages, with scores and gold labels, and of the rules."""
        digest = sha256(repr((self.rules.fields, self.rules.rules, self.rules.defaults)).encode())
        for page in self.pages:
            digest.update(repr((page.document.words, page.document.joins, page.gold)).encode())
            digest.update(page.word_scores.log_probs.tobytes())
        return digest.hexdigest()[:16]

    def under(self, semantics: Semantics) -> Pages:
        """The same pages, under rules with the paper's semantics or with that of their file."""
        rules = self.rules.with_defaults(**PAPER) if semantics == "paper" else self.rules
        return replace(self, rules=rules, semantics=semantics)

    def of_part(self, part: str, seed: int) -> Pages:
        """The pages of one part of the paper's split."""
        labelled = [Labelled(page.document, page.gold or ()) for page in self.pages]
        parts = split_documents(labelled, self.rules, seed)
        return self.only(page for page in self.pages if parts[page.document.id] == part)

    def satisfied(self) -> Pages:
        """The pages whose gold labels satisfy the rules; no decoder can get the others right."""
        return self.only(page for page in self.pages if gold_obeys(page, self.rules))

    def only(self, pages: Iterable[Scored]) -> Pages:
        """The same set with only these pages."""
        return replace(self, pages=tuple(pages))

    def in_units(self, units: Units) -> Pages:
        """Pages in word pieces, or in words with the scores of the first or the mean piece.

        Pages without word pieces stay in words.
        """
        if not any(any(page.document.joins or ()) for page in self.pages):
            return replace(self, units="words")
        if units == "pieces":
            return replace(self, units=units)
        pages = tuple(page.to_words(units) for page in self.pages)
        return replace(self, units=units, pages=pages)


def load(
    predictions: Sequence[Path], rules: Sequence[str], data: Path | None = None
) -> list[Pages]:
    """The pages of each file of predictions, with its rules; without files, generated receipts.

    Rules are paths or names of data sets: one for all files, or one for each. Pages without gold
    labels get those of the document with the same id in ``data``.
    """
    if not predictions:
        return [generated(GENERATED, rules[0] if rules else None)]
    if len(rules) not in (1, len(predictions)):
        raise InputError(
            f"--rules is given {len(rules)} times and --predictions {len(predictions)} times, "
            f"expected --rules once or for each: a file, or one of {', '.join(RULES)}"
        )
    gold = {} if data is None else {page.document.id: page.gold for page in read_labelled(data)}
    each = rules if len(rules) == len(predictions) else list(rules) * len(predictions)
    return [_read(path, name, gold, data) for path, name in zip(predictions, each, strict=True)]


def generated(count: int, rules: str | None = None) -> Pages:
    """Generated receipts of ``lab.receipts``, with scores of a simulated tagger."""
    from lab import receipts as demo

    pages = tuple(demo.generate(count))
    return Pages("receipts", "", rules_named(rules or str(demo.RULES)), pages)


def _read(path: Path, rules: str, gold: Mapping[str, tuple[str, ...]], data: Path | None) -> Pages:
    pages = []
    for page in read_jsonl(path):
        pages.append(page if page.gold is not None else _with_gold(page, gold, data, path))
    if not pages:
        raise InputError(f"no document in {path}")
    name = path.name.removesuffix(".gz").removesuffix(".jsonl")
    return Pages(name, rules if rules in RULES else "", rules_named(rules), tuple(pages))


def _with_gold(
    page: Scored, gold: Mapping[str, tuple[str, ...]], data: Path | None, path: Path
) -> Scored:
    """The page with gold labels of its words or, if it has word pieces, of its pieces."""
    name = page.document.id
    if name not in gold:
        where = "and --data gives none" if data is None else f"and is not in {data}"
        raise InputError(f"document {name!r} of {path} has no gold labels, {where}")
    labels = gold[name]
    if len(labels) != len(page.document):
        joins = page.document.joins or (False,) * len(page.document)
        words = len(joins) - sum(joins)
        if len(labels) != words:
            raise InputError(
                f"document {name!r} of {path} has {words} words, but {len(labels)} gold labels in "
                f"{data}"
            )
        labels = labels_of_pieces(labels, joins)
    return replace(page, gold=labels)
