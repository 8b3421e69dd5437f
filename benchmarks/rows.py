"""Score matrices as a trained tagger gives them: peaked rows around a legal BIO labelling."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SIZES = ((46, 61), (147, 25), (353, 53))
"""Words and labels of an average page of CORD, WildReceipt and DocILE, in the paper's units."""


def bio_labels(count: int) -> list[str]:
    """``count`` labels: O, then B and I of each type by turns."""
    return ["O", *(f"{prefix}-{i}" for i in range(count) for prefix in "BI")][:count]


def bio_sequence(random: np.random.Generator, words: int, labels: int) -> NDArray[np.intp]:
    """A legal labelling: spans of one to four words, with a few words outside in between."""
    sequence: list[int] = []
    while len(sequence) < words:
        begin = 1 + 2 * int(random.integers(0, max(labels // 2, 1)))
        inside = begin + 1 if begin + 1 < labels else 0
        sequence += [0] * int(random.integers(0, 4))
        sequence += [min(begin, labels - 1)] + [inside] * int(random.integers(0, 4))
    return np.array(sequence[:words], dtype=np.intp)


def peaked(
    random: np.random.Generator, words: int, labels: int, hard: float = 0.15
) -> NDArray[np.float64]:
    """Probabilities, words x labels: an easy word's label has about 0.98, a hard one's 0.5.

    A fifth of the hard words are sure of a wrong label. What the best label leaves goes to the
    others very unevenly, as a softmax does.
    """
    is_hard = random.random(words) < hard
    best = bio_sequence(random, words, labels)
    wrong = is_hard & (random.random(words) < 0.2)
    best[wrong] = random.integers(0, labels, int(wrong.sum()))
    top = np.where(is_hard, 0.5, 0.98) + random.uniform(-0.015, 0.015, words)
    probs = random.random((words, labels)) ** 6 + 1e-6
    probs[np.arange(words), best] = 0
    probs *= ((1 - top) / np.maximum(probs.sum(axis=1), 1e-300))[:, None]
    probs[np.arange(words), best] = top
    return probs / probs.sum(axis=1, keepdims=True)
