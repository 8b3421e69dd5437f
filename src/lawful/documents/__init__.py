"""Documents: words, labels, scores and pins."""

from lawful.documents.scores import ScoreKind

__all__ = ["ScoreKind"]
