"""References (AnyStyle) by the number of labelled ones: no rules, default and learned weights.

The tagger is that of ``benchmarks.weights``. Weights are learned as a user would: from the labelled
references alone, each scored by a tagger that was trained on others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.spread import Table
from benchmarks.weights import KINDS, REFERENCES, Tagger, read_references
from lawful import Field, Rules, decode
from lawful.document import Labelled, Scored
from lawful.evaluation import Scoreboard, best_legal
from lawful.learning.weights import learn

PARTS = 4
"""Parts of the data: one is decoded, the others are labelled."""

FOLDS = 4
"""Taggers that score the references from which weights are learned."""

ENOUGH = 30
"""The least number of references from which weights can be learned."""


def scored(
    references: Sequence[Labelled], tagged: Sequence[Labelled], labels: tuple[str, ...]
) -> list[Scored]:
    """These references, scored by a tagger that was trained on ``tagged``."""
    tagger = Tagger(tagged, labels)
    return [Scored(each.document, tagger.scores(each.document), each.gold) for each in references]


def scored_by_others(references: Sequence[Labelled], labels: tuple[str, ...]) -> list[Scored]:
    """Each reference, scored by a tagger that was not trained on it."""
    return [
        page
        for fold in range(FOLDS)
        for page in scored(
            references[fold::FOLDS],
            [each for i, each in enumerate(references) if i % FOLDS != fold],
            labels,
        )
    ]


def judge_references(sizes: Sequence[int], splits: int, *, learning: bool = True) -> None:
    """Prints F1 of spans and of values on unseen references."""
    core = list(read_references(REFERENCES / "core.xml"))
    types = sorted({label[2:] for each in core for label in each.gold})
    labels = ("O", *(f"{prefix}-{type_}" for type_ in types for prefix in "BI"))
    parts = KINDS["all four"](10.0)
    parts["boundaries"] = replace(parts["boundaries"], weight=5.0)
    rules = Rules([Field(type_, type_, many=True) for type_ in types], **parts)
    print(f"{splits} splits; mean and standard deviation over splits")
    table = Table("labelled", "weights")
    for size in sizes:
        for part in range(splits):
            train = [each for i, each in enumerate(core) if i % PARTS != part][:size]
            pages = scored(core[part::PARTS], train, labels)
            boards = {name: Scoreboard(rules) for name in ("no rules", "default", "learned")}
            learned, shown = None, 0.0
            if learning and len(train) >= ENOUGH:
                found = learn(scored_by_others(train, labels), rules, measure="entities")
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
                    table.add((f"{len(train):,}", name), record)
        table.print_new()
