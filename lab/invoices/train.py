"""``python -m lab.invoices.train WINDOWS OUT`` teaches the invoice model, best on a GPU.

It starts from the shipped receipt model, with another vocabulary, and learns labels of words from
the files in ``WINDOWS`` and, at the first piece of each window, what kind of page it is. Files may
be added while it learns. What it needs is PyTorch, ONNX and tokenizers: ``lab.invoices.ship`` makes
a model of lawful from the weights, elsewhere.
"""

from __future__ import annotations

import argparse
import json
from math import cos, inf, pi
from pathlib import Path
from runpy import run_path
from time import sleep, time
from typing import Any

import numpy as np
import tokenizers
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from lab.invoices.labels import LABELS
from lab.invoices.packed import NO_TARGET, OUTPUTS, WINDOW, Windows
from lab.invoices.shapes import original

Weights = dict[str, NDArray[np.float32]]

exported_weights = run_path("src/lawful/models/exported_weights.py")["exported_weights"]
"""Run as a file, since lawful is not built on machines that only train."""

BERT = "encoder.bert."
HEADS, STEP_WIDTH = 12, 64
PART_BYTES = 15 * 2**20
UNKNOWN = 1
"""The piece that hidden ones are replaced by."""


def base_weights(model: Path, vocabulary: Path) -> Weights:
    """The weights to start from: new pieces begin as the mean of the pieces that they were."""
    weights: Weights = exported_weights(model / "model.onnx")
    if model == vocabulary:  # to go on: labels are the same
        return weights
    old = tokenizers.Tokenizer.from_file(str(model / "tokenizer.json"))
    new = json.loads((vocabulary / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    rows = weights[f"{BERT}embeddings.word_embeddings.weight"]
    chosen = np.zeros((len(new), rows.shape[1]), np.float32)
    known = old.get_vocab()
    for piece, at in new.items():
        if piece in known:
            chosen[at] = rows[known[piece]]
        else:
            ids = old.encode(original(piece), add_special_tokens=False).ids
            chosen[at] = rows[ids].mean(axis=0)
    weights[f"{BERT}embeddings.word_embeddings.weight"] = chosen
    weights["encoder.classifier.weight"] = np.random.default_rng(1).normal(
        0, 0.02, (len(OUTPUTS), rows.shape[1])
    ).astype(np.float32)  # fmt: skip
    weights["encoder.classifier.bias"] = np.zeros(len(OUTPUTS), np.float32)
    return weights


class Reader(nn.Module):
    """The network of the receipt model, by the names of its weights."""

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self.weights = nn.ParameterDict(
            {name.replace(".", "/"): torch.tensor(each) for name, each in weights.items()}
        )
        self.layers = sum(name.endswith("query.weight") for name in weights)

    def weight(self, name: str) -> Tensor:
        found: Tensor = self.weights[name.replace(".", "/")]
        return found

    def linear(self, name: str, x: Tensor) -> Tensor:
        return functional.linear(x, self.weight(f"{name}.weight"), self.weight(f"{name}.bias"))

    def norm(self, name: str, x: Tensor) -> Tensor:
        weight, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return functional.layer_norm(x, weight.shape, weight, bias, 1e-12)

    def forward(self, ids: Tensor, mask: Tensor, places: Tensor) -> Tensor:
        """Scores of shape (windows, pieces, outputs)."""
        some, length = ids.shape
        at = f"{BERT}embeddings."
        x = functional.embedding(ids, self.weight(f"{at}word_embeddings.weight"))
        x = x + self.weight(f"{at}position_embeddings.weight")[:length]
        x = x + self.weight(f"{at}token_type_embeddings.weight")[0]
        for i in range(4):
            table = self.weight(f"boxes.tables.{i}.weight")
            x = x + functional.embedding(places[..., i].clamp(0, len(table) - 1), table)
        x = self.drop(self.norm(f"{at}LayerNorm", x))
        for i in range(self.layers):
            at = f"{BERT}encoder.layer.{i}."
            q, k, v = (
                self.linear(f"{at}attention.self.{part}", x)
                .view(some, length, HEADS, -1)
                .transpose(1, 2)
                for part in ("query", "key", "value")
            )
            seen = functional.scaled_dot_product_attention(
                q, k, v, attn_mask=mask[:, None, None, :]
            )
            seen = seen.transpose(1, 2).reshape(some, length, -1)
            seen = self.drop(self.linear(f"{at}attention.output.dense", seen))
            x = self.norm(f"{at}attention.output.LayerNorm", x + seen)
            more = self.linear(
                f"{at}output.dense", functional.gelu(self.linear(f"{at}intermediate.dense", x))
            )
            x = self.norm(f"{at}output.LayerNorm", x + self.drop(more))
        return self.linear("encoder.classifier", x)

    def drop(self, x: Tensor) -> Tensor:
        return functional.dropout(x, 0.1, self.training)

    def save(self, out: Path) -> None:
        """Writes the weights with 16 bits, in a few files."""
        parts: list[dict[str, Any]] = [{}]
        size = 0
        for name, each in self.weights.items():
            array = each.detach().half().cpu().numpy()
            if size + array.nbytes > PART_BYTES:
                parts.append({})
                size = 0
            parts[-1][name.replace("/", ".")] = array
            size += array.nbytes
        for i, part in enumerate(parts):
            with (out / "part").open("wb") as file:
                np.savez(file, **part)
            (out / "part").replace(out / f"weights-{i}.npz")


class Pool:
    """All windows that there are so far, on the device."""

    def __init__(self, folder: Path, device: str) -> None:
        self.folder, self.device = folder, device
        self.files: set[Path] = set()
        self.parts: list[Windows] = []
        self.lengths = np.zeros(0, np.int64)

    def grow(self) -> bool:
        """Takes in new files; says whether there were any."""
        new = sorted(set(self.folder.glob("*.npz")) - self.files)
        if not new:
            return False
        self.files |= set(new)
        self.parts = [Windows.joined([*self.parts, Windows.load(new)])]
        [all_] = self.parts
        self.lengths = all_.lengths.astype(np.int64)
        self.starts = np.cumsum(self.lengths) - self.lengths
        self.ids, self.places, self.targets = (
            torch.from_numpy(array).to(self.device)
            for array in (all_.ids.astype(np.int32), all_.places, all_.targets)
        )
        return True

    def plan(self, pieces: int, generator: np.random.Generator) -> list[NDArray[np.int64]]:
        """Each window once: windows of similar lengths together, in random order."""
        order = np.argsort(self.lengths + generator.uniform(0, 40, len(self.lengths)))
        batches, some, longest = [], [], 0
        for i in order.tolist():
            length = max(longest, -(-int(self.lengths[i]) // STEP_WIDTH) * STEP_WIDTH)
            if some and length * (len(some) + 1) > pieces:
                batches.append(np.array(some))
                some, length = [], -(-int(self.lengths[i]) // STEP_WIDTH) * STEP_WIDTH
            some.append(i)
            longest = length
        batches.append(np.array(some))
        return [batches[int(i)] for i in generator.permutation(len(batches))]

    def batch(self, some: NDArray[np.int64]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Ids, mask, places and targets of windows, padded to a multiple of ``STEP_WIDTH``."""
        lengths = torch.from_numpy(self.lengths[some]).to(self.device)
        starts = torch.from_numpy(self.starts[some]).to(self.device)
        width = min(-(-int(self.lengths[some].max()) // STEP_WIDTH) * STEP_WIDTH, WINDOW)
        steps = torch.arange(width, device=self.device)
        mask = steps < lengths[:, None]
        where = torch.where(mask, starts[:, None] + steps, starts[:, None])
        targets = torch.where(mask, self.targets[where].long(), NO_TARGET)
        return self.ids[where], mask, self.places[where].long(), targets


def fit(reader: Reader, pool: Pool, options: argparse.Namespace, device: str) -> None:
    """Teaches until ``options.until``; rates rise and fall so that it ends in time."""
    new = [p for name, p in reader.weights.items() if "classifier" in name]
    old = [p for name, p in reader.weights.items() if "classifier" not in name]
    optimizer = torch.optim.AdamW(
        [{"params": old, "peak": options.rate}, {"params": new, "peak": options.head_rate}],
        weight_decay=0.01, fused=device == "cuda",
    )  # fmt: skip
    generator = np.random.default_rng(options.seed)
    began = looked = time()
    plan: list[NDArray[np.int64]] = []
    step, seen, loss = 0, 0, torch.zeros(())
    saves, told = [0.5, 0.75, 0.9], 0.0
    reader.train()
    while True:
        now = time()
        share = max((now - began) / (options.until - began), step / options.steps)
        if share >= 1:
            return
        if not plan or now - looked > 2 + 0.1 * (now - began):
            looked = now
            if pool.grow() or not plan:
                plan = pool.plan(options.batch, generator)
        ids, mask, places, targets = pool.batch(plan.pop())
        ids = ids.masked_fill((torch.rand(ids.shape, device=device) < options.hide) & mask, UNKNOWN)
        for group in optimizer.param_groups:
            group["lr"] = group["peak"] * min(share / 0.05, (1 + cos(pi * share)) / 2)
        with torch.autocast(device, torch.bfloat16):
            scores = reader(ids, mask, places)
        scores = scores.float()
        loss = functional.cross_entropy(
            scores.flatten(0, 1), targets.flatten(), ignore_index=NO_TARGET
        )
        kinds = functional.cross_entropy(scores[:, 0, len(LABELS) :], targets[:, 0] - len(LABELS))
        optimizer.zero_grad(set_to_none=True)
        (loss + 0.05 * kinds).backward()
        nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimizer.step()
        step, seen = step + 1, seen + ids.numel()
        if share > told:
            tell(step=step, share=round(share, 3), loss=loss.item(), windows=len(pool.lengths),
                 pieces=seen, seconds=round(now - began, 1))  # fmt: skip
            told += 0.05
        if saves and share > saves[0]:
            saves.pop(0)
            reader.save(options.out)


def tell(**what: Any) -> None:
    """Prints a line of JSON."""
    print(json.dumps(what), flush=True)


def check(reader: Reader, pool: Pool, device: str) -> None:
    """Prints how many pieces of each label, and kinds of windows, are right."""
    reader.eval()
    right, true = np.zeros(len(OUTPUTS), int), np.zeros(len(OUTPUTS), int)
    with torch.inference_mode():
        for some in pool.plan(2**14, np.random.default_rng(0)):
            ids, mask, places, targets = pool.batch(some)
            scores = reader(ids, mask, places).float()
            found = scores[:, :, : len(LABELS)].argmax(-1)
            found[:, 0] = scores[:, 0, len(LABELS) :].argmax(-1) + len(LABELS)
            for target, label in zip(targets[mask].tolist(), found[mask].tolist(), strict=True):
                if target != NO_TARGET:
                    true[target] += 1
                    right[target] += target == label
    shares = {
        name: round(100 * r / t, 1) for name, r, t in zip(OUTPUTS, right, true, strict=True) if t
    }
    tell(right=shares, all=round(100 * float(right.sum() / true.sum()), 2))


def main() -> None:
    """Teaches the model, and writes its weights."""
    began = time()
    models = Path("packages/lawful-models/src/lawful_models")
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("windows", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--base", type=Path, default=models / "receipt")
    parser.add_argument("--vocabulary", type=Path, default=models / "invoice")
    parser.add_argument("--batch", type=int, default=24_576, help="in word pieces")
    parser.add_argument("--rate", type=float, default=3e-4)
    parser.add_argument("--head-rate", type=float, default=1e-3, help="of the last layer")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hide", type=float, default=0.1, help="share of pieces")
    parser.add_argument("--until", type=float, default=inf, help="Unix time, to end at")
    parser.add_argument("--steps", type=float, default=inf, help="at most")
    parser.add_argument("--held", type=Path, help="windows to check with")
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(options.seed)
    reader = Reader(base_weights(options.base, options.vocabulary)).to(device)
    pool = Pool(options.windows, device)
    while not pool.grow():
        sleep(0.2)
    tell(started=round(time() - began, 1), windows=len(pool.lengths), device=device)
    fit(reader, pool, options, device)
    reader.save(options.out)
    tell(saved=round(time() - began, 1))
    if options.held:
        held = Pool(options.held, device)
        held.grow()
        check(reader, held, device)


if __name__ == "__main__":
    main()
