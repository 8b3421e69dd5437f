"""Which printed line is which row of the truth.

Rows are printed in the order of the truth. Of all such matchings, the one with the most values in
their places is exact (a dynamic program over rows and lines); a row that could as well be another
line is ambiguous.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lawful.candidates.grounding.matches import Occurrences, Span
from lawful.rules.definitions import Field


@dataclass(frozen=True, slots=True)
class MatchedRow:
    """A row of the truth: the spans of its fields, and whether its line is the only one."""

    spans: Mapping[str, Span]  # by name of the field
    is_sure: bool
    others: tuple[Span, ...] = ()  # where its values stand in the other lines that it could be


def match_rows(
    occurrences: Occurrences, rows: Sequence[Mapping[str, Any]], fields: Mapping[str, Field]
) -> list[MatchedRow]:
    """Every row of the truth with its spans; without spans if no printed line has its values.

    A row of several values needs two of them in a line. Values that the line lacks are looked for
    in the lines right above and below, where no other row is.
    """
    order = list(dict.fromkeys(occurrences.lines))
    places = {line: i for i, line in enumerate(order)}
    by_row = [_by_line(occurrences, row, fields, places) for row in rows]
    scores = [_scores(lines, len(row)) for lines, row in zip(by_row, rows, strict=True)]
    choices = _choices(scores, len(order))
    taken: set[int] = set()
    found: list[dict[str, Span]] = []
    for lines, (at, _) in zip(by_row, choices, strict=True):
        spans = {} if at is None else _disjoint(lines[at], taken)
        found.append(spans)
        taken |= _words(spans.values())
    matched = []
    for lines, (at, options), spans in zip(by_row, choices, found, strict=True):
        for beside in () if at is None else (at - 1, at + 1):
            lacking = {n: s for n, s in lines.get(beside, {}).items() if n not in spans}
            spans.update(_disjoint(lacking, taken))
            taken |= _words(spans.values())
        others = {s for o in options if o != at for each in lines[o].values() for s in each}
        is_sure = at is not None and options == [at]
        matched.append(MatchedRow(spans, is_sure, tuple(sorted(others))))
    return matched


ByLine = dict[int, dict[str, list[Span]]]
"""By place of a line, by field, the spans that have its value."""


def _by_line(
    occurrences: Occurrences,
    row: Mapping[str, Any],
    fields: Mapping[str, Field],
    places: Mapping[int, int],
) -> ByLine:
    found: ByLine = {}
    for name, value in row.items():
        for span in occurrences.find(value, fields[name].type):
            place = places[occurrences.lines[span[0]]]
            found.setdefault(place, {}).setdefault(name, []).append(span)
    return found


def _scores(lines: ByLine, values: int) -> dict[int, int]:
    """By line, how many values of the row it has, if enough."""
    counts = {place: len(_disjoint(spans, set())) for place, spans in lines.items()}
    return {place: count for place, count in counts.items() if count >= min(2, values)}


def _disjoint(spans: Mapping[str, list[Span]], taken: set[int]) -> dict[str, Span]:
    """A span for each field, none of which overlap; fields with fewer spans choose first.

    The amount of a row stands to the right of its other numbers, so fields that come later in the
    row take the last of several spans, and all others the first.
    """
    used = set(taken)
    found: dict[str, Span] = {}
    names = list(spans)
    for name in sorted(spans, key=lambda name: len(spans[name])):
        free = [span for span in spans[name] if not used & set(range(*span))]
        if free:
            found[name] = free[-1] if name == names[-1] else free[0]
            used |= set(range(*found[name]))
    return found


def _words(spans: Any) -> set[int]:
    return {word for span in spans for word in range(*span)}


def _choices(scores: Sequence[Mapping[int, int]], lines: int) -> list[tuple[int | None, list[int]]]:
    """By row, its line in one matching of the highest score, and those in any such matching."""
    count = len(scores)
    ahead = [[0] * (lines + 1) for _ in range(count + 1)]  # rows from r, lines from l
    for r in range(count - 1, -1, -1):
        for line in range(lines - 1, -1, -1):
            score = scores[r].get(line)
            matched = -1 if score is None else score + ahead[r + 1][line + 1]
            ahead[r][line] = max(ahead[r + 1][line], ahead[r][line + 1], matched)
    behind = [[0] * (lines + 1) for _ in range(count + 1)]  # rows before r, lines before l
    for r in range(count):
        for line in range(lines):
            score = scores[r].get(line)
            matched = -1 if score is None else score + behind[r][line]
            behind[r + 1][line + 1] = max(behind[r][line + 1], behind[r + 1][line], matched)
    chosen: list[tuple[int | None, list[int]]] = []
    start = 0
    for r in range(count):
        at, line = None, start
        while at is None and ahead[r][line] > ahead[r + 1][line]:
            score = scores[r].get(line)
            if score is not None and score + ahead[r + 1][line + 1] == ahead[r][line]:
                at, start = line, line + 1
            line += 1
        options = [
            line
            for line, score in sorted(scores[r].items())
            if behind[r][line] + score + ahead[r + 1][line + 1] == ahead[0][0]
        ]
        chosen.append((at, options))
    return chosen
