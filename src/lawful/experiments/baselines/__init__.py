"""The paper's search methods in plain Python, to be read beside its pseudo-code.

Each is a generator of ``(labels, log_prob)`` by falling probability, from a matrix of
probabilities (words x labels). ``lawful.assignments`` yields the same, and tests say so; these
are here to be read, and to be measured against.
"""

from lawful.experiments.baselines.beam import beam
from lawful.experiments.baselines.best_first import best_first
from lawful.experiments.baselines.lazyk import lazyk

__all__ = ["beam", "best_first", "lazyk"]
