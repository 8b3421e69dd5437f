"""Spans of fields from the scores of words, for long documents that print a value many times.

A decoding of words labels every occurrence of a value. If only the values matter, it is enough to
find one: every field of one value has at most one span, so its spans exclude each other, and only
spans that the field's type can read are candidates. An exact search over these spans takes a
fraction of a second where one over all labellings of thousands of words takes its whole budget.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lawful.base.errors import InputError
from lawful.documents.document import Document
from lawful.documents.reading_order import cell_starts
from lawful.documents.scores import Scores
from lawful.documents.span_scores import SpanScores
from lawful.rules.definitions import Field
from lawful.rules.rule_set import Rules
from lawful.values import read, type_named

LONGEST = {"number": 3, "date": 5, "text": 12}
"""Maximum number of words of a span, by kind, unless the field has ``max_words``."""

LEAST = 0.001
"""Least probability of a candidate, except that a field's most probable one is always kept."""

PART = 0.05
"""Factor of a span that begins or ends within a printed cell, or goes on in the next one."""

SURE = 1 - 1e-6
"""Probability of a span, at most: no model is more certain, whatever it says."""


def field_spans(document: Document, scores: Scores, rules: Rules) -> SpanScores:
    """Candidate spans of the fields, to be decoded instead of the words' scores.

    The labels of ``scores`` are BIO. ``B-`` and ``I-`` of a word together are the probability that
    it is in the field. Spans of a list, or of rows, are independent of each other; those of any
    other field share its probability, so that two of them are never more probable than one. Fields
    that share a label share their spans, too.

    A text or a number usually fills a printed cell (``lines.cell_starts``), so spans that are parts
    of cells are less probable. Two dates often share a cell.
    """
    if len(scores) != len(document):
        raise InputError(
            f"document {document.id!r} has {len(document)} words, but scores of {len(scores)}"
        )
    if scores.chain is not None:
        raise InputError("spans cannot be found in scores with transitions; pass marginals()")
    rows = {name for kind in rules.rows for name in kind.fields}
    by_label: dict[str, list[Field]] = {}
    for f in rules.fields:
        if f"B-{f.label}" in scores.labels:
            by_label.setdefault(f.label, []).append(f)
    found: list[tuple[int, int, str, float]] = []
    cells = None if document.boxes is None else cell_starts(document)
    for label, fields in by_label.items():
        dates = all(type_named(f.type).kind == "date" for f in fields)
        spans = _spans(document, scores, label, fields, None if dates else cells)
        if len(fields) == 1 and not fields[0].many and fields[0].name not in rows:
            spans = _exclusive(spans)
        else:
            spans = [span for span in spans if span[2] >= LEAST]
        found += [(start, end, label, min(p, SURE)) for start, end, p in spans]
    known = dict.fromkeys(label[2:] for label in scores.labels if label.startswith("B-"))
    return SpanScores(found, len(document), tuple(known))


Found = list[tuple[int, int, float]]
"""Half-open words of spans, with probabilities."""


def _spans(
    document: Document,
    scores: Scores,
    label: str,
    fields: list[Field],
    cells: NDArray[np.bool_] | None,
) -> Found:
    """The readable spans of a label; those below ``LEAST`` only if nothing else is there."""
    begin, inside = (_column(scores, f"{mark}-{label}") for mark in "BI")
    both = begin + inside
    if all(f.type == "text" and not f.many for f in fields):
        inside = both  # two texts of one field do not stand side by side
    before = np.concatenate([[0.0], both[:-1]])
    starts = both - before * inside  # in the field, and not as the continuation of a span
    edge, across = np.ones(len(document) + 1), np.ones(len(document) + 1)
    if cells is not None:
        edge[~cells], across[cells] = PART, PART
    starts *= edge[:-1]
    longest = max(f.max_words or LONGEST[type_named(f.type).kind] for f in fields)
    for limit in (LEAST / 10, 0.0):
        found: Found = []
        likely = np.flatnonzero(starts > limit) if limit else np.argsort(-starts)[:50]
        for start in likely.tolist():
            p = float(starts[start])
            for end in range(start + 1, min(start + longest, len(document)) + 1):
                after = float(inside[end]) if end < len(document) else 0.0
                text = document.text(start, end)
                if any(read(text, f.type) for f in fields):
                    found.append((start, end, p * (1 - after) * edge[end]))
                p *= after * across[end]
                if p <= limit:
                    break
        if found:
            return found
    return []


def _column(scores: Scores, label: str) -> NDArray[np.float64]:
    if label not in scores.labels:
        return np.zeros(len(scores))
    return np.exp(scores.log_probs[:, scores.labels.index(label)])


def _exclusive(spans: Found) -> Found:
    """The spans with probabilities that exclude each other, by their odds."""
    odds = np.array([min(p, SURE) / (1 - min(p, SURE)) for _, _, p in spans])
    shares = odds / (1 + odds.sum())
    top = shares.max(initial=0.0)
    return [
        (start, end, float(share))
        for (start, end, _), share in zip(spans, shares, strict=True)
        if share > 0 and (share >= LEAST or share == top)
    ]
