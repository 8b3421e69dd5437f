"""The quick model: linear scores of candidate spans, taught in seconds (``lawful teach``).

A ``QuickTagger`` is a ``Tagger`` whose scores are those of spans (``SpanScores``). It needs NumPy
only. Its folder has ``quick.json``, which says what its fields are, and ``quick.npz``, the weights.
"""

from __future__ import annotations

import zipfile
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
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
from lawful.models.row_links import best_links, pairs_of, row_ids
from lawful.models.span_features import BUCKETS, Features, hopes
from lawful.models.spans import Ints, Per, SpanPage
from lawful.models.tagger import Given, Tagger, Units, parts_of
from lawful.values import type_named

QUICK_WEIGHTS = "quick.npz"

LEAST = 0.001
"""Least probability of a candidate, except that the most probable one of a field is kept."""

NOTHING = 1e-5
"""Probability of a span that adds nothing to that of its value."""

ANCHOR = 0.3
"""Probability from which on other values of a row are looked for from an anchor."""

SURE = 1 - 1e-6
"""Probability of a span, at most: no model is more certain, whatever it says."""

SMALL = 1e-4
"""Weights that differ less from what they were before are not saved."""


FEATURES = 3
"""Version of the features: weights of another one mean something else."""


class TaughtField(msgspec.Struct, frozen=True, kw_only=True):
    """A field that the model knows; ``names`` are those that people may print beside its values."""

    label: str
    type: str
    names: tuple[str, ...]
    per: Per = "document"  # what has at most one value
    anchor: str = ""  # label of the field from which it is looked for, if it may stand elsewhere
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
        self, rows: NDArray[np.int32], values: Sequence[tuple[Hashable, ...]], groups: Ints
    ) -> NDArray[np.float64]:
        """The probabilities of candidates, given those that exclude each other (``groups``).

        In a group, the best candidate of each value has the probability of all that have it.
        """
        scores = self.scores(rows)
        _, group = np.unique(groups, return_inverse=True)
        top = np.zeros(int(group.max(initial=0)) + 1)
        np.maximum.at(top, group, scores)
        odds = np.exp(scores - top[group])
        probs: NDArray[np.float64] = odds / (np.bincount(group, odds) + np.exp(-top))[group]
        best: dict[tuple[int, Hashable], int] = {}
        total: dict[tuple[int, Hashable], float] = {}
        for i in np.flatnonzero(probs > NOTHING).tolist():
            value, p = (int(group[i]), values[i][0]), float(probs[i])
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
    found: dict[tuple[int, int, str], float] = {}
    for model, candidates, probs in models:
        top = float(probs.max(initial=0.0))
        for i in np.flatnonzero(probs >= min(LEAST, top)).tolist() if top > 0 else ():
            span = int(candidates.starts[i]), int(candidates.ends[i]), model.field.label
            found[span] = max(found.get(span, 0.0), min(float(probs[i]), SURE))
    return SpanScores([(*span, p) for span, p in found.items()], count, types)


def _anchors(
    page: SpanPage, candidates: Spans, probs: NDArray[np.float64]
) -> tuple[Ints, NDArray[np.float64]]:
    """The words where an anchor probably begins, one per row, and its probabilities."""
    best: dict[int, int] = {}  # by line
    for at in np.argsort(probs).tolist():
        if probs[at] >= ANCHOR:
            best[int(page.lines[candidates.starts[at]])] = at
    chosen = np.array(sorted(best.values(), key=candidates.starts.__getitem__), np.int64)
    return candidates.starts[chosen], probs[chosen]


class QuickTagger(Tagger):
    """A tagger that scores candidate spans by linear weights."""

    copies = True

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
        return self.scored(document)[1]

    def scored(self, document: Document) -> tuple[Document, SpanScores]:
        """The document, with rows that go over several lines, and its candidate spans.

        Rows are joined where values of a row stand in other lines than its anchor, unless the
        document has row ids.
        """
        types = [model.field.label for model in self.models]
        if not len(document):
            return document, SpanScores([], 0, types)
        page = SpanPage(document)
        features = Features(page)
        found: dict[str, tuple[FieldModel, Spans, NDArray[np.float64]]] = {}
        joined: dict[int, list[int]] = {}  # by anchor's word, the words of its values elsewhere
        for model in sorted(self.models, key=lambda each: bool(each.field.anchor)):
            f = model.field
            candidates = page.candidates(f.type, f.max_words)
            probs = np.zeros(len(candidates.starts))
            if f.anchor and f.anchor in found and len(probs):
                words, sure = _anchors(page, *found[f.anchor][1:])
                pairs = pairs_of(features, words, candidates, f.names)
                values = [candidates.values[i] for i in pairs.candidates.tolist()]
                each = model.probs(pairs.rows, values, pairs.anchors)
                for word in words.tolist():
                    joined.setdefault(word, [])
                for anchor, at in best_links(pairs, each).items():
                    joined[int(words[anchor])].append(int(candidates.starts[at]))
                np.maximum.at(probs, pairs.candidates, each * sure[pairs.anchors])
            elif len(probs):
                rows = features.of(candidates, f.names, f.per)
                probs = model.probs(rows, candidates.values, page.groups(candidates, f.per))
            found[f.label] = model, candidates, probs
        scores = span_scores(len(document), [found[type_] for type_ in types], types)
        if document.rows is None and document.boxes is not None and any(joined.values()):
            document = replace(document, rows=tuple(row_ids(page, joined)))
        return document, scores

    def _predict(
        self, given: tuple[Given, ...], batch: int, units: Units, pool: Pooling
    ) -> Iterator[Scored]:
        if units == "pieces":
            raise InputError("units is 'pieces', expected 'words': a quick model scores spans")
        for each in given:
            document, gold = parts_of(each)
            yield Scored(*self.scored(document), gold)

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
