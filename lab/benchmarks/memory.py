"""Resident memory per candidate, in bytes, measured in a separate process by ``benchmarks``.

    python -m lab.benchmarks.memory assignments 353 53 65536

Candidates are not kept, so the growth is that of the search.
"""

from __future__ import annotations

import sys

import numpy as np

import lawful
from lab.paper.measure import resident
from tests.fixtures.rows import bio_labels, peaked


def bytes_per_candidate(method: str, words: int, labels: int, k: int) -> float:
    """Growth of peak resident memory after the first candidates, divided by ``k``."""
    probs = peaked(np.random.default_rng(words), words, labels)
    if method == "lazy-k":
        from lazyk import lazyk

        peer = lazyk(probs)
        next(peer)
        before = resident("VmRSS")
        for _ in range(k):
            next(peer)
    else:
        scheme = lawful.Scheme.named("BIO", bio_labels(labels))
        stream = (
            lawful.assignments(probs) if method == "assignments" else lawful.paths(probs, scheme)
        )
        out = stream.take(1024)
        before = resident("VmRSS")
        for _ in range(k // 1024):
            stream.take(1024, out=out)
    return (resident("VmHWM") - before) / k


if __name__ == "__main__":
    method, *numbers = sys.argv[1:]
    print(bytes_per_candidate(method, *map(int, numbers)))
