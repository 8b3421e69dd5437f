"""The streams of the core by brute force: the specification that tests compare with."""

from __future__ import annotations

import heapq
from itertools import pairwise, product

import numpy as np


def every_assignment(costs):
    """Each assignment of finite cost with its cost, cheapest first."""
    words, labels = costs.shape
    everything = product(range(labels), repeat=words)
    costed = ((float(sum(costs[range(words), list(a)])), a) for a in everything)
    return sorted((cost, a) for cost, a in costed if np.isfinite(cost))


def every_path(costs, legal, start=None, between=None, end=None):
    """Each assignment that ``legal`` accepts, with CRF transition scores if given."""
    found = []
    for cost, labels in every_assignment(costs):
        total = cost
        if labels and start is not None:
            total -= start[labels[0]] + end[labels[-1]]
            total -= sum(between[a, b] for a, b in pairwise(labels))
        if legal(labels) and np.isfinite(total):
            found.append((total, labels))
    return sorted(found)


def k_best_viterbi(costs, start, between, end, k):
    """The ``k`` cheapest paths, by keeping the ``k`` cheapest ways into every label."""
    words, labels = costs.shape
    ways = [[(start[a] + costs[0, a], (a,))] for a in range(labels)]
    for word in range(1, words):
        ways = [
            heapq.nsmallest(
                k,
                (
                    (cost + between[a, b] + costs[word, b], (*path, b))
                    for a in range(labels)
                    if np.isfinite(between[a, b] + costs[word, b])
                    for cost, path in ways[a]
                ),
            )
            for b in range(labels)
        ]
    ends = [(cost + end[a], path) for a in range(labels) for cost, path in ways[a]]
    return heapq.nsmallest(k, [way for way in ends if np.isfinite(way[0])])


def legal_bio(names):
    """An I must follow a B or an I of its own type."""
    for before, name in pairwise(["O", *names]):
        if name[:2] in ("I-", "I") and before not in ("B" + name[1:], name):
            return False
    return True


def legal_iob1(names):
    """A B must follow a B or an I of its own type."""
    for before, name in pairwise(["O", *names]):
        if name[:2] in ("B-", "B") and before not in ("I" + name[1:], name):
            return False
    return True


def legal_chunks(last):
    """IOBES or BILOU: every B is closed, in its own type, by I* and ``last``."""

    def legal(names):
        open_type = None
        for name in names:
            prefix, type_ = (name[0], name[1:]) if name[1:2] in ("-", "") else ("O", "")
            if (prefix in ("I", last)) != (open_type is not None) or open_type not in (None, type_):
                return False
            if prefix == "B":
                open_type = type_
            if prefix == last:
                open_type = None
        return open_type is None

    return legal


LEGAL = {
    "BIO": legal_bio,
    "IOB1": legal_iob1,
    "IO": lambda names: True,
    "IOBES": legal_chunks("E"),
    "BILOU": legal_chunks("L"),
}
