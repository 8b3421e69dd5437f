"""The paper's methods and ``assignments`` agree, up to the order of ties."""

from __future__ import annotations

from functools import partial
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings

import lawful
from lab.paper.baselines import beam, best_first, lazyk
from tests.fixtures.rows import peaked
from tests.strategies import small_probs

EVERYTHING = 4**4
methods = pytest.mark.parametrize(
    "method", [lazyk, best_first, partial(beam, k=EVERYTHING)], ids=["lazyk", "best_first", "beam"]
)


@methods
@settings(max_examples=400)
@given(probs=small_probs())
def test_yields_what_assignments_yields(method, probs):
    found = list(method(probs))
    expected, log_probs = lawful.assignments(probs).take(EVERYTHING)
    assert [log_prob for _, log_prob in found] == pytest.approx(log_probs.tolist())
    assert len(found) == len(expected)
    assert {labels for labels, _ in found} == {tuple(row.tolist()) for row in expected}


@pytest.mark.parametrize("method", [lazyk, best_first, partial(beam, k=300)],
                         ids=["lazyk", "best_first", "beam"])  # fmt: skip
@pytest.mark.parametrize(("words", "labels"), [(46, 61), (147, 25)])
def test_agrees_on_documents_of_real_size(method, words, labels):
    probs = peaked(np.random.default_rng(words), words, labels)
    found = list(islice(method(probs.tolist()), 300))
    expected, log_probs = lawful.assignments(probs).take(300)
    assert [log_prob for _, log_prob in found] == pytest.approx(log_probs.tolist())
    assert {labels for labels, _ in found} == {tuple(row.tolist()) for row in expected}


def test_a_narrow_beam_keeps_the_best():
    probs = peaked(np.random.default_rng(5), 30, 7)
    for k in (1, 2, 32):
        assert len(list(beam(probs, k))) == k
        found = [log_prob for _, log_prob in beam(probs, k)]
        assert found == pytest.approx(lawful.assignments(probs).take(k)[1].tolist())
