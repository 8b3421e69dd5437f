"""Taggers, which score documents with a model, and decode them under rules.

Documents are decoded as they are scored:

    tagger = lawful.from_pretrained("my-model")
    for decoding in tagger.decode(documents, rules): ...
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from lawful.base.errors import DocumentError, InputError
from lawful.base.extras import needed
from lawful.documents.document import Document
from lawful.documents.records import FailedDocument, Labelled, Scored
from lawful.documents.scores import Pooling, Scores, log_softmax
from lawful.models.checkpoint import CARD, ONNX, QUICK, WEIGHTS, Card, read_card
from lawful.models.pretrained import check_source
from lawful.models.runners import OnnxRunner, Runner, TorchRunner
from lawful.models.tokenizer import GRID, Tokenizer, WordPieces
from lawful.models.windows import merge, windows
from lawful.pipeline.batch import decode_many
from lawful.results.decoding import Decoding
from lawful.rules.rule_set import Rules

Given: TypeAlias = Document | Labelled | Scored
Backend: TypeAlias = Literal["torch", "onnx"]
Units: TypeAlias = Literal["words", "pieces"]

T = TypeVar("T")

KIND = "kind"
"""The name of a document's classes by which models tell kinds of documents apart."""

BOXLESS = "documents without boxes, which the model was trained with"

AHEAD = 8
"""Batches of documents that are tokenized at a time, so that windows of equal length meet."""


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a document that fits into a model: arrays with one row per word piece."""

    document: int
    where: slice
    is_first: bool  # whether it has the document's first piece
    is_last: bool  # or its last
    ids: NDArray[np.int64]
    boxes: NDArray[np.int64]


class Tagger:
    """A model that gives every word a probability for every label.

    Words and documents longer than the model's window are read in overlapping windows. Every word
    has scores, even one that the tokenizer drops.
    """

    def __init__(self, tokenizer: Tokenizer, runner: Runner, card: Card) -> None:
        self.tokenizer = tokenizer
        self.runner = runner
        self.card = card
        special = len(tokenizer.opening) + len(tokenizer.closing)
        if card.window <= special:
            raise InputError(
                f"window of the model is {card.window}, expected at least {special + 1}: "
                f"{special} special tokens and a word piece"
            )

    @property
    def labels(self) -> tuple[str, ...]:
        """The model's labels, in the order of its scores."""
        return self.card.labels

    @property
    def copies(self) -> bool:
        """Whether processes can have it, each for itself."""
        return self.runner.copies

    def predict(
        self,
        documents: Iterable[Given],
        *,
        batch: int = 32,
        units: Units = "words",
        pool: Pooling = "mean",
    ) -> Iterator[Scored]:
        """Scores documents, in order and in constant memory.

        ``batch`` is in windows. Gold labels are kept. With ``units="pieces"``, the words of the
        scored documents are word pieces, as in the paper.
        """
        if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
            raise InputError(f"batch is {batch!r}, expected a count of 1 or more")
        if units == "pieces" and self.card.crf:
            raise InputError("units is 'pieces', expected 'words': a model with a CRF scores words")
        for some in batched(documents, self.group_size(batch)):
            yield from self._predict(some, batch, units, pool)

    def group_size(self, batch: int) -> int:
        """The number of consecutive documents that are scored together."""
        return batch * AHEAD

    def decode(
        self,
        documents: Iterable[Given],
        rules: Rules,
        *,
        batch: int = 32,
        pool: Pooling = "mean",
        **how: Any,
    ) -> Iterator[Decoding | FailedDocument]:
        """Scores and decodes documents; ``how`` are options of ``lawful.decode_many``."""
        rules.scheme_for(self.labels)  # fails early if the model lacks a label of the rules
        return decode_many(self.predict(documents, batch=batch, pool=pool), rules, **how)

    def _predict(
        self, given: tuple[Given, ...], batch: int, units: Units, pool: Pooling
    ) -> Iterator[Scored]:
        pairs = [parts_of(each) for each in given]
        if any(self.lacks_boxes(document) for document, _ in pairs):
            warnings.warn(BOXLESS, stacklevel=3)
        pieces = [self.pieces(document) for document, _ in pairs]
        parts: list[list[tuple[slice, NDArray[Any]]]] = [[] for _ in pairs]
        kinds: list[list[NDArray[Any]]] = [[] for _ in pairs]
        cut = [w for i, each in enumerate(pieces) for w in self.windows(i, each)]
        cut.sort(key=lambda window: len(window.ids))
        for some in batched(cut, batch):
            for window, (logits, kind) in zip(some, self._run(some), strict=True):
                parts[window.document].append((window.where, logits))
                kinds[window.document].append(kind)
        for (document, gold), each, found, of in zip(pairs, pieces, parts, kinds, strict=True):
            yield self._scored(self._of_kind(document, of), gold, each, found, units, pool)

    def _of_kind(self, document: Document, found: list[NDArray[Any]]) -> Document:
        """The document with the probabilities of its kinds, if the model knows any."""
        if not self.card.kinds or not found:
            return document
        scores = log_softmax(np.mean(found, axis=0, keepdims=True))[0].tolist()
        kinds = dict(zip(self.card.kinds, scores, strict=True))
        return replace(document, classes={**(document.classes or {}), KIND: kinds})

    def lacks_boxes(self, document: Document) -> bool:
        """Whether the model takes boxes and the document has none; it is then scored without."""
        return self.card.boxes and document.boxes is None and len(document) > 0

    def pieces(self, document: Document) -> WordPieces:
        """The word pieces of a document, with places as the model takes them."""
        return self.tokenizer.tokenize(document, lines=self.card.lines)

    def windows(self, document: int, pieces: WordPieces) -> Iterator[Window]:
        """The windows of a document, with special tokens."""
        opening, closing = self.tokenizer.opening, self.tokenizer.closing
        room = self.card.window - len(opening) - len(closing)
        edge = np.zeros((len(opening), 4), np.int64), np.full((len(closing), 4), GRID, np.int64)
        for where in windows(len(pieces), room, room // 4) if len(pieces) else ():
            yield Window(
                document,
                where,
                where.start == 0,
                where.stop == len(pieces),
                np.concatenate([opening, pieces.ids[where], closing]).astype(np.int64),
                np.concatenate([edge[0], pieces.boxes[where], edge[1]]),
            )

    def _run(
        self, some: tuple[Window, ...]
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Per window, log-probabilities of its pieces, without special tokens, and of kinds."""
        arrays = padded(some, self.tokenizer.padding)
        logits = np.asarray(self.runner.run(*arrays), dtype=np.float64)
        if logits.shape != (expected := (*arrays[0].shape, self.card.outputs)):
            raise InputError(
                f"the model's scores have shape {logits.shape}, expected {expected}: windows x "
                "pieces x labels"
            )
        if not np.isfinite(logits).all():
            raise InputError("the model's scores are not finite; perhaps its training diverged")
        before = len(self.tokenizer.opening)
        labels, kinds = np.split(logits, [len(self.labels)], axis=2)
        for window, rows, kind in zip(some, log_softmax(labels), kinds[:, 0], strict=True):
            yield rows[before : before + window.where.stop - window.where.start], kind

    def _scored(
        self,
        document: Document,
        gold: tuple[str, ...] | None,
        pieces: WordPieces,
        parts: list[tuple[slice, NDArray[Any]]],
        units: Units,
        pool: Pooling,
    ) -> Scored:
        if not parts:
            empty = Scores.from_probs(np.empty((0, len(self.labels))), self.labels)
            if units == "words" and self.runner.chain is not None:
                empty = empty.with_chain(**self.runner.chain._asdict())
            return Scored(document, empty, gold)
        unknown = sorted(set(gold or ()) - set(self.labels))
        if unknown:
            raise DocumentError(
                f"document {document.id!r} has gold label {unknown[0]!r}, which the model does "
                f"not know; its labels: {', '.join(self.labels)}"
            )
        scores = Scores.from_log_probs(merge(len(pieces), parts), self.labels)
        if units == "words":
            scores = scores.to_words(pieces.joins, "first" if self.card.crf else pool)
            if self.runner.chain is not None:
                scores = scores.with_chain(**self.runner.chain._asdict())
            return Scored(document, scores, gold)
        labels = None if gold is None else pieces.labels(gold)
        return Scored(pieces.document(document), scores, labels)


def padded(
    some: tuple[Window, ...], padding: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Ids, mask and boxes of windows, padded to the longest one."""
    longest = max(len(window.ids) for window in some)
    ids = np.full((len(some), longest), padding, dtype=np.int64)
    mask = np.zeros((len(some), longest), dtype=np.int64)
    boxes = np.zeros((len(some), longest, 4), dtype=np.int64)
    for row, window in enumerate(some):
        size = len(window.ids)
        ids[row, :size], mask[row, :size], boxes[row, :size] = window.ids, 1, window.boxes
    return ids, mask, boxes


def batched(items: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    """The items in tuples of ``size``; the last tuple may be shorter."""
    rest = iter(items)
    while some := tuple(islice(rest, size)):
        yield some


def parts_of(given: Any) -> tuple[Document, tuple[str, ...] | None]:
    """What is scored: a document, and its true labels if it has them."""
    match given:
        case Document():
            return given, None
        case Labelled() | Scored():
            return given.document, given.gold
    found = type(given).__name__
    raise InputError(f"cannot tag a {found}, expected a Document")


def from_pretrained(
    model: Any,
    *,
    tokenizer: Any = None,
    device: str | None = None,
    backend: Backend | None = None,
) -> Tagger:
    """A tagger from a checkpoint directory, a name on the hub, or a loaded model and its tokenizer.

    ``backend`` is ``torch`` or ``onnx``; by default the one that the directory has weights for, or
    torch if it has both. A checkpoint directory is loaded without access to the network. Python
    code that comes with a model is not run.
    """
    if not isinstance(model, str | Path):
        return _wrapped(model, tokenizer, device)
    folder = Path(model)
    if (folder / QUICK).is_file():
        from lawful.models.quick import QuickTagger

        return QuickTagger.load(folder)
    card = read_card(folder)
    if backend is None:
        only_onnx = (
            card is not None and (folder / ONNX).is_file() and not (folder / WEIGHTS).is_file()
        )
        backend = "onnx" if only_onnx else "torch"
    if backend == "onnx":
        if device not in (None, "cpu"):
            raise InputError(f"device is {device!r}, expected 'cpu' for model.onnx")
        return _exported(folder, card)
    if backend != "torch":
        raise InputError(f"backend is {backend!r}, expected torch or onnx")
    check_source(model)
    what = "running this model" if folder.exists() else f"no folder {model}; a model of the hub"
    needed("torch", what)
    needed("transformers", what)
    from lawful.models.network import Network

    network = Network.load(model)
    return Tagger(Tokenizer.load(model), TorchRunner(network, device), network.card)


def _wrapped(model: Any, tokenizer: Any, device: str | None) -> Tagger:
    """A tagger of a loaded model."""
    if not hasattr(model, "config") or not hasattr(model, "forward"):
        raise InputError(
            f"model is a {type(model).__name__}, expected a folder, a name on the hub, or a "
            "model of transformers for token classification"
        )
    if tokenizer is None:
        raise InputError("tokenizer is None, expected the tokenizer of the loaded model")
    from lawful.models.network import Network, plain_card
    from lawful.models.pretrained import fast

    if not type(model).__name__.endswith("ForTokenClassification"):
        raise InputError(
            f"model is a {type(model).__name__}, expected one for token classification"
        )
    if str(dtype := model.dtype) != "torch.float32":
        raise InputError(
            f"the model is in {dtype}, in which different scores become ties: call model.float()"
        )
    network = Network(model, plain_card(model, type(model).__name__))
    device = device or str(getattr(model, "device", "cpu"))
    words = Tokenizer(fast(tokenizer, type(model).__name__))
    return Tagger(words, TorchRunner(network, device), network.card)


def _exported(folder: Path, card: Card | None) -> Tagger:
    file = folder / ONNX
    if card is None or not file.is_file():
        raise InputError(f"no {ONNX} with a card in {folder}: create them with lawful export")
    if card.crf and card.learned is None:
        raise InputError(f"{folder / CARD}: crf is true, but there is no chain")
    card.check_file(file)
    tokenizer = Tokenizer.load(folder)
    runner = OnnxRunner(file, card.learned)
    if runner.labels not in (None, count := card.outputs):
        raise InputError(
            f"{file} has scores of {runner.labels} labels, expected {count} as in {CARD}"
        )
    return Tagger(tokenizer, runner, card)
