"""References (AnyStyle) by the number of labelled ones: no rules, default and learned weights.

The tagger is that of ``benchmarks.weights``, or an encoder of one's own. Weights are learned as a
user would: from the labelled references alone, each scored by a tagger that was trained on others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

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

STEPS, BATCH = 250, 8
"""Steps of fine-tuning, in batches of references; 4 to 30 epochs."""

ENOUGH = 30
"""The least number of references from which weights can be learned."""


Scoring: TypeAlias = Callable[
    [Sequence[Labelled], Sequence[Labelled], tuple[str, ...]], list[Scored]
]
"""Scores references by a tagger that was trained on others: those to score, to train on, labels."""


def scored(
    references: Sequence[Labelled], tagged: Sequence[Labelled], labels: tuple[str, ...]
) -> list[Scored]:
    """These references, scored by a tagger that was trained on ``tagged``."""
    tagger = Tagger(tagged, labels)
    return [Scored(each.document, tagger.scores(each.document), each.gold) for each in references]


def scored_by_encoder(
    base: Path,
    layers: int | None,
    references: Sequence[Labelled],
    tagged: Sequence[Labelled],
    labels: tuple[str, ...],
) -> list[Scored]:
    """The same by a pretrained encoder, which is fine-tuned; the fewer references, the longer."""
    from lawful.models.network import Network
    from lawful.models.runners import TorchRunner, device_named
    from lawful.models.tagger import Tagger as EncoderTagger
    from lawful.models.tokenizer import Tokenizer
    from lawful.models.training import Recipe, train

    network = Network.start(base, labels, layers=layers, seed=0)
    tokenizer = Tokenizer.load(base)
    epochs = max(4, min(30, STEPS * BATCH // len(tagged)))
    recipe = Recipe(epochs=epochs, batch=BATCH, rate=2e-4, patience=epochs)
    with TemporaryDirectory() as folder:
        validation = tagged[:1]  # the last epoch is measured, not the best
        for _ in train(network, tokenizer, tagged, validation, Path(folder), recipe):
            pass
    runner = TorchRunner(network, device_named(None))
    return list(EncoderTagger(tokenizer, runner, network.card).predict(references))


def scored_by_others(
    references: Sequence[Labelled], labels: tuple[str, ...], scoring: Scoring
) -> list[Scored]:
    """Each reference, scored by a tagger that was not trained on it."""
    return [
        page
        for fold in range(FOLDS)
        for page in scoring(
            references[fold::FOLDS],
            [each for i, each in enumerate(references) if i % FOLDS != fold],
            labels,
        )
    ]


def judge_references(
    sizes: Sequence[int], splits: int, *, learning: bool = True, scoring: Scoring = scored
) -> None:
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
            pages = scoring(core[part::PARTS], train, labels)
            boards = {name: Scoreboard(rules) for name in ("no rules", "default", "learned")}
            learned, shown = None, 0.0
            if learning and len(train) >= ENOUGH:
                found = learn(scored_by_others(train, labels, scoring), rules, measure="entities")
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
