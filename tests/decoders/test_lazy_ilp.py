"""The lazy_ilp decoder and its solvers."""

from __future__ import annotations

from itertools import islice
from math import inf

import pytest
from hypothesis import given, settings

import lawful
from lab import receipts as demo
from lab.decoders.lazy_ilp import LazyIlp
from lawful import Budget, Rules, decode
from tests.oracles.definitions import best_worth
from tests.strategies import total_and_parts

EXAMPLES = list(demo.generate(2, seed=5, words=(24, 60)))
RULES = Rules.load(demo.RULES)


def test_lazy_ilp_yields_the_first_of_paths():
    example = next(demo.generate(1, seed=3, words=(24, 30)))
    problem = lawful.decoders.Problem(example.document, example.scores, RULES)
    found = list(islice(LazyIlp()._solutions(problem, []), 12))
    expected, log_probs = lawful._core.paths(problem.costs, problem.scheme.transitions).take(12)
    assert [float(log_prob[0]) for _, log_prob in found] == pytest.approx(log_probs.tolist())
    assert {tuple(labels[0]) for labels, _ in found} == {tuple(row.tolist()) for row in expected}


def test_lazy_ilp_with_highs_agrees_with_cbc():
    pytest.importorskip("highspy")
    example = EXAMPLES[1]
    budget = Budget(candidates=4)
    one, other = (
        decode(example.document, example.scores, RULES, decoder=LazyIlp(solver), budget=budget)
        for solver in ("cbc", "highs")
    )
    assert one.log_prob == pytest.approx(other.log_prob)


def test_a_solver_that_gives_up_proves_nothing(monkeypatch):
    pulp = pytest.importorskip("pulp")
    monkeypatch.setattr(pulp.LpProblem, "solve", lambda *_: pulp.LpStatusNotSolved)
    document, scores = EXAMPLES[0].document, EXAMPLES[0].scores
    found = decode(document, scores, RULES, decoder="lazy_ilp")
    assert (found.status, found.optimal) == ("exhausted", False)
    with pytest.raises(lawful.InputError, match="unknown solver 'foo'; solvers: cbc, highs"):
        decode(document, scores, RULES, decoder=LazyIlp("foo"))


@settings(max_examples=25)
@given(problem=total_and_parts())
def test_lazy_ilp_finds_it_too(problem):
    expected = best_worth(*problem)
    found = decode(*problem, decoder="lazy_ilp", budget=Budget(candidates=300))
    if expected == -inf:
        assert found.status == "infeasible"
    else:
        assert found.log_prob - found.penalty == pytest.approx(expected)
