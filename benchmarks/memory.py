"""Bytes of resident memory a candidate costs, in a process of its own: run by ``benchmarks``.

    python -m benchmarks.memory assignments 353 53 65536

Candidates are dropped as they come; what grows is what the search has to remember.
"""

from __future__ import annotations

import sys

import numpy as np

import lawful
from lawful.experiments.measure import resident
from tests.fixtures.rows import bio_labels, peaked


def bytes_per_candidate(method: str, words: int, labels: int, k: int) -> float:
    """Growth of peak resident memory over the first candidate's, divided by ``k``."""
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
