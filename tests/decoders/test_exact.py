"""The exact decoder against every labelling, judged in Python."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Budget, Document, Field, Rule, Rules, Scores, decode
from lawful.decoders import exact
from lawful.rules.judging.judge import Judge
from lawful.search import reading_search
from lawful.search.problem import Problem
from tests.helpers import ENOUGH, status_of_optimum
from tests.oracles.labellings import best_worth, every_legal_row, every_reading, seen_by_a_person
from tests.strategies import problems


@pytest.mark.parametrize("patience", [1, 256])  # sums modulo a prime at once, or never
@settings(max_examples=400)  # make fuzz draws twenty thousand
@given(problem=problems())
def test_exact_finds_the_best_and_says_so(patience, problem):
    expected = best_worth(*problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading_search, "PATIENCE", patience)
        found = decode(*problem, decoder="exact", budget=ENOUGH)
    if expected == -inf:
        assert found.status == "infeasible"
        return
    assert found.worth == pytest.approx(expected, abs=1e-9)
    assert found.optimal
    assert found.bound == pytest.approx(expected, abs=1e-9)
    assert found.status == status_of_optimum(found)


@settings(max_examples=300)
@given(problem=problems(), budget=st.sampled_from([1, 2, 5, 20]))
def test_a_small_budget_never_lies(problem, budget):
    expected = best_worth(*problem)
    for decoder in ("exact", "readings"):
        found = decode(*problem, decoder=decoder, budget=Budget(candidates=budget))
        assert found.tried <= budget
        assert found.bound >= expected - 1e-9
        if found.optimal:
            assert found.worth == pytest.approx(expected, abs=1e-9)
        assert found.status != "infeasible" or expected == -inf


@settings(max_examples=300)
@given(problem=problems(), most=st.sampled_from([0.0, 0.5, 2.0]))
def test_rules_never_cost_more_than_max_cost(problem, most):
    document, scores, rules = problem
    whole = Problem(document, scores, rules)
    if whole.best_legal is None:
        return
    rows, log_probs = every_legal_row(whole)
    floor = log_probs.max() - most
    worths = log_probs - np.array([cost.most for cost in whole.judge.costs(rows)])
    expected = worths[log_probs >= floor - 1e-12].max()
    for decoder in ("exact", "readings", "paths", "lazyk"):
        budget = Budget(candidates=10**6, max_cost=most)
        found = decode(document, scores, rules, decoder=decoder, budget=budget)
        assert found.log_prob >= floor - 1e-9
        if expected == -inf:
            assert found.status in ("exhausted", "infeasible")
            assert found.log_prob == pytest.approx(log_probs.max())
        else:
            assert found.worth == pytest.approx(expected, abs=1e-9)
        if found.optimal:
            assert found.worth == pytest.approx(worths.max(), abs=1e-9)
        assert found.bound >= worths.max() - 1e-9


@settings(max_examples=300)
@given(problem=problems(), count=st.integers(1, 4))
def test_alternatives_are_the_next_best_sets_of_values(problem, count):
    document, scores, rules = problem
    whole = Problem(document, scores, rules)
    judge = whole.judge
    expected = {}
    if whole.best_legal is not None:
        rows, log_probs = every_legal_row(whole)
        for row, log_prob in zip(rows, log_probs, strict=True):
            for reading in every_reading(judge, judge.read(row)):
                worth = log_prob - judge.weigh(reading).most
                values = seen_by_a_person(rules, judge.fields(reading))
                if worth > -inf:
                    expected[values] = max(expected.get(values, -inf), worth)
    ranked = sorted(expected.values(), reverse=True)[: count + 1]
    found = decode(document, scores, rules, budget=ENOUGH, alternatives=count)
    if not ranked:
        assert found.status == "infeasible"
        return
    everything = [found, *found.alternatives]
    assert [d.worth for d in everything] == pytest.approx(ranked, abs=1e-9)
    assert len({seen_by_a_person(rules, d.fields) for d in everything}) == len(everything)
    assert all(d.optimal for d in everything)
    if len(ranked) > 1:
        assert found.margin == pytest.approx(ranked[0] - ranked[1], abs=1e-9)
    else:
        assert found.margin == inf


@settings(max_examples=200)
@given(problem=problems())
def test_weights_of_infinity_and_zero_are_the_hard_result_and_the_best_legal_labelling(problem):
    document, scores, rules = problem
    nothing = decode(
        document, scores, rules.with_defaults(weight=0.0, presence="free", unchecked=0.0)
    )
    best = Problem(document, scores, rules).best_legal
    if best is not None:
        assert nothing.log_prob == pytest.approx(Problem(document, scores, rules).log_prob(best))
    hard = decode(document, scores, rules.with_defaults(weight=inf))
    assert hard.status in ("satisfied", "unchecked", "infeasible")
    expected = decode(document, scores, rules.with_defaults(weight=inf), decoder="paths",
                      budget=ENOUGH)  # fmt: skip
    assert (hard.status == "infeasible") == (expected.status == "infeasible")
    if hard.status != "infeasible":
        assert hard.worth == pytest.approx(expected.worth)


def test_long_documents_are_judged_only_a_few_times(monkeypatch):
    """Judging a labelling of 10,000 words takes tens of milliseconds; a thousand took a minute."""
    words = 120
    monkeypatch.setattr(exact, "MAX_WORDS_WALKED", 10 * words)
    monkeypatch.setattr(exact, "WALKED_LESS", 1)
    monkeypatch.setattr(reading_search.ReadingSearch, "_improve", lambda *given: None)
    monkeypatch.setattr(reading_search, "WITHOUT", ("detours",))  # which prove the answer
    document = Document("long", ["1.00", "2.00", "3.00"] * (words // 3))
    probs = np.full((words, 3), 1 / 3)
    scores = Scores.from_probs(probs, ["O", "B-total", "B-item"])
    fields = [Field("total", label="total", type="money")]
    fields.append(Field("items", label="item", type="money", many=True))
    rules = Rules(fields, ["total == sum(items) + 0.5"])  # never
    judged = []
    cost = Judge.cost
    monkeypatch.setattr(Judge, "cost", lambda *given: judged.append(1) or cost(*given))
    found = decode(document, scores, rules, budget=Budget(candidates=2**9))
    assert not found.optimal
    assert found.stopped_by is not None
    assert 1 < len(judged) <= 10


@settings(max_examples=300)
@given(problem=problems(), slack=st.floats(0, 6))
def test_a_sole_reading_is_that_of_all_labellings_that_probable(problem, slack):
    asked = Problem(*problem)
    best = asked.best_legal
    if best is None or asked.prior:
        return
    least = asked.log_prob(best) - slack
    if not asked.is_sole_reading(best, least):
        return
    rows, log_probs = every_legal_row(asked)
    for row in rows[log_probs >= least]:
        assert asked.judge.read(row) == asked.judge.read(best)


def test_a_sure_model_with_an_unchecked_rule_needs_no_search(monkeypatch):
    monkeypatch.setattr(exact, "_candidates", None)
    fields = [Field(name, name, type="money") for name in ("total", "tax")]
    rules = Rules(fields, [Rule("total > tax")])
    scores = Scores.from_probs([[0.98, 0.01, 0.01], [0.01, 0.98, 0.01]], ["O", "B-total", "B-tax"])
    found = decode(Document("page", ["Total", "5.00"]), scores, rules)
    assert found.status == "unchecked"
    assert found.optimal
    assert found.penalty > 0


CLASSES = Rules([Field("total", "total", "money")], ["total > 0"], classes={"kind": "kind"})


@pytest.mark.parametrize("budget", [Budget(candidates=1), Budget(seconds=1e-9)])
def test_an_optimum_whose_alternatives_were_not_found_says_why(budget):
    document = Document("d", ["5.00", "7.00"], classes={"kind": {"a": -0.6931, "b": -0.6932}})
    scores = Scores.from_probs([[0.2, 0.8], [0.6, 0.4]], ["O", "B-total"])
    found = decode(document, scores, CLASSES, alternatives=3, budget=budget)
    if found.optimal:
        assert found.margin == 0.0
    assert found.stopped_by == ("candidates" if budget.seconds is None else "seconds")


@settings(max_examples=150)
@given(problem=problems(), budget=st.sampled_from([1, 3, 20, 300, 10**6]))
def test_the_answer_does_not_depend_on_whether_alternatives_are_asked_for(problem, budget):
    some = Budget(candidates=budget)
    alone = decode(*problem, budget=some)
    ranked = decode(*problem, budget=some, alternatives=3)
    for name in ("status", "optimal", "labels", "fields", "log_prob", "penalty", "checks", "clash"):
        assert getattr(ranked, name) == getattr(alone, name)
    assert ranked.bound == pytest.approx(alone.bound)
    if alone.optimal:
        assert ranked.margin is not None
