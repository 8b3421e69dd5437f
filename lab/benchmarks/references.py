"""References (AnyStyle) by the number of labelled ones: no rules, default and learned weights.

The tagger is that of ``lab.benchmarks.weights``, or an encoder of one's own. Weights are learned as
a user would: from the labelled references alone, each scored by a tagger trained on others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from lab.benchmarks.fine_tuning import Job, Pieces, log_probs, write_jobs
from lab.benchmarks.spread import Table
from lab.benchmarks.weights import KINDS, REFERENCES, Tagger, read_references
from lawful import Field, Rules, Scores, decode
from lawful.documents.records import Labelled, Scored
from lawful.evaluation.scoreboard import Scoreboard, best_legal
from lawful.learn.weights import learn

PARTS = 4
"""Parts of the data: one is decoded, the others are labelled."""

FOLDS = 4
"""Taggers that score the references from which weights are learned."""

ENOUGH = 30
"""The least number of references from which weights can be learned."""


Scoring: TypeAlias = Callable[
    [str, Sequence[Labelled], Sequence[Labelled], tuple[str, ...]], list[Scored]
]
"""Scores references by a tagger that was trained on others: the name of this job, the references to
score and to train on, the labels."""


def scored(
    _: str, references: Sequence[Labelled], tagged: Sequence[Labelled], labels: tuple[str, ...]
) -> list[Scored]:
    """These references, scored by a tagger that was trained on ``tagged``."""
    tagger = Tagger(tagged, labels)
    return [Scored(each.document, tagger.scores(each.document), each.gold) for each in references]


def scored_by_encoder(
    base: Path,
    layers: int | None,
    _: str,
    references: Sequence[Labelled],
    tagged: Sequence[Labelled],
    labels: tuple[str, ...],
) -> list[Scored]:
    """The same by a pretrained encoder, which is fine-tuned."""
    train, score = (in_pieces(base, some, labels) for some in (tagged, references))
    found = log_probs(base, layers, train, score, len(labels))
    return [
        Scored(each.document, Scores.from_log_probs(own, labels), each.gold)
        for each, own in zip(references, found, strict=True)
    ]


def scores_in_files(
    folder: Path, name: str, references: Sequence[Labelled], _: object, labels: tuple[str, ...]
) -> list[Scored]:
    """The same from files that ``lab/benchmarks/fine_tuning.py`` wrote."""
    with np.load(folder / f"{name.partition(' ')[0]}.npz") as arrays:
        rows = arrays[name].astype(np.float64)
    ends = np.cumsum([len(each.document) for each in references])
    return [
        Scored(each.document, Scores.from_log_probs(own, labels), each.gold)
        for each, own in zip(references, np.split(rows, ends[:-1]), strict=True)
    ]


def in_pieces(base: Path, references: Sequence[Labelled], labels: tuple[str, ...]) -> list[Pieces]:
    """References in the word pieces of an encoder."""
    from lawful.models.tokenizer import Tokenizer

    tokenizer = Tokenizer.load(base)
    numbers = {label: i for i, label in enumerate(labels)}
    found = []
    for each in references:
        pieces = tokenizer.tokenize(each.document)
        first = np.flatnonzero(~np.array(pieces.joins)) + len(tokenizer.opening)
        ids = [*tokenizer.opening, *pieces.ids.tolist(), *tokenizer.closing]
        found.append(Pieces(ids, first.tolist(), [numbers[label] for label in each.gold]))
    return found


class Split(NamedTuple):
    """References that are labelled, and those that are decoded, by number."""

    name: str
    labelled: list[int]
    decoded: list[int]

    def jobs(self, *, learning: bool) -> Iterator[tuple[str, Job]]:
        """What is scored by which tagger: the decoded ones, and each labelled one by others."""
        yield self.name, Job(self.labelled, self.decoded)
        for fold in range(FOLDS) if learning and len(self.labelled) >= ENOUGH else ():
            rest = [number for i, number in enumerate(self.labelled) if i % FOLDS != fold]
            yield f"{self.name} fold {fold}", Job(rest, self.labelled[fold::FOLDS])


def splits_of(count: int, size: int, splits: int) -> Iterator[Split]:
    """Splits of so many references, of which some are labelled."""
    for part in range(splits):
        rest = [i for i in range(count) if i % PARTS != part][:size]
        yield Split(f"split{part} {len(rest)}", rest, list(range(part, count, PARTS)))


def read_core() -> tuple[list[Labelled], tuple[str, ...]]:
    """The references and their labels."""
    core = list(read_references(REFERENCES / "core.xml"))
    types = sorted({label[2:] for each in core for label in each.gold})
    return core, ("O", *(f"{prefix}-{type_}" for type_ in types for prefix in "BI"))


def write_references(
    file: Path, base: Path, sizes: Sequence[int], splits: int, learning: bool
) -> None:
    """Writes what ``lab/benchmarks/fine_tuning.py`` is to train, the decoded references first."""
    core, labels = read_core()
    jobs = [
        job
        for size in sizes
        for split in splits_of(len(core), size, splits)
        for job in split.jobs(learning=learning)
    ]
    jobs.sort(key=lambda job: "fold" in job[0])
    write_jobs(file, in_pieces(base, core, labels), len(labels), dict(jobs))


def judge_references(
    sizes: Sequence[int], splits: int, *, learning: bool = True, scoring: Scoring = scored
) -> None:
    """Prints F1 of spans and of values on unseen references."""
    core, labels = read_core()
    types = sorted({label[2:] for label in labels[1:]})
    parts = KINDS["all four"](10.0)
    parts["boundaries"] = replace(parts["boundaries"], weight=5.0)
    rules = Rules([Field(type_, type_, many=True) for type_ in types], **parts)
    print(f"{splits} splits; mean and standard deviation over splits")
    table = Table("labelled", "weights")
    for size in sizes:
        for split in splits_of(len(core), size, splits):
            pages, *others = [
                scoring(name, *([core[i] for i in some] for some in reversed(job)), labels)
                for name, job in split.jobs(learning=learning)
            ]
            boards = {name: Scoreboard(rules) for name in ("no rules", "default", "learned")}
            learned, shown = None, 0.0
            if others:
                found = learn([page for fold in others for page in fold], rules, measure="entities")
                learned, shown = found.rules, float(found.gain.is_shown)
            unproven = dict.fromkeys(boards, 0.0)
            for page in pages:
                boards["no rules"].add_labels(page, best_legal(page, rules))
                for name, each in (("default", rules), ("learned", learned)):
                    if each is not None:
                        decoding = decode(page.document, page.scores, each)
                        boards[name].add_labels(page, decoding.labels)
                        unproven[name] += not decoding.optimal
            for name, board in boards.items():
                if board.pages:
                    record = {
                        "entity F1": 100 * board.entities.f1,
                        "value F1": 100 * board.values.f1,
                        "all values right": 100 * sum(board.right_pages) / board.pages,
                        "not proven": unproven[name],
                        "gain was shown": shown if name == "learned" else 0.0,
                    }
                    table.add((f"{len(split.labelled):,}", name), record)
        table.print_new()
