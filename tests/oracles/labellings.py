"""All labellings of a document and all choices of possible values, judged in Python.

The judge itself is compared with ``tests.oracles.definitions`` and ``tests.oracles.statements``.
"""

from __future__ import annotations

from itertools import product
from math import inf

import numpy as np

from lawful.search.problem import Problem


def every_legal_row(problem):
    """All legal labellings of positive probability: rows of label indices, and log-probabilities.

    There are none if ``problem.best_legal`` is ``None``.
    """
    possible = [np.flatnonzero(np.isfinite(row)) for row in problem.scores.log_probs]
    rows = np.array(list(product(*possible)))
    rows = rows[problem.scheme.allow(rows)]
    return rows, problem.scores.log_probs[np.arange(len(problem.document)), rows].sum(axis=1)


def best_worth(document, scores, rules):
    """The highest worth of a labelling; minus infinity if hard rules refuse all."""
    problem = Problem(document, scores, rules)
    if problem.best_legal is None:
        return -inf
    rows, log_probs = every_legal_row(problem)
    penalties = np.array([cost.most for cost in problem.judge.costs(rows)])
    return float((log_probs - penalties).max())


def every_reading(judge, reading):
    """All readings with the spans of a reading, one for each choice of possible values."""
    places = [(i, at) for i, spans in enumerate(reading) for at in range(len(spans))]
    choices = [
        [
            which
            for which in range(max(1, len(judge.values(i, *reading[i][at][:2]))))
            if judge.price_of_choice(i, *reading[i][at][:2], which) < inf
        ]
        for i, at in places
    ]
    for choice in product(*choices):
        changed = [list(spans) for spans in reading]
        for (i, at), which in zip(places, choice, strict=True):
            changed[i][at] = changed[i][at]._replace(choice=which)
        yield tuple(map(tuple, changed))


def priced_readings(judge, reading):
    """Every choice of values for the spans of a reading, with the price of values and faults."""
    places = [(i, span) for i, spans in enumerate(reading) for span in spans]
    options = []
    for i, span in places:
        values = judge.values(i, span.start, span.end) or (None,)
        faults = judge.faults(i, span.start, span.end)
        prices = [judge.price_of_choice(i, span.start, span.end, n) for n in range(len(values))]
        options.append([(faults + p, v) for p, v in zip(prices, values, strict=True) if p < inf])
    for choice in product(*options):
        named = [
            (judge.rules.fields[i].name, span.start, span.end, value)
            for (i, span), (_, value) in zip(places, choice, strict=True)
        ]
        yield sum(price for price, _ in choice), frozenset(named)


def seen_by_a_person(rules, fields):
    """By field, its first value, or all values of a list."""
    seen = []
    for f in rules.fields:
        values = [found.value for found in fields.get(f.name, ()) if found.value is not None]
        seen.append(tuple(values if f.many else values[:1]))
    return tuple(seen)
