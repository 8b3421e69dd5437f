"""Caches are emptied before they hold more than they may."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from lawful import Document, Field, Rules, Scores, decode
from lawful.cache import ENTRY, Cache, size_of_texts
from lawful.io.jsonl import LineParser, encode
from lawful.rules import plan
from lawful.values import _read, read

LABELS = ("O", "B-name", "I-name")
RULES = Rules([Field("name", "name", "text", presence="free")], ["name != 'x'"])


def test_a_cache_forgets_before_it_holds_too_much():
    cache = Cache(10 * ENTRY)
    for i in range(100):
        assert cache.keep(i, str(i)) == str(i)
        assert cache.held == ENTRY * len(cache) <= cache.most
    assert cache[99] == "99"
    assert 0 not in cache


def test_a_result_larger_than_the_cache_is_returned_but_not_kept():
    cache = Cache(10 * ENTRY)
    assert cache.keep("a", "b", 10 * ENTRY) == "b"
    assert not cache
    assert cache.held == 0


def test_texts_count_with_all_their_bytes():
    text = "x" * 1000
    assert size_of_texts([text, 1, None]) == sys.getsizeof(text)


def test_long_texts_are_read_but_not_remembered():
    _read.cache_clear()
    assert read("a " * 50, "text") == (" ".join("a" * 50),)
    assert _read.cache_info().currsize == 0
    assert read("a b", "text") == ("a b",)
    assert _read.cache_info().currsize == 1


def flat(words):
    probs = np.full((words, len(LABELS)), 1 / len(LABELS))
    return Document("d", [f"word{i}" for i in range(words)]), Scores.from_probs(probs, LABELS)


@pytest.mark.parametrize("decoder", ["exact", "readings", "auto"])
def test_texts_that_take_too_much_memory_end_the_search(decoder, monkeypatch):
    monkeypatch.setattr(plan, "MOST_BYTES_OF_TEXTS", 10_000)
    document, scores = flat(40)
    found = decode(document, scores, RULES.with_defaults(weight=1.0), decoder=decoder)
    assert len(found.labels) == 40
    rules = Rules(RULES.fields, ["name == 'x'"])
    found = decode(document, scores, rules, decoder=decoder, alternatives=0)
    assert (found.status, found.stopped_by) == ("exhausted", "memory")


def test_ever_different_labels_are_not_all_kept():
    rules = Rules([Field("name", "name", "text", presence="free")], [])
    rules._schemes.most = 100_000
    parser = LineParser("-")
    parser._labels.most = 100_000
    for i in range(300):
        line = {"id": "d", "words": ["x"], "labels": ["O", "B-name", f"B-{i}"]}
        scored = parser.parse(1, encode(line | {"probs": [[0.2, 0.3, 0.5]]}))
        assert decode(scored.document, scored.scores, rules).labels == (f"B-{i}",)
    assert 0 < rules._schemes.held <= 100_000
    assert 0 < parser._labels.held <= 100_000
