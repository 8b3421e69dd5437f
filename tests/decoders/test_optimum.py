"""Exact decoders against the worth of every labelling, from the definitions."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.paper.baselines import lazyk as published
from lawful import Budget, decode
from lawful.rules.definitions import PAPER
from lawful.rules.judging.judge import Judge
from tests.helpers import ENOUGH, status_of_optimum
from tests.oracles.definitions import LABELS, best_worth
from tests.oracles.streams import legal_bio
from tests.strategies import total_and_parts


@pytest.mark.parametrize("decoder", ["lazyk", "best_first", "paths", "beam", "exact"])
@settings(max_examples=300)
@given(problem=total_and_parts())
def test_finds_the_labelling_of_highest_worth(decoder, problem):
    expected = best_worth(*problem)
    found = decode(*problem, decoder=decoder, budget=ENOUGH)
    if expected == -inf:
        assert found.status == ("exhausted" if decoder == "beam" else "infeasible")
        return
    assert found.log_prob - found.penalty == pytest.approx(expected)
    if decoder != "beam" or found.status != "exhausted":
        assert found.optimal
        assert found.status == status_of_optimum(found)
        assert found.bound == pytest.approx(expected)


@settings(max_examples=300)
@given(problem=total_and_parts(), candidates=st.integers(1, 30))
def test_a_small_budget_never_lies(problem, candidates):
    expected = best_worth(*problem)
    for decoder in ("paths", "lazyk", "exact"):
        found = decode(*problem, decoder=decoder, budget=Budget(candidates=candidates))
        assert found.tried <= candidates
        assert found.bound >= expected - 1e-9
        if found.optimal:
            assert found.log_prob - found.penalty == pytest.approx(expected)
        if found.status == "infeasible":
            assert expected == -inf


@settings(max_examples=300)
@given(problem=total_and_parts())
def test_lazyk_agrees_with_the_published_algorithm_under_hard_rules(problem):
    document, scores, rules = problem
    rules = rules.with_defaults(**PAPER)
    judge = Judge(document, rules, rules.scheme_for(LABELS))
    accepted = (
        log_prob
        for labels, log_prob in published(np.exp(scores.log_probs))
        if legal_bio([LABELS[i] for i in labels]) and judge.cost(np.array(labels)).most == 0
    )
    expected = next(accepted, None)
    found = decode(document, scores, rules, decoder="lazyk", budget=ENOUGH)
    if expected is None:
        assert found.status == "infeasible"
    else:
        assert found.status in ("satisfied", "unchecked")
        assert found.log_prob == pytest.approx(expected)
