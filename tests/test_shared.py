"""Real model outputs on real receipts, where ``../shared`` is: it is not part of the project."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import lawful
from lawful import Budget, Document, Field, Rules, Scored, Scores, decode

SHARED = Path(__file__).parent.parent.parent / "shared"
needs_shared = pytest.mark.skipif(
    not (SHARED / "predictions").is_dir(), reason="needs ../shared/predictions and ../shared/data"
)

RULES = Rules(
    [
        Field("total", "total.total_price", "money"),
        Field("cash", "total.cashprice", "money"),
        Field("change", "total.changeprice", "money"),
        Field("subtotal", "sub_total.subtotal_price", "money"),
        Field("tax", "sub_total.tax_price", "money"),
        Field("service", "sub_total.service_price", "money", default=0),
        Field("discount", "sub_total.discount_price", "money", default=0),
    ],
    ["total == subtotal + tax + service - abs(discount)", "cash == total + change"],
)


def cord(count):
    """The first pages of CORD that a small model did not see, as word pieces with its scores."""
    words = {}
    for split in ("train", "dev", "test"):
        with gzip.open(SHARED / "data" / "cord" / f"{split}.jsonl.gz", "rt") as lines:
            for line in map(json.loads, lines):
                words[f"{split}/{line['id']}"] = line["words"]
    outputs = np.load(SHARED / "predictions" / "cord-l2.npz")
    labels = tuple(map(str, outputs["labels"]))
    ids, starts = outputs["ids"], outputs["start"]
    ends = [*starts[1:], len(outputs["word"])]
    for name, start, end in list(zip(map(str, ids), starts, ends, strict=False))[:count]:
        word, off = outputs["word"][start:end], outputs["off"][start:end]
        pieces = [words[name][w][a:b] for w, (a, b) in zip(word, off, strict=True)]
        joins = [i > 0 and bool(word[i] == word[i - 1]) for i in range(len(word))]
        scores = Scores.from_log_probs(outputs["log_probs"][start:end], labels)
        gold = tuple(labels[i] for i in outputs["gold"][start:end])
        yield Scored(Document(name, pieces, joins=joins), scores, gold)


@needs_shared
def test_half_precision_outputs_of_a_real_model_stream_and_decode():
    pages = list(cord(60))
    scheme = RULES.scheme_for(pages[0].scores.labels)
    for page in pages[:10]:
        found, log_probs = lawful.paths(page.scores.log_probs, scheme, kind="log_probs").take(500)
        assert scheme.allow(found).all()
        assert (np.diff(log_probs) <= 0).all()
        assert len(np.unique(found, axis=0)) == 500
    statuses = Counter()
    for page in pages:
        words = page.to_words()
        decoding = decode(words.document, words.scores, RULES, budget=Budget(candidates=2000))
        statuses[decoding.status] += 1
    assert statuses["satisfied"] > 0.85 * len(pages)


@needs_shared
def test_words_do_better_than_pieces():
    right = Counter()
    for page in cord(40):
        for name, form in (("pieces", page), ("words", page.to_words())):
            found = decode(form.document, form.scores, RULES, budget=Budget(candidates=500))
            right[name] += found.labels == form.gold
    assert right["words"] >= right["pieces"] > 0
