"""Overlapping windows for documents that are longer than a model's maximum.

A piece near the edge of a window lacks context. So where windows overlap, their probabilities are
averaged, with weights that grow with the distance from the window's edge.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


def windows(length: int, size: int, overlap: int) -> list[slice]:
    """Windows of ``size`` pieces that cover ``length`` pieces; a single one may be shorter."""
    if length <= size:
        return [slice(0, length)]
    starts = [*range(0, length - size, size - overlap), length - size]
    return [slice(start, start + size) for start in starts]


def merge(length: int, parts: Iterable[tuple[slice, NDArray[np.floating]]]) -> NDArray[np.float64]:
    """Log-probabilities of all pieces, averaged over windows."""
    parts = list(parts)
    if len(parts) == 1:
        return parts[0][1].astype(np.float64)
    labels = parts[0][1].shape[1]
    total, weights = np.zeros((length, labels)), np.zeros((length, 1))
    for where, log_probs in parts:
        at = np.arange(where.start, where.stop)
        # The ends of the document are no edges: no context is missing there.
        left = at - where.start + 1 if where.start > 0 else np.full(len(at), length)
        right = where.stop - at if where.stop < length else np.full(len(at), length)
        weight = np.minimum(left, right)[:, None].astype(np.float64)
        total[where] += weight * np.exp(log_probs.astype(np.float64))
        weights[where] += weight
    return np.asarray(np.log(np.maximum(total / weights, 1e-300)))
