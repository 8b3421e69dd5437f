"""Limits that hold in every part of a call; ``lab.benchmarks.limits`` prints how closely."""

from __future__ import annotations

import gc
import os
import signal
import threading
from math import inf, log
from time import perf_counter

import numpy as np
import pytest

from lawful import Budget, Document, Field, Rules, Scores, decode
from lawful.rules import RuleDefaults
from tests.fixtures.slow import CASES, ambiguous, confused, repeated

# Each of these once took from one to forty seconds, whatever was asked for.
ASKED = 0.05
ENOUGH = 1.0


def seconds_worked():
    """Processor time of this process and those it started: what else runs here does not count."""
    return sum(os.times()[:4])


@pytest.mark.parametrize("name", CASES)
def test_a_call_takes_no_longer_than_it_may(name):
    if "ilp" in name:
        pytest.importorskip("pulp")
    case = CASES[name]
    problem = case.make()
    began = seconds_worked()
    found = decode(*problem, budget=Budget(candidates=inf, seconds=ASKED), **case.options)
    assert seconds_worked() - began < ENOUGH
    assert len(found.labels) == len(problem[0])
    assert found.bound >= found.worth - 1e-9


@pytest.mark.parametrize("name", ["2,000 words", "500 ambiguous amounts", "sum of some", "beam"])
def test_ctrl_c_is_heard(name):
    case = next(case for known, case in CASES.items() if known.startswith(name))
    problem = case.make()
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    began = seconds_worked()
    gc.disable()  # an interrupt in the callback that Hypothesis has there would be lost
    try:
        with pytest.raises(KeyboardInterrupt):
            decode(*problem, budget=Budget(candidates=inf), **case.options)
    finally:
        gc.enable()
    assert seconds_worked() - began < 0.2 + ENOUGH


def test_exact_gives_an_answer_no_worse_than_paths_where_it_proves_none():
    problem = confused(60)
    one, other = (
        decode(*problem, decoder=decoder, budget=Budget(candidates=4096))
        for decoder in ("exact", "paths")
    )
    assert one.status == other.status == "exhausted"
    assert one.worth >= other.worth > -inf
    assert one.bound >= one.worth


def test_what_cannot_be_tried_is_not_claimed():
    # 3 x 60 values: 216,000 combinations, none of which is right.
    for decoder in ("exact", "paths"):
        found = decode(*repeated(60), decoder=decoder, budget=Budget(candidates=200))
        assert not found.optimal
        assert found.status == "exhausted"
    found = decode(*repeated(15), decoder="paths", budget=Budget(candidates=20))
    assert {check.state for check in found.rule_checks} == {"violated"}


def test_time_for_settling_is_time_too():
    began = seconds_worked()
    found = decode(*ambiguous(500), decoder="paths", budget=Budget(seconds=ASKED))
    assert seconds_worked() - began < ENOUGH
    assert found.status == "exhausted"
    assert not found.optimal


def test_a_rule_of_no_weight_that_is_undecided_leaves_the_page_unproven():
    document, scores, rules = repeated(60)
    found = decode(document, scores, rules.with_defaults(weight=0.0, unchecked=0.0))
    assert (found.status, found.optimal, found.stopped_by) == ("exhausted", False, "combinations")


def test_a_labelling_counts_once_however_its_texts_are_read():
    scores = Scores.from_probs([[0.1, 0.9]] * 3, ("O", "B-a"))
    rules = Rules([Field("a", "a", "money", many=True, ambiguity=0.1)])
    document = Document("d", ["3.350", "4.120", "1.111"])
    found = decode(document, scores, rules, alternatives=3, budget=Budget(mass=0.8))
    assert found.mass < 0.9
    every = decode(document, scores, rules, alternatives=50)
    assert every.mass == pytest.approx(0.999)  # the field may not vanish


@pytest.mark.parametrize("alternatives", [0, 1])
def test_a_time_that_is_up_is_a_limit_for_every_class(alternatives):
    # Where no class had an answer in time, a second search had no limit at all.
    rng = np.random.default_rng(1)
    words = [f"{a}.{b:02d}" for a, b in zip(*rng.integers(1, 99, (2, 400)).tolist(), strict=True)]
    logits = rng.normal(size=(400, 4))
    logits[:, 1] += 1.5
    scores = Scores.from_logits(logits, ["O", "B-items", "B-total", "B-tax"])
    fields = [Field("items", "items", "money", many=True)]
    fields += [Field(name, name, "money") for name in ("total", "tax")]
    hard = RuleDefaults(weight=inf)
    rules = Rules(
        fields, ["total == sum(items) + tax"], classes={"kind": "kind"}, defaults=hard
    )  # fmt: skip
    document = Document("d", words, classes={"kind": {"a": log(0.5), "b": log(0.5)}})
    began = seconds_worked()
    found = decode(document, scores, rules, budget=Budget(seconds=0.01), alternatives=alternatives)
    assert seconds_worked() - began < ENOUGH
    assert (found.status, found.stopped_by) == ("exhausted", "seconds")


def test_a_budget_that_has_ended_is_spent_at_once():
    assert Budget(seconds=5).ending(perf_counter() - 1).seconds == pytest.approx(0, abs=1e-6)
    assert Budget(seconds=5).ending(perf_counter() - 1).seconds > 0
    assert Budget(candidates=7).ending(inf) == Budget(candidates=7)


@pytest.mark.parametrize("decoder", ["auto", "readings", "paths", "lazyk"])
@pytest.mark.parametrize("huge", [1e15, 1e30])
def test_nothing_is_proven_by_sums_that_rounding_makes_equal(decoder, huge):
    # Every legal labelling pays a huge cost for its first word.
    logits = [[-huge, -huge, 0.0, -huge], [0.0, 1.0, -9.0, -1.0], [0.2, -1.0, -2.0, 0.4]]
    scores = Scores.from_logits(np.array(logits), ["O", "B-a", "I-a", "B-b"])
    fields = [Field(name, name, "money", repeat="first", presence="free") for name in "ab"]
    document = Document("d", ["u", "3", "1"])
    for rules in (Rules(fields), Rules(fields, ["a < 2"])):
        found = decode(document, scores, rules, decoder=decoder, budget=Budget(candidates=10**5))
        assert (found.status, found.stopped_by) == ("exhausted", "rounding")
