"""References (AnyStyle) by the number of labelled ones: no rules, default and learned weights.

The tagger is that of ``lab.benchmarks.weights``, or an encoder of one's own. Weights are learned as
a user would: from the labelled references alone, each scored by a tagger trained on others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lab.benchmarks.tables import Spread
from lab.benchmarks.weights import KINDS, Tagger, read_core, types_of
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
    [Sequence[Labelled], Sequence[Labelled], tuple[str, ...]], list[Scored]
]
"""Scores references by a tagger that was trained on others: the references to score and to train
on, the labels."""

STEPS, BATCH = 400, 8
"""Steps of training, in batches of references, within the limits on epochs."""

FEWEST_EPOCHS, MAX_EPOCHS = 8, 60

RATE, NEW_RATE, WARM_UP, DECAY = 2e-4, 1e-3, 0.1, 0.01
"""Rates of the encoder and of the new layer; share of steps with rising rates; weight decay."""


class Pieces(NamedTuple):
    """A reference as the encoder takes it."""

    ids: Sequence[int]  # of word pieces, special ones included
    first: Sequence[int]  # by word: the place of its first piece
    gold: Sequence[int]  # by word: the number of its label


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
    """The same by a pretrained encoder, which is fine-tuned."""
    train, score = (in_pieces(base, some, labels) for some in (tagged, references))
    found = log_probs(base, layers, train, score, len(labels))
    return [
        Scored(each.document, Scores.from_log_probs(own, labels), each.gold)
        for each, own in zip(references, found, strict=True)
    ]


def log_probs(
    base: Path,
    layers: int | None,
    train: Sequence[Pieces],
    score: Sequence[Pieces],
    labels: int,
) -> Iterator[NDArray[np.float32]]:
    """For each reference to score: (words, labels), by a tagger that is trained on the others.

    The loss and the scores are those of the first piece of each word. The last state is used, so
    nothing is chosen by the references to score.
    """
    import torch
    from transformers import AutoModelForTokenClassification

    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    more: dict[str, Any] = {} if layers is None else {"num_hidden_layers": layers}
    model = AutoModelForTokenClassification.from_pretrained(
        str(base), num_labels=labels, dtype=torch.float32, **more
    ).to(device)
    head = list(model.classifier.parameters())
    encoder = list(model.base_model.parameters())
    optimizer = torch.optim.AdamW(
        [{"params": encoder, "lr": RATE}, {"params": head, "lr": NEW_RATE}], weight_decay=DECAY
    )
    epochs = min(MAX_EPOCHS, max(FEWEST_EPOCHS, STEPS * BATCH // len(train)))
    steps = epochs * -(-len(train) // BATCH)
    rise = max(1, int(WARM_UP * steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / rise, (steps - step) / max(1, steps - rise))
    )
    random = np.random.default_rng(0)

    def logits(batch: Sequence[Pieces]) -> Any:
        """Of the words of all references of a batch, one after the other."""
        width = max(len(each.ids) for each in batch)
        ids = np.zeros((len(batch), width), np.int64)
        mask = np.zeros_like(ids)
        for row, each in enumerate(batch):
            ids[row, : len(each.ids)] = each.ids
            mask[row, : len(each.ids)] = 1
        rows = np.repeat(np.arange(len(batch)), [len(each.first) for each in batch])
        columns = np.concatenate([each.first for each in batch])
        given, seen, at, where = (
            torch.from_numpy(each).to(device) for each in (ids, mask, rows, columns)
        )
        return model(input_ids=given, attention_mask=seen).logits[at, where]

    model.train()
    for _ in range(epochs):
        for some in np.array_split(random.permutation(len(train)), -(-len(train) // BATCH)):
            batch = [train[i] for i in some]
            gold = torch.from_numpy(np.concatenate([each.gold for each in batch])).to(device)
            loss = torch.nn.functional.cross_entropy(logits(batch), gold)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
    model.eval()
    with torch.inference_mode():
        for each in score:
            found: NDArray[np.float32] = logits([each]).float().log_softmax(-1).cpu().numpy()
            yield found


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


def jobs_of(
    count: int, part: int, size: int, *, learning: bool
) -> Iterator[tuple[list[int], list[int]]]:
    """What taggers learn from, and what they score: a part of all; labelled ones, by others."""
    labelled = [i for i in range(count) if i % PARTS != part][:size]
    yield labelled, list(range(part, count, PARTS))
    for fold in range(FOLDS) if learning and len(labelled) >= ENOUGH else ():
        rest = [number for i, number in enumerate(labelled) if i % FOLDS != fold]
        yield rest, labelled[fold::FOLDS]


def judge_references(
    sizes: Sequence[int], splits: int, *, learning: bool = True, scoring: Scoring = scored
) -> None:
    """Prints F1 of spans and of values on unseen references."""
    core, labels = read_core()
    parts = KINDS["all four"](10.0)
    parts["boundaries"] = replace(parts["boundaries"], weight=5.0)
    rules = Rules([Field(type_, type_, many=True) for type_ in types_of(labels)], **parts)
    print(f"{splits} splits; mean and standard deviation over splits")
    table = Spread("labelled", "weights")
    for size in sizes:
        for part in range(splits):
            jobs = list(jobs_of(len(core), part, size, learning=learning))
            pages, *others = [
                scoring(*([core[i] for i in some] for some in reversed(job)), labels)
                for job in jobs
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
                    table.add((f"{len(jobs[0][0]):,}", name), record)
        table.print_new()
