"""Random instances: small enough for brute force, mean enough to be interesting."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

# Few distinct values make ties; inf makes forbidden labels, and sometimes forbidden rows.
TIED = st.sampled_from([0.0, -0.0, 0.5, 1.0, 1.5, 2.0, float("inf")])
SMOOTH = st.floats(-20, 20)


@st.composite
def small_costs(draw, most_words=5, labels=None):
    """A cost matrix, words x labels, of up to 4^5 assignments."""
    shape = draw(st.integers(0, most_words)), labels or draw(st.integers(1, 4))
    values = draw(st.sampled_from([TIED, SMOOTH, TIED | SMOOTH]))
    flat = draw(st.lists(values, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    return np.array(flat, dtype=np.float64).reshape(shape)


@st.composite
def small_probs(draw):
    """A probability matrix with zeros, and now and then a row of nothing else."""
    words, labels = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    rows = st.lists(st.integers(0, 9), min_size=labels, max_size=labels)
    weights = np.array(draw(st.lists(rows, min_size=words, max_size=words)), dtype=float)
    return weights / np.maximum(weights.sum(axis=1, keepdims=True), 1)


def label_lists(prefixes):
    """Some labels of a scheme, in any order, with partners missing and names without prefix."""
    names = ["O", "other", "X-ray", *(f"{p}-{t}" for p in prefixes for t in "ab"), *prefixes]
    return st.lists(st.sampled_from(names), min_size=1, max_size=5, unique=True)
