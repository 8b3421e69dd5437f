"""``readings`` against every labelling and every way to read it."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given, settings

import lawful
from lawful.search.problem import Problem
from tests.oracles.labellings import every_legal_row, priced_readings
from tests.strategies import problems


def fields_of(fields):
    return frozenset(
        (name, *found.words, found.value) for name, values in fields.items() for found in values
    )


@settings(max_examples=300)
@given(problem=problems())
def test_readings_are_all_there_is_in_order_with_their_best_labellings(problem):
    document, scores, rules = problem
    whole = Problem(document, scores, rules, keep=False)
    best = {}
    if whole.best_legal is not None:
        rows, log_probs = every_legal_row(whole)
        for row, log_prob in zip(rows, log_probs, strict=True):
            spans = whole.judge.read(row)
            best[spans] = max(best.get(spans, -inf), log_prob)
    expected = []
    for reading, log_prob in best.items():
        for price, values in priced_readings(whole.judge, reading):
            expected.append((log_prob - price, values))
    expected = sorted((entry for entry in expected if entry[0] > -inf), key=lambda e: -e[0])
    found = list(lawful.readings(document, scores, rules))
    assert [r.log_prob - r.price for r in found] == pytest.approx([e for e, _ in expected])
    assert {fields_of(r.fields) for r in found} == {values for _, values in expected}
    assert len({fields_of(r.fields) for r in found}) == len(found)
    for reading in found:
        assert whole.scheme.allows(reading.labels)
        assert whole.log_prob(reading.labels) == pytest.approx(reading.log_prob)
    labels, log_probs = lawful.readings(document, scores, rules).take(3)
    assert labels.shape == (min(3, len(found)), len(document))
    assert log_probs.tolist() == [r.log_prob for r in found[:3]]
