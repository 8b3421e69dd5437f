"""How many labelled pages are enough: value F1 by pages and epochs, with the time on a processor.

    python -m lab.benchmarks.learning --base MiniLM/ [--pages 25,100,400] [--epochs 3,10]
        [--layers 2] [--threads 2] [--out build/learning.jsonl]
    python -m lab.benchmarks.learning --base receipts --layers 4 --data wildreceipt --pages 0,50,200
    python -m lab.benchmarks.learning --show build/learning.jsonl

Trains on CORD's training receipts (../shared/data/cord), of which smaller samples are parts of
larger ones, and measures on its test receipts; with ``--data wildreceipt``, on those of two of its
three folds, and on the third, with labels and rules of the pack ``receipt``. ``--base receipts`` is
the shipped model, of which 0 pages are measured, too. Words are in reading order, as
``lawful read`` writes them. A training of more epochs is one of its own, since rates fall to zero
at its end. The time is that of all threads together, without the validation that ``lawful train``
adds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from lab.benchmarks.data import DATA, sorted_page
from lab.benchmarks.study import Study, numbers
from lab.datasets import READERS
from lab.receipts.labels import WILDRECEIPT, renamed
from lawful import Budget, Rules, decode
from lawful.documents.records import Labelled
from lawful.evaluation.scoreboard import Scoreboard, best_legal
from lawful.models.shipped import base_named
from lawful.models.tagger import Tagger, from_pretrained
from lawful.rules.packs import rules_named

HELD = 0
"""The fold of WildReceipt that is measured on."""


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
    """CORD's receipts of a split in reading order; entities that it interrupts become two."""
    return [sorted_page(page) for page in READERS["cord"](DATA / "cord/raw", split)]


def wildreceipt() -> tuple[list[Labelled], list[Labelled]]:
    """WildReceipt's receipts to train and to test on, with labels of the pack ``receipt``."""
    folds = json.loads((DATA / "wildreceipt/folds.json").read_text(encoding="utf-8"))
    parts: tuple[list[Labelled], list[Labelled]] = ([], [])
    for page in READERS["wildreceipt"](DATA / "wildreceipt/raw/part.txt.gz", None):
        parts[folds[page.document.id] == HELD].append(sorted_page(renamed(page, WILDRECEIPT)))
    return parts


def first(pages: Sequence[Labelled], count: int) -> list[Labelled]:
    """A repeatable sample; a smaller one is part of a larger one."""
    by_hash = sorted(pages, key=lambda page: sha256(page.document.id.encode()).digest())
    return by_hash[:count]


def measure(
    base: Path, layers: int | None, data: str, sizes: Sequence[int], epochs: Sequence[int]
) -> Iterator[Result]:
    from lawful.models.network import Network
    from lawful.models.recipe import Recipe
    from lawful.models.tokenizer import Tokenizer
    from lawful.models.training import labels_of, train

    if data == "cord":
        rules, known, test = rules_named("cord"), pages_of("train"), pages_of("test")
    else:
        rules, (known, test) = rules_named("receipt"), wildreceipt()
    labels = labels_of([*known, *test])
    if 0 in sizes:
        yield Result(0, 0, 0.0, *scored(from_pretrained(base), test, rules))
    for size in filter(None, sizes):
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
                f1s = scored(from_pretrained(folder), test, rules)
            yield Result(size, count, spent / 60, *f1s)


def scored(tagger: Tagger, test: Sequence[Labelled], rules: Rules) -> tuple[float, float, float]:
    """Entity F1, and value F1 without and with rules, in percent."""
    plain, ruled = Scoreboard(rules), Scoreboard(rules)
    budget = Budget(seconds=5.0)
    for each in tagger.predict(test):
        plain.add_labels(each, best_legal(each, rules))
        ruled.add(each, decode(each.document, each.scores, rules, budget=budget))
    f1s = plain.entities.f1, plain.values.f1, ruled.values.f1
    return 100 * f1s[0], 100 * f1s[1], 100 * f1s[2]


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


def main() -> None:
    """Trains and prints a table, or prints that of an earlier run."""
    parser = Study(__doc__)
    parser.add_argument("--base", help="the encoder, as a folder, or receipts")
    parser.add_argument("--data", choices=("cord", "wildreceipt"), default="cord")
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
        base = Path(base_named(arguments.base))
        given = arguments.layers, arguments.data, arguments.pages, arguments.epochs
        for result in measure(base, *given):
            results.append(result)
            print(result, flush=True)
            print(json.dumps(asdict(result)), file=file, flush=True)
    print(table(results))


if __name__ == "__main__":
    main()
