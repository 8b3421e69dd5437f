"""Export of a trained network to ONNX, so that it runs without torch."""

from __future__ import annotations

import logging
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lawful.base.errors import InputError
from lawful.base.extras import needed
from lawful.io.atomic import make_folder
from lawful.models.checkpoint import (
    ONNX,
    TOKENIZER,
    WEIGHTS,
    ChainTables,
    first_line,
    replaced,
)
from lawful.models.network import Network
from lawful.models.runners import OnnxRunner, TorchRunner
from lawful.models.tokenizer import Tokenizer

UNMASKED = "lawful-unmasked"
"""What transformers knows ``_attention`` by; of names that it does not know, it makes no masks."""

CLOSE = 1e-3
"""Allowed difference between scores of the exported network and of torch, both in 32 bits."""


def export(network: Network, tokenizer: Tokenizer, folder: Path, *, int8: bool = False) -> Path:
    """Writes ``model.onnx``, the card and the tokenizer, and compares the scores with torch's.

    With ``int8``, weights are quantised to 8 bits: a quarter of the size, and scores that differ in
    the second or third digit.
    """
    needed("onnx", "exporting a model")
    needed("onnxscript", "exporting a model")
    if (folder / WEIGHTS).exists() and not _is_of(network, folder):
        raise InputError(f"{folder} already has another model: choose another folder, or delete it")
    make_folder(folder)
    network = network.cpu().eval()
    card = network.card
    with tempfile.TemporaryDirectory() as work:
        plain = Path(work) / "plain.onnx"
        _write(network, plain)
        _compare(network, plain)
        ready = plain
        if int8:
            ready = Path(work) / "int8.onnx"
            _quantise(plain, ready)
        chain = TorchRunner(network, "cpu").chain
        if chain is not None:
            card.chain = ChainTables(**{k: v.tolist() for k, v in chain._asdict().items()})
        with card.replacing(folder, ONNX, TOKENIZER):
            with replaced(folder / ONNX) as file:
                _strip(ready, file)
            tokenizer.save(folder)
    return folder / ONNX


def _is_of(network: Network, folder: Path) -> bool:
    """Whether the model in a folder has the same weights as the network."""
    ours, theirs = network.state_dict(), Network.load(folder).state_dict()
    return ours.keys() == theirs.keys() and all(
        torch.equal(ours[name].cpu(), theirs[name]) for name in ours
    )


class _Unmasked(torch.nn.Module):
    """A network whose windows have no padding, as ``OnnxRunner`` runs them."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, ids: torch.Tensor, boxes: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.network(ids, None, boxes)
        return found


def _attention(
    module: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *_: Any, **how: Any
) -> tuple[torch.Tensor, None]:
    """Attention without a mask; others are exported with guards of masks, and take 40 % longer."""
    scale = how.get("scaling") or query.shape[-1] ** -0.5
    weights = (query @ key.transpose(2, 3) * scale).softmax(-1)
    return (weights @ value).transpose(1, 2).contiguous(), None


@contextmanager
def _unmasked(encoder: Any) -> Iterator[None]:
    """Attention is ``_attention`` for a while, in encoders that allow it."""
    before = encoder.config._attn_implementation
    if before == "sdpa":
        needed("transformers", "exporting a model").AttentionInterface.register(
            UNMASKED, _attention
        )
        encoder.set_attn_implementation(UNMASKED)
    try:
        yield
    finally:
        if before == "sdpa":
            encoder.set_attn_implementation(before)


def _write(network: Network, file: Path) -> None:
    ids, _, boxes = map(torch.from_numpy, _example(network, 2, 7))
    names = ("ids", "boxes")
    batch, length = torch.export.Dim("batch", min=1), torch.export.Dim("length", min=2)
    shapes = {name: {0: batch, 1: length} for name in names}
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), _unmasked(network.encoder):
            warnings.simplefilter("ignore")  # of the exporter, about its own code
            torch.onnx.export(
                _Unmasked(network),
                (ids, boxes),
                str(file),
                input_names=list(names),
                output_names=["logits"],
                dynamic_shapes=shapes,
                dynamo=True,
                external_data=False,
                verbose=False,
            )
    except Exception as error:
        name = type(network.encoder).__name__
        raise InputError(f"torch cannot export {name} to ONNX: {first_line(error)}") from None
    finally:
        logger.setLevel(level)


def _compare(network: Network, file: Path) -> None:
    """Runs both networks on a batch of another size and length than the exporter saw."""
    arrays = _example(network, 3, min(33, network.card.window))
    ours = TorchRunner(network, "cpu").run(*arrays)
    there = arrays[1] == 1
    difference = float(np.abs(ours - OnnxRunner(file).run(*arrays))[there].max())
    if not difference <= CLOSE:
        raise InputError(
            f"scores of the exported network differ from torch's by {difference:.3g}, "
            f"expected at most {CLOSE:g}"
        )


def _quantise(plain: Path, file: Path) -> None:
    quantization = needed("onnxruntime.quantization", "quantising a model to 8 bits")
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.ERROR)
    try:
        quantization.quantize_dynamic(
            str(plain), str(file), weight_type=quantization.QuantType.QInt8, per_channel=True
        )
    finally:
        root.setLevel(level)


def _strip(ready: Path, file: Path) -> None:
    """Copies a model without the exporter's notes, which name files of this machine."""
    onnx = needed("onnx", "exporting a model")
    model = onnx.load(ready)
    for part in (model, model.graph, *model.graph.node, *model.graph.value_info):
        del part.metadata_props[:]
        part.doc_string = ""
    onnx.save(model, file)


def _example(
    network: Network, batch: int, length: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    low = rng.integers(0, 500, (batch, length, 2))
    high = low + rng.integers(0, 500, (batch, length, 2))
    mask = np.ones((batch, length), dtype=np.int64)
    mask[-1, length // 2 :] = 0
    ids = rng.integers(0, network.encoder.get_input_embeddings().num_embeddings, (batch, length))
    return ids, mask, np.concatenate([low, high], axis=2)
