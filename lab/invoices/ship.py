"""``python -m lab.invoices.ship WEIGHTS`` makes the invoice model that ships of trained weights.

``WEIGHTS`` is the folder into which ``lab.invoices.train`` wrote. Needs the ``train`` extra.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from lawful_models import INVOICE
from transformers import BertConfig, BertForTokenClassification

from lab.invoices.labels import KINDS, LABELS
from lab.invoices.packed import OUTPUTS, WINDOW
from lawful.models.checkpoint import Card
from lawful.models.export import export
from lawful.models.network import Network
from lawful.models.tokenizer import Tokenizer


def network_of(folder: Path) -> Network:
    """The network with the weights of a folder."""
    weights: dict[str, torch.Tensor] = {}
    for file in sorted(folder.glob("weights-*.npz")):
        with np.load(file) as arrays:
            weights |= {name: torch.from_numpy(arrays[name]).float() for name in arrays}
    words = weights["encoder.bert.embeddings.word_embeddings.weight"]
    layers = sum(name.endswith("self.query.weight") for name in weights)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=words.shape[1],
        num_hidden_layers=layers,
        intermediate_size=4 * words.shape[1],
        max_position_embeddings=WINDOW,
        num_labels=len(OUTPUTS),
        id2label=dict(enumerate(OUTPUTS)),
        label2id={name: i for i, name in enumerate(OUTPUTS)},
    )
    card = Card(
        labels=LABELS, kinds=KINDS, window=WINDOW, boxes=True, own_boxes=True, lines=True,
        base="lawful's receipt model",
    )  # fmt: skip
    network = Network(BertForTokenClassification(config), card)
    lacking, unknown = network.load_state_dict(weights, strict=False)
    if unknown or any("position_ids" not in name for name in lacking):
        raise SystemExit(f"weights of another network: {[*unknown, *lacking][:3]}")
    return network


def main() -> None:
    """Exports the model with 8-bit weights."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("weights", type=Path)
    parser.add_argument("--out", type=Path, default=INVOICE)
    parser.add_argument("--keep", type=Path, help="folder for weights that are not quantised")
    options = parser.parse_args()
    network, tokenizer = network_of(options.weights), Tokenizer.load(INVOICE)
    with TemporaryDirectory() as work:
        kept = options.keep or Path(work)
        network.save(kept)
        tokenizer.save(kept)
        file = export(Network.load(kept), Tokenizer.load(kept), options.out, int8=True)
    print(f"{file}: {file.stat().st_size / 2**20:.2f} MiB")


if __name__ == "__main__":
    main()
