"""``python -m lab.receipts.train MINILM CORD`` trains the receipt model, and exports it.

It starts from the weights of all-MiniLM-L6-v2, with a part of its vocabulary, and learns from
generated receipts and from the training pages of CORD. Needs the ``train`` extra and, in practice,
a GPU: there, it takes a few minutes.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from lawful_models import RECEIPT as MODEL

from lab.datasets.cord import read_cord
from lab.receipts.dice import Dice
from lab.receipts.labels import CORD, LABELS, renamed
from lab.receipts.layout import Print
from lab.receipts.noise import photographed
from lab.receipts.tills import print_page
from lawful.base.extras import needed
from lawful.documents.records import Labelled
from lawful.models.checkpoint import CONFIG, TOKENIZER, WEIGHTS, read_card
from lawful.models.export import export
from lawful.models.network import Network
from lawful.models.recipe import Recipe
from lawful.models.tokenizer import Tokenizer
from lawful.models.training import train

FIRST_WORD = 1996
"""In BERT's vocabulary, special tokens and letters come before this; then words, by frequency."""


def generated(numbers: range, seed: int) -> list[Labelled]:
    """Generated receipts with labels, as OCR reads them."""
    pages = []
    for number in numbers:
        dice = Dice(seed, number)
        pages.append(photographed(dice, print_page(dice), f"generated-{seed}-{number}"))
    return pages


def generated_by_all(count: int, seed: int) -> list[Labelled]:
    """The same, by a process per core."""
    parts = [range(at, min(at + 500, count)) for at in range(0, count, 500)]
    with ProcessPoolExecutor() as pool:
        made = pool.map(generated, parts, [seed] * len(parts))
        return [page for part in made for page in part]


def cord_pages(folder: Path, split: str) -> list[Labelled]:
    """The receipts of CORD with the receipt model's labels."""
    return [renamed(page, CORD) for page in read_cord(folder, split)]


def varied(pages: Sequence[Labelled], copies: int, seed: int) -> Iterator[Labelled]:
    """Copies of the pages: the first as they are, the others with the noise of OCR."""
    yield from pages if copies else ()
    for copy in range(1, copies):
        for number, page in enumerate(pages):
            boxes = list(page.document.boxes or ())
            printed = Print(list(page.document.words), boxes, [], list(page.gold))
            dice = Dice(seed + copy, number)
            yield photographed(dice, printed, f"{page.document.id}-{copy}")


def cut_vocabulary(base: Path, folder: Path, size: int, pages: Sequence[Labelled]) -> None:
    """Writes the encoder with ``size`` word pieces: those of the pages, then the most frequent."""
    numpy_files = needed("safetensors.numpy", "cutting the vocabulary")
    tokenizer = Tokenizer.load(base)
    used: Counter[int] = Counter()
    for page in pages:
        used.update(tokenizer.tokenize(page.document).ids.tolist())
    state = json.loads((base / TOKENIZER).read_text(encoding="utf-8"))
    vocabulary: dict[str, int] = state["model"]["vocab"]
    special = [token["id"] for token in state["added_tokens"]]
    letters = [
        i
        for token, i in vocabulary.items()
        if len(token.removeprefix("##")) == 1 and token.isascii()
    ]
    kept = dict.fromkeys(
        [*sorted(special), *sorted(letters), *(i for i, n in used.most_common() if n > 2)]
    )
    kept |= dict.fromkeys(range(FIRST_WORD, len(vocabulary)))
    order = sorted(list(kept)[:size])
    new = {old: i for i, old in enumerate(order)}
    state["model"]["vocab"] = {token: new[i] for token, i in vocabulary.items() if i in new}
    for token in state["added_tokens"]:
        token["id"] = new[token["id"]]
    for token in state["post_processor"].get("special_tokens", {}).values():
        token["ids"] = [new[i] for i in token["ids"]]
    for name in ("sep", "cls"):
        if isinstance(pair := state["post_processor"].get(name), list):
            pair[1] = new[pair[1]]
    (folder / TOKENIZER).write_text(json.dumps(state, ensure_ascii=False), encoding="utf-8")
    weights = numpy_files.load_file(base / WEIGHTS)
    name = next(name for name in weights if name.endswith("word_embeddings.weight"))
    weights[name] = weights[name][order]
    weights = {
        key: value.astype("float32") for key, value in weights.items() if value.dtype.kind == "f"
    }
    numpy_files.save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})
    config = json.loads((base / CONFIG).read_text()) | {
        "vocab_size": len(order),
        "dtype": "float32",
    }
    (folder / CONFIG).write_text(json.dumps(config))


def main() -> None:
    """Trains and exports the model, and prints its F1 after every epoch."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("base", type=Path, help="folder with all-MiniLM-L6-v2, or a receipt model")
    parser.add_argument("cord", type=Path, help="folder with CORD")
    parser.add_argument("--pages", type=int, default=24_000)
    parser.add_argument("--copies", type=int, default=8, help="of CORD's pages")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--vocabulary", type=int, default=16_500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--keep", type=Path, help="folder for the weights before they are quantised"
    )
    parser.add_argument("--out", type=Path, default=MODEL)
    arguments = parser.parse_args()
    made = generated_by_all(arguments.pages + 200, arguments.seed)
    held, made = made[:200], made[200:]
    real = cord_pages(arguments.cord, "train")
    pages = [*made, *varied(real, arguments.copies, arguments.seed)]
    validation = [*cord_pages(arguments.cord, "dev"), *held]
    with TemporaryDirectory() as work:
        base, trained = Path(work) / "base", arguments.keep or Path(work) / "trained"
        if read_card(arguments.base):  # a receipt model, to go on from
            base = arguments.base
            network = Network.start(base, LABELS)
        else:
            base.mkdir()
            cut_vocabulary(arguments.base, base, arguments.vocabulary, [*made[:4000], *real])
            network = Network.start(base, LABELS, layers=arguments.layers, lines=True)
        network.card.base = "all-MiniLM-L6-v2"
        recipe = Recipe(
            epochs=arguments.epochs,
            batch=arguments.batch,
            rate=arguments.rate,
            new_rate=5 * arguments.rate,
            patience=5,
            seed=arguments.seed,
        )
        for epoch in train(network, Tokenizer.load(base), pages, validation, trained, recipe):
            print(
                json.dumps(
                    {
                        "epoch": epoch.number,
                        "loss": epoch.loss,
                        "f1": epoch.f1,
                        "seconds": epoch.seconds,
                    }
                ),
                flush=True,
            )
        file = export(Network.load(trained), Tokenizer.load(trained), arguments.out, int8=True)
    print(f"{file}: {file.stat().st_size / 2**20:.2f} MiB")


if __name__ == "__main__":
    main()
