"""``paths`` against brute force, filtered assignments and a k-best Viterbi."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lawful
from tests.fixtures.rows import bio_labels, peaked
from tests.helpers import assert_yields
from tests.oracles.streams import LEGAL, every_path, k_best_viterbi
from tests.strategies import TIED, label_lists, small_costs

LABELS = {"BIO": "BI", "IOB1": "BI", "IO": "I", "IOBES": "BIES", "BILOU": "BILU"}


@pytest.mark.parametrize("name", LABELS)
@settings(max_examples=600)
@given(data=st.data())
def test_a_scheme_yields_the_legal_assignments_and_no_others(name, data):
    names = data.draw(label_lists(LABELS[name]))
    costs = data.draw(small_costs(4, len(names)))
    expected = every_path(costs, lambda path: LEGAL[name]([names[i] for i in path]))
    cost_of = {labels: cost for cost, labels in expected}.get
    scheme = lawful.Scheme.named(name, names)
    assert_yields(lawful.paths(costs, scheme, kind="costs"), expected, cost_of)
    for _, labels in expected:
        assert scheme.allows(labels)


@settings(max_examples=1000)
@given(data=st.data())
def test_a_table_may_allow_anything(data):
    size = data.draw(st.integers(1, 4))
    costs = data.draw(small_costs(4, size))
    flags = st.lists(st.booleans(), min_size=size, max_size=size)
    start, end = data.draw(flags), data.draw(flags)
    between = data.draw(st.lists(flags, min_size=size, max_size=size))

    def legal(path):
        return not path or (
            start[path[0]] and end[path[-1]] and all(between[a][b] for a, b in pairwise(path))
        )

    scheme = lawful.Scheme.table(between, start=start, end=end)
    expected = every_path(costs, legal)
    cost_of = {labels: cost for cost, labels in expected}.get
    assert_yields(lawful.paths(costs, scheme, kind="costs"), expected, cost_of)


@settings(max_examples=1000)
@given(data=st.data())
def test_learned_transition_scores_decode_exactly(data):
    size = data.draw(st.integers(1, 4))
    costs = data.draw(small_costs(4, size))
    scores = st.lists(TIED.map(float.__neg__) | st.floats(-3, 3), min_size=size, max_size=size)
    start, end = np.array(data.draw(scores)), np.array(data.draw(scores))
    between = np.array(data.draw(st.lists(scores, min_size=size, max_size=size)))
    everything = lawful.Scheme.table(np.ones((size, size)))
    crf = everything.with_scores(between=between, start=start, end=end)
    expected = every_path(costs, lambda path: True, start, between, end)
    cost_of = {labels: cost for cost, labels in expected}.get
    assert_yields(lawful.paths(costs, crf, kind="costs"), expected, cost_of)


@pytest.mark.parametrize(("words", "labels"), [(40, 7), (147, 25), (353, 53)])
def test_agrees_with_assignments_filtered_by_legality(words, labels):
    random = np.random.default_rng(labels)
    scheme = lawful.Scheme.named("BIO", bio_labels(labels))
    probs = peaked(random, words, labels)
    # The best labels are legal and the others often not: legal assignments are some, not all.
    for row, best in zip(probs, probs.argmax(axis=1), strict=True):
        if best and best % 2 == 0:
            row[[best - 1, best]] = row[[best, best - 1]]
    found, log_probs = lawful.assignments(probs).take(50_000)
    legal = np.array([scheme.allows(row) for row in found])
    assert 100 < legal.sum() < len(legal)
    paths, path_log_probs = lawful.paths(probs, scheme).take(int(legal.sum()))
    assert path_log_probs == pytest.approx(log_probs[legal])
    # All but those that tie with the last one are also the same labellings.
    sure = path_log_probs > path_log_probs[-1] + 1e-9
    assert {row.tobytes() for row in paths[sure]} <= {row.tobytes() for row in found[legal]}


@pytest.mark.parametrize("with_scores", [False, True], ids=["table", "crf"])
@pytest.mark.parametrize("name", ["BIO", "random"])
def test_agrees_with_k_best_viterbi_on_longer_documents(name, with_scores):
    random = np.random.default_rng(3)
    size = 9
    allowed = random.random((size, size)) < 0.6
    first, last = (random.random(size) < 0.6 for _ in range(2))
    scheme = lawful.Scheme.table(allowed, start=first, end=last)
    if name == "BIO":
        inside = np.arange(size) % 2 == 0
        inside[0] = False  # O; then B and I by turns
        allowed = np.array(
            [[not inside[b] or a in (b - 1, b) for b in range(size)] for a in range(size)]
        )
        first, last = ~inside, np.ones(size, dtype=bool)
        scheme = lawful.Scheme.named("BIO", bio_labels(size))
    start, between, end = np.zeros(size), np.zeros((size, size)), np.zeros(size)
    if with_scores:
        start, between, end = (random.normal(size=shape) for shape in (size, (size, size), size))
        scheme = scheme.with_scores(between=between, start=start, end=end)
    costs = -np.log(peaked(random, 30, size, hard=0.5))
    expected = k_best_viterbi(
        costs,
        np.where(first, -start, np.inf),
        np.where(allowed, -between, np.inf),
        np.where(last, -end, np.inf),
        300,
    )
    found, log_probs = lawful.paths(costs, scheme, kind="costs").take(300)
    assert -log_probs == pytest.approx([cost for cost, _ in expected])
    assert len(np.unique(found, axis=0)) == 300


@pytest.mark.parametrize("huge", [1e16, 1e38, -1e30])
def test_a_cost_that_every_path_pays_drowns_no_difference(huge):
    # A padding row, masked with the smallest float; or a CRF whose transitions are all alike.
    random = np.random.default_rng(1)
    costs = random.normal(size=(6, 3))
    expected, _ = lawful.assignments(costs, kind="costs").take(50)
    everything = lawful.Scheme.table(np.ones((3, 3)))
    padded = np.vstack([costs, np.full((1, 3), huge)])
    found, _ = lawful.paths(padded, everything, kind="costs").take(150)
    assert np.array_equal(np.unique(found[:30, :6], axis=0), np.unique(expected[:10], axis=0))
    crf = everything.with_scores(between=np.full((3, 3), huge), start=[huge] * 3, end=[huge] * 3)
    found, _ = lawful.paths(costs, crf, kind="costs").take(50)
    assert np.array_equal(found, expected)


def test_heaps_of_detours_stay_shallow():
    # Every earlier detour is dearer, so that it goes to the bottom of the heap.
    words = 2000
    costs = np.zeros((words, 2))
    costs[:, 1] = 1 + np.arange(words)[::-1] / words
    stream = lawful.paths(costs, lawful.Scheme.table(np.ones((2, 2))), kind="costs")
    stream.take(2)
    assert stream.memory < 5_000_000


def test_memory_per_path_is_small_even_where_all_common_labels_are_forbidden():
    common, own = 300, 30
    size = common + own
    between = np.ones((size, size), dtype=bool)
    between[:, common:] = np.eye(size, dtype=bool)[:, common:]
    between[:common, common:] = True
    random = np.random.default_rng(0)
    costs = random.random((3, size))
    costs[1:, :common] = np.inf
    stream = lawful.paths(costs, lawful.Scheme.table(between), kind="costs")
    stream.take(1)
    held = stream.memory
    found, _ = stream.take(9000)
    assert len(found) == 9000
    assert (stream.memory - held) / 9000 < 150


def test_the_first_path_takes_no_more_than_it_needs():
    probs = peaked(np.random.default_rng(0), 200, 21)
    stream = lawful.paths(probs, lawful.Scheme.named("BIO", bio_labels(21)))
    next(stream)
    held = stream.memory
    next(stream)
    assert stream.memory > held  # the heaps of detours are made for the second path only


def test_no_legal_path_is_an_empty_stream():
    probs = [[0.0, 1.0], [0.0, 1.0]]
    scheme = lawful.Scheme.named("BIO", ["O", "I-total"])
    assert list(lawful.paths(probs, scheme)) == []
    assert lawful.paths(probs, scheme).take(3)[0].shape == (0, 2)


def test_zero_words_have_one_path():
    found, log_probs = lawful.paths(np.empty((0, 1)), lawful.Scheme.named("IO", ["O"])).take(2)
    assert found.shape == (1, 0)
    assert log_probs.tolist() == [0]


def test_bio_classes_follow_the_number_of_types_not_its_square():
    scheme = lawful.Scheme.named("BIO", bio_labels(53))
    assert scheme.transitions.classes == 27


@pytest.mark.parametrize("name", LABELS)
@settings(max_examples=100)
@given(data=st.data())
def test_fillers_may_take_the_place_of_any_span(name, data):
    names = data.draw(label_lists(LABELS[name]))
    scheme = lawful.Scheme.named(name, names)
    costs = np.zeros((4, len(names)))
    rows = np.array([labels for _, labels in every_path(costs, scheme.allows)], np.intp)
    for row in rows.reshape(-1, 4):
        for _, start, end in scheme.spans(row):
            for filler in np.flatnonzero(scheme.fillers):
                changed = row.copy()
                changed[start:end] = filler
                assert scheme.allows(changed)
    if name != "IOB1":  # there, B needs a span before it
        outside = [i for i in range(len(names)) if scheme.type_of(i) is None]
        assert np.flatnonzero(scheme.fillers).tolist() == outside
