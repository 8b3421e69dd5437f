"""``python -m lab.invoices.vocabulary OUT``: the receipt model's vocabulary, made for invoices.

Digits are read as ``0``, and separators between them as letters, so that most amounts and dates are
one piece, which says how they look: ``1.234,56`` is ``0p000c00``. Words that stand before values in
any of the languages become pieces of their own, too. Of the others, those that occur and the most
frequent are kept.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from lawful_models import RECEIPT

from lab.invoices.pages import Example, example
from lab.invoices.shapes import SEPARATORS, original
from lawful.base.extras import needed
from lawful.models.checkpoint import TOKENIZER

OFTEN = 8
"""How often a word occurs, at least, that becomes a piece: misread ones do less often."""


def by_shape(state: dict[str, Any]) -> dict[str, Any]:
    """The tokenizer's normaliser, followed by what writes numbers by their shape."""
    rules = [("[0-9]", "0")]
    rules += [(f"(?<=0)[{mark}](?=0)", letter) for mark, letter in SEPARATORS.items()]
    steps = [
        {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}
        for pattern, content in rules
    ]
    return {"type": "Sequence", "normalizers": [state["normalizer"], *steps]}


def make_vocabulary(base: Path, folder: Path, examples: Iterable[Example], new: int) -> None:
    """Writes a tokenizer with as many pieces as that of ``base``, up to ``new`` of them new."""
    tokenizers = needed("tokenizers", "making a vocabulary")
    state = json.loads((base / TOKENIZER).read_text(encoding="utf-8"))
    old = tokenizers.Tokenizer.from_str(json.dumps(state))
    state["normalizer"] = by_shape(state)
    split = tokenizers.Tokenizer.from_str(json.dumps(state))
    words: Counter[str] = Counter()
    keys: set[str] = set()
    for page, _ in examples:
        for word, label in zip(page.document.words, page.gold, strict=True):
            text = split.normalizer.normalize_str(word)
            parts = [part for part, _ in split.pre_tokenizer.pre_tokenize_str(text)]
            words.update(parts)
            keys.update(part for part in parts if label == "O" or not part.strip("0pcsht"))
    pieces = {
        word: old.encode(original(word), add_special_tokens=False).ids
        for word, count in words.items()
        if count > 1
    }
    saved = {
        word: words[word] * (len(ids) - 1)
        for word, ids in pieces.items()
        if word in keys and words[word] >= OFTEN and len(ids) > 1
    }
    chosen = sorted(saved, key=lambda word: -saved[word])[:new]
    vocabulary: dict[str, int] = state["model"]["vocab"]
    used: Counter[int] = Counter()
    for word, ids in pieces.items():
        if word not in saved:
            used.update(dict.fromkeys(ids, words[word]))
    special = sorted(token["id"] for token in state["added_tokens"])
    letters = [i for t, i in vocabulary.items() if len(t.removeprefix("##")) == 1 and t.isascii()]
    kept = dict.fromkeys([*special, *letters, *(i for i, n in used.most_common() if n > 2)])
    kept |= dict.fromkeys(range(len(vocabulary)))  # the most frequent words come first
    order = sorted(list(kept)[: len(vocabulary) - len(chosen)])
    _renumber(state, {old_id: i for i, old_id in enumerate(order)}, chosen)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / TOKENIZER).write_text(json.dumps(state, ensure_ascii=False), encoding="utf-8")


def _renumber(state: dict[str, Any], new: dict[int, int], chosen: list[str]) -> None:
    """Gives the pieces that are kept their new numbers, and adds the others behind them."""
    vocabulary = state["model"]["vocab"]
    state["model"]["vocab"] = {token: new[i] for token, i in vocabulary.items() if i in new}
    state["model"]["vocab"] |= {word: len(new) + i for i, word in enumerate(chosen)}
    for token in state["added_tokens"]:
        token["id"] = new[token["id"]]
    for token in state["post_processor"]["special_tokens"].values():
        token["ids"] = [new[i] for i in token["ids"]]


def main() -> None:
    """Makes the vocabulary from generated pages."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--base", type=Path, default=RECEIPT)
    parser.add_argument("--pages", type=int, default=4000)
    parser.add_argument("--new", type=int, default=4000)
    options = parser.parse_args()
    with ProcessPoolExecutor() as pool:
        made = pool.map(partial(example, 0), range(options.pages), chunksize=100)
        make_vocabulary(options.base, options.out, made, options.new)


if __name__ == "__main__":
    main()
