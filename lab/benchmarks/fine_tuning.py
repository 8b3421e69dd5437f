"""Fine-tunes an encoder on references once per job, and writes log-probabilities of others.

    python lab/benchmarks/fine_tuning.py jobs.json MiniLM/ scores/ [--layers 3] [--processes 4]

needs torch, transformers and NumPy, but not lawful: training is quick on a machine with a GPU, and
decoding needs none. ``python -m lab.benchmarks.tasks references --jobs jobs.json`` writes the jobs,
and ``--scores scores/`` reads the log-probabilities.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

STEPS, BATCH = 400, 8
"""Steps of training, in batches of references, within the limits on epochs."""

FEWEST_EPOCHS, MAX_EPOCHS = 8, 60

RATE, NEW_RATE, WARM_UP, DECAY = 2e-4, 1e-3, 0.1, 0.01
"""Rates of the encoder and of the new layer; share of steps with rising rates; weight decay."""


class Pieces(NamedTuple):
    """A reference as the encoder takes it."""

    ids: Sequence[int]  # of word pieces, special ones included
    first: Sequence[int]  # by word: the place of its first piece
    gold: Sequence[int]  # by word: the number of its label


class Job(NamedTuple):
    """References to train on and references to score, by number."""

    train: Sequence[int]
    score: Sequence[int]


def log_probs(
    base: Path,
    layers: int | None,
    train: Sequence[Pieces],
    score: Sequence[Pieces],
    labels: int,
) -> Iterator[NDArray[np.float32]]:
    """For each reference to score: (words, labels), by a tagger that is trained on the others.

    The loss and the scores are those of the first piece of each word. The last state is used, so
    nothing is chosen by the references to score.
    """
    import torch
    from transformers import AutoModelForTokenClassification

    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    more: dict[str, Any] = {} if layers is None else {"num_hidden_layers": layers}
    model = AutoModelForTokenClassification.from_pretrained(
        str(base), num_labels=labels, dtype=torch.float32, **more
    ).to(device)
    head = list(model.classifier.parameters())
    encoder = list(model.base_model.parameters())
    optimizer = torch.optim.AdamW(
        [{"params": encoder, "lr": RATE}, {"params": head, "lr": NEW_RATE}], weight_decay=DECAY
    )
    epochs = min(MAX_EPOCHS, max(FEWEST_EPOCHS, STEPS * BATCH // len(train)))
    steps = epochs * -(-len(train) // BATCH)
    rise = max(1, int(WARM_UP * steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / rise, (steps - step) / max(1, steps - rise))
    )
    random = np.random.default_rng(0)

    def logits(batch: Sequence[Pieces]) -> Any:
        """Of the words of all references of a batch, one after the other."""
        width = max(len(each.ids) for each in batch)
        ids = np.zeros((len(batch), width), np.int64)
        mask = np.zeros_like(ids)
        for row, each in enumerate(batch):
            ids[row, : len(each.ids)] = each.ids
            mask[row, : len(each.ids)] = 1
        rows = np.repeat(np.arange(len(batch)), [len(each.first) for each in batch])
        columns = np.concatenate([each.first for each in batch])
        given, seen, at, where = (
            torch.from_numpy(each).to(device) for each in (ids, mask, rows, columns)
        )
        return model(input_ids=given, attention_mask=seen).logits[at, where]

    model.train()
    for _ in range(epochs):
        for some in np.array_split(random.permutation(len(train)), -(-len(train) // BATCH)):
            batch = [train[i] for i in some]
            gold = torch.from_numpy(np.concatenate([each.gold for each in batch])).to(device)
            loss = torch.nn.functional.cross_entropy(logits(batch), gold)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
    model.eval()
    with torch.inference_mode():
        for each in score:
            found: NDArray[np.float32] = logits([each]).float().log_softmax(-1).cpu().numpy()
            yield found


def write_jobs(
    file: Path, references: Sequence[Pieces], labels: int, jobs: Mapping[str, Job]
) -> None:
    """Writes jobs by name, as JSON."""
    record = {
        "labels": labels,
        "references": references,
        "jobs": {name: job._asdict() for name, job in jobs.items()},
    }
    file.write_text(json.dumps(record), encoding="utf-8")


def _run(some: tuple[str, list[str], argparse.Namespace]) -> None:
    """Runs the jobs of one split, and writes their scores into one file."""
    split, names, arguments = some
    record = json.loads(arguments.jobs.read_text(encoding="utf-8"))
    references = [Pieces(*each) for each in record["references"]]
    found: dict[str, NDArray[np.float16]] = {}
    for name in names:
        start = perf_counter()
        train, score = ([references[i] for i in record["jobs"][name][of]] for of in Job._fields)
        scores = log_probs(arguments.base, arguments.layers, train, score, record["labels"])
        found[name] = np.concatenate(list(scores)).astype(np.float16)
        gold = np.concatenate([each.gold for each in score])
        right = float((found[name].argmax(axis=1) == gold).mean())
        print(
            f"{name}: trained on {len(train)}, {right:.1%} of words right, "
            f"{perf_counter() - start:.0f} s",
            flush=True,
        )
        part = arguments.scores / f"{split}.part.npz"
        np.savez_compressed(part, **found)
        part.replace(arguments.scores / f"{split}.npz")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("jobs", type=Path)
    parser.add_argument("base", type=Path, help="the encoder, as a folder")
    parser.add_argument("scores", type=Path, help="folder to write")
    parser.add_argument("--layers", type=int, help="first layers that are used; default: all")
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    arguments.scores.mkdir(parents=True, exist_ok=True)
    splits: dict[str, list[str]] = {}
    for name in json.loads(arguments.jobs.read_text(encoding="utf-8"))["jobs"]:
        splits.setdefault(name.partition(" ")[0], []).append(name)
    work = [(split, names, arguments) for split, names in splits.items()]
    with multiprocessing.get_context("spawn").Pool(arguments.processes) as pool:
        for _ in pool.imap_unordered(_run, work):
            pass


if __name__ == "__main__":
    main()
