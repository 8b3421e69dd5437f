"""The network: an encoder for token classification, with optional box embeddings and CRF.

Layout models (LayoutLM, LiLT, LayoutLMv3) take boxes themselves. For a text encoder, lawful can add
embeddings of boxes on a grid, or of the places of words in printed lines. They are initially zero,
so that the network starts out equal to the encoder. It can also add a linear-chain CRF, which
scores words, each by its first piece.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from lawful.base.errors import InputError
from lawful.base.extras import needed
from lawful.io.atomic import make_folder
from lawful.models.checkpoint import (
    CARD,
    CONFIG,
    ONNX,
    WEIGHTS,
    Card,
    first_line,
    read_card,
    replaced,
)
from lawful.models.crf import ChainHead
from lawful.models.pretrained import load
from lawful.models.tokenizer import GRID, LINE_STEPS

LAYOUTS = ("layoutlm", "layoutlmv3", "lilt")
"""Architectures that take boxes as whole numbers from 0 to ``GRID``."""

OURS = "lawful."
"""The prefix of lawful's own weights in the file of weights."""


class BoxTables(nn.Module):
    """Embeddings of boxes: of their edges, their width and their height."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.x, self.y, self.width, self.height = (nn.Embedding(GRID + 1, width) for _ in range(4))
        for table in (self.x, self.y, self.width, self.height):
            nn.init.zeros_(table.weight)

    def forward(self, boxes: Tensor) -> Tensor:
        """From (batch, pieces, 4) on the grid to (batch, pieces, width)."""
        x0, y0, x1, y1 = boxes.unbind(-1)
        ends: Tensor = self.x(x0) + self.x(x1) + self.y(y0) + self.y(y1)
        return ends + self.width((x1 - x0).clamp(0)) + self.height((y1 - y0).clamp(0))


class LineTables(nn.Module):
    """Embeddings of the places of words in printed lines, as ``in_lines`` counts them."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(size, width) for size in LINE_STEPS)
        for weights in self.parameters():
            nn.init.zeros_(weights)

    def forward(self, places: Tensor) -> Tensor:
        """From (batch, pieces, 4) to (batch, pieces, width)."""
        parts = zip(self.tables, LINE_STEPS, places.unbind(-1), strict=True)
        return torch.stack([table(part.clamp(0, size - 1)) for table, size, part in parts]).sum(0)


class Network(nn.Module):
    """Computes a score for every label from the ids, mask and boxes of word pieces."""

    def __init__(self, encoder: Any, card: Card) -> None:
        super().__init__()
        self.encoder = encoder
        self.card = card
        self.boxes: nn.Module | None = None
        if card.own_boxes:  # as wide as the embeddings, not the hidden layers
            tables = LineTables if card.lines else BoxTables
            self.boxes = tables(encoder.get_input_embeddings().embedding_dim)
        self.chain = ChainHead(len(card.labels)) if card.crf else None

    def forward(self, ids: Tensor, mask: Tensor | None, boxes: Tensor) -> Tensor:
        """Logits of shape (batch, pieces, labels); without a mask, there is no padding."""
        given: dict[str, Tensor] = {} if mask is None else {"attention_mask": mask}
        if self.boxes is None:
            given["input_ids"] = ids
        else:
            given["inputs_embeds"] = self.encoder.get_input_embeddings()(ids) + self.boxes(boxes)
        if self.card.boxes and not self.card.own_boxes:
            given["bbox"] = boxes
        logits: Tensor = self.encoder(**given).logits
        return logits

    @property
    def ours(self) -> dict[str, nn.Module]:
        """The modules that lawful added, by name."""
        parts = {"boxes": self.boxes, "chain": self.chain}
        return {name: part for name, part in parts.items() if part is not None}

    def save(self, folder: Path) -> None:
        """Writes configuration, card and weights, each atomically."""
        make_folder(folder)
        with replaced(folder / CONFIG) as file:
            self.encoder.config.to_json_file(str(file))
        state = {**self.encoder.state_dict()}
        for name, part in self.ours.items():
            state |= {f"{OURS}{name}.{key}": value for key, value in part.state_dict().items()}
        # safetensors refuses tied weights, which share memory.
        state = {key: value.detach().cpu().clone().contiguous() for key, value in state.items()}
        save_file = needed("safetensors.torch", "saving a model").save_file
        with self.card.replacing(folder, WEIGHTS), replaced(folder / WEIGHTS) as file:
            save_file(state, str(file), metadata={"format": "pt"})

    @classmethod
    def start(
        cls,
        base: str | Path,
        labels: tuple[str, ...],
        *,
        layers: int | None = None,
        boxes: bool = False,
        lines: bool = False,
        crf: bool = False,
        window: int | None = None,
        kinds: tuple[str, ...] = (),
        seed: int = 0,
    ) -> Network:
        """A network to train: a pretrained encoder with a new head for these labels.

        With ``boxes``, a text encoder gets embeddings of boxes; with ``lines``, of the places of
        words in printed lines instead. A base that lawful has written keeps those that it has, and
        what it has learned of labels of the same names.
        """
        if not 0 <= seed < 2**63:
            raise InputError(f"seed is {seed}, expected a whole number from 0 to 2^63")
        if boxes and lines:
            raise InputError("boxes and lines are both asked for, expected one of them")
        torch.manual_seed(seed)
        outputs, known, before = (*labels, *kinds), read_card(Path(base)), None
        if known is not None:
            before = _load(Path(base), known)
            encoder = before.encoder
            if boxes and known.boxes and (known.lines or not known.own_boxes):
                raise InputError(f"{base} has places of another kind than --boxes: leave it out")
            if lines and known.boxes and not known.lines:
                raise InputError(f"{base} has places of another kind than --lines: leave it out")
            _set_head(encoder, (*known.labels, *known.kinds), outputs, base)
        else:
            encoder = load_encoder(
                base,
                num_labels=len(outputs),
                id2label=dict(enumerate(outputs)),
                label2id={label: i for i, label in enumerate(outputs)},
                ignore_mismatched_sizes=True,
            )
            if takes_boxes(encoder) and lines:
                raise InputError(f"{base} takes boxes itself: choose it without lines")
        if layers is not None:
            _cut_layers(encoder, layers, base)
        longest = longest_window(encoder)
        if window is not None and not 8 <= window <= longest:
            raise InputError(f"window is {window}, expected 8 to {longest}, the most of {base}")
        old = known or Card(labels=labels, window=min(longest, 512), boxes=takes_boxes(encoder))
        card = Card(
            labels=labels,
            kinds=kinds,
            window=window or old.window,
            boxes=old.boxes or boxes or lines,
            own_boxes=old.own_boxes or (not old.boxes and (boxes or lines)),
            lines=old.lines or (not old.boxes and lines),
            crf=crf,
            base=str(base),
        )
        network = cls(encoder, card)
        if before is not None and before.boxes is not None:
            network.boxes = before.boxes
        return network

    @classmethod
    def load(cls, source: str | Path) -> Network:
        """A trained network from a checkpoint directory or, by name, from the hub."""
        card = read_card(Path(source))
        if card is None:
            encoder = load_encoder(source)
            return cls(encoder, plain_card(encoder, str(source)))
        return _load_ours(Path(source), card)


def _load(folder: Path, card: Card) -> Network:
    """A network of lawful, of its weights or of what was exported from these."""
    return _load_ours(folder, card) if (folder / WEIGHTS).is_file() else _exported(folder, card)


def _set_head(
    encoder: Any, known: Sequence[str], outputs: tuple[str, ...], base: str | Path
) -> None:
    """Gives an encoder a head for these outputs, which keeps what it knows of them."""
    head = getattr(encoder, "classifier", None)
    if not isinstance(head, nn.Linear):
        raise InputError(f"training cannot go on from {base}: its head is of an unknown kind")
    new = nn.Linear(head.in_features, len(outputs))
    nn.init.normal_(new.weight, std=0.02)
    nn.init.zeros_(new.bias)
    before = {name: i for i, name in enumerate(known)}
    with torch.no_grad():
        for i, name in enumerate(outputs):
            if name in before:
                new.weight[i] = head.weight[before[name]]
                new.bias[i] = head.bias[before[name]]
    encoder.classifier, encoder.num_labels = new, len(outputs)
    encoder.config.id2label = dict(enumerate(outputs))
    encoder.config.label2id = {label: i for i, label in enumerate(outputs)}


def _exported(folder: Path, card: Card) -> Network:
    """The network of a model that was exported with 8 bits, as the shipped ones are."""
    transformers = needed("transformers", "training a model")
    needed("onnx", "training a shipped model")
    from lawful.models.exported_weights import HEAD, exported_weights

    card.check_file(folder / ONNX)
    try:
        weights = {n: torch.tensor(a) for n, a in exported_weights(folder / ONNX).items()}
        words = weights["encoder.bert.embeddings.word_embeddings.weight"]
        config = transformers.BertConfig(
            vocab_size=len(words),
            hidden_size=words.shape[1],
            num_hidden_layers=sum(name.endswith("self.query.weight") for name in weights),
            intermediate_size=4 * words.shape[1],
            max_position_embeddings=card.window,
            num_labels=len(weights[HEAD]),
        )
        network = Network(transformers.BertForTokenClassification(config), card)
        lacking, unknown = network.load_state_dict(weights, strict=False)
        if unknown or any("position_ids" not in name for name in lacking):
            raise ValueError(f"no weights for {[*unknown, *lacking][0]}")
    except Exception as error:  # of onnx, for a file that is none, or of another network
        raise InputError(
            f"training cannot go on from {folder / ONNX}: {first_line(error)}; give the folder "
            f"with {WEIGHTS} that it was exported from"
        ) from None
    return network


def _load_ours(folder: Path, card: Card) -> Network:
    transformers = needed("transformers", "running this model")
    load_file = needed("safetensors.torch", "running this model").load_file
    file = folder / WEIGHTS
    if not file.is_file():
        hint = "; it has model.onnx: choose the backend onnx" if (folder / ONNX).exists() else ""
        raise InputError(f"no {WEIGHTS} in {folder}{hint}")
    card.check_file(file)
    try:
        state = load_file(str(file))
    except Exception as error:
        raise InputError(f"{file}: not a file of weights: {error}") from None
    config = load(transformers.AutoConfig, "a model", folder)
    try:
        encoder = transformers.AutoModelForTokenClassification.from_config(
            config, trust_remote_code=False
        )
    except Exception as error:
        raise InputError(f"{folder / CONFIG}: not of a model: {first_line(error)}") from None
    if config.num_labels != card.outputs:
        raise InputError(
            f"{folder / CONFIG} has {config.num_labels} labels, expected {card.outputs} as in "
            f"{CARD}"
        )
    if card.window > (longest := longest_window(encoder)):
        raise InputError(
            f"{folder / CARD}: window is {card.window}, expected at most {longest}, the model's own"
        )
    network = Network(encoder, card)
    modules: dict[str, nn.Module] = {"": encoder} | {
        f"{OURS}{name}.": part for name, part in network.ours.items()
    }
    for prefix, module in modules.items():
        part = {
            key.removeprefix(prefix): value
            for key, value in state.items()
            if key.startswith(prefix) and (prefix or not key.startswith(OURS))
        }
        try:
            module.load_state_dict(part)
        except RuntimeError as error:
            raise InputError(f"{file}: weights of another network: {error}") from None
    return network


def load_encoder(source: str | Path, **more: Any) -> Any:
    """The model that ``AutoModelForTokenClassification`` loads from a directory or by name."""
    transformers = needed("transformers", "loading a pretrained encoder")
    quiet_transformers()
    folder = Path(source)
    if folder.exists() and not (folder / CONFIG).is_file():
        raise InputError(f"no {CONFIG} in {source}: not a checkpoint directory")
    if (card := read_card(folder)) is not None and (folder / WEIGHTS).is_file():
        card.check_file(folder / WEIGHTS)
    encoder, info = load(
        transformers.AutoModelForTokenClassification,
        "a model",
        source,
        dtype=torch.float32,  # in lower precision, training loses small steps
        weights_only=True,  # of a pickle, nothing but tensors
        output_loading_info=True,
        **more,
    )
    lacking = {*info["missing_keys"], *(key for key, *_ in info["mismatched_keys"])}
    if "num_labels" in more:  # for training, the head may be new, but not the encoder
        lacking = {key for key in lacking if key.startswith(f"{encoder.base_model_prefix}.")}
    if lacking:
        raise InputError(
            f"{source} has no weights for {min(lacking)} and {len(lacking) - 1} others of "
            f"{type(encoder).__name__}, which would be random: train it first"
        )
    return encoder


def quiet_transformers() -> None:
    """Turns off the progress bars and reports of transformers."""
    logging = needed("transformers", "loading a model").utils.logging
    logging.set_verbosity_error()
    logging.disable_progress_bar()


def plain_card(encoder: Any, base: str) -> Card:
    """The card of a model that lawful did not train."""
    names = encoder.config.id2label
    if sorted(names) != list(range(len(names))):
        raise InputError(f"id2label of {base} has the numbers {sorted(names)}, expected 0, 1, …")
    return Card(
        labels=tuple(str(names[i]) for i in range(len(names))),
        window=min(longest_window(encoder), 512),
        boxes=takes_boxes(encoder),
        base=base,
    )


def takes_boxes(encoder: Any) -> bool:
    """Whether the architecture takes boxes."""
    if "bbox" not in inspect.signature(encoder.forward).parameters:
        return False
    if (found := encoder.config.model_type) not in LAYOUTS:
        raise InputError(
            f"models of type {found} with boxes are not supported; supported: {', '.join(LAYOUTS)}"
        )
    return True


def longest_window(encoder: Any) -> int:
    """The maximum number of word pieces that an encoder accepts."""
    longest = int(getattr(encoder.config, "max_position_embeddings", 512) or 512)
    if longest < 1:  # -1 in XLNet: no maximum
        longest = 512
    for name, module in encoder.named_modules():
        # RoBERTa and similar models start positions after that of the padding.
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            longest = min(longest, module.num_embeddings)
            if module.padding_idx is not None:
                return longest - module.padding_idx - 1
    return longest


def _cut_layers(encoder: Any, layers: int, base: str | Path) -> None:
    """Keeps only the first ``layers`` layers."""
    count = encoder.config.num_hidden_layers
    if not 1 <= layers <= count:
        raise InputError(f"layers is {layers}, expected 1 to {count}, the layers of {base}")
    stacks = [m for m in encoder.modules() if isinstance(m, nn.ModuleList) and len(m) == count]
    if len(stacks) != 1:
        raise InputError(f"cannot cut layers of {base}: {len(stacks)} stacks of {count} layers")
    del stacks[0][layers:]
    if getattr(encoder.config, "layer_types", None):
        encoder.config.layer_types = encoder.config.layer_types[:layers]
    encoder.config.num_hidden_layers = layers
