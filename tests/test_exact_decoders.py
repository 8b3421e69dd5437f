"""Exact decoders against brute force over labels and rules."""

from __future__ import annotations

from itertools import product
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lawful
from lawful import Budget, Document, Field, Rule, Rules, Scores, decode
from lawful.rules.judge import Judge
from paper.baselines import lazyk as published
from tests.oracles import legal_bio

LABELS = ("O", "B-total", "I-total", "B-part")
WORDS = ["1", "2", "3", "1.000", "x", "-1", "0.5"]
CHECKS = [
    "total == sum(parts)",
    "total == 3",
    "total > 1 and count(parts) >= 1",
    "sum(parts) <= 2",
    "present(total)",
    "count(parts) == 2",
    "not present(total) or total != 2",
    "1 == 2",
]
ENOUGH = Budget(candidates=10**6)


@st.composite
def problems(draw):
    """A document of up to four words, peaked or tied scores with zeros, and random rules."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
    row = st.lists(st.integers(0, 4), min_size=4, max_size=4)
    weights = np.array(draw(st.lists(row, min_size=len(words), max_size=len(words))), dtype=float)
    weights[weights.sum(axis=1) == 0, 0] = 1
    scores = Scores.from_probs(weights / weights.sum(axis=1, keepdims=True), LABELS)
    weight = st.sampled_from([0.0, 0.5, 1.0, 3.0, inf])
    checks = draw(st.lists(st.sampled_from(CHECKS), max_size=3, unique=True))
    policy = {
        "presence": draw(st.sampled_from(["keep", "free", "required"])),
        "repeat": draw(st.sampled_from(["agree", "first", "any"])),
    }
    rules = Rules(
        [
            Field("total", "total", "money", max_words=draw(st.sampled_from([None, 1, 2]))),
            Field("parts", "part", "money", many=True),
        ],
        [Rule(check, weight=draw(weight)) for check in checks],
        defaults=lawful.Defaults(weight=draw(weight), **policy),
    )
    return Document("d", words), scores, rules


def brute_force(document, scores, rules):
    """The worth of the best legal labelling; ``None`` when hard rules refuse all of them."""
    words = len(document)
    judge = Judge(document, rules, rules.scheme_for(LABELS))
    legal = [
        np.array(labels)
        for labels in product(range(len(LABELS)), repeat=words)
        if legal_bio([LABELS[i] for i in labels])
        and np.isfinite(scores.log_probs[range(words), labels]).all()
    ]
    if not legal:
        return None
    probable = [scores.log_probs[range(words), labels].sum() for labels in legal]
    # Where the best legal labelling is a tie, what is to be kept depends on which one is meant;
    # decoders mean the one that ``paths`` yields first.
    best = next(lawful.paths(scores.costs, rules.scheme_for(LABELS), kind="costs"))[0]
    judge.keep(best)
    worth = max(
        log_prob - judge.penalty(labels) for labels, log_prob in zip(legal, probable, strict=True)
    )
    return None if worth == -inf else worth


@pytest.mark.parametrize("decoder", ["lazyk", "best_first", "paths", "beam"])
@settings(max_examples=700)
@given(problem=problems())
def test_finds_the_labelling_of_highest_worth(decoder, problem):
    expected = brute_force(*problem)
    found = decode(*problem, decoder=decoder, budget=ENOUGH)
    if expected is None:
        assert found.status == ("exhausted" if decoder == "beam" else "infeasible")
        return
    assert found.log_prob - found.penalty == pytest.approx(expected)
    if decoder != "beam" or found.status != "exhausted":
        assert found.optimal
        assert found.status == ("relaxed" if found.violations else "satisfied")
        assert found.bound == pytest.approx(expected)


@settings(max_examples=25)
@given(problem=problems())
def test_lazy_ilp_finds_it_too(problem):
    expected = brute_force(*problem)
    found = decode(*problem, decoder="lazy_ilp", budget=Budget(candidates=300))
    if expected is None:
        assert found.status == "infeasible"
    else:
        assert found.log_prob - found.penalty == pytest.approx(expected)


@settings(max_examples=300)
@given(problem=problems(), candidates=st.integers(1, 30))
def test_a_small_budget_never_lies(problem, candidates):
    expected = brute_force(*problem)
    for decoder in ("paths", "lazyk"):
        found = decode(*problem, decoder=decoder, budget=Budget(candidates=candidates))
        assert found.tried <= candidates
        worth = -inf if expected is None else expected
        assert found.bound >= worth - 1e-9
        if found.optimal:
            assert found.log_prob - found.penalty == pytest.approx(worth)
        if found.status == "infeasible":
            assert expected is None


@settings(max_examples=300)
@given(problem=problems())
def test_lazyk_agrees_with_the_published_algorithm_under_hard_rules(problem):
    document, scores, rules = problem
    rules = rules.with_defaults(weight=inf, presence="free", repeat="first")
    judge = Judge(document, rules, rules.scheme_for(LABELS))
    accepted = (
        log_prob
        for labels, log_prob in published(np.exp(scores.log_probs))
        if legal_bio([LABELS[i] for i in labels]) and judge.penalty(np.array(labels)) == 0
    )
    expected = next(accepted, None)
    found = decode(document, scores, rules, decoder="lazyk", budget=ENOUGH)
    if expected is None:
        assert found.status == "infeasible"
    else:
        assert found.status == "satisfied"
        assert found.log_prob == pytest.approx(expected)
