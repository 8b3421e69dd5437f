"""Scores, checked once: what a model says of every word and label, as costs.

A cost is ``-log p``: lower is better and ``inf`` forbids a label. Everything behind this module
relies on what is checked here: two dimensions, at least one label, float64, C order, no NaN, no
``-inf``, nothing so large that a sum of costs could overflow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from lawful.errors import ScoresError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Costs: TypeAlias = NDArray[np.float64]  # (words, labels)

Kind: TypeAlias = Literal["probs", "log_probs", "emissions", "costs"]
"""How to read a matrix of scores.

``probs`` and ``log_probs`` are normalised: each row, as probabilities, sums to one. ``emissions``
(higher is better, such as a CRF emits) and ``costs`` (lower is better) are any real numbers, used
as they are. A label is forbidden by ``0``, ``-inf``, ``-inf`` and ``inf`` respectively; a row
that forbids every label is allowed, and leaves nothing to enumerate.
"""

TOLERANCE = 1e-3
"""How far from one a row of probabilities may sum; half-precision input may be ten times off."""

LARGEST_COST = 1e100
"""Finite costs are at most this large in size, so that no sum of them overflows."""


def as_costs(scores: ArrayLike, kind: Kind, *, ragged: bool = False) -> Costs:
    """The scores as a fresh cost matrix, or a ``ScoresError`` that names the row and the value.

    With ``ragged``, rows of different lengths are padded with forbidden labels.
    """
    if kind not in get_args(Kind):
        raise ScoresError(f"unknown kind of scores {kind!r}; kinds: {', '.join(get_args(Kind))}")
    matrix = _as_matrix(scores, kind, ragged)
    tolerance = TOLERANCE * (10 if getattr(scores, "dtype", None) == np.float16 else 1)
    if kind == "probs":
        _check_probs(matrix, tolerance)
        with np.errstate(divide="ignore"):
            return np.negative(np.log(matrix, out=matrix), out=matrix)
    costs = matrix if kind == "costs" else np.negative(matrix, out=matrix)
    _check_costs(costs, kind)
    if kind == "log_probs":
        _check_sums(np.exp(-costs).sum(axis=1), kind, tolerance)
    return costs


def _as_matrix(scores: ArrayLike, kind: str, ragged: bool) -> NDArray[np.float64]:
    try:
        matrix = np.asarray(scores)
    except ValueError:  # NumPy's word for rows of different lengths
        matrix = _pad(scores, kind, ragged)
    if matrix.ndim != 2:
        raise ScoresError(
            f"{kind} has {matrix.ndim} dimension{'s' * (matrix.ndim != 1)} (shape {matrix.shape}), "
            "expected 2: words x labels"
        )
    if matrix.shape[1] == 0:
        raise ScoresError(f"{kind} has shape {matrix.shape}: zero labels, expected at least one")
    if matrix.dtype.kind not in "fiub":
        raise ScoresError(f"{kind} holds {matrix.dtype}, expected real numbers")
    return np.array(matrix, dtype=np.float64, order="C")


def _pad(scores: Any, kind: str, ragged: bool) -> NDArray[Any]:
    """Rows of different lengths as one matrix, the missing labels forbidden."""
    rows = [np.asarray(row) for row in scores] if isinstance(scores, Sequence) else []
    if not rows or any(row.ndim != 1 or row.dtype.kind not in "fiub" for row in rows):
        raise ScoresError(f"{kind} is not a matrix: expected words x labels of real numbers")
    longest = max(row.size for row in rows)
    if not ragged:
        short = next(i for i, row in enumerate(rows) if row.size != longest)
        raise ScoresError(
            f"row {short} of {kind} has {rows[short].size} labels, expected {longest} as in others"
        )
    forbidden = {"probs": 0.0, "costs": np.inf}.get(kind, -np.inf)
    matrix = np.full((len(rows), longest), forbidden)
    for padded, row in zip(matrix, rows, strict=True):
        padded[: row.size] = row
    return matrix


def _check_probs(probs: NDArray[np.float64], tolerance: float) -> None:
    # Comparisons with NaN are false, so this also asks for NaN; a sum catches inf.
    if probs.size and not probs.min() >= 0:
        _raise_first(~(probs >= 0), probs, "probs", "a probability between 0 and 1")
    sums = probs.sum(axis=1)
    if np.isinf(sums).any():
        _raise_first(np.isinf(probs), probs, "probs", "a probability between 0 and 1")
    _check_sums(sums, "probs", tolerance)


def _check_sums(sums: NDArray[np.float64], kind: str, tolerance: float) -> None:
    if np.all(np.abs(sums - 1) <= tolerance):
        return
    wrong = (np.abs(sums - 1) > tolerance) & (sums != 0)  # a row of zeros forbids every label
    if wrong.any():
        row = int(wrong.argmax())
        what = kind if kind == "probs" else f"exp({kind})"
        raise ScoresError(
            f"row {row} of {what} sums to {sums[row]:.6g}, expected 1 (within {tolerance:g})"
        )


def _check_costs(costs: Costs, kind: str) -> None:
    # One pass decides the usual case: |x| is at most LARGEST_COST, or x is +inf.
    fine = (np.abs(costs) <= LARGEST_COST) | (costs == np.inf)
    if not fine.all():
        forbids = "inf" if kind == "costs" else "-inf"
        values = costs if kind == "costs" else -costs
        expected = f"a number of size up to {LARGEST_COST:g}, or {forbids} to forbid the label"
        _raise_first(~fine, values, kind, expected)


def _raise_first(
    wrong: NDArray[np.bool_], values: NDArray[np.float64], kind: str, expected: str
) -> None:
    row, label = np.unravel_index(int(wrong.argmax()), wrong.shape)
    raise ScoresError(
        f"row {row}, label {label} of {kind} is {values[row, label]}, expected {expected}"
    )
