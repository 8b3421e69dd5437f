"""Limits that hold in every part of a call; ``python -m benchmarks.limits`` prints how closely."""

from __future__ import annotations

import signal
import threading
from math import inf
from time import perf_counter

import numpy as np
import pytest

import lawful
from lawful import Budget, Document, Field, Rules, Scores, decode
from lawful.search.clash import _demands, find_clash
from lawful.search.problem import Problem
from tests.fixtures.slow import CASES, ambiguous, clashing, confused, corrected, repeated

# Each of these once took from one to forty seconds, whatever was asked for.
ASKED = 0.05
ENOUGH = 1.0  # on a machine that does other things too


@pytest.mark.parametrize("name", CASES)
def test_a_call_takes_no_longer_than_it_may(name):
    if "ilp" in name:
        pytest.importorskip("pulp")
    case = CASES[name]
    problem = case.make()
    began = perf_counter()
    found = decode(*problem, budget=Budget(candidates=inf, seconds=ASKED), **case.options)
    assert perf_counter() - began < ENOUGH
    assert len(found.labels) == len(problem[0])
    assert found.bound >= found.worth - 1e-9


@pytest.mark.parametrize("name", ["graph of 2,000 words", "500 ambiguous amounts", "beam"])
def test_ctrl_c_is_heard(name):
    case = next(case for known, case in CASES.items() if name in known)
    problem = case.make()
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    began = perf_counter()
    with pytest.raises(KeyboardInterrupt):
        decode(*problem, budget=Budget(candidates=inf), **case.options)
    assert perf_counter() - began < 0.2 + ENOUGH


def test_exact_gives_an_answer_no_worse_than_paths_where_it_proves_none():
    problem = confused(60)
    one, other = (
        decode(*problem, decoder=decoder, budget=Budget(candidates=4096))
        for decoder in ("exact", "paths")
    )
    assert one.status == other.status == "exhausted"
    assert one.worth >= other.worth > -inf
    assert one.bound >= one.worth


def test_forty_ambiguous_texts_are_settled_as_they_should_be():
    # 2^40 ways to read them; which of these add up with the fewest unlikely readings is found by
    # dynamic programming. The value of an amount is 1,000 times smaller, read otherwise.
    labels = ("O", "B-total", "B-item")
    values = [1000 * i + 1500 for i in range(40)]
    texts = [f"{value / 1000:.3f}" for value in values]
    total = sum(value / 1000 if i % 3 == 0 else value for i, value in enumerate(values))
    fewest = {0: 0}
    for value in values:
        taken = {amount + value: count + 1 for amount, count in fewest.items()}
        for amount, count in taken.items():
            fewest[amount] = min(count, fewest.get(amount, count))
    expected = fewest[sum(values[::3])]
    rules = Rules(
        [
            Field("total", "total", "money"),
            Field("items", "item", "money", many=True, ambiguity=0.01),
        ],
        [lawful.Rule("total == sum(items)", tolerance=0)],
    )
    document = Document("d", [f"{total:.2f}", *texts])
    judge = Problem(document, Scores.from_probs([[0.1, 0.8, 0.1]] * 41, labels), rules).judge
    reading, cost = judge.settle(judge.read(np.array([1] + [2] * 40)))
    assert expected < 14
    assert cost.most == cost.least == pytest.approx(0.01 * expected)
    assert sum(span.reading for span in reading[1]) == expected
    (check,) = judge.checks(reading)
    assert check.state == "satisfied"


def test_what_cannot_be_tried_is_not_claimed():
    # 3 x 60 values: 216,000 combinations, none of which is right.
    for decoder in ("exact", "paths"):
        found = decode(*repeated(60), decoder=decoder, budget=Budget(candidates=200))
        assert not found.optimal
        assert found.status == "exhausted"
    found = decode(*repeated(15), decoder="paths", budget=Budget(candidates=20))
    assert {check.state for check in found.rules} == {"violated"}


def test_reasons_that_there_was_no_time_for_are_not_made_up():
    problem = corrected(5000)
    found = decode(*problem, budget=Budget(seconds=1e-6))
    assert any(correction.because is None for correction in found.corrections)
    assert "no time to find out why" in str(found)
    few = decode(*corrected(20))
    assert not any(correction.because is None for correction in few.corrections)


def test_a_clash_is_the_same_at_every_call_and_says_when_it_may_be_too_large():
    problem = clashing(12)
    some = {decode(*problem).clash for _ in range(3)}
    assert some == {("f0 > 100", "f0:required")}  # no word is above 50
    everything = _demands(Problem(*problem))
    clash, minimal = find_clash(
        Problem(*problem), Budget(seconds=1e-9), lambda *_: pytest.fail("no time for that")
    )
    assert (clash, minimal) == (everything, False)


def test_time_for_settling_is_time_too():
    began = perf_counter()
    found = decode(*ambiguous(500), decoder="paths", budget=Budget(seconds=ASKED))
    assert perf_counter() - began < ENOUGH
    assert found.status == "exhausted"
    assert not found.optimal


def test_a_rule_of_no_weight_that_is_undecided_leaves_the_page_unproven():
    document, scores, rules = repeated(60)
    found = decode(document, scores, rules.with_defaults(weight=0.0, unchecked=0.0))
    assert (found.status, found.optimal, found.stopped_by) == ("exhausted", False, "combinations")


def test_how_sure_fields_are_is_not_known_where_numbers_are_too_small_to_tell():
    scores = Scores.from_probs([[1e-6, 1 - 2e-6, 1e-6]] * 80, ("O", "B-a", "B-b"))
    fields = [Field("a", "a", "money", many=True), Field("b", "b", "money")]
    found = decode(Document("d", ["abc"] * 80), scores, Rules(fields), alternatives=1)
    assert found.penalty == 800
    assert found.confidence["a"] == (0, 1)


def test_a_labelling_counts_once_however_its_texts_are_read():
    scores = Scores.from_probs([[0.1, 0.9]] * 3, ("O", "B-a"))
    rules = Rules([Field("a", "a", "money", many=True, ambiguity=0.1)])
    document = Document("d", ["3.350", "4.120", "1.111"])
    found = decode(document, scores, rules, alternatives=3, budget=Budget(mass=0.8))
    assert found.mass < 0.9
    every = decode(document, scores, rules, alternatives=50)
    assert every.mass == pytest.approx(0.999)  # the field may not vanish
