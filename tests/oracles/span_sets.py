"""All sets of candidate spans that do not overlap, and what rules leave of them, in Python."""

from __future__ import annotations

from itertools import combinations
from math import exp, inf, log, log1p

import numpy as np
import pytest

from lawful.documents.span_scores import SUREST
from lawful.rules.judging.reading import Occurrence
from tests.oracles.labellings import every_reading, seen_by_a_person


def every_set(candidates):
    """Every set of candidates (start, end, type, probability) without overlaps, and its log p."""
    candidates = [(*each[:3], min(each[3], SUREST)) for each in candidates]
    for count in range(len(candidates) + 1):
        for chosen in combinations(candidates, count):
            words = [word for start, end, *_ in chosen for word in range(start, end)]
            if len(set(words)) < len(words) or any(p == 0 for *_, p in chosen):
                continue
            log_prob = sum(
                log(each[3]) if each in chosen else log1p(-each[3]) for each in candidates
            )
            yield [each[:3] for each in chosen], log_prob


def reading_of(judge, spans):
    """The reading of spans (start, end, type)."""
    found = [[] for _ in judge.rules.fields]
    for start, end, type_ in sorted(spans):
        for i, f in enumerate(judge.rules.fields):
            if f.label == type_:
                found[judge.field_of(i, start, end)].append(Occurrence(start, end))
                break
    return tuple(map(tuple, found))


def every_answer(judge, sets):
    """Every way to read every set (spans, log p): its reading, and its worth."""
    for spans, log_prob in sets:
        for reading in every_reading(judge, reading_of(judge, spans)):
            yield reading, log_prob - judge.weigh(reading).most


def assert_is_best(found, judge, sets, alternatives):
    """Asserts that a decoding, its alternatives and its confidences are those of these sets.

    ``found`` was made with this many alternatives, if there are, and enough budget.
    """
    rules = judge.rules
    answers = [answer for answer in every_answer(judge, sets) if answer[1] > -inf]
    if not answers:
        assert found.status == "infeasible"
        return
    best, total = {}, 0.0
    same = np.zeros(len(rules.fields))
    answer = seen_by_a_person(rules, found.fields)
    for reading, worth in answers:
        values = seen_by_a_person(rules, judge.fields(reading))
        best[values] = max(best.get(values, -inf), worth)
        total += exp(worth)
        same += exp(worth) * np.array([a == b for a, b in zip(values, answer, strict=True)])
    assert found.optimal
    everything = [found, *found.alternatives]
    ranked = sorted(best.values(), reverse=True)
    expected = ranked[: alternatives + 1]
    assert [each.worth for each in everything] == pytest.approx(expected, abs=1e-9)
    assert len({seen_by_a_person(rules, each.fields) for each in everything}) == len(everything)
    margin = ranked[0] - ranked[1] if len(ranked) > 1 else inf
    assert found.margin == pytest.approx(margin, abs=1e-9)
    for f, mass in zip(rules.fields, same / total, strict=True):
        low, high = found.confidence.get(f.name, (1 - 1e-5, 1))
        assert low - 1e-9 <= mass <= high + 1e-9, f.name
