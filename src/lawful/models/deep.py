"""``lawful teach --deep``: a transformer on the labels that the quick model chose, if it is better.

The quick model says which of the places of each value is meant. A network that starts from a model
of lawful learns these labels, and both are tested on documents that neither has seen.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from lawful.base.errors import InputError
from lawful.documents.records import UNKNOWN, Labelled
from lawful.models.network import Network
from lawful.models.recipe import Recipe
from lawful.models.tagger import BOXLESS, Tagger, from_pretrained
from lawful.models.teaching import Teacher
from lawful.models.tokenizer import Tokenizer
from lawful.models.training import Told, labels_of, train

FEWEST = 10
"""Documents without which nothing can be held back to compare on."""


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
    pages = [page for page in _labelled(teacher) if page.document.id not in set(held)]
    with TemporaryDirectory() as folder:
        deep = fit(pages, base, Path(folder), told, recipe)
        return Compared(
            len(held), teacher.right(teacher.without(held), held), teacher.right(deep, held)
        )


def teach_deep(
    teacher: Teacher, base: str, folder: Path, told: Told, recipe: Recipe | None = None
) -> None:
    """Writes the network of all documents."""
    fit(_labelled(teacher), base, folder, told, recipe)


def fit(
    pages: list[Labelled], base: str, folder: Path, told: Told, recipe: Recipe | None
) -> Tagger:
    """A network of these pages, after the last epoch: nothing is held back to choose one by."""
    recipe = (recipe or Recipe()).filled(len(pages))
    recipe = Recipe(epochs=recipe.epochs, batch=recipe.batch, patience=recipe.epochs)
    network = Network.start(base, labels_of(pages))
    tokenizer = Tokenizer.load(base)
    with _quiet():
        for _ in train(network, tokenizer, pages, pages[:1], folder, recipe, told=told):
            pass
        network.save(folder)
    return from_pretrained(folder)


def _labelled(teacher: Teacher) -> list[Labelled]:
    return teacher.labelled(others=UNKNOWN)


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", BOXLESS)
        yield
