"""The confidence of fields against every labelling and every way to read it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from lawful import Document, Field, RowKind, Rule, Rules, Scores, decode
from lawful.rules.plan import plan_of
from lawful.search.problem import Problem
from tests.helpers import ENOUGH
from tests.oracles.labellings import every_legal_row, every_reading, seen_by_a_person
from tests.strategies import problems


@settings(max_examples=400)
@given(problem=problems())
def test_confidence_is_the_probability_that_a_field_is_as_answered(problem):
    document, scores, rules = problem
    whole = Problem(document, scores, rules)
    found = decode(document, scores, rules, budget=ENOUGH, alternatives=1)
    if found.status == "infeasible":
        assert found.confidence == {}
        return
    judge, answer = whole.judge, seen_by_a_person(rules, found.fields)
    rows, log_probs = every_legal_row(whole)
    total, same = 0.0, np.zeros(len(rules.fields))
    for row, log_prob in zip(rows, log_probs, strict=True):
        for reading in every_reading(judge, judge.read(row)):
            weight = np.exp(log_prob - judge.weigh(reading).most)
            values = seen_by_a_person(rules, judge.fields(reading))
            total += weight
            same += weight * np.array([a == b for a, b in zip(values, answer, strict=True)])
    exact = not plan_of(rules).python
    for f, mass in zip(rules.fields, same, strict=True):
        if f.name not in found.confidence:
            assert mass / total == pytest.approx(1, abs=1e-5)
            continue
        low, high = found.confidence[f.name]
        assert 0 <= low <= mass / total + 1e-9
        assert mass / total - 1e-9 <= high <= 1
        assert not exact or high - low < 1e-6


def test_how_sure_fields_are_is_not_known_where_numbers_are_too_small_to_tell():
    scores = Scores.from_probs([[1e-6, 1 - 2e-6, 1e-6]] * 80, ("O", "B-a", "B-b"))
    fields = [Field("a", "a", "money", many=True), Field("b", "b", "money")]
    found = decode(Document("d", ["abc"] * 80), scores, Rules(fields), alternatives=1)
    assert found.penalty == 800
    assert found.confidence["a"] == (0, 1)


def test_a_rule_in_python_may_cost_its_weight_on_every_row():
    # What it can take away from other labellings was counted once, not for three rows.
    rules = Rules(
        [Field("amount", "amount", "money", presence="free")],
        [Rule("not present(amount)", each="line", weight=1)],
        rows=[RowKind("line", ("amount",))],
    )
    assert plan_of(rules).python
    for rows in ([1, 2, 3], None):
        scores = Scores.from_probs(np.full((3, 2), 0.5), ["O", "B-amount"])
        found = decode(Document("d", ["1", "1", "1"], rows=rows), scores, rules, alternatives=1)
        assert found.labels == ("O", "O", "O")
        sure = found.confidence["amount"]
        assert sure.low <= (1 + np.exp(-1)) ** -3 <= sure.high
