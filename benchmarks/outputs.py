"""The real receipts and model outputs in ``../shared``, which is not part of the project.

    python -m benchmarks.outputs [--folder build/outputs]

writes them as documents for the command line: word pieces, so ``--pool mean`` decodes words.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator, Mapping
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from lawful import Document, Scored, Scores, write_jsonl
from lawful.document import Labelled

SHARED = Path(__file__).parents[2] / "shared"
HERE = all((SHARED / name).is_dir() for name in ("predictions", "data"))
NEEDED = "needs ../shared/predictions and ../shared/data"

OUTPUTS: Mapping[str, str] = {
    "cord-l2": "cord",
    "cord-l6text": "cord",
    "wild-l2text": "wildreceipt",
}
"""Outputs of models, and the receipts that they are of."""


def read_gold(data: str) -> Iterator[Labelled]:
    """All receipts of a data set as words in reading order, with their true labels."""
    if data == "cord":
        for split in ("train", "dev", "test"):
            for line in _lines(SHARED / "data" / data / f"{split}.jsonl.gz"):
                page = f"{split}/{line['id']}"
                yield Labelled(Document(page, tuple(line["words"])), tuple(line["labels_value"]))
        return
    orders = json.loads((SHARED / "predictions" / "wild-order.json").read_text())
    for line in _lines(SHARED / "data" / data / "part.jsonl.gz"):
        order = orders[line["id"]]
        words, labels = (tuple(line[key][i] for i in order) for key in ("words", "labels"))
        yield Labelled(Document(line["id"], words), labels)


def read_outputs(name: str, count: int | None = None) -> Iterator[Scored]:
    """What a model says of receipts that it did not see: word pieces, scores and true labels.

    ``to_words`` makes words of them. A page too long for the model lacks its end.
    """
    documents = (page.document for page in read_gold(OUTPUTS[name]))
    words = {document.id: document.words for document in documents}
    with np.load(SHARED / "predictions" / f"{name}.npz") as arrays:
        outputs = dict(arrays)
    labels = tuple(map(str, outputs["labels"]))
    pages = zip(map(str, outputs["ids"]), pairwise(outputs["start"]), strict=True)
    for page, (start, end) in islice(pages, count):
        word, offsets = outputs["word"][start:end], outputs["off"][start:end]
        pieces = [words[page][w][a:b] for w, (a, b) in zip(word, offsets, strict=True)]
        joins = [False, *(word[1:] == word[:-1]).tolist()]
        scores = Scores.from_log_probs(outputs["log_probs"][start:end], labels)
        gold = tuple(labels[i] for i in outputs["gold"][start:end])
        yield Scored(Document(page, tuple(pieces), joins=tuple(joins)), scores, gold)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the outputs of real models as documents.")
    parser.add_argument("--folder", type=Path, default=Path("build/outputs"))
    folder = parser.parse_args().folder
    if not HERE:
        parser.error(f"no real outputs to write: {NEEDED}, beside the repository")
    folder.mkdir(parents=True, exist_ok=True)
    for name in OUTPUTS:
        path = folder / f"{name}.jsonl.gz"
        print(f"{write_jsonl(path, read_outputs(name))} documents: {path}")


if __name__ == "__main__":
    main()
