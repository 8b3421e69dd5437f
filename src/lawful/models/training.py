"""Training a tagger on documents with gold labels.

As in the paper, every piece of a word has a label: after ``B-x``, further pieces are ``I-x``. After
every epoch, the model is validated by the strict entity F1 of its best legal labellings. The
directory has the best model so far, and a checkpoint from which an interrupted run can continue.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from math import cos, inf, pi
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from lawful.base.errors import InputError
from lawful.documents.document import Document
from lawful.documents.labels import Scheme
from lawful.documents.records import UNKNOWN, Labelled
from lawful.evaluation.scoreboard import Counts
from lawful.io.atomic import make_folder
from lawful.models.checkpoint import ONNX, TOKENIZER, WEIGHTS, first_line, replaced
from lawful.models.network import Network
from lawful.models.recipe import Recipe
from lawful.models.runners import TorchRunner, device_named, half_precision
from lawful.models.tagger import Tagger, Window, batched, padded
from lawful.models.tokenizer import Tokenizer
from lawful.search.streams import paths

CHECKPOINT = "checkpoint.pt"
IGNORED = -100
"""The target of positions without a label: special tokens, padding, pieces that a CRF skips, words
whose label is unknown."""

_FALL = 0.99  # of the lowest loss: below this, it still falls


@dataclass(frozen=True, slots=True)
class Epoch:
    """The results of an epoch.

    An epoch is progress if its F1 is better than all before, also in earlier runs that this one
    resumes. While no entity is found right, so that F1 is 0, it is progress if the loss falls.
    """

    number: int  # from 1
    of: int  # the maximum number of epochs
    loss: float  # mean over its steps
    f1: float  # on the validation documents
    found: int  # entities in the validation documents, right or wrong
    progress: bool
    stale: int  # epochs since the last progress
    best: float  # F1 so far
    seconds: float


@dataclass(frozen=True, slots=True)
class Step:
    """Progress within an epoch: batches that were trained on, then documents validated on."""

    epoch: int  # from 1
    epochs: int  # the maximum number of them
    stage: Literal["training", "validation"]
    done: int
    of: int
    loss: float  # of the last batch; in validation, the mean of the epoch


Told = Callable[[Step], None]
"""Called after every step."""


def labels_of(documents: Sequence[Labelled]) -> tuple[str, ...]:
    """``O``, then ``B-`` and ``I-`` of every type that occurs, sorted by type."""
    types = set()
    for labelled in documents:
        for word, label in enumerate(labelled.gold):
            if label == UNKNOWN:
                continue
            prefix, _, type_ = label.partition("-")
            if label != "O" and (prefix not in ("B", "I") or not type_):
                raise InputError(
                    f"document {labelled.document.id!r}: gold of word {word} is {label!r}, "
                    "expected O, B-… or I-…"
                )
            types.add(type_)
    return ("O", *(f"{prefix}-{type_}" for type_ in sorted(types - {""}) for prefix in "BI"))


def train(
    network: Network,
    tokenizer: Tokenizer,
    documents: Sequence[Labelled],
    validation: Sequence[Labelled],
    folder: Path,
    recipe: Recipe | None = None,
    *,
    device: str | None = None,
    resume: bool = False,
    told: Told | None = None,
) -> Iterator[Epoch]:
    """Trains the network, epoch by epoch; ``folder`` always has the best model so far.

    An interruption loses only the current epoch. With ``resume``, the run continues after the
    last complete epoch, with the same result as an uninterrupted run.
    """
    device = device_named(device)
    for name, some in (("train", documents), ("validate", validation)):
        if not any(map(len, (labelled.document for labelled in some))):
            raise InputError(f"no words to {name} on")
    if network.card.boxes and all(page.document.boxes is None for page in documents):
        raise InputError("the model takes boxes, but no training document has any")
    recipe = recipe or Recipe()
    torch.manual_seed(recipe.seed)
    tagger = Tagger(tokenizer, TorchRunner(network, device), network.card)
    examples = list(_examples(tagger, documents))
    recipe = recipe.filled(len(examples))
    network.card.recipe = asdict(recipe)
    run = _Run(tagger, network, device, examples, validation, folder, recipe)
    if resume:
        run.load()
    elif run.checkpoint.exists():
        raise InputError(
            f"{folder} has the checkpoint of an unfinished run: resume it, or choose another folder"
        )
    elif any((folder / name).exists() for name in (WEIGHTS, ONNX)):
        raise InputError(f"{folder} already has a model: choose another folder, or delete it")
    yield from run.run(told or (lambda _: None))


Example: TypeAlias = tuple[Window, NDArray[Any]]
"""A window of a document, and the target of each of its pieces and special tokens."""


def _examples(tagger: Tagger, documents: Sequence[Labelled]) -> Iterator[Example]:
    index = {label: i for i, label in enumerate(tagger.labels)} | {UNKNOWN: IGNORED}
    tokenizer = tagger.tokenizer
    before, after = len(tokenizer.opening), len(tokenizer.closing)
    for number, labelled in enumerate(documents):
        pieces = tagger.pieces(labelled.document)
        try:
            targets = np.array([index[label] for label in pieces.labels(labelled.gold)])
        except KeyError as error:
            raise InputError(
                f"document {labelled.document.id!r} has gold label {error}, "
                "which the model does not know"
            ) from None
        if tagger.card.crf:
            if UNKNOWN in labelled.gold:
                raise InputError(
                    f"document {labelled.document.id!r} has words with unknown labels, which a "
                    "model with a CRF cannot learn from"
                )
            targets[np.array(pieces.joins, dtype=np.bool_)] = IGNORED
        for window in tagger.windows(number, pieces):
            padded_targets = np.pad(targets[window.where], (before, after), constant_values=IGNORED)
            if (padded_targets != IGNORED).any():
                yield window, padded_targets


@dataclass(slots=True)
class _Run:
    """A training run: its data, and its state after the last epoch."""

    tagger: Tagger
    network: Network  # the tagger's, on the device
    device: str
    examples: list[Example]
    validation: Sequence[Labelled]
    folder: Path
    recipe: Recipe
    done: int = 0  # epochs
    best: float = -1.0  # F1
    lowest: float = inf  # loss
    stale: int = 0  # epochs since the last progress
    epochs: int = field(init=False)  # the maximum number of them
    batch: int = field(init=False)
    patience: int = field(init=False)
    optimizer: torch.optim.Optimizer = field(init=False)
    scheme: Scheme = field(init=False)
    illegal: Tensor = field(init=False)  # (labels, labels): 1 for illegal transitions
    fingerprint: str = field(init=False)  # a hash of the examples and the validation documents

    def __post_init__(self) -> None:
        recipe = self.recipe
        assert recipe.epochs is not None  # noqa: S101 - the recipe is filled
        assert recipe.batch is not None  # noqa: S101
        assert recipe.patience is not None  # noqa: S101
        self.epochs, self.batch, self.patience = recipe.epochs, recipe.batch, recipe.patience
        self.fingerprint = self._fingerprint()
        groups = _groups(self.network, self.recipe)
        self.optimizer = torch.optim.AdamW(groups, weight_decay=self.recipe.decay)
        self.scheme = Scheme.named("BIO", self.tagger.labels)
        _, between, _ = self.scheme.allowed
        self.illegal = torch.tensor(~between, dtype=torch.float32, device=self.device)

    @property
    def steps(self) -> int:
        """Steps per epoch."""
        return -(-len(self.examples) // self.batch)

    @property
    def checkpoint(self) -> Path:
        return self.folder / CHECKPOINT

    def run(self, told: Told) -> Iterator[Epoch]:
        make_folder(self.folder)
        with self.network.card.replacing(self.folder, TOKENIZER):
            self.tagger.tokenizer.save(self.folder)
        while self.done < self.epochs and self.stale < self.patience:
            began = perf_counter()
            with self._explained_out_of_memory():
                loss = self._epoch(self.done, told)
                counts = self._validate(self.done, loss, told)
            self.done += 1
            progress = self._progresses(loss, counts.f1)
            self.stale = 0 if progress else self.stale + 1
            if progress:
                self.best = counts.f1
                self.network.save(self.folder)
            self._save()
            yield Epoch(
                self.done, self.epochs, loss, counts.f1, counts.found, progress, self.stale,
                self.best, perf_counter() - began,
            )  # fmt: skip
        self.checkpoint.unlink(missing_ok=True)

    def _progresses(self, loss: float, f1: float) -> bool:
        """Whether an epoch is progress; see ``Epoch``."""
        falls = loss < _FALL * self.lowest
        if falls:
            self.lowest = loss
        return f1 > self.best or (f1 == self.best == 0 and falls)

    def _fingerprint(self) -> str:
        digest = sha256()
        for window, targets in self.examples:
            for array in (window.ids, window.boxes, targets):
                digest.update(array.tobytes())
        for page in self.validation:
            digest.update(repr((page.document.words, page.document.boxes, page.gold)).encode())
        return digest.hexdigest()

    def _epoch(self, epoch: int, told: Told) -> float:
        """One pass over the examples, in an order that depends only on the seed and the epoch."""
        self.network.train()
        rng = np.random.default_rng((self.recipe.seed, epoch))
        order = rng.permutation(len(self.examples)).tolist()
        total = 0.0
        for step, some in enumerate(batched(order, self.batch)):
            self._set_rates(epoch * self.steps + step)
            loss = self._loss([self.examples[i] for i in some])
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optimizer.step()
            value = loss.item()
            if not np.isfinite(value):
                raise InputError(
                    f"the loss is {value} in epoch {epoch + 1}: use a smaller rate than "
                    f"{self.recipe.rate:g}"
                )
            total += value
            told(Step(epoch + 1, self.epochs, "training", step + 1, self.steps, value))
        return total / self.steps

    def _validate(self, epoch: int, loss: float, told: Told) -> Counts:
        """The entities of the validation documents, as ``entity_counts``."""
        count = len(self.validation)

        def followed() -> Iterator[Labelled]:
            for done, page in enumerate(self.validation):
                told(Step(epoch + 1, self.epochs, "validation", done, count, loss))
                yield page

        return entity_counts(self.tagger, followed(), self.scheme)

    def _loss(self, some: list[Example]) -> Tensor:
        arrays = padded(tuple(window for window, _ in some), self.tagger.tokenizer.padding)
        ids, mask, boxes = (torch.from_numpy(each).to(self.device) for each in arrays)
        wanted = np.full(ids.shape, IGNORED, dtype=np.int64)
        for row, (_, targets) in enumerate(some):
            wanted[row, : len(targets)] = targets
        target = torch.from_numpy(wanted).to(self.device)
        with half_precision(self.device):
            logits = self.network(ids, mask, boxes)
        logits = logits.float()
        if self.network.chain is not None:
            logits, target = _words(logits, target)
            there = target != IGNORED
            edges = ([window.is_first for window, _ in some], [w.is_last for w, _ in some])
            starts, ends = (torch.tensor(each, device=self.device) for each in edges)
            loss = self.network.chain.loss(logits, target.clamp(min=0), there, starts, ends)
        else:
            loss = nn.functional.cross_entropy(
                logits.flatten(0, 1), target.flatten(), ignore_index=IGNORED
            )
        if self.recipe.legal:
            loss = loss + self.recipe.legal * illegality(logits, target != IGNORED, self.illegal)
        return loss

    def _set_rates(self, step: int) -> None:
        """Linear warm-up to the recipe's rates, then cosine decay to zero."""
        steps = self.steps * self.epochs
        warm = self.recipe.warm_up * steps
        fall = (1 + cos(pi * (step - warm) / max(steps - warm, 1))) / 2
        share = min((step + 1) / warm, 1.0) if step < warm else fall
        for group in self.optimizer.param_groups:
            group["lr"] = group["peak"] * share

    @contextmanager
    def _explained_out_of_memory(self) -> Iterator[None]:
        try:
            yield
        except torch.OutOfMemoryError:
            kept = f"; {self.folder} has the best of epoch {self.done}" if self.done else ""
            raise InputError(
                f"out of memory on {self.device} with batches of {self.batch}: "
                f"use a smaller batch or window{kept}"
            ) from None

    def _save(self) -> None:
        state = {
            "recipe": asdict(self.recipe),
            "labels": list(self.network.card.labels),
            "fingerprint": self.fingerprint,
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "random": torch.get_rng_state(),
            "done": self.done,
            "best": self.best,
            "lowest": self.lowest,
            "stale": self.stale,
        }
        if self.device.startswith("cuda"):
            state["cuda_random"] = torch.cuda.get_rng_state()
        with replaced(self.checkpoint) as file:
            torch.save(state, file)

    def load(self) -> None:
        """Continues from the checkpoint in the folder, which must be of the same run."""
        if not self.checkpoint.is_file():
            ended = (self.folder / WEIGHTS).exists()
            why = "the run has ended" if ended else "nothing to resume"
            raise InputError(f"no {CHECKPOINT} in {self.folder}: {why}")
        try:
            state = torch.load(self.checkpoint, map_location=self.device, weights_only=True)
            found = state["recipe"], tuple(state["labels"])
            fingerprint = state["fingerprint"]
        except Exception as error:
            raise InputError(
                f"{self.checkpoint}: not a checkpoint that can be resumed: {first_line(error)}; "
                "delete it to start again"
            ) from None
        expected = asdict(self.recipe), self.network.card.labels
        if found != expected:
            raise InputError(
                f"{self.checkpoint} is of a run with another recipe or other labels: "
                f"{_difference(*found, *expected)}"
            )
        if fingerprint != self.fingerprint:
            raise InputError(
                f"{self.checkpoint} is of a run on other documents, or with another tokenizer or "
                "window"
            )
        try:
            self.network.load_state_dict(state["network"])
            self.optimizer.load_state_dict(state["optimizer"])
        except (RuntimeError, ValueError, KeyError):
            raise InputError(f"{self.checkpoint} is of another network") from None
        torch.set_rng_state(state["random"].cpu())
        if "cuda_random" in state and self.device.startswith("cuda"):
            torch.cuda.set_rng_state(state["cuda_random"].cpu())
        self.done, self.best, self.stale = state["done"], state["best"], state["stale"]
        self.lowest = state.get("lowest", inf)  # older checkpoints lack it


def _difference(
    recipe: dict[str, Any], labels: tuple[str, ...], now: dict[str, Any], labels_now: Any
) -> str:
    for name, value in recipe.items():
        if now.get(name) != value:
            return f"{name} was {value!r} and is {now.get(name)!r}"
    return f"{len(labels)} labels then, {len(labels_now)} now"


def _groups(network: Network, recipe: Recipe) -> list[dict[str, Any]]:
    """Parameters by learning rate: those of the encoder, and new ones."""
    ours = {id(p) for part in network.ours.values() for p in part.parameters()}
    encoder = getattr(network.encoder, network.encoder.base_model_prefix, network.encoder)
    own = {id(p) for p in encoder.parameters()} - ours
    groups: tuple[list[nn.Parameter], list[nn.Parameter]] = ([], [])
    for parameter in network.parameters():
        groups[id(parameter) not in own].append(parameter)
    rates = (recipe.rate, recipe.new_rate)
    return [
        {"params": some, "lr": rate, "peak": rate} for some, rate in zip(groups, rates, strict=True)
    ]


def _words(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Logits and targets without ignored pieces, moved to the front of each row."""
    there = targets != IGNORED
    order = torch.argsort((~there).to(torch.int8), dim=1, stable=True)
    length = int(there.sum(1).max())
    order = order[:, :length]
    return logits.gather(1, order[:, :, None].expand(-1, -1, logits.shape[2])), targets.gather(
        1, order
    )


def illegality(logits: Tensor, there: Tensor, illegal: Tensor) -> Tensor:
    """The mean probability of an illegal transition, if words were independent."""
    probs = logits.softmax(-1)
    pairs = there[:, :-1] & there[:, 1:]
    chance = torch.einsum("bni,ij,bnj->bn", probs[:, :-1], illegal, probs[:, 1:])
    return (chance * pairs).sum() / pairs.sum().clamp(min=1)


def entity_f1(tagger: Tagger, documents: Iterable[Labelled], scheme: Scheme) -> float:
    """Strict entity micro-F1 of the best legal labellings; words of unknown label do not count."""
    return entity_counts(tagger, documents, scheme).f1


def entity_counts(tagger: Tagger, documents: Iterable[Labelled], scheme: Scheme) -> Counts:
    """The entities of the best legal labellings; words of unknown label do not count."""
    counts = Counts()
    pages: deque[Labelled] = deque()  # those that are being scored

    def taken() -> Iterator[Document]:
        for page in documents:
            if len(page.document):
                pages.append(page)
                yield page.document

    for scored in tagger.predict(taken()):
        page = pages.popleft()
        labels, _ = paths(scored.word_scores, scheme).take(1)
        unknown = {word for word, label in enumerate(page.gold) if label == UNKNOWN}
        true = scheme.indices(["O" if label == UNKNOWN else label for label in page.gold])
        found = {
            span
            for span in scheme.spans(labels[0])
            if unknown.isdisjoint(range(span.start, span.end))
        }
        counts.add(found, set(scheme.spans(true)))
    return counts
