"""The fit of the quick model: a linear score of spans, learned from the values of documents.

Of the spans of a group, such as a document or a row, one is the field or none: with the probability
that is proportional to ``exp(score)``, and 1 for none. What is known is its value, which several
spans may have; so the loss of a group is ``-log`` of their probability together (the marginal
likelihood), plus a quadratic prior. The minimum is found by L-BFGS.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MEMORY = 8
"""Steps that L-BFGS remembers."""


ENOUGH = 1e-5
"""Share of the loss by which a step must lower it, or else it was the last one."""


class Example(NamedTuple):
    """The candidates of a document: their features, and which of them have the value."""

    features: NDArray[np.int32]  # (candidates, features): numbers of weights
    right: NDArray[np.bool_]  # (candidates,): none of a group, if the field is not there
    groups: NDArray[np.int64]  # (candidates,): those that exclude each other have the same number


def fit(
    examples: Sequence[Example],
    weights: Floats,
    *,
    prior: float,
    steps: int,
    start: Floats | None = None,
) -> Floats:
    """The weights of least loss, by the prior near ``weights``; only those in examples change."""
    orders = [np.argsort(each.groups, kind="stable") for each in examples]
    pairs = list(zip(examples, orders, strict=True))
    rows = np.concatenate([each.features[order] for each, order in pairs])
    known, flat = np.unique(rows, return_inverse=True)
    index = flat.reshape(len(rows), -1)
    right = np.concatenate([each.right[order] for each, order in pairs])
    sizes = np.concatenate([np.unique(each.groups, return_counts=True)[1] for each in examples])
    starts = np.cumsum([0, *sizes[:-1]])
    absent = ~np.logical_or.reduceat(right, starts)
    columns = rows.shape[1]
    before = weights[known]

    def loss(some: Floats) -> tuple[float, Floats]:
        scores = some[index].sum(axis=1)
        top = np.maximum(np.maximum.reduceat(scores, starts), 0.0)
        odds = np.exp(scores - np.repeat(top, sizes))
        none = np.exp(-top)
        total = np.add.reduceat(odds, starts) + none
        good = np.add.reduceat(np.where(right, odds, 0.0), starts) + np.where(absent, none, 0.0)
        slopes = odds / np.repeat(total, sizes) - np.where(
            right, odds / np.repeat(np.maximum(good, 1e-300), sizes), 0.0
        )
        big = np.flatnonzero(np.abs(slopes) > 1e-7)
        slope = np.bincount(
            index[big].ravel(), np.repeat(slopes[big], columns), minlength=len(known)
        )
        value = float((np.log(total) - np.log(np.maximum(good, 1e-300))).sum())
        away = some - before
        return value + prior / 2 * _dot(away, away), slope + prior * away

    found = weights.copy()
    found[known] = _minimum(loss, (weights if start is None else start)[known], steps)
    return found


def _minimum(loss: Callable[[Floats], tuple[float, Floats]], start: Floats, steps: int) -> Floats:
    """The minimum of a function with slopes, as far as so many steps of L-BFGS lead."""
    at = start.copy()
    value, slope = loss(at)
    before: deque[tuple[Floats, Floats, float]] = deque(maxlen=MEMORY)
    for _ in range(steps):
        step = -_times_inverse(slope, before)
        gain = _dot(step, slope)
        if gain >= -1e-9:
            break
        size = 1.0 if before else 1.0 / max(1.0, float(np.abs(slope).sum()) / 10)
        while size > 1e-8:
            new_value, new_slope = loss(at + size * step)
            if new_value <= value + 1e-4 * size * gain:
                break
            size /= 2
        else:
            break
        moved, turned = size * step, new_slope - slope
        if (product := _dot(moved, turned)) > 1e-10:
            before.append((moved, turned, product))
        done = value - new_value < ENOUGH * max(1.0, abs(value))
        at, value, slope = at + moved, new_value, new_slope
        if done:
            break
    return at


def _times_inverse(slope: Floats, before: deque[tuple[Floats, Floats, float]]) -> Floats:
    """The slope times the inverse curvature, as the last steps tell."""
    found = slope.copy()
    shares = []
    for moved, turned, product in reversed(before):
        share = _dot(moved, found) / product
        shares.append(share)
        found -= share * turned
    if before:
        moved, turned, product = before[-1]
        found *= product / _dot(turned, turned)
    for (moved, turned, product), share in zip(before, reversed(shares), strict=True):
        found += (share - _dot(turned, found) / product) * moved
    return found


def _dot(one: Floats, other: Floats) -> float:
    """The scalar product, without threads of a library, which only slow such short ones down."""
    return float(np.einsum("i,i->", one, other))
