"""The confidence of fields against every labelling and every way to read it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from lawful import Document, Field, Rule, Rules, Scores, decode
from lawful.rules import RowKind, RuleDefaults
from lawful.rules.compiled.plan import plan_of
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
    quick = decode(document, scores, rules, budget=ENOUGH, confidence=True)
    for answer in (quick, found):
        plain = decode(document, scores, rules, budget=ENOUGH)
        assert (answer.labels, answer.fields, answer.status, answer.optimal) == (
            plain.labels, plain.fields, plain.status, plain.optimal,
        )  # fmt: skip
    for f, mass in zip(rules.fields, same, strict=True):
        low, high = quick.confidence.get(f.name, (1 - 1e-5, 1))
        assert low - 1e-9 <= mass / total <= high + 1e-9
    if rules.fields:
        needed = replace(rules, needs=(rules.fields[-1].name,))
        one = decode(document, scores, needed, budget=ENOUGH, confidence=True).confidence
        assert set(one) <= {rules.fields[-1].name, *rules.classes}
        low, high = one.get(rules.fields[-1].name, (1 - 1e-5, 1))
        assert low - 1e-9 <= same[-1] / total <= high + 1e-9


def test_the_answer_is_the_same_whether_alternatives_are_asked_for():
    # A rule that does not say what it reads is for the paths decoder, which finds none.
    def never():
        return False

    scores = Scores.from_probs([[0.4, 0.6], [0.3, 0.7]], ("O", "B-a"))
    rules = Rules([Field("a", "a", many=True)], [Rule(never, id="never", weight=0.1)])
    document = Document("d", ["x", "y"])
    plain = decode(document, scores, rules)
    assert plain.decoder == "paths"
    for more in ({"alternatives": 2}, {"confidence": True}):
        found = decode(document, scores, rules, **more)
        assert (found.decoder, found.labels, found.status) == ("paths", plain.labels, plain.status)


def test_how_sure_fields_are_is_not_known_where_numbers_are_too_small_to_tell():
    scores = Scores.from_probs([[1e-6, 1 - 2e-6, 1e-6]] * 80, ("O", "B-a", "B-b"))
    fields = [Field("a", "a", "money", many=True), Field("b", "b", "money")]
    found = decode(Document("d", ["abc"] * 80), scores, Rules(fields), alternatives=1)
    assert found.penalty == 800
    assert found.confidence["a"] == (0, 1)


@pytest.mark.parametrize(
    ("check", "in_python"), [("not present(amount)", False), ("count(amount) / 3 < 0.1", True)]
)
def test_a_rule_may_cost_its_weight_on_every_row(check, in_python):
    # What one in Python can take away from other labellings was counted once, not for three rows.
    rules = Rules(
        [Field("amount", "amount", "money", presence="free")],
        [Rule(check, each="line", weight=1)],
        rows=[RowKind("line", ("amount",))],
    )
    assert bool(plan_of(rules).python) == in_python
    for rows in ([1, 2, 3], None):
        scores = Scores.from_probs(np.full((3, 2), 0.5), ["O", "B-amount"])
        found = decode(Document("d", ["1", "1", "1"], rows=rows), scores, rules, alternatives=1)
        assert found.labels == ("O", "O", "O")
        sure = found.confidence["amount"]
        assert sure.low <= (1 + np.exp(-1)) ** -3 <= sure.high


@pytest.mark.parametrize("low", [-700.0, -1000.0, -1e4])
@pytest.mark.parametrize("scheme", ["IO", "IOB1"])
def test_masked_scores_do_not_overflow_right_after_a_span(scheme, low):
    # Nearly nothing follows a span of b, and shares of that were infinite: "at least 99 % sure".
    labels = ("O", "I-a", "I-b")
    rules = Rules(
        [Field("a", "a"), Field("b", "b")],
        scheme=scheme,
        defaults=RuleDefaults(presence="free", repeat="first"),
    )
    for logits in (
        [[0.2, -np.inf, 0.0], [low, low, 0.0]],
        [[0.0, 0.0, -1.0], [low, 0.0, low], [0.0, -0.5, 0.0]],
        [[0.2, -np.inf, 0.0], [0.3, -np.inf, 0.0], [0.0, -np.inf, 0.1], [low, -np.inf, 0.0]],
    ):
        scores = Scores.from_logits(np.array(logits), labels)
        document = Document("d", [f"w{i}" for i in range(len(logits))])
        found = decode(document, scores, rules, alternatives=1, budget=ENOUGH)
        whole = Problem(document, scores, rules)
        answer = seen_by_a_person(rules, found.fields)
        rows, log_probs = every_legal_row(whole)
        values = [seen_by_a_person(rules, whole.judge.fields(whole.judge.read(r))) for r in rows]
        for i, f in enumerate(rules.fields):
            same = np.array([each[i] == answer[i] for each in values])
            truth = float(np.exp(log_probs)[same].sum() / np.exp(log_probs).sum())
            sure = found.confidence.get(f.name, (truth, truth))
            assert sure[0] - 1e-9 <= truth <= sure[1] + 1e-9
            assert sure[1] - sure[0] < 1e-6
