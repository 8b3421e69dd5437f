"""Caches are emptied before they hold more than they may."""

from __future__ import annotations

import re
import sys
from decimal import Decimal
from fractions import Fraction
from math import inf

import numpy as np
import pytest

from lawful import Box, Document, Field, Rules, Scored, Scores, decode
from lawful.base.cache import ENTRY, Cache, size_of_texts
from lawful.documents import label_names, records
from lawful.documents import reading_order as lines
from lawful.io.jsonl import LineParser, encode
from lawful.rules import rule_set
from lawful.rules.compiled import plan
from lawful.rules.language import patterns
from lawful.search import conflicts as clash
from lawful.search import reading_search
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
    monkeypatch.setattr(plan, "MAX_BYTES_OF_TEXTS", 10_000)
    page, scores = flat(40)
    found = decode(page, scores, RULES.with_defaults(weight=1.0), decoder=decoder)
    assert len(found.labels) == 40
    rules = Rules(RULES.fields, ["name == 'x'"])
    found = decode(page, scores, rules, decoder=decoder, alternatives=0)
    assert (found.status, found.stopped_by) == ("exhausted", "memory")


@pytest.fixture
def small(monkeypatch):
    """Caches that all rules share, emptied and with little room."""

    def make(module, name, most=100_000):
        cache = Cache(most)
        monkeypatch.setattr(module, name, cache)
        return cache

    return make


def test_ever_different_labels_are_not_all_kept(small):
    schemes, layouts = small(rule_set, "_SCHEMES"), small(reading_search, "_LAYOUTS")
    rules = Rules([Field("name", "name", "text", presence="free")], ["name != 'x'"])
    parser = LineParser("-")
    parser._labels.most = 100_000
    for i in range(300):
        line = {"id": "d", "words": ["x"], "labels": ["O", "B-name", f"B-{i}"]}
        scored = parser.parse(1, encode(line | {"probs": [[0.1, 0.5, 0.4]]}))
        found = decode(scored.document, scored.scores, rules, decoder="exact")
        assert found.labels == (f"B-{i}",)
    for cache in (schemes, layouts, parser._labels):
        assert 0 < cache.held <= cache.most


def test_rules_share_what_they_keep_of_labels(small):
    """Each set of rules had 64 MiB of its own, and each clash makes sets of rules."""
    schemes, layouts = small(rule_set, "_SCHEMES"), small(reading_search, "_LAYOUTS")
    relaxed = small(clash, "_RELAXED", 2**20)
    page, scores = Document("d", ["x"]), Scores.from_probs([[0.2, 0.8]], ("O", "B-name"))
    for i in range(40):
        rules = Rules([Field("name", "name", "text", presence="required")], [f"name == '{i}'"])
        rules = rules.with_defaults(weight=inf)
        assert decode(page, scores, rules).status == "infeasible"
    assert len(schemes) == 1
    assert 0 < layouts.held <= 2000
    assert 0 < relaxed.held <= relaxed.most


def test_pins_of_ever_different_fields_do_not_fill_the_memory(small):
    """A plan was kept for each set of fields that any document pins."""
    plans = small(plan, "_PINNED", 2**20)
    names = [f"f{i}" for i in range(10)]
    rules = Rules([Field(name, name, "text", presence="free") for name in names])
    for number in range(100):
        present = frozenset(name for i, name in enumerate(names) if number >> i & 1)
        assert plan.plan_of(rules, present=present).core is not None
    assert 0 < plans.held <= plans.most
    assert set(plan._PLANS[rules]) == {False}


def test_long_numbers_are_not_remembered():
    plan._short_in_units.cache_clear()
    for value in (Decimal("1" * 1000), Decimal(1).scaleb(-1000), Fraction(1, 3)):
        assert plan._in_units(value)[0] == plan._UNSURE
    plan._in_units(Decimal("1.5"))
    assert plan._short_in_units.cache_info().currsize <= 2


def test_patterns_are_kept_by_their_size(small):
    kept = small(patterns, "_PATTERNS", 2**20)
    for i in range(50):
        assert patterns.compiled(str(i) + r"\w\d" * 100).occurs_in(str(i)) is False
    assert 0 < kept.held <= kept.most
    assert kept.held > 10_000 * len(kept)  # as compiled, not as written


def test_patterns_leave_nothing_in_the_modules_that_compile_them(small):
    """``regex`` notes every source that it ever compiled: 10 MB after 100 requests."""
    small(patterns, "_PATTERNS")
    import regex._main

    known = [re._cache, regex._main._cache, regex._main._locale_sensitive]
    for i in range(20):
        patterns.compiled(f"never seen before {i}")
        assert not [key for cache in known for key in cache if "never seen" in str(key)]


def test_what_is_known_of_labels_and_boxes_is_kept_by_its_size(small):
    """Lists of labels and boxes were kept by number, of whatever length."""
    kept = [small(label_names, "_CHECKED"), small(records, "_NAMES"), small(lines, "_LINES")]
    for i in range(20):
        names = ("O", f"B-{i}" + "x" * 20_000)
        boxes = [Box(0, 10 * n, 9, 10 * n + 9) for n in range(49)]
        page = Document(f"{i}", ["x"] * 50, boxes=[*boxes, Box(0, i, 9, i + 9)])
        scores = Scores.from_probs([[0.5, 0.5]] * 50, names)
        Scored(page, scores, ("O",) * 50)
        assert len(lines.printed_lines(page)) == 50
    for cache in kept:
        assert 0 < cache.held <= cache.most
