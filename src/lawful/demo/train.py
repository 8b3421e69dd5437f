"""``python -m lawful.demo.train`` trains the shipped model on generated receipts.

The encoder is small enough to ship. Its tokenizer and its weights are trained from scratch, on
pages with other seeds than the demo's. Needs the ``train`` extra; slow without a GPU.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from tempfile import TemporaryDirectory

from lawful import demo
from lawful.document import Labelled
from lawful.extras import needed
from lawful.models.export import export
from lawful.models.network import Network
from lawful.models.tokenizer import Tokenizer
from lawful.models.training import Recipe, train

SEED = 1
"""Seed of the training pages; the demo's pages have seed 0."""

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def pages(count: int, seed: int) -> list[Labelled]:
    """Generated pages with gold labels."""
    return [Labelled(e.document, e.gold or ()) for e in demo.generate(count, seed=seed)]


def make_encoder(
    documents: list[Labelled], folder: Path, vocabulary: int, width: int, layers: int
) -> None:
    """Writes a tokenizer trained on the words of documents, and an untrained encoder."""
    tokenizers = needed("tokenizers", "making the model")
    transformers = needed("transformers", "making the model")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))  # noqa: S106 - a special token, no secret
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    # Only the vocabulary cuts words, so that a piece shows whether it begins a word.
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    trainer = tokenizers.trainers.WordPieceTrainer(
        vocab_size=vocabulary, special_tokens=list(SPECIAL_TOKENS), show_progress=False
    )
    words = (word for page in documents for word in page.document.words)
    tokenizer.train_from_iterator(words, trainer)
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    config = transformers.BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=width // 32,
        intermediate_size=2 * width,
        max_position_embeddings=512,
        hidden_dropout_prob=0.1,
    )
    transformers.BertForTokenClassification(config).save_pretrained(folder)


def main() -> None:
    """Trains and exports the model, and prints its F1 after every epoch."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=2500)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--vocabulary", type=int, default=3000)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--out", type=Path, default=demo.MODEL)
    arguments = parser.parse_args()
    documents = pages(arguments.pages, SEED)
    with TemporaryDirectory() as work:
        base, trained = Path(work) / "base", Path(work) / "trained"
        base.mkdir()
        make_encoder(documents, base, arguments.vocabulary, arguments.width, arguments.layers)
        network = Network.start(base, demo.LABELS, boxes=True)
        network.card.base = "generated receipts"
        recipe = Recipe(epochs=arguments.epochs, batch=32, rate=1e-3, new_rate=1e-3)
        validation = pages(200, SEED + 1)
        for epoch in train(network, Tokenizer.load(base), documents, validation, trained, recipe):
            print(
                json.dumps({"epoch": epoch.number, "loss": epoch.loss, "f1": epoch.f1}), flush=True
            )
        file = export(Network.load(trained), Tokenizer.load(trained), arguments.out, int8=True)
    print(f"{file}: {file.stat().st_size / 2**20:.2f} MiB")


if __name__ == "__main__":
    main()
