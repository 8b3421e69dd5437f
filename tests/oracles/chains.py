"""A CRF by brute force: sums over all labellings."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np


def score_of(rows, labels, start, between, end):
    """The score of one labelling, by the definition of a CRF."""
    score = start[labels[0]] + end[labels[-1]]
    score = score + sum(row[label] for row, label in zip(rows, labels, strict=True))
    return score + sum(between[a, b] for a, b in pairwise(labels))


def every_labelling(scores):
    """The probability of every labelling, and the log of the partition function."""
    found = {
        labels: np.exp(score_of(scores.log_probs, labels, *scores.chain))
        for labels in product(range(len(scores.labels)), repeat=len(scores))
    }
    total = sum(found.values())
    return {labels: score / total for labels, score in found.items()}, np.log(total)


def marginals(scores):
    """The probability of each label of each word, summed over all labellings."""
    found = np.zeros((len(scores), len(scores.labels)))
    for labels, probability in every_labelling(scores)[0].items():
        for word, label in enumerate(labels):
            found[word, label] += probability
    return found
