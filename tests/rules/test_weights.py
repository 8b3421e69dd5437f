"""Weights of the conditions that fields imply."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from lawful import Document, Field, Rule, Rules, RulesError, Scores, decode
from lawful.rules import Boundaries, Lexicon, RuleDefaults, WordRule
from lawful.rules.files import rules_from

LABELS = ("O", "B-total", "I-total", "B-shop")
FIELDS = [
    Field("total", "total", "money", max_words=1, starts=r"^[\dx]", ends=r"[\dx]$"),
    Field("shop", "shop", pattern="[A-Z]+", presence="required", lexicon=Lexicon.of(["A", "AA"])),
]
WORDS = [WordRule(("total",), match="AA")]


def decoded(words, labels, weights, **settings):
    probs = np.full((len(words), len(LABELS)), 1e-6)
    probs[range(len(words)), [LABELS.index(label) for label in labels]] = 1
    scores = Scores.from_probs(probs / probs.sum(axis=1, keepdims=True), LABELS)
    defaults = RuleDefaults(weight=5, weights=weights, **settings)
    rules = Rules(FIELDS, defaults=defaults, words=WORDS, boundaries=Boundaries("[^#]$"))
    return decode(Document("d", words), scores, rules)


@pytest.mark.parametrize(
    ("condition", "words", "labels"),
    [
        ("total:reads", ["x", "A"], ["B-total", "B-shop"]),
        ("total:max_words", ["1", "000", "A"], ["B-total", "I-total", "B-shop"]),
        ("total:agrees", ["1", "2", "A"], ["B-total", "B-total", "B-shop"]),
        ("shop:pattern", ["1", "a"], ["B-total", "B-shop"]),
        ("shop:required", ["1"], ["B-total"]),
        ("total:starts", ["+2", "A"], ["B-total", "B-shop"]),
        ("total:ends", ["2-", "A"], ["B-total", "B-shop"]),
        ("shop:in", ["1", "B"], ["B-total", "B-shop"]),
        ("shop:words", ["1", "AA"], ["B-total", "B-shop"]),
        ("shop:boundary", ["1", "#", "A"], ["B-total", "O", "B-shop"]),
    ],
)
def test_a_condition_has_its_own_weight(condition, words, labels):
    for weights, weight in (({}, 5.0), ({condition: 2}, 2.0), ({condition: 0}, 0.0)):
        found = decoded(words, labels, weights)
        assert found.labels == tuple(labels)
        (check,) = found.violations
        assert (check.id, check.weight, check.price, found.penalty) == (
            condition,
            weight,
            *[weight] * 2,
        )
    found = decoded(words, labels, {condition: "hard"})
    assert condition not in {check.id for check in found.violations} or found.status == "infeasible"


def test_a_hard_condition_clashes_by_name():
    weights = {"total:agrees": "hard", "total:reads": "hard", "shop:required": 0}
    rules = Rules(
        FIELDS,
        [Rule("count(total) == 2", id="two", weight=inf)],
        defaults=RuleDefaults(weights=weights, presence="free"),
    )
    scores = Scores.from_probs(np.full((2, 4), 0.25), LABELS)
    found = decode(Document("d", ["1", "2"]), scores, rules)
    assert found.status == "infeasible"
    assert found.clash == ("two", "total:agrees")


def test_another_weight_for_all_replaces_them():
    rules = Rules(FIELDS, defaults=RuleDefaults(weights={"total:agrees": 2}))
    assert rules.weight_of(FIELDS[0], "agrees") == 2
    assert rules.with_rules("total > 0").weight_of(FIELDS[0], "agrees") == 2
    assert rules.with_defaults(unchecked=0).weight_of(FIELDS[0], "agrees") == 2
    assert rules.with_defaults(weight=inf).weight_of(FIELDS[0], "agrees") == inf


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"totl:agrees": 1}, "unknown condition 'totl:agrees'; did you mean 'total:agrees'"),
        ({"total:agree": 1}, "did you mean 'total:agrees'"),
        ({"total": 1}, "expected a field and one of reads, max_words, pattern"),
        ({"total:kept": 1}, "that a field is kept is hard"),
        ({"total:agrees": -1}, "'total:agrees': weight is -1, expected a number of nats or 'hard'"),
        ({1: 1}, "1 is no name"),
        ([], "expected a mapping"),
    ],
)
def test_what_is_wrong_with_weights_is_said(weights, message):
    fields = {"total": {"label": "total", "type": "money"}}
    with pytest.raises(RulesError, match=message):
        rules_from({"fields": fields, "weights": weights})


def test_an_unknown_name_has_its_line(tmp_path):
    path = tmp_path / "rules.yaml"
    path.write_text("fields:\n  total: {label: total}\nweights:\n  total:agree: 3\n")
    with pytest.raises(RulesError, match=r"line 3: weights: unknown condition 'total:agree'"):
        Rules.load(path)


@pytest.mark.parametrize(("weight", "expected"), [(10, 5), (3, 3), (inf, inf)])
def test_boundaries_weigh_at_most_five_by_default(weight, expected):
    fields = [Field("a", "a")]
    rules = Rules(fields, boundaries=Boundaries(r"\.$"), defaults=RuleDefaults(weight=weight))
    assert rules.weight_of(rules.fields[0], "boundary") == expected
    assert rules.weight_of(rules.fields[0], "boundary", 7.0) == 7
    own = rules.with_defaults(weights={"a:boundary": 8})
    assert own.weight_of(own.fields[0], "boundary") == 8
