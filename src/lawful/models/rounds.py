"""Training on true values instead of labels: align, train, choose again, train again.

In the first round, words are labelled by what is usually printed around a field's values. A model
that is trained on these labels then scores the documents, and an exact search under the rules
chooses among the occurrences of each value once more (hard expectation maximisation).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from lawful.base.errors import InputError
from lawful.documents.document import Document
from lawful.documents.records import UNKNOWN, Labelled
from lawful.evaluation.split import sample
from lawful.learn.align import Aligned, Truth, align_all, align_scored
from lawful.models.network import Network
from lawful.models.recipe import Recipe
from lawful.models.tagger import from_pretrained
from lawful.models.tokenizer import Tokenizer
from lawful.models.training import Epoch, Told, labels_of, train
from lawful.rules.rule_set import Rules


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
    A ``share`` of the documents is held back for validation. ``network`` are options of
    ``Network.start``.
    """
    if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 1:
        raise InputError(f"rounds is {rounds!r}, expected a whole number of 1 or more")
    if network.get("crf"):
        raise InputError("a model with a CRF cannot learn from words whose label is unknown")
    recipe = recipe or Recipe()
    documents = [document for document in documents if document.id in truths]
    if not documents:
        raise InputError("no document has true values")
    held = sample([document.id for document in documents], share, recipe.seed)
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
            parts = _parts(pages, held)
            for each in train(
                started, Tokenizer.load(base), *parts, where, recipe, device=device, told=told
            ):
                best = each.best
                if epoch is not None:
                    epoch(number, each)
            yield Round(number, tuple(aligned), _changed(before, aligned), best, where)
            if not last:
                before = aligned
                tagger = from_pretrained(where, device=device)
                aligned = align_scored(tagger.predict(documents), truths, rules)
        finally:
            if not last:
                rmtree(where, ignore_errors=True)


def _parts(
    pages: Sequence[Labelled], held: frozenset[str]
) -> tuple[list[Labelled], list[Labelled]]:
    return (
        [page for page in pages if page.document.id not in held],
        [page for page in pages if page.document.id in held],
    )


def _changed(before: Sequence[Aligned] | None, now: Sequence[Aligned]) -> int:
    """The words whose label changed; all that have one, if there was no round before."""
    if before is None:
        return sum(label not in ("O", UNKNOWN) for each in now for label in each.labelled.gold)
    return sum(
        old != new
        for one, other in zip(before, now, strict=True)
        for old, new in zip(one.labelled.gold, other.labelled.gold, strict=True)
    )
