"""A promise: kept as often as it says, refused where documents cannot carry it, watched."""

from __future__ import annotations

from itertools import accumulate
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.base.errors import InputError
from lawful.learn.intervals import binomial_tail, upper_bound
from lawful.learn.promise import Reviewed, Watch, enough, fewest, fewest_reviewed, promise
from lawful.learn.trust import DOUBTS
from lawful.results.promise import Promise


def imagined(count, random, easy):
    """Documents that are wrong with a probability that rises with two doubts, and these."""
    doubts = np.zeros((count, len(DOUBTS)))
    doubts[:, 0] = random.uniform(-9, 0, count)
    doubts[:, 2] = random.integers(0, 3, count)
    wrong = 1 / (1 + np.exp(easy - 0.8 * (doubts[:, 0] + 9) - doubts[:, 2]))
    return doubts, wrong


def reviewed(count, random, easy=8.0):
    doubts, wrong = imagined(count, random, easy)
    return [Reviewed(f"d{i}", d, bool(random.random() >= w))
            for i, (d, w) in enumerate(zip(doubts, wrong, strict=True))]  # fmt: skip


def tail_of_definition(most, of, rate):
    return sum(comb(of, k) * rate**k * (1 - rate) ** (of - k) for k in range(most + 1))


@given(st.integers(1, 60), st.floats(0.001, 0.999), st.data())
def test_the_tail_is_the_sum_of_its_terms(of, rate, data):
    most = data.draw(st.integers(0, of))
    assert binomial_tail(most, of, rate) == pytest.approx(tail_of_definition(most, of, rate))


def test_the_tail_of_many_trials_does_not_overflow():
    assert binomial_tail(10_000, 1_000_000, 0.01) == pytest.approx(0.5, abs=0.01)
    assert binomial_tail(100, 1_000_000, 0.01) == 0
    assert binomial_tail(-1, 5, 0.5) == 0
    assert binomial_tail(5, 5, 0.5) == 1


@pytest.mark.parametrize(
    ("wrong", "of", "bound"), [(0, 299, 0.0099694), (1, 10, 0.394163), (3, 100, 0.0757101)]
)
def test_the_bound_is_that_of_clopper_and_pearson(wrong, of, bound):
    assert upper_bound(wrong, of, 0.95) == pytest.approx(bound, rel=1e-4)
    assert upper_bound(0, 0, 0.95) == 1


@pytest.mark.parametrize("error", [0.05, 0.1])
def test_a_promise_is_broken_no_more_often_than_it_says(error):
    """On 150 sets of documents, whose error rate above a threshold is known."""
    random = np.random.default_rng(1)
    doubts, wrong = imagined(5000, random, 8.0)
    made = broken = 0
    for seed in range(150):
        found = promise(reviewed(240, random), ["total"], error=error, confidence=0.9, seed=seed)
        if found.trust.promise is None:
            continue
        made += 1
        trust = np.array([found.trust.of(each) for each in doubts])
        passed = trust >= found.trust.promise.threshold
        broken += wrong[passed].mean() > error
    assert made > 75
    # 10 % of 150 are 15; 25 or more have a probability below 1 %.
    assert broken < 25


def test_the_first_threshold_that_is_not_shown_ends_the_tests():
    """Where trust says nothing and the error rate is the promised one: broken in 5 % of sets."""
    random = np.random.default_rng(2)
    doubts = np.zeros((200, len(DOUBTS)))
    made = 0
    for seed in range(300):
        doubts[:, 0] = random.uniform(-9, 0, 200)
        pages = [Reviewed(f"d{i}", d, bool(random.random() >= 0.1)) for i, d in enumerate(doubts)]
        found = promise(pages, ["total"], error=0.1, seed=seed)
        made += found.trust.promise is not None
        assert [each.shown for each in found.tested[:-1]] == [True] * (len(found.tested) - 1)
    # Every promise is broken here. 5 % of 300 are 15; 25 or more have a probability below 1 %.
    assert made < 25


def test_the_promise_is_that_of_the_last_threshold_shown():
    found = promise(reviewed(900, np.random.default_rng(3)), ["total"], error=0.05)
    made = found.trust.promise
    shown = [each for each in found.tested if each.shown]
    assert (made.threshold, made.passed, made.wrong) == shown[-1][:3]
    assert [each.threshold for each in found.tested] == sorted(
        (each.threshold for each in found.tested), reverse=True
    )
    for each in found.tested:
        assert each.shown == (each.bound <= 0.05)
        assert each.bound == pytest.approx(upper_bound(each.wrong, each.passed, 0.95))
    assert made.documents == found.documents == 600


def test_barred_documents_never_count_as_passing():
    pages = [each._replace(barred=i % 2 == 0, right=i % 2 == 1)
             for i, each in enumerate(reviewed(400, np.random.default_rng(4)))]  # fmt: skip
    found = promise(pages, ["total"], error=0.05)
    assert found.trust.promise.wrong == 0
    assert all(each.passed <= 200 for each in found.tested)


def test_the_seed_decides_and_the_order_does_not():
    pages = reviewed(300, np.random.default_rng(5))
    found = promise(pages, ["total"], error=0.1, seed=1)
    assert promise(pages[::-1], ["total"], error=0.1, seed=1) == found
    assert promise(pages, ["total"], error=0.1, seed=2).trust != found.trust


@pytest.mark.parametrize(
    ("error", "confidence", "least", "documents"),
    [(0.01, 0.95, 299, 448), (0.05, 0.95, 59, 88), (0.1, 0.9, 22, 33), (0.5, 0.5, 1, 30)],
)
def test_few_documents_are_refused_with_how_many_it_takes(error, confidence, least, documents):
    assert fewest(error, confidence) == least
    assert fewest_reviewed(error, confidence) == documents
    right = [each._replace(right=True) for each in reviewed(documents, np.random.default_rng(6))]
    found = promise(right, ["total"], error=error, confidence=confidence)
    assert found.documents >= least
    with pytest.raises(InputError, match=rf"that takes at least {documents}, 1 more"):
        promise(right[1:], ["total"], error=error, confidence=confidence)


def test_a_refusal_says_how_many_more_would_do():
    pages = reviewed(120, np.random.default_rng(7), easy=9.0)
    found = promise(pages, ["total"], error=0.02, confidence=0.79)
    assert found.trust.promise is None
    assert "if it goes on like this, about" in found.why_not
    wrong = [each._replace(right=i % 3 > 0) for i, each in enumerate(pages)]
    found = promise(wrong, ["total"], error=0.05)
    assert "more documents alone will not show it" in found.why_not


def test_enough_is_the_fewest_that_show_it():
    assert enough(0.0, 0.05, 0.95, 1.0) == np.ceil(1.5 * fewest(0.05, 0.95))
    assert enough(0.0, 0.05, 0.95, 0.5) == 3 * fewest(0.05, 0.95)
    assert enough(0.05, 0.05, 0.95) is None
    count = 2 * enough(0.02, 0.05, 0.95) // 3
    assert binomial_tail(int(np.ceil(0.02 * count)), count, 0.05) <= 0.05
    assert binomial_tail(int(np.ceil(0.02 * count)) - 1, count - 25, 0.05) > 0.04


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"error": 0}, "error is 0, expected a number between 0 and 1"),
        ({"error": float("nan")}, "error is nan"),
        ({"confidence": 1}, "confidence is 1, expected a number between 0 and 1"),
    ],
)
def test_shares_are_checked(asked, message):
    with pytest.raises(InputError, match=message):
        promise(reviewed(40, np.random.default_rng(8)), ["total"], **asked)


def test_a_document_counts_once():
    pages = reviewed(60, np.random.default_rng(9))
    with pytest.raises(InputError, match="2 documents have the id 'd0'"):
        promise([*pages, pages[0]], ["total"], error=0.1)


def watch(error=0.05, confidence=0.95):
    return Watch(
        Promise(error=error, confidence=confidence, threshold=0.9, documents=99, passed=90, wrong=0)
    )


def test_a_promise_that_holds_is_seldom_called_broken_however_often_one_looks():
    random = np.random.default_rng(10)
    called = 0
    for _ in range(400):
        found = watch()
        found.add((random.random(500) < 0.05).tolist())
        called += found.is_broken
    assert called < 33  # 5 % of 400 are 20; 33 or more have a probability below 1 %


def test_a_promise_that_does_not_hold_is_found_out_soon():
    random = np.random.default_rng(11)
    found = [watch() for _ in range(40)]
    for each in found:
        each.add((random.random(200) < 0.15).tolist())
    assert sum(each.is_broken for each in found) > 36


def test_evidence_is_that_of_the_bets():
    found, wrongs = watch(0.1), [True, False, False, True]
    found.add(wrongs)
    rates = [min(times * 0.1, 0.55) for times in (1.5, 2, 3, 5, 10)]
    wealth = [
        list(accumulate(wrongs, lambda w, x, q=q: w * (q / 0.1 if x else (1 - q) / 0.9), initial=1))
        for q in rates
    ]
    assert np.exp(found.most) == pytest.approx(max(1, *np.mean(wealth, axis=0)))
    assert (found.passed, found.wrong, found.is_broken) == (4, 2, False)
    found.add([True] * 20)
    assert found.is_broken
    found.add([False] * 1000)
    assert found.is_broken  # once and for all
