"""Windows cover every piece, and where they overlap there is still one distribution."""

from itertools import pairwise

import numpy as np
import pytest

from lawful.models.windows import merge, windows


@pytest.mark.parametrize("length", [*range(1, 40), 100, 513])
@pytest.mark.parametrize(("size", "overlap"), [(8, 2), (8, 0), (16, 4), (5, 4)])
def test_windows_cover_every_piece(length, size, overlap):
    found = windows(length, size, overlap)
    covered = np.zeros(length, dtype=int)
    for where in found:
        assert 0 <= where.start < where.stop <= length
        assert where.stop - where.start == min(size, length)
        covered[where] += 1
    assert (covered > 0).all()
    for before, after in pairwise(found):
        assert before.stop - after.start >= overlap


def test_one_window_is_taken_as_it_is():
    rows = np.log(np.full((3, 2), 0.5))
    assert merge(3, [(slice(0, 3), rows)]) == pytest.approx(rows)


def test_overlaps_are_averaged_as_distributions():
    rng = np.random.default_rng(0)
    probs = {part: rng.dirichlet(np.ones(4), 6) for part in (0, 1)}
    merged = merge(8, [(slice(0, 6), np.log(probs[0])), (slice(2, 8), np.log(probs[1]))])
    assert np.exp(merged).sum(axis=1) == pytest.approx(np.ones(8))
    assert np.exp(merged[:2]) == pytest.approx(probs[0][:2])
    assert np.exp(merged[6:]) == pytest.approx(probs[1][4:])
    # Piece 2 is the fourth from the edge of the first window, the first from that of the second.
    expected = (4 * probs[0][2] + 1 * probs[1][0]) / 5
    assert np.exp(merged[2]) == pytest.approx(expected)


def test_what_one_window_rules_out_the_other_may_allow():
    first, second = np.log([[1.0, 1e-300]] * 4), np.log([[0.5, 0.5]] * 4)
    merged = merge(6, [(slice(0, 4), first), (slice(2, 6), second)])
    assert np.isfinite(merged).all()
    assert (np.exp(merged[2:4, 1]) > 0.05).all()
