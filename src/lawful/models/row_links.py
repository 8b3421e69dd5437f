"""Values of a row that stand elsewhere: in a line above or below, or once for several rows.

The day of an entry may be printed above it, below it, or over all entries of that day. So such a
field is looked for from the row's anchor, the field that tells rows apart: of the spans around the
anchor, one is the field or none, as their features and their place relative to the anchor say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lawful.models.span_features import Features, Rows, hashed_rows, mixed
from lawful.models.spans import CandidateSpans, Ints, SpanPage

BEFORE, AFTER, FIRST = 8, 4, 3
"""Candidates before an anchor, after it, and at the beginning of the document, at most."""

LEFT, RIGHT, ABOVE, BELOW = range(4)
"""Where a candidate is, seen from the anchor."""

DISTANCES = np.array([1, 2, 3, 5, 9, 17, 33])
"""Lines from which on a candidate counts as farther away."""


class Pairs(NamedTuple):
    """Anchors, by their number, with candidates, by theirs, and the features of both together."""

    anchors: Ints
    candidates: Ints
    rows: Rows


def pairs_of(
    features: Features,
    anchors: Ints,
    candidates: CandidateSpans,
    names: Sequence[str],
) -> Pairs:
    """The candidates around each anchor; anchors are words, in their order."""
    page, starts = features.page, candidates.starts
    lines, line_of = page.lines[starts], page.lines[anchors]
    found: list[tuple[int, int, int, int]] = []  # anchor, candidate, where, the how manieth there
    for number, (word, line) in enumerate(zip(anchors.tolist(), line_of.tolist(), strict=True)):
        same = np.flatnonzero(lines == line)
        above = np.flatnonzero((starts < word) & (lines != line))[::-1]
        below = np.flatnonzero((starts > word) & (lines != line))
        left, right = same[starts[same] < word], same[starts[same] > word]
        near = {
            LEFT: left, RIGHT: right, ABOVE: [*above[:BEFORE], *above[BEFORE:][::-1][:FIRST]],
            BELOW: below[:AFTER],
        }  # fmt: skip
        found += (
            (number, int(c), where, nth) for where in near for nth, c in enumerate(near[where])
        )
    table = np.array(found, np.int64).reshape(-1, 4)
    of, at, where, nth = table.T
    far = np.searchsorted(DISTANCES, np.abs(lines[at] - line_of[of]), side="right")
    count = np.searchsorted(anchors, starts)  # anchors before each candidate
    between = np.clip(np.abs(count[at] - of - (where == BELOW)), 0, 2)
    way = mixed(where, nth)
    shape, called, row = features.marks(candidates)
    first, own = features.marks_of_words(anchors)
    columns = [
        ("link", mixed(where, far)), ("link nth", mixed(way, between)), ("link way", way),
        ("link between", mixed(where, between)), ("link far", mixed(way, far)),
        ("link shape", mixed(way, shape[at])), ("link called", mixed(where, called[at])),
        ("link called nth", mixed(way, called[at])), ("link row", mixed(way, row[at])),
        ("link rows", mixed(way, row[at], first[of])), ("link anchor", mixed(way, own[of])),
    ]  # fmt: skip
    for number, key in enumerate(features.layout.tolist()):
        columns.append((f"link layout{number}", mixed(key, way)))
        columns.append((f"link layout called{number}", mixed(key, where, called[at])))
    base = features.of(candidates, names, "row")
    return Pairs(of, at, np.concatenate([base[at], hashed_rows(columns)], axis=1))


def row_ids(page: SpanPage, links: Mapping[int, Sequence[int]]) -> list[int]:
    """By word, the number of its row: its printed line, or several lines that a row has.

    ``links`` are words of a row's values, by the word of its anchor. A row has all lines from its
    first to its last, unless another row has some of these.
    """
    lines = page.lines
    joined = np.arange(int(lines.max(initial=-1)) + 1)
    spans = []
    for anchor, words in links.items():
        of_row = lines[[anchor, *words]]
        spans.append((int(of_row.min()), int(of_row.max())))
    for first, last in spans:
        if sum(begin <= last and first <= end for begin, end in spans) == 1:
            joined[first : last + 1] = first
    found: list[int] = joined[lines].tolist()
    return found


def best_links(pairs: Pairs, probs: NDArray[np.float64]) -> dict[int, int]:
    """By anchor, the candidate that is its value, if one is more probable than none."""
    found: dict[int, int] = {}
    for at in np.argsort(probs).tolist():
        if probs[at] >= 0.5:
            found[int(pairs.anchors[at])] = int(pairs.candidates[at])
    return found
