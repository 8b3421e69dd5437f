"""Documents longer than a model can read: overlapping windows, and one distribution of them.

A piece near the edge of a window has been read without its neighbours, so where windows overlap
their distributions are averaged, each with a weight that grows with the distance from its edge.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


def windows(length: int, size: int, overlap: int) -> list[slice]:
    """Windows of at most ``size`` pieces that cover ``length`` of them, the last one full, too."""
    if length <= size:
        return [slice(0, length)]
    starts = [*range(0, length - size, size - overlap), length - size]
    return [slice(start, start + size) for start in starts]


def merge(length: int, parts: Iterable[tuple[slice, NDArray[np.floating]]]) -> NDArray[np.float64]:
    """Log-probabilities of all pieces from those of the windows."""
    parts = list(parts)
    if len(parts) == 1:
        return parts[0][1].astype(np.float64)
    labels = parts[0][1].shape[1]
    total, weights = np.zeros((length, labels)), np.zeros((length, 1))
    for where, log_probs in parts:
        at = np.arange(where.start, where.stop)
        # The ends of the document are no edges: nothing was cut off there.
        left = at - where.start + 1 if where.start > 0 else np.full(len(at), length)
        right = where.stop - at if where.stop < length else np.full(len(at), length)
        weight = np.minimum(left, right)[:, None].astype(np.float64)
        total[where] += weight * np.exp(log_probs.astype(np.float64))
        weights[where] += weight
    return np.asarray(np.log(np.maximum(total / weights, 1e-300)))
