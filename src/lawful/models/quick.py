"""The quick model: linear scores of candidate spans, taught in seconds (``lawful teach``).

A ``QuickTagger`` is a ``Tagger`` whose scores are those of spans (``SpanScores``). It needs NumPy
only. Its folder has ``quick.json``, which says what its fields are, and ``quick.npz``, the weights.
"""

from __future__ import annotations

import zipfile
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from lawful.base.errors import InputError, LawfulError
from lawful.documents.document import Document
from lawful.documents.records import Scored
from lawful.documents.scores import Pooling
from lawful.documents.span_scores import SpanScores
from lawful.io.atomic import atomic_path
from lawful.models.checkpoint import QUICK, Card, checksum
from lawful.models.span_features import BUCKETS, Features, hopes
from lawful.models.spans import Ints, SpanPage
from lawful.models.tagger import Given, Tagger, Units, parts_of
from lawful.values import type_named

QUICK_WEIGHTS = "quick.npz"

LEAST = 0.001
"""Least probability of a candidate, except that the most probable one of a field is kept."""

NOTHING = 1e-5
"""Probability of a span that adds nothing to that of its value."""

SURE = 1 - 1e-6
"""Probability of a span, at most: no model is more certain, whatever it says."""

SMALL = 1e-4
"""Weights that differ less from what they were before are not saved."""


FEATURES = 2
"""Version of the features: weights of another one mean something else."""


class TaughtField(msgspec.Struct, frozen=True, kw_only=True):
    """A field that the model knows; ``names`` are those that people may print beside its values."""

    label: str
    type: str
    names: tuple[str, ...]
    many: bool = False  # whether its spans are independent of each other
    max_words: int | None = None
    temperature: float = 1.0  # that scores are divided by


class QuickCard(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What ``quick.json`` says."""

    fields: tuple[TaughtField, ...]
    documents: int = 0  # that it was taught on
    features: int = FEATURES  # version of the features
    sha256: str = ""  # of the weights


@dataclass(frozen=True, slots=True)
class FieldModel:
    """A field and its weights."""

    field: TaughtField
    weights: NDArray[np.float64]

    def scores(self, rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """The log-odds of candidates against none, by their features."""
        found: NDArray[np.float64] = self.weights[rows].sum(axis=1) / self.field.temperature
        return found

    def probs(
        self, rows: NDArray[np.int32], values: Sequence[tuple[Hashable, ...]]
    ) -> NDArray[np.float64]:
        """The probabilities of candidates.

        Candidates of a list are independent. Those of another field exclude each other, and the
        best one of each value has the probability of all that have the value.
        """
        scores = self.scores(rows)
        if self.field.many:
            return np.asarray(1 / (1 + np.exp(-np.clip(scores, -50, 50))))
        top = max(float(scores.max(initial=0.0)), 0.0)
        odds = np.exp(scores - top)
        probs: NDArray[np.float64] = odds / (odds.sum() + np.exp(-top))
        best: dict[Hashable, int] = {}
        total: dict[Hashable, float] = {}
        for i in np.flatnonzero(probs > NOTHING).tolist():
            value, p = values[i][0], float(probs[i])
            total[value] = total.get(value, 0.0) + p
            if value not in best or p > probs[best[value]]:
                best[value] = i
        for value, i in best.items():
            probs[i] = total[value]
        return probs


class Spans(Protocol):
    """Half-open words of candidates."""

    @property
    def starts(self) -> Ints: ...

    @property
    def ends(self) -> Ints: ...


def span_scores(
    count: int,
    models: Iterable[tuple[FieldModel, Spans, NDArray[np.float64]]],
    types: Iterable[str],
) -> SpanScores:
    """The scores of candidates of several fields in a document of so many words."""
    found = []
    for model, candidates, probs in models:
        top = float(probs.max(initial=0.0))
        for i in np.flatnonzero(probs >= min(LEAST, top)).tolist() if top > 0 else ():
            span = int(candidates.starts[i]), int(candidates.ends[i])
            found.append((*span, model.field.label, min(float(probs[i]), SURE)))
    return SpanScores(found, count, types)


class QuickTagger(Tagger):
    """A tagger that scores candidate spans by linear weights."""

    def __init__(self, models: Sequence[FieldModel], documents: int = 0) -> None:
        self.models, self.taught_on = tuple(models), documents
        types = [model.field.label for model in models]
        self.card = Card(labels=("O", *(f"{m}-{t}" for t in types for m in "BI")), window=1)

    def group_size(self, batch: int) -> int:
        """Every document is scored by itself."""
        return 1

    def lacks_boxes(self, document: Document) -> bool:
        """It takes documents with and without boxes."""
        return False

    def scores_of(self, document: Document) -> SpanScores:
        """The candidate spans of a document, with their probabilities."""
        types = [model.field.label for model in self.models]
        if not len(document):
            return SpanScores([], 0, types)
        page = SpanPage(document)
        features = Features(page)
        found = []
        for model in self.models:
            f = model.field
            candidates = page.candidates(f.type, f.max_words)
            if len(candidates.starts):
                rows = features.of(candidates, f.names)
                found.append((model, candidates, model.probs(rows, candidates.values)))
            else:
                found.append((model, candidates, np.empty(0)))
        return span_scores(len(document), found, types)

    def _predict(
        self, given: tuple[Given, ...], batch: int, units: Units, pool: Pooling
    ) -> Iterator[Scored]:
        if units == "pieces":
            raise InputError("units is 'pieces', expected 'words': a quick model scores spans")
        for each in given:
            document, gold = parts_of(each)
            yield Scored(document, self.scores_of(document), gold)

    def save(self, folder: Path) -> None:
        """Writes the model; an interruption leaves the old one or the new one."""
        folder.mkdir(parents=True, exist_ok=True)
        arrays: dict[str, NDArray[Any]] = {}
        for number, model in enumerate(self.models):
            changed = np.flatnonzero(np.abs(model.weights - hopes()) > SMALL)
            arrays[f"at{number}"] = changed.astype(np.int32)
            arrays[f"weight{number}"] = model.weights[changed].astype(np.float32)
        card = QuickCard(fields=tuple(model.field for model in self.models),
                         documents=self.taught_on)  # fmt: skip
        (folder / QUICK).unlink(missing_ok=True)
        with atomic_path(folder / QUICK_WEIGHTS) as file, file.open("wb") as out:
            np.savez_compressed(out, **arrays)  # type: ignore[arg-type]
        card.sha256 = checksum(folder / QUICK_WEIGHTS)
        with atomic_path(folder / QUICK) as file:
            file.write_bytes(msgspec.json.format(msgspec.json.encode(card), indent=1) + b"\n")

    @classmethod
    def load(cls, folder: Path) -> QuickTagger:
        """Reads a model's folder; raises an ``InputError`` if it is not one."""
        file = folder / QUICK_WEIGHTS
        try:
            card = msgspec.json.decode((folder / QUICK).read_bytes(), type=QuickCard)
            if card.features != FEATURES:
                raise ValueError(f"features of version {card.features}, expected {FEATURES}")
            if card.sha256 and checksum(file) != card.sha256:
                raise ValueError(f"{QUICK_WEIGHTS} is damaged or of another model")
            with np.load(file, allow_pickle=False) as arrays:
                models = [
                    FieldModel(f, _weights(arrays[f"at{n}"], arrays[f"weight{n}"]))
                    for n, f in enumerate(card.fields)
                ]
            for f in card.fields:
                type_named(f.type)
        except (
            msgspec.DecodeError, OSError, ValueError, KeyError, IndexError, EOFError,
            zipfile.BadZipFile, RecursionError, LawfulError,
        ) as error:  # fmt: skip
            raise InputError(f"{folder}: not a quick model: {error}") from None
        return cls(models, card.documents)


def _weights(at: NDArray[Any], values: NDArray[Any]) -> NDArray[np.float64]:
    if at.shape != values.shape or at.ndim != 1 or not np.isfinite(values).all():
        raise ValueError(f"weights of shape {values.shape} at {at.shape}")
    if len(at) and not 0 <= int(at.min()) <= int(at.max()) < BUCKETS:
        raise ValueError("weights of features that do not exist")
    weights = hopes()
    weights[at] = values
    return weights
