"""Transformers that learn from true values: ``lawful train --truth`` and ``lawful teach --deep``.

The quick model says which of the places of each value is meant, and a network learns these labels.
It then scores the documents, an exact search under the rules chooses among the places once more,
and another network learns from that (hard expectation maximisation).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

from lawful.base.errors import InputError
from lawful.documents.document import Document
from lawful.documents.records import UNKNOWN
from lawful.evaluation.split import sample
from lawful.learn.align import Aligned, Truth, align_scored
from lawful.models.network import Network
from lawful.models.recipe import Recipe
from lawful.models.tagger import Tagger, from_pretrained
from lawful.models.teaching import Teacher, align_all
from lawful.models.tokenizer import Tokenizer
from lawful.models.training import Epoch, Told, labels_of, train
from lawful.rules.rule_set import Rules

FEWEST = 10
"""Documents without which nothing can be held back to compare on."""


@dataclass(frozen=True, slots=True)
class Round:
    """The labels of a round, and the best F1 of the model that was trained on them."""

    number: int  # from 1
    aligned: tuple[Aligned, ...]
    changed: int  # words whose label is not that of the round before
    f1: float  # on the documents that were held back, by their labels of this round
    folder: Path  # of the model; only that of the last round stays


def train_on_values(
    documents: Sequence[Document],
    truths: Mapping[str, Truth],
    rules: Rules,
    base: str | Path,
    folder: Path,
    recipe: Recipe | None = None,
    *,
    rounds: int = 2,
    share: float = 0.2,
    device: str | None = None,
    told: Told | None = None,
    epoch: Callable[[int, Epoch], None] | None = None,
    **network: Any,
) -> Iterator[Round]:
    """Trains a model from values; ``folder`` has that of the last round.

    Every round starts from ``base``, so that no mistake of an earlier round stays in the weights.
    A ``share`` of the documents is held back to choose an epoch by; of none, the last one counts.
    ``network`` are options of ``Network.start``.
    """
    if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 1:
        raise InputError(f"rounds is {rounds!r}, expected a whole number of 1 or more")
    if network.get("crf"):
        raise InputError("a model with a CRF cannot learn from words whose label is unknown")
    documents = [document for document in documents if document.id in truths]
    if not documents:
        raise InputError("no document has true values")
    recipe, held = recipe or Recipe(), frozenset[str]()
    if share:
        held = sample([document.id for document in documents], share, recipe.seed)
    else:
        recipe = recipe.filled(len(documents))
        recipe = replace(recipe, patience=recipe.epochs)
    aligned = align_all(documents, truths, rules)
    before: list[Aligned] | None = None
    for number in range(1, rounds + 1):
        pages = [each.labelled for each in aligned]
        labels = labels_of(pages)
        if len(labels) == 1:
            raise InputError("no value was found in any document, so there is nothing to learn")
        last = number == rounds
        where = folder if last else Path(mkdtemp(prefix="lawful-round-"))
        best = 0.0
        try:
            started = Network.start(base, labels, seed=recipe.seed, **network)
            tokenizer = Tokenizer.load(base)
            taught = [page for page in pages if page.document.id not in held]
            checked = [page for page in pages if page.document.id in held] or pages[:1]
            for each in train(
                started, tokenizer, taught, checked, where, recipe, device=device, told=told
            ):
                best = each.best
                if epoch is not None:
                    epoch(number, each)
            if not share:
                started.save(where)
            yield Round(number, tuple(aligned), _changed(before, aligned), best, where)
            if not last:
                before = aligned
                tagger = from_pretrained(where, device=device)
                aligned = align_scored(tagger.predict(documents), truths, rules)
        finally:
            if not last:
                rmtree(where, ignore_errors=True)


def _changed(before: Sequence[Aligned] | None, now: Sequence[Aligned]) -> int:
    """The words whose label changed; all that have one, if there was no round before."""
    if before is None:
        return sum(label not in ("O", UNKNOWN) for each in now for label in each.labelled.gold)
    return sum(
        old != new
        for one, other in zip(before, now, strict=True)
        for old, new in zip(one.labelled.gold, other.labelled.gold, strict=True)
    )


@dataclass(frozen=True, slots=True)
class Compared:
    """How many values of the documents that were held back each model found, under the rules."""

    documents: int
    quick: int
    deep: int

    @property
    def better(self) -> bool:
        """Whether the network found more."""
        return self.deep > self.quick


def compare(teacher: Teacher, base: str, told: Told, recipe: Recipe | None = None) -> Compared:
    """Both models, taught on most documents, on those of the first part of cross-validation."""
    if len(teacher.documents) < FEWEST:
        raise InputError(
            f"--deep compares two models on documents that are held back: {FEWEST} are needed, "
            f"but there are {len(teacher.documents)}"
        )
    held = teacher.folds()[0]
    with TemporaryDirectory() as folder:
        deep = teach_deep(teacher, base, Path(folder), told, recipe, without=held)
        return Compared(
            len(held), teacher.right(teacher.without(held), held), teacher.right(deep, held)
        )


def teach_deep(
    teacher: Teacher,
    base: str,
    folder: Path,
    told: Told,
    recipe: Recipe | None = None,
    *,
    without: Collection[str] = (),
) -> Tagger:
    """Writes the network of all documents but some."""
    documents = [each for each in teacher.documents.values() if each.id not in without]
    for _ in train_on_values(
        documents, teacher.truths, teacher.rules, base, folder, recipe, rounds=1, share=0.0,
        told=told,
    ):  # fmt: skip
        pass
    return from_pretrained(folder)
