"""Spans of fields from scores of words: readable, exclusive, and as probable as their words."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import date
from decimal import Decimal

import numpy as np
import pytest

from lawful import Box, Document, Field, InputError, Rules, Scored, Scores, decode
from lawful.candidates.field_spans import SURE, field_spans
from lawful.io.jsonl import scored_line
from tests.helpers import run

RULES = Rules(
    [
        Field("total", label="total", type="money", presence="required"),
        Field("items", label="item", type="money", many=True),
        Field("day", label="day", type="date"),
        Field("name", label="name"),
    ],
    ["total == sum(items)"],
)
LABELS = ("O", *(f"{mark}-{f.label}" for f in RULES.fields for mark in "BI"))


def scored(*words):
    """A document of words, each with the probabilities of its labels; the rest is O."""
    rows = []
    for _, probs in words:
        row = [probs.get(label, 0.0) for label in LABELS]
        row[0] = 1 - sum(row)
        rows.append(row)
    return Document("d", [word for word, _ in words]), Scores.from_probs(rows, LABELS)


def candidates(document, scores, rules=RULES):
    found = field_spans(document, scores, rules)
    probs = 1 / (1 + np.exp(-found.log_odds))
    return {(s.start, s.end, s.type): p for s, p in zip(found.spans, probs, strict=True)}


def test_both_marks_count_and_unreadable_texts_do_not():
    document, scores = scored(
        ("5.00", {"B-item": 0.6, "I-item": 0.3}), ("Total", {"B-item": 0.9}), ("x", {})
    )
    assert candidates(document, scores) == {(0, 1, "item"): pytest.approx(0.9)}


def test_spans_of_one_value_exclude_each_other():
    document, scores = scored(*[("5.00", {"B-total": 0.9}), ("6.00", {"B-total": 0.8})] * 4)
    found = candidates(document, scores)
    assert sum(found.values()) < 1
    assert found[0, 1, "total"] / found[1, 2, "total"] == pytest.approx(9 / 4)
    decoding = decode(document, field_spans(document, scores, RULES), RULES)
    assert decoding.values("total") == (Decimal("5.00"),)


def test_spans_of_several_words():
    document, scores = scored(
        ("31", {"B-day": 0.9}), ("January", {"I-day": 0.8}), ("2024", {"I-day": 0.7}), ("x", {})
    )
    assert set(candidates(document, scores)) == {(0, 3, "day")}
    decoding = decode(document, field_spans(document, scores, RULES), RULES)
    assert decoding.values("day") == (date(2024, 1, 31),)


def test_a_text_begins_where_its_span_begins():
    document, scores = scored(
        ("Blue", {"B-name": 0.99}),
        ("Sky", {"I-name": 0.9, "B-name": 0.05}),
        ("Inc", {"I-name": 0.95}),
    )
    found = candidates(document, scores)
    assert max(found, key=found.get) == (0, 3, "name")


def on_a_line(document, *lefts):
    """The document with its words on one line, ten points high, from these places on."""
    widths = [5 * len(word) for word in document.words]
    boxes = [Box(x, 0, x + w, 10) for x, w in zip(lefts, widths, strict=True)]
    return replace(document, boxes=tuple(boxes))


def test_a_text_fills_its_cell():
    document, scores = scored(
        ("Sold", {}), ("Blue", {"B-name": 0.9}), ("Sky", {"I-name": 0.3}), ("Date", {})
    )
    apart = on_a_line(document, 0, 60, 84, 200)
    found = candidates(apart, scores)
    assert max(found, key=found.get) == (1, 3, "name")
    together = on_a_line(document, 0, 60, 120, 200)
    found = candidates(together, scores)
    assert max(found, key=found.get) == (1, 2, "name")


def test_a_number_is_not_the_end_of_a_longer_one():
    document, scores = scored(
        ("1", {"B-total": 0.4}), ("490.00", {"I-total": 0.5, "B-total": 0.4}), ("x", {})
    )
    found = candidates(on_a_line(document, 0, 6, 90), scores)
    assert max(found, key=found.get) == (0, 2, "total")


def test_dates_may_share_a_cell():
    document, scores = scored(("1/2/24", {}), ("-", {}), ("1/9/24", {"B-day": 0.9}))
    inside = candidates(on_a_line(document, 0, 33, 41), scores)
    assert inside == candidates(document, scores)


def test_probabilities_of_a_list_are_those_of_its_words():
    rng = np.random.default_rng(0)
    for _ in range(50):
        words = [("5.00", {"B-item": float(p)}) for p in rng.uniform(0.01, 1, rng.integers(1, 6))]
        document, scores = scored(*words)
        expected = {(i, i + 1, "item"): min(p["B-item"], SURE) for i, (_, p) in enumerate(words)}
        assert candidates(document, scores) == pytest.approx(expected)


def test_an_improbable_field_still_has_its_best_span():
    document, scores = scored(("5.00", {"B-total": 1e-5}), ("6.00", {"B-total": 1e-6}))
    assert max(candidates(document, scores)) == (0, 1, "total")


def test_no_words_and_no_labels():
    assert candidates(Document("d", []), Scores.from_probs(np.zeros((0, 1)), ["O"])) == {}
    assert candidates(Document("d", ["5"]), Scores.from_probs([[1.0]], ["O"])) == {}


def test_bad_input():
    document, scores = scored(("5.00", {}))
    with pytest.raises(InputError, match="has 2 words, but scores of 1"):
        field_spans(Document("d", ["5", "6"]), scores, RULES)
    chain = scores.with_chain(between=np.zeros((len(LABELS), len(LABELS))))
    with pytest.raises(InputError, match="marginals"):
        field_spans(document, chain, RULES)


def test_ten_thousand_words_take_seconds():
    rng = np.random.default_rng(1)
    words = []
    for i in range(10_000):
        p = float(rng.choice([0.0001, 0.02, 0.6], p=[0.97, 0.02, 0.01]))
        words.append((f"{i}.00", {str(rng.choice(LABELS[1:])): p}))
    document, scores = scored(*words)
    began = time.process_time()
    spans = field_spans(document, scores, RULES)
    assert time.process_time() - began < 3
    assert len(spans.spans) > 100


def test_the_command_line_finds_one_span_per_field(tmp_path):
    document, scores = scored(
        ("5.00", {"B-total": 0.6}), ("x", {}), ("5.00", {"B-total": 0.9}), ("5.00", {"B-item": 0.9})
    )
    (tmp_path / "d.jsonl").write_text(scored_line(Scored(document, scores)) + "\n")
    (tmp_path / "rules.yaml").write_text(
        "fields:\n"
        "  total: {label: total, type: money}\n"
        "  items: {label: item, type: money, many: true}\n"
        "rules: [total == sum(items)]\n"
    )
    command = ("decode", "d.jsonl", "--rules", "rules.yaml")
    words, spans = (
        json.loads(run(*command, *more, cwd=tmp_path).stdout) for more in ((), ("--by-field",))
    )
    assert words["labels"] == ["B-total", "O", "B-total", "B-item"]
    assert spans["labels"] == ["O", "O", "B-total", "B-item"]
    assert spans["status"] == words["status"] == "satisfied"
