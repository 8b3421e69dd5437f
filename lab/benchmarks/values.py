"""Values instead of labels on CORD: the labels of its receipts are hidden, their values kept.

    python -m lab.benchmarks.values align
    python -m lab.benchmarks.values train --base MiniLM/ --device cuda --out build/values

Needs CORD in ``../shared/data/cord/raw``, which is not part of the project. ``align`` compares the
labels that values give to words with the true ones. ``train`` also trains on them, and on the true
labels, and compares both models by strict entity F1 on CORD's test receipts.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from lab.benchmarks.packs import CORD, renamed
from lab.benchmarks.study import Study
from lab.datasets.cord import read_cord
from lawful import Labelled, Rules
from lawful.documents.labels import bio_spans
from lawful.documents.records import UNKNOWN
from lawful.learn.align import Aligned, Truth, align
from lawful.models.teaching import align_all
from lawful.rules.packs import PACKS
from lawful.values import read
from tests.fixtures.outputs import SHARED

DATA = SHARED / "data" / "cord" / "raw"


def receipts(path: Path, split: str, rules: Rules) -> list[Labelled]:
    """The receipts of a split with the labels of the pack's fields; the rest is O."""
    fields = {f.label for f in rules.fields}
    names = {old: new for old, new in CORD.items() if new in fields}
    return [renamed(page, names) for page in read_cord(path, split)]


def truth_of(page: Labelled, rules: Rules) -> Truth:
    """The values of a receipt: what a till's software knows, in the order of print."""
    by_label = {f.label: f for f in rules.fields}
    kinds = {name: kind.name for kind in rules.rows for name in kind.fields}
    values: dict[str, tuple[str, ...]] = {}
    rows: dict[int | None, dict[str, str]] = {}
    for label, start, end in bio_spans(page.gold):
        f = by_label[label]
        text = page.document.text(start, end)
        if not read(text, f.type):
            continue
        if f.name in kinds:
            row = page.document.rows[start] if page.document.rows else None
            rows.setdefault(row, {}).setdefault(f.name, text)
        elif f.many:
            values[f.name] = (*values.get(f.name, ()), text)
        else:
            values.setdefault(f.name, (text,))
    kept = tuple(row for number, row in rows.items() if number is not None)
    kind = rules.rows[0].name
    return Truth(page.document.id, values, {kind: kept} if kept else {})


def compare(aligned: Sequence[Aligned], gold: Sequence[Labelled]) -> str:
    """How many labels are right, and how many true ones are found or left open."""
    counts: Counter[str] = Counter()
    for found, page in zip(aligned, gold, strict=True):
        for ours, true in zip(found.labelled.gold, page.gold, strict=True):
            counts["true"] += true != "O"
            counts["open"] += true != "O" and ours == UNKNOWN
            counts["given"] += ours not in ("O", UNKNOWN)
            counts["right"] += ours == true != "O"
    return (
        f"{counts['given']:,} labels given, {counts['right'] / max(counts['given'], 1):.1%} right; "
        f"of {counts['true']:,} true ones {counts['right'] / counts['true']:.1%} found, "
        f"{counts['open'] / counts['true']:.1%} left open"
    )


def align_cord(path: Path, rules: Rules, split: str) -> None:
    pages = [page for page in receipts(path, split, rules) if len(page.document)]
    bare = [replace(page.document, rows=None) for page in pages]
    truths = {page.document.id: truth_of(page, rules) for page in pages}
    began = perf_counter()
    sure = [align(document, truths[document.id], rules) for document in bare]
    print(f"each receipt by itself: {compare(sure, pages)} ({perf_counter() - began:.1f} s)")
    began = perf_counter()
    both = align_all(bare, truths, rules)
    print(f"by a taught model:      {compare(both, pages)} ({perf_counter() - began:.1f} s)")


def train_cord(path: Path, rules: Rules, given: argparse.Namespace) -> None:
    from lawful.documents.labels import Scheme
    from lawful.models.deep import train_on_values
    from lawful.models.network import Network
    from lawful.models.recipe import Recipe
    from lawful.models.tagger import from_pretrained
    from lawful.models.tokenizer import Tokenizer
    from lawful.models.training import entity_f1, labels_of, train

    pages = [page for page in receipts(path, "train", rules) if len(page.document)][: given.limit]
    checked = [page for page in receipts(path, "dev", rules) if len(page.document)]
    tests = [page for page in receipts(path, "test", rules) if len(page.document)]
    recipe = Recipe(epochs=given.epochs, batch=16, patience=given.epochs)

    def on_tests(folder: Path) -> float:
        tagger = from_pretrained(folder, device=given.device)
        known = set(tagger.labels)
        kept = [
            Labelled(p.document, tuple(x if x in known else "O" for x in p.gold)) for p in tests
        ]
        return 100 * entity_f1(tagger, kept, Scheme.named("BIO", tagger.labels))

    bare = [replace(page.document, rows=None) for page in pages]
    truths = {page.document.id: truth_of(page, rules) for page in pages}
    folder = given.out / "values"
    for each in train_on_values(
        bare, truths, rules, given.base, folder, recipe, rounds=given.rounds, share=0.1,
        device=given.device, layers=given.layers,
    ):  # fmt: skip
        print(
            f"round {each.number}: {compare(each.aligned, pages)}; "
            f"trained on them: F1 {on_tests(each.folder):.2f}",
            flush=True,
        )
    folder = given.out / "gold"
    network = Network.start(given.base, labels_of([*pages, *checked]), layers=given.layers)
    tokenizer = Tokenizer.load(given.base)
    for _ in train(network, tokenizer, pages, checked, folder, recipe, device=given.device):
        pass
    print(f"trained on true labels: F1 {on_tests(folder):.2f}", flush=True)


def main() -> None:
    parser = Study(__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    commands = parser.add_subparsers(dest="command", required=True)
    aligning = commands.add_parser("align")
    aligning.add_argument("--split", default="train")
    training = commands.add_parser("train")
    training.add_argument("--base", required=True)
    training.add_argument("--device")
    training.add_argument("--rounds", type=int, default=2)
    training.add_argument("--epochs", type=int, default=20)
    training.add_argument("--layers", type=int)
    training.add_argument("--limit", type=int, help="training receipts, at most")
    training.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    if not given.data.is_dir():
        parser.error(f"needs {given.data}")
    rules = Rules.load(PACKS["receipt"])
    if given.command == "align":
        align_cord(given.data, rules, given.split)
    else:
        train_cord(given.data, rules, given)


if __name__ == "__main__":
    main()
