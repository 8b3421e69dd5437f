"""The network: any encoder for token classification, and what lawful may add to it.

Boxes go in as its architecture wants them (LayoutLM, LiLT, LayoutLMv3) or, for an encoder of text
alone, through tables of our own that start at zero: it then begins as the encoder it was. A
linear-chain CRF may sit on top; it scores words, each by its first piece.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from lawful.errors import InputError
from lawful.io.atomic import make_folder
from lawful.models.checkpoint import ONNX, WEIGHTS, Card, read_card, replaced
from lawful.models.crf import ChainHead
from lawful.models.extras import needed
from lawful.models.pretrained import check_source
from lawful.models.tokenizer import GRID

LAYOUTS = ("layoutlm", "layoutlmv3", "lilt")
"""Architectures whose boxes are whole numbers from 0 to ``GRID``."""

OURS = "lawful."
"""The prefix of our own weights in the file of all of them."""


class BoxTables(nn.Module):
    """Embeddings of boxes: where they start and end, how wide and how high they are."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.x, self.y, self.width, self.height = (nn.Embedding(GRID + 1, width) for _ in range(4))
        for table in (self.x, self.y, self.width, self.height):
            nn.init.zeros_(table.weight)

    def forward(self, boxes: Tensor) -> Tensor:
        """(batch, pieces, 4) on the grid to (batch, pieces, width)."""
        x0, y0, x1, y1 = boxes.unbind(-1)
        ends: Tensor = self.x(x0) + self.x(x1) + self.y(y0) + self.y(y1)
        return ends + self.width((x1 - x0).clamp(0)) + self.height((y1 - y0).clamp(0))


class Network(nn.Module):
    """Ids, mask and boxes of pieces in, a score for every label out."""

    def __init__(self, encoder: Any, card: Card) -> None:
        super().__init__()
        self.encoder = encoder
        self.card = card
        self.boxes = None
        if card.own_boxes:  # as wide as the embeddings, which need not be the encoder's own width
            self.boxes = BoxTables(encoder.get_input_embeddings().embedding_dim)
        self.chain = ChainHead(len(card.labels)) if card.crf else None

    def forward(self, ids: Tensor, mask: Tensor, boxes: Tensor) -> Tensor:
        """(batch, pieces, labels), not normalised."""
        given: dict[str, Tensor] = {"attention_mask": mask}
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
        """Writes configuration, card and weights, each of them atomically."""
        make_folder(folder)
        with replaced(folder / "config.json") as file:
            self.encoder.config.to_json_file(str(file))
        self.card.save(folder)
        state = {**self.encoder.state_dict()}
        for name, part in self.ours.items():
            state |= {f"{OURS}{name}.{key}": value for key, value in part.state_dict().items()}
        # Tied weights share memory, which the format refuses.
        state = {key: value.detach().cpu().clone().contiguous() for key, value in state.items()}
        save_file = needed("safetensors.torch", "saving a model").save_file
        with replaced(folder / WEIGHTS) as file:
            save_file(state, str(file), metadata={"format": "pt"})

    @classmethod
    def start(
        cls,
        base: str | Path,
        labels: tuple[str, ...],
        *,
        layers: int | None = None,
        boxes: bool = False,
        crf: bool = False,
        window: int | None = None,
        seed: int = 0,
    ) -> Network:
        """A network to train: a pretrained encoder with a new head for these labels."""
        if not 0 <= seed < 2**63:
            raise InputError(f"seed is {seed}, expected a whole number from 0 to 2^63")
        torch.manual_seed(seed)
        encoder = load_encoder(
            base,
            num_labels=len(labels),
            id2label=dict(enumerate(labels)),
            label2id={label: i for i, label in enumerate(labels)},
            ignore_mismatched_sizes=True,
        )
        if layers is not None:
            _cut_layers(encoder, layers, base)
        native = takes_boxes(encoder)
        longest = longest_window(encoder)
        if window is not None and not 8 <= window <= longest:
            raise InputError(f"window is {window}, expected 8 to {longest}, which {base} can read")
        card = Card(
            labels=labels,
            window=window or min(longest, 512),
            boxes=boxes or native,
            own_boxes=boxes and not native,
            crf=crf,
            base=str(base),
        )
        return cls(encoder, card)

    @classmethod
    def load(cls, source: str | Path) -> Network:
        """A trained network: from a checkpoint directory, or by its name on the hub."""
        card = read_card(Path(source))
        if card is None:
            encoder = load_encoder(source)
            return cls(encoder, plain_card(encoder, str(source)))
        return _load_ours(Path(source), card)


def _load_ours(folder: Path, card: Card) -> Network:
    transformers = needed("transformers", "running this model")
    load_file = needed("safetensors.torch", "running this model").load_file
    file = folder / WEIGHTS
    if not file.is_file():
        other = " (it has model.onnx, which runs without them)" if (folder / ONNX).exists() else ""
        raise InputError(f"no {WEIGHTS} in {folder}{other}")
    try:
        state = load_file(str(file))
    except Exception as error:
        raise InputError(f"{file}: not a file of weights: {error}") from None
    try:
        config = transformers.AutoConfig.from_pretrained(str(folder), local_files_only=True)
        encoder = transformers.AutoModelForTokenClassification.from_config(config)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{folder}: not a model: {error}") from None
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
    check_source(source)
    folder = Path(source)
    if folder.exists() and not (folder / "config.json").is_file():
        raise InputError(f"no config.json in {source}: not a checkpoint directory")
    try:
        encoder, info = transformers.AutoModelForTokenClassification.from_pretrained(
            str(source),
            dtype=torch.float32,  # whatever the file has: training in less loses small steps
            output_loading_info=True,
            **more,
        )
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
        where = "" if folder.exists() else f"no folder {source} here, and from the hub: "
        raise InputError(f"cannot load a model: {where}{first}") from None
    lacking = {*info["missing_keys"], *(key for key, *_ in info["mismatched_keys"])}
    if "num_labels" in more:  # to be trained: the head may be new, the encoder may not
        lacking = {key for key in lacking if key.startswith(f"{encoder.base_model_prefix}.")}
    if lacking:
        raise InputError(
            f"{source} has no weights for {min(lacking)} and {len(lacking) - 1} others of "
            f"{type(encoder).__name__}, which would be random: train it first"
        )
    return encoder


def quiet_transformers() -> None:
    """No bars and no reports of weights: people asked lawful, which says what matters."""
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
    """Whether the architecture has boxes of its own, on the grid."""
    if "bbox" not in inspect.signature(encoder.forward).parameters:
        return False
    if (kind := encoder.config.model_type) not in LAYOUTS:
        raise InputError(
            f"a model of type {kind} has boxes in a way of its own; known are {', '.join(LAYOUTS)}"
        )
    return True


def longest_window(encoder: Any) -> int:
    """The number of pieces that an encoder can read at once."""
    longest = int(getattr(encoder.config, "max_position_embeddings", 512) or 512)
    if longest < 1:  # XLNet says -1: as many as you like
        longest = 512
    for name, module in encoder.named_modules():
        # RoBERTa and its kin count positions from behind the padding's.
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            longest = min(longest, module.num_embeddings)
            if module.padding_idx is not None:
                return longest - module.padding_idx - 1
    return longest


def _cut_layers(encoder: Any, layers: int, base: str | Path) -> None:
    """Keeps the first so many layers."""
    count = encoder.config.num_hidden_layers
    if not 1 <= layers <= count:
        raise InputError(f"layers is {layers}, expected 1 to {count}, which {base} has")
    stacks = [m for m in encoder.modules() if isinstance(m, nn.ModuleList) and len(m) == count]
    if len(stacks) != 1:
        raise InputError(f"{base} has {len(stacks)} stacks of {count} layers: cannot cut them")
    del stacks[0][layers:]
    if getattr(encoder.config, "layer_types", None):
        encoder.config.layer_types = encoder.config.layer_types[:layers]
    encoder.config.num_hidden_layers = layers
