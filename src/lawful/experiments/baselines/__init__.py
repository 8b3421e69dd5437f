"""The paper's search methods in plain Python, close to its pseudo-code.

Each is a generator of ``(labels, log_prob)`` by falling probability, from a matrix of
probabilities (words x labels). Tests compare them with ``lawful.assignments``; experiments use
them as baselines.
"""

from lawful.experiments.baselines.beam import beam
from lawful.experiments.baselines.best_first import best_first
from lawful.experiments.baselines.lazyk import lazyk

__all__ = ["beam", "best_first", "lazyk"]
