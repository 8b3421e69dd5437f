"""``assignments`` against brute force, the peer package and the paper's Table 1."""

from __future__ import annotations

import math

import lazyk
import numpy as np
import pytest
from hypothesis import given, settings

import lawful
from tests.fixtures.rows import peaked
from tests.helpers import assert_yields
from tests.oracles.streams import every_assignment
from tests.strategies import small_costs, small_probs


@settings(max_examples=2000)
@given(small_costs())
def test_yields_every_assignment_once_in_order(costs):
    expected = every_assignment(costs)
    cost_of = {labels: cost for cost, labels in expected}.get
    assert_yields(lawful.assignments(costs, kind="costs"), expected, cost_of)


@settings(max_examples=1000)
@given(small_probs())
def test_never_yields_a_label_of_probability_zero(probs):
    with np.errstate(divide="ignore"):
        expected = every_assignment(-np.log(probs))
    cost_of = {labels: cost for cost, labels in expected}.get
    assert_yields(lawful.assignments(probs), expected, cost_of)


def test_table_1_of_the_paper_line_by_line():
    labels = ["B-total", "I-total", "B-cash", "I-cash"]
    table = np.array([[0.3, 0, 0.5, 0], [0, 0.4, 0, 0.3], [0, 0.4, 0, 0.3]])
    with np.errstate(divide="ignore"):  # partial rows, as printed: they do not sum to one
        stream = lawful.assignments(np.log(table), kind="emissions")
    bio = lawful.Scheme.named("BIO", labels)
    lines = [
        (f"{math.exp(log_prob):.1%}", [labels[i] for i in found], bio.allows(found))
        for found, log_prob in stream
    ]
    assert lines[:6] == [
        ("8.0%", ["B-cash", "I-total", "I-total"], False),
        ("6.0%", ["B-cash", "I-total", "I-cash"], False),
        ("6.0%", ["B-cash", "I-cash", "I-total"], False),
        ("4.8%", ["B-total", "I-total", "I-total"], True),
        ("4.5%", ["B-cash", "I-cash", "I-cash"], True),
        ("3.6%", ["B-total", "I-total", "I-cash"], False),
    ]
    assert len(lines) == 8


@pytest.mark.parametrize(("words", "labels"), [(46, 61), (147, 25), (353, 53)])
def test_agrees_with_the_peer_package_on_large_matrices(words, labels):
    probs = peaked(np.random.default_rng(words), words, labels)
    count = 2000
    peer = np.array([row for row, _ in zip(lazyk.lazyk(probs), range(count), strict=False)])
    found, log_probs = lawful.assignments(probs).take(count)
    assert np.log(probs[np.arange(words), peer]).sum(axis=1) == pytest.approx(log_probs)
    assert {row.tobytes() for row in found} == {row.astype(np.uint8).tobytes() for row in peer}


def test_costs_that_differ_by_one_bit_are_neither_lost_nor_doubled():
    # Two costs may be the same distance from the best one, after rounding, and still be two.
    first, second = 1e-9, np.nextafter(1e-9, 1)
    costs = np.array([[-1e9, second, first, 0.5]] * 2)
    found, _ = lawful.assignments(costs, kind="costs").take(99)
    assert len(np.unique(found, axis=0)) == len(found) == 16


def test_minus_zero_is_zero():
    # The queue orders costs by their bits, where -0.0 has a sign.
    found, log_probs = lawful.assignments([[0.0, -0.0], [-0.0, 0.0]], kind="costs").take(9)
    assert len(found) == 4
    assert log_probs.tolist() == [0] * 4


def test_rows_may_have_different_lengths():
    found, log_probs = lawful.assignments([[0.5, 0.5], [1.0], [0.2, 0.3, 0.5]]).take(99)
    assert len(found) == 6
    assert found[:, 1].tolist() == [0] * 6
    assert np.exp(log_probs).sum() == pytest.approx(1)


def test_zero_words_have_one_assignment():
    found, log_probs = lawful.assignments(np.empty((0, 3))).take(9)
    assert found.shape == (1, 0)
    assert log_probs.tolist() == [0]


def test_a_row_of_zeros_leaves_nothing():
    assert list(lawful.assignments([[0.5, 0.5], [0, 0]])) == []
    assert lawful.assignments(np.zeros((3, 2))).take(5)[0].shape == (0, 3)
