"""Other implementations of the streams, used as their documentation suggests.

``python -m lab.benchmarks`` compares the streams with them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import islice

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def lazy_k(probs: Floats, k: int) -> None:
    """The C++ implementation of the paper's authors, iterated from Python."""
    from lazyk import lazyk

    deque(islice(lazyk(probs), k), maxlen=1)


def k_best_viterbi(costs: Floats, k: int) -> Floats:
    """The costs of the k best BIO paths by k-best Viterbi, vectorised.

    Labels are those of ``bio_labels``: O, then B and I alternating. Every label keeps its k best
    ways in, with back-pointers (word, label, rank). Labels that may follow any other share a merge.
    """
    words, labels = costs.shape
    inside = np.arange(2, labels, 2)
    ways = np.full((labels, k), np.inf)  # by rising cost
    ways[:, 0] = costs[0]
    ways[inside, 0] = np.inf
    back = np.empty((words, labels, k), dtype=np.uint32)
    for word in range(1, words):
        flat = ways.ravel()
        best = np.argpartition(flat, k)[:k] if flat.size > k else np.arange(k)
        best = best[np.argsort(flat[best], kind="stable")]
        entering = np.broadcast_to(flat[best], (labels, k)).copy()
        back[word] = best
        if inside.size:
            pairs = np.concatenate([ways[inside - 1], ways[inside]], axis=1)
            order = np.argsort(pairs, axis=1, kind="stable")[:, :k]
            entering[inside] = np.take_along_axis(pairs, order, axis=1)
            back[word, inside] = order
        ways = entering + costs[word][:, None]
    return np.sort(ways, axis=None)[:k]


def open_fst(costs: Floats) -> Callable[[int], object]:
    """OpenFst's n-best on the lattice of BIO paths; building it is not timed.

    Every position has a node for each type whose span may continue, and one for all other labels,
    reached by an epsilon: the number of arcs grows with labels, not with their square.
    """
    import pynini

    words, labels = costs.shape
    fst = pynini.Fst()
    types = labels // 2
    nodes = [[fst.add_state() for _ in range(1 + types)] for _ in range(words + 1)]
    fst.set_start(nodes[0][0])
    for word in range(words):
        for label in range(labels):
            type_ = (label + 1) // 2
            continues = label > 0 and label % 2 == 0
            arc = pynini.Arc(label + 1, label + 1, costs[word, label], nodes[word + 1][type_])
            fst.add_arc(nodes[word][type_ if continues else 0], arc)
        for node in nodes[word][1:]:
            fst.add_arc(node, pynini.Arc(0, 0, 0, nodes[word][0]))
    for node in nodes[words]:
        fst.set_final(node)
    return lambda k: pynini.shortestpath(fst, nshortest=k)


def pulp_cbc(costs: Floats) -> None:
    """The first legal BIO labelling as an integer program (the paper's Lazy-ILP with k = 1)."""
    import pulp

    words, labels = costs.shape
    problem = pulp.LpProblem(sense=pulp.LpMinimize)
    x = [
        [pulp.LpVariable(f"x_{i}_{j}", cat=pulp.LpBinary) for j in range(labels)]
        for i in range(words)
    ]
    problem += pulp.lpSum(costs[i, j] * x[i][j] for i in range(words) for j in range(labels))
    for i in range(words):
        problem += pulp.lpSum(x[i]) == 1
        for j in range(2, labels, 2):
            problem += x[i][j] <= (x[i - 1][j - 1] + x[i - 1][j] if i else 0)
    problem.solve(pulp.PULP_CBC_CMD(msg=False))
