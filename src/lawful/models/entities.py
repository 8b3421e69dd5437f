"""Entities in the format of transformers' token-classification pipeline, with words and boxes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import exp, inf
from typing import Any

import numpy as np

from lawful.documents.document import Document
from lawful.documents.labels import Scheme, Span
from lawful.documents.scores import Scores
from lawful.documents.span_scores import SpanScores


def entities(
    document: Document,
    scores: Scores,
    labels: Sequence[str],
    *,
    scheme: str = "BIO",
    starts: Sequence[int] | None = None,
) -> list[dict[str, Any]]:
    """The spans of a labelling, as dicts with the keys of the pipeline.

    ``entity_group``, ``score`` (the mean probability of its words), ``word`` (the text), ``start``
    and ``end`` (offsets of characters in ``document.text``, or from ``starts``); and also ``words``
    (half-open), ``box`` and ``page``, ``None`` if unknown.
    """
    named = Scheme.named(scheme, scores.labels)
    indices = named.indices(labels)
    probs = np.exp(scores.marginals().log_probs[np.arange(len(indices)), indices])
    if starts is None:
        starts = word_starts(document)
    return [
        _entity(document, span, float(probs[span.start : span.end].mean()), starts)
        for span in named.spans(indices)
    ]


def span_entities(
    document: Document, scores: SpanScores, labels: Sequence[str]
) -> list[dict[str, Any]]:
    """The same for a model that scores spans; ``score`` is the probability of the span."""
    scheme, starts = scores.word_scheme(), word_starts(document)
    log_odds = dict(zip(scores.spans, scores.log_odds.tolist(), strict=True))
    return [
        _entity(document, span, 1 / (1 + exp(min(-log_odds.get(span, -inf), 700.0))), starts)
        for span in scheme.spans(scheme.indices(labels))
    ]


def _entity(document: Document, span: Span, score: float, starts: Sequence[int]) -> dict[str, Any]:
    return {
        "entity_group": span.type,
        "score": score,
        "word": document.text(span.start, span.end),
        "start": starts[span.start],
        "end": starts[span.end - 1] + len(document.words[span.end - 1]),
        "words": (span.start, span.end),
        "box": document.box(span.start, span.end),
        "page": document.page(span.start),
    }


def word_starts(document: Document) -> list[int]:
    """The offset of each word in the text of the document."""
    joins = document.joins or (False,) * len(document)
    blanks = [0 if i == 0 or join else 1 for i, join in enumerate(joins)]
    ends = accumulate(len(word) + blank for word, blank in zip(document.words, blanks, strict=True))
    return [end - len(word) for end, word in zip(ends, document.words, strict=True)]
