"""How many labelled pages are enough: value F1 by pages and epochs, with the time on a processor.

    python -m benchmarks.learning --base MiniLM/ [--pages 25,100,400] [--epochs 3,10]
        [--layers 2] [--threads 2] [--out build/learning.jsonl]
    python -m benchmarks.learning --show build/learning.jsonl

Trains on CORD's training receipts (../shared/data/cord), of which smaller samples are parts of
larger ones, and measures on its test receipts. Words are in reading order, as ``lawful read``
writes them. A training of more epochs is one of its own, since rates fall to zero at its end. The
time is that of all threads together, without the validation that ``lawful train`` adds.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from lawful import decode
from lawful.datasets import READERS, rules_named
from lawful.document import Labelled
from lawful.evaluation import Scoreboard, best_legal
from lawful.lines import in_reading_order, reading_order
from tests.fixtures.outputs import SHARED

DATA = SHARED / "data" / "cord" / "raw"


@dataclass(frozen=True, slots=True)
class Result:
    """What one training reached on the test pages, in percent."""

    pages: int
    epochs: int
    minutes: float  # of processor time
    entity_f1: float  # of the best legal labelling
    value_f1: float  # of the same
    ruled_f1: float  # of values, under the paper's rules


def pages_of(split: str) -> list[Labelled]:
    """The receipts of a split in reading order; entities that it interrupts become two."""
    return [in_order(page) for page in READERS["cord"](DATA, split)]


def in_order(page: Labelled) -> Labelled:
    order = reading_order(page.document.boxes or (), page.document.pages)
    gold: list[str] = []
    for word in order:
        label = page.gold[word]
        goes_on = bool(gold) and gold[-1].partition("-")[2] == label[2:]
        gold.append(f"B-{label[2:]}" if label.startswith("I-") and not goes_on else label)
    return Labelled(in_reading_order(page.document), tuple(gold))


def first(pages: Sequence[Labelled], count: int) -> list[Labelled]:
    """A repeatable sample; a smaller one is part of a larger one."""
    by_hash = sorted(pages, key=lambda page: sha256(page.document.id.encode()).digest())
    return by_hash[:count]


def measure(
    base: Path, layers: int | None, sizes: Sequence[int], epochs: Sequence[int]
) -> Iterator[Result]:
    from lawful.models.network import Network
    from lawful.models.tagger import from_pretrained
    from lawful.models.tokenizer import Tokenizer
    from lawful.models.training import Recipe, labels_of, train

    rules = rules_named("cord")
    known, test = pages_of("train"), pages_of("test")
    labels = labels_of([*known, *test])
    for size in sizes:
        pages = first(known, size)
        for count in epochs:
            network = Network.start(base, labels, layers=layers, seed=0)
            # Small batches, so that few pages make enough steps.
            recipe = Recipe(epochs=count, batch=8, rate=2e-4, patience=count)
            with TemporaryDirectory() as folder:
                tokenizer = Tokenizer.load(base)
                validation = pages[:1]  # the last epoch is measured, not the best
                began = process_time()
                for _ in train(network, tokenizer, pages, validation, Path(folder), recipe):
                    spent = process_time() - began
                network.save(Path(folder))
                tagger = from_pretrained(folder)
                plain, ruled = Scoreboard(rules), Scoreboard(rules)
                for scored in tagger.predict(test):
                    plain.add_labels(scored, best_legal(scored, rules))
                    ruled.add(scored, decode(scored.document, scored.scores, rules))
            f1s = (plain.entities.f1, plain.values.f1, ruled.values.f1)
            yield Result(size, count, spent / 60, *(100 * f1 for f1 in f1s))


def table(results: Sequence[Result]) -> str:
    """The results as a table of Markdown."""
    lines = [
        "| pages | epochs | CPU minutes | entity F1 | value F1 | value F1 with rules |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {r.pages} | {r.epochs} | {r.minutes:.1f} | {r.entity_f1:.1f} | {r.value_f1:.1f} "
        f"| {r.ruled_f1:.1f} |"
        for r in sorted(results, key=lambda r: (r.pages, r.epochs))
    ]
    return "\n".join(lines)


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def main() -> None:
    """Trains and prints a table, or prints that of an earlier run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base", type=Path, help="the encoder, as a folder")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--pages", type=numbers, default=[25, 100, 400])
    parser.add_argument("--epochs", type=numbers, default=[3, 10])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("build/learning.jsonl"))
    parser.add_argument("--show", type=Path)
    arguments = parser.parse_args()
    if arguments.show:
        lines = arguments.show.read_text(encoding="utf-8").splitlines()
        print(table([Result(**json.loads(line)) for line in lines]))
        return
    if arguments.base is None:
        parser.error("--base is needed")
    import torch

    torch.set_num_threads(arguments.threads)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    results = []
    with arguments.out.open("a", encoding="utf-8") as file:
        for result in measure(arguments.base, arguments.layers, arguments.pages, arguments.epochs):
            results.append(result)
            print(result, flush=True)
            print(json.dumps(asdict(result)), file=file, flush=True)
    print(table(results))


if __name__ == "__main__":
    main()
