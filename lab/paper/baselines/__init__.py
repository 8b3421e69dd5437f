"""The paper's search methods in plain Python, close to its pseudo-code.

Each is a generator of ``(labels, log_prob)`` by falling probability, from a matrix of
probabilities (words x labels). Tests compare them with ``lawful.assignments``; experiments use
them as baselines.
"""

from lab.paper.baselines.beam import beam
from lab.paper.baselines.best_first import best_first
from lab.paper.baselines.lazyk import lazyk

__all__ = ["beam", "best_first", "lazyk"]
