"""Values instead of labels on real documents: ad orders with five values each, and no labels.

    python -m benchmarks.adbuy train --base MiniLM/ --device cuda --out build/adbuy
    python -m benchmarks.adbuy measure build/adbuy

Needs the documents in ``../shared/data/adbuy``, which are not part of the project. They are split
in halves: a model is trained on the values of one half and tested on the other, both ways. A value
is right if it is the one that a person read, wherever it stands: amounts and dates by value, texts
without regard to case, punctuation and blanks.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from time import perf_counter

import numpy as np

from lawful import Document, Rules
from lawful.document import Box
from lawful.files.page import Page, Word, make_document
from lawful.packs import PACKS
from lawful.truth import Truth
from tests.fixtures.outputs import SHARED

DATA = SHARED / "data" / "adbuy" / "documents.jsonl.gz"

COLUMNS = {
    "gross": "gross_amount",
    "contract": "contract_num",
    "flight_from": "flight_from",
    "flight_to": "flight_to",
    "advertiser": "advertiser",
}
FOUR = ("gross", "contract", "flight_from", "flight_to")
"""The fields that are not names."""


def ad_rules() -> Rules:
    """The rule pack, whose five fields every document has."""
    rules = Rules.load(PACKS["ad-order"])
    fields = (
        replace(f, optional=False, presence="required") if f.name in COLUMNS else f
        for f in rules.fields
    )
    return replace(rules, fields=tuple(fields))


def read_ads(path: Path) -> Iterator[tuple[Document, Truth]]:
    """The documents that have words, in reading order, with their true values."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if not line["words"]:
                continue
            pages = [Page([], (612.0, 792.0)) for _ in range(max(line["pages"]) + 1)]
            for word, box, page in zip(line["words"], line["boxes"], line["pages"], strict=True):
                pages[page].words.append(Word(word, Box(*box)))
            values = {
                name: (line["label"][column],)
                for name, column in COLUMNS.items()
                if line["label"][column]
            }
            yield make_document(line["id"], pages), Truth(line["id"], values)


def half_of(document: Document, split: str) -> int:
    """The half that a document belongs to: by its id, or by the station that it names most."""
    key = document.id
    if split == "stations":
        calls = Counter(w[:4] for w in document.words if _is_call_sign(w))
        key = calls.most_common(1)[0][0] if calls else ""
    return sha256(key.encode()).digest()[0] % 2


def _is_call_sign(word: str) -> bool:
    letters = word.removesuffix("-TV").removesuffix("-DT").strip("(),.:")
    return len(letters) == 4 and letters.isalpha() and letters.isupper() and letters[0] in "WK"


@dataclass(frozen=True, slots=True)
class Run:
    """What is trained."""

    base: str
    device: str | None
    split: str
    rounds: int
    epochs: int
    layers: int | None
    rate: float
    seed: int


def train(ads: list[tuple[Document, Truth]], run: Run, out: Path) -> None:
    """Trains on each half, and writes the scores of the other half's words."""
    from lawful.models.rounds import train_on_values
    from lawful.models.tagger import from_pretrained
    from lawful.models.training import Recipe

    rules = ad_rules()
    out.mkdir(parents=True, exist_ok=True)
    halves: list[list[tuple[Document, Truth]]] = [[], []]
    for document, truth in ads:
        halves[half_of(document, run.split)].append((document, truth))
    print(f"halves by {run.split}: {len(halves[0])} and {len(halves[1])} documents", flush=True)
    recipe = Recipe(epochs=run.epochs, batch=16, rate=run.rate, patience=run.epochs, seed=run.seed)
    for number, half in enumerate(halves):
        began = perf_counter()
        folder = out / f"model-{number}"
        for each in train_on_values(
            [document for document, _ in half],
            {truth.id: truth for _, truth in half},
            rules, run.base, folder, recipe,
            rounds=run.rounds, share=0.1, device=run.device, layers=run.layers,
        ):  # fmt: skip
            states = Counter(state for page in each.aligned for state in page.states.values())
            print(
                f"half {number}, round {each.number}: F1 {100 * each.f1:.1f}, {dict(states)}, "
                f"{each.changed} labels changed, {perf_counter() - began:.0f} s",
                flush=True,
            )
            tagger = from_pretrained(each.folder, device=run.device)
            arrays = {
                scored.document.id: scored.scores.log_probs.astype(np.float16)
                for scored in tagger.predict(document for document, _ in halves[1 - number])
            }
            path = out / f"scores-{each.number}-{number}.npz"
            np.savez_compressed(path, labels=np.array(tagger.labels), **arrays)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    commands = parser.add_subparsers(dest="command", required=True)
    training = commands.add_parser("train")
    training.add_argument("--base", required=True)
    training.add_argument("--device")
    training.add_argument("--split", choices=("ids", "stations"), default="ids")
    training.add_argument("--rounds", type=int, default=2)
    training.add_argument("--epochs", type=int, default=12)
    training.add_argument("--layers", type=int)
    training.add_argument("--limit", type=int, help="documents, at most")
    training.add_argument("--rate", type=float, default=1e-4)
    training.add_argument("--seed", type=int, default=0)
    training.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    if not given.data.is_file():
        parser.error(f"needs {given.data}")
    ads = list(read_ads(given.data))
    run = Run(
        given.base, given.device, given.split, given.rounds, given.epochs, given.layers,
        given.rate, given.seed,
    )  # fmt: skip
    train(ads[: given.limit], run, given.out)


if __name__ == "__main__":
    main()
