"""Pins on documents with span scores, against all sets of spans."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from lawful import Document, Field, InputError, Pin, Rules, SpanScores, decode
from lawful.search.problem import Problem
from tests.oracles.span_sets import every_set, reading_of


def agrees(pin, spans, values):
    """Whether spans (start, end, type), with values by type, agree with a pin."""
    start, end = pin.get("words", (0, inf))
    inside = [type_ for first, last, type_ in spans if first < end and start < last]
    if "not" in pin:
        return pin["not"] not in inside
    if "words" in pin and pin["field"] is None:
        return not inside
    if "words" in pin:
        return (*pin["words"], pin["field"]) in spans
    found = values[pin["field"]]
    if pin["value"] is None:
        return pin["field"] not in inside
    return bool(found) and all(value == pin["value"] for value in found)


def draw(number):
    rng = np.random.default_rng(number)
    words = [str(rng.integers(1, 4)) for _ in range(rng.integers(1, 5))]
    count = len(words)
    every = [(i, j, t) for i in range(count) for j in range(i + 1, min(count, i + 2) + 1)
             for t in ("a", "b")]  # fmt: skip
    some = [every[i] for i in rng.permutation(len(every))[: rng.integers(0, 7)]]
    candidates = [(*span, float(rng.choice([0.0, 0.2, 0.5, 0.5, 0.9, 1.0]))) for span in some]
    fields = [Field(name, label=name, type="number", repeat=str(rng.choice(["first", "agree"])))
              for name in ("a", "b")]  # fmt: skip
    weight = float(rng.choice([1.0, inf]))
    rules = Rules(fields, ["a == b", "count(a) <= 1"][: rng.integers(0, 3)])
    rules = rules.with_defaults(weight=weight, presence="free")
    pins = []
    for _ in range(rng.integers(1, 3)):
        start, end, name = every[rng.integers(len(every))]
        kind = rng.integers(5)
        pins.append(
            [{"words": (start, end), "field": name}, {"words": (start, end), "field": None},
             {"words": (start, end), "not": name}, {"field": name, "value": None},
             {"field": name, "value": int(rng.integers(1, 4))}][kind]
        )  # fmt: skip
    return Document("d", words), SpanScores(candidates, count, ["a", "b"]), candidates, rules, pins


def test_the_answer_is_the_best_set_of_spans_that_agrees_with_all_pins():
    seen = {"optimal": 0, "infeasible": 0, "contradictory": 0, "moved": 0}
    for number in range(1500):
        document, scores, candidates, rules, pins = draw(number)
        judge = Problem(document, scores, rules, keep=False).judge
        worths = [-inf]
        for spans, log_prob in every_set(candidates):
            reading = reading_of(judge, spans)
            fields = judge.fields(reading)
            values = {name: [f.value for f in fields.get(name, ())] for name in ("a", "b")}
            if all(agrees(pin, spans, values) for pin in pins):
                worths.append(log_prob - judge.weigh(reading).most)
        try:
            found = decode(document, scores, rules, pins=pins)
        except InputError:
            assert max(worths) == -inf
            seen["contradictory"] += 1
            continue
        if max(worths) == -inf:
            assert found.status == "infeasible", number
            assert found.clash_minimal
            seen["infeasible"] += 1
            continue
        assert found.optimal, number
        assert found.worth == pytest.approx(max(worths), abs=1e-9), number
        seen["optimal"] += 1
        seen["moved"] += bool(found.moved)
        by_pins = {pin.id for pin in map(Pin.of, pins)}
        for correction in found.span_corrections:
            assert correction.because is not None
            seen["named"] = seen.get("named", 0) + bool(by_pins & set(correction.because))
    assert min(seen.values()) > 50, seen


def test_a_pinned_span_must_be_a_candidate():
    rules = Rules([Field("a", label="a", type="text")]).with_defaults(presence="free")
    scores = SpanScores([(0, 1, "a", 0.5)], 3, ["a"])
    pin = {"words": [1, 3], "field": "a"}
    found = decode(Document("d", ["x", "y", "z"]), scores, rules, pins=[pin])
    assert (found.status, found.clash) == ("infeasible", ("pin: words 1:3 are a",))
