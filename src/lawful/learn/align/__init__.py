"""Values that are known to be true of documents, and the words that carry them."""

from lawful.learn.align.aligning import Aligned, State, align, align_scored
from lawful.learn.align.reading import Truth, read_truth

__all__ = ["Aligned", "State", "Truth", "align", "align_scored", "read_truth"]
