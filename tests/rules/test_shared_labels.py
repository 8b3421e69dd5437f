"""Fields that share a label, and places that fields demand, against brute force."""

from __future__ import annotations

from decimal import Decimal
from math import exp

import numpy as np
import pytest

from lawful import Document, Field, Rule, Rules, RulesError, Scores, decode
from lawful.rules.file_schema import json_schema
from lawful.rules.files import rules_from
from lawful.search.problem import Problem
from tests.helpers import ENOUGH, assert_finds_best
from tests.oracles.labellings import every_legal_row

DATES = [
    Field("issued", "date", "date", where="line <= 1"),
    Field("due", "date", "date"),
]
LABELS = ("O", "B-date", "I-date")


def sure(labels, names):
    probs = np.full((len(labels), len(names)), exp(-7.0))
    probs[range(len(labels)), [names.index(label) for label in labels]] = 1
    return Scores.from_probs(probs / probs.sum(axis=1, keepdims=True), names)


def line_of(*lines):
    """Boxes of words on these printed lines, from left to right."""
    return [(10 * i, 20 * line, 10 * i + 8, 20 * line + 10) for i, line in enumerate(lines)]


def test_a_place_tells_fields_apart():
    words = ["2024-01-02", "2024-02-03"]
    scores = sure(["B-date", "B-date"], LABELS)
    rules = Rules(DATES, ["due > issued"])
    found = decode(Document("d", words, line_of(0, 1)), scores, rules)
    assert [found.fields[n][0].text for n in ("issued", "due")] == words
    assert found.status == "satisfied"
    first = rules.with_defaults(repeat="first")
    without = decode(Document("d", words), scores, first)  # no boxes: nothing tells them apart
    assert [value.text for value in without.fields["issued"]] == words
    assert "due" not in without.fields


def test_a_pattern_and_a_type_tell_fields_apart():
    fields = [
        Field("bic", "code", pattern="[A-Z]{6}.*"),
        Field("amount", "code", "money"),
        Field("note", "code"),
    ]
    names = ("O", "B-code")
    found = decode(
        Document("d", ["12.00", "DEUTDEFF", "thanks"]), sure(["B-code"] * 3, names), Rules(fields)
    )
    assert {name: values[0].text for name, values in found.fields.items()} == {
        "bic": "DEUTDEFF",
        "amount": "12.00",
        "note": "thanks",
    }


def test_a_place_is_a_condition_with_a_weight():
    rules = Rules([Field("total", "total", "money", where="start > 0")]).with_defaults(weight=3)
    scores = sure(["B-total", "O"], ("O", "B-total"))
    found = decode(Document("d", ["5", "6"]), scores, rules)
    (check,) = found.violations
    assert (check.id, check.price) == ("total:where", 3.0)
    assert check.message == "total is '5', which is not where start > 0"
    heavier = rules.with_defaults(weight=20)
    assert decode(Document("d", ["5", "6"]), scores, heavier).labels == ("O", "B-total")


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ({"label": "date", "type": "date"}, "'due' has label 'date', as field 'issued' has; if"),
        ({"label": "due", "where": "lines < 3"}, "where: unknown field 'lines'.*did you mean"),
        ({"label": "due", "where": "line + 1"}, "where: 'line . 1' is a number, expected"),
        ({"label": "due", "where": 3}, "where is 3, expected a condition"),
        ({"label": "due", "where": []}, r"where is \[\], expected a condition"),
    ],
)
def test_what_is_wrong_is_said(field, message):
    with pytest.raises(RulesError, match=message):
        rules_from({"fields": {"issued": {"label": "date", "type": "date"}, "due": field}})
    assert "where" in json_schema()["properties"]["fields"]["additionalProperties"]["properties"]


# Brute force: all labellings, judged by hand. Words at even places may be of the first field.

NAMES = ("O", "B-x", "B-y")
FIELDS = [
    Field("first", "x", "money", where="start != 1 and start != 3"),
    Field("item", "x", "money", many=True),
    Field("y", "y", "money"),
]


def penalty_by_hand(words, labels, weights):
    numbers = [Decimal(word) for word in words]
    first = [numbers[i] for i, k in enumerate(labels) if k == 1 and i not in (1, 3)]
    items = [numbers[i] for i, k in enumerate(labels) if k == 1 and i in (1, 3)]
    ys = [numbers[i] for i, k in enumerate(labels) if k == 2]
    cost = 0.0
    for values, weight in ((first, weights[3]), (ys, weights[3])):
        cost += weight * (len(set(values)) > 1)
    cost += 0.25 if not first or not items else weights[0] * (first[0] != sum(items))
    cost += 0.25 if not ys or not first else weights[1] * (ys[0] <= first[0])
    return cost + weights[2] * (len(items) != 1)


def random_case(seed):
    rng = np.random.default_rng(seed)
    words = [str(word) for word in rng.integers(1, 4, rng.integers(1, 6))]
    scores = Scores.from_probs(rng.dirichlet(np.full(3, 0.6), len(words)), NAMES)
    weights = rng.integers(0, 4, 4).astype(float).tolist()
    checks = ["first == sum(item)", "y > first", "count(item) == 1"]
    rules = Rules(
        FIELDS, [Rule(check, weight=w) for check, w in zip(checks, weights, strict=False)]
    ).with_defaults(
        presence="free",
        unchecked=0.25,
        weights={"first:agrees": weights[3], "y:agrees": weights[3]},
    )
    return Document("d", words), scores, rules, weights


@pytest.mark.parametrize("decoder", ["exact", "readings", "paths", "lazyk", "lazy_ilp"])
def test_the_best_labelling_of_shared_labels_is_found(decoder):
    for seed in range(60):
        document, scores, rules, weights = random_case(seed)
        assert_finds_best(
            document,
            scores,
            rules,
            decoder,
            lambda labels, words=document.words, w=weights: penalty_by_hand(words, labels, w),
        )


def test_confidence_counts_a_span_for_its_own_field():
    for seed in range(80):
        document, scores, rules, weights = random_case(seed)
        found = decode(document, scores, rules, budget=ENOUGH, alternatives=2)
        answer = [NAMES.index(label) for label in found.labels]
        total, same = 0.0, np.zeros(3)
        rows, log_probs = every_legal_row(Problem(document, scores, rules, keep=False))
        for row, log_prob in zip(rows, log_probs, strict=True):
            weight = exp(log_prob - penalty_by_hand(document.words, row, weights))
            total += weight
            same += weight * np.array(
                [a == b for a, b in zip(seen(document, row), seen(document, answer), strict=True)]
            )
        for share, f in zip(same / total, rules.fields, strict=True):
            if f.name in found.confidence:
                low, high = found.confidence[f.name]
                assert low - 1e-9 <= share <= high + 1e-9, (seed, f.name)
                assert high - low < 1e-6


def seen(document, labels):
    first = [document.words[i] for i, k in enumerate(labels) if k == 1 and i not in (1, 3)]
    items = [document.words[i] for i, k in enumerate(labels) if k == 1 and i in (1, 3)]
    ys = [document.words[i] for i, k in enumerate(labels) if k == 2]
    return first[:1], items, ys[:1]
