"""The exact decoder and the readings under it, against brute force with the Python judge.

The judge itself is compared with an oracle of its own in ``test_exact_decoders``.
"""

from __future__ import annotations

from itertools import product
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lawful
from lawful import Budget, Defaults, Document, Field, Rule, Rules, Scores, decode
from lawful.decoders.search import Problem

ENOUGH = Budget(candidates=10**6)
WORDS = ["1", "2", "3", "1.000", "x", "-1", "0.5", "2024-01-05", "6/1/2024", "12.00"]

# Of a total, a tax with a default, parts (a list), a day, and another day.
CHECKS = [
    "total == sum(parts)",
    "total == sum(parts) + tax",
    "total + tax == 3",
    "total == 2 * tax",
    "abs(tax - 0.5 * total) <= 1",
    "abs(total - tax) <= 0.5 and total > 0",
    "total == round(1.1 * tax + 0.05, 1)",
    "total >= max(parts)",
    "min(parts) < tax",
    "count(parts) == 2",
    "count(parts) == total",
    "total == (sum(parts) if present(parts) else 1)",
    "total == (sum(parts) if present(parts) else 0) + tax",
    "not present(total) or total != 2",
    "sum(parts) <= 2 or total == 1",
    "day <= due",
    "due - day <= 1",
    "day >= date('2024-01-01')",
    "total > 1",
    "total * tax == 2",
    "total / 4 == tax",
    "total / 3 == tax",
    "-1 < total - tax < 2",
    "present(day) == present(due)",
    "1 == 2",
    "count(total) <= 1",
    "day != due or total == tax",
]
PREFIXES = {  # of the labels for types that may have several words, and of the others
    "BIO": ("BI", "B"),
    "IO": ("I", "I"),
    "IOB1": ("IB", "IB"),
    "IOBES": ("BIES", "S"),
}
LABELS = {
    scheme: (
        "O",
        *(f"{prefix}-{type_}" for type_ in ("total", "part", "x") for prefix in long),
        *(f"{prefix}-{type_}" for type_ in ("tax", "day", "due") for prefix in short),
    )
    for scheme, (long, short) in PREFIXES.items()
}


@lawful.rule(reads=("total", "parts"))
def python_rule(total, parts):
    return total <= sum(parts)


@st.composite
def rule_sets(draw):
    """Rules of every kind, coupled by chance."""
    weight = st.sampled_from([0.0, 0.3, 1.0, 3.0, 10.0, inf])
    presence = st.sampled_from(["keep", "free", "required", None])
    repeat = st.sampled_from(["agree", "first", "any", None])
    price = st.sampled_from([None, 0.0, 0.5, 2.0])
    fields = [
        Field("total", "total", "money", presence=draw(presence), repeat=draw(repeat),
              max_words=draw(st.sampled_from([None, 1])), ambiguity=draw(price)),
        Field("tax", "tax", "money", presence=draw(presence), repeat=draw(repeat),
              default=draw(st.sampled_from([None, 0, 2])),
              pattern=draw(st.sampled_from([None, "[0-9.]+"]))),
        Field("parts", "part", "money", many=True, presence=draw(presence), ambiguity=draw(price)),
        Field("day", "day", "date", presence=draw(presence), repeat=draw(repeat),
              ambiguity=draw(price)),
        Field("due", "due", "date", presence=draw(presence)),
    ]  # fmt: skip
    checks = draw(st.lists(st.sampled_from(CHECKS), max_size=4, unique=True))
    rules = [
        Rule(
            check,
            weight=draw(weight),
            tolerance=draw(st.sampled_from([None, 0, 1])),
            when=draw(st.sampled_from([None, None, None, "present(parts)", "tax > 0"])),
        )
        for check in checks
    ]
    if draw(st.integers(0, 5)) == 0:
        rules.append(python_rule)
    return Rules(
        fields,
        rules,
        scheme=draw(st.sampled_from(["BIO", *PREFIXES])),
        defaults=Defaults(weight=draw(weight)),
    )


@st.composite
def problems(draw):
    rules = draw(rule_sets())
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3))
    labels = LABELS[rules.scheme]
    row = st.lists(st.integers(0, 4), min_size=len(labels), max_size=len(labels))
    weights = np.array(draw(st.lists(row, min_size=len(words), max_size=len(words))), float)
    if draw(st.booleans()):
        weights = weights**3
    weights[weights.sum(axis=1) == 0, 0] = 1
    scores = Scores.from_probs(weights / weights.sum(axis=1, keepdims=True), labels)
    return Document("d", words), scores, rules


def every_legal_row(problem):
    """All legal labellings of positive probability, as rows of label indices."""
    possible = [np.flatnonzero(np.isfinite(row)) for row in problem.scores.log_probs]
    rows = np.array(list(product(*possible)))
    return rows[problem.scheme.allow(rows)]


def brute_force(document, scores, rules):
    """The worth of the best labelling; minus infinity when hard rules refuse all of them."""
    problem = Problem(document, scores, rules)
    if problem.best_legal is None:
        return -inf
    rows = every_legal_row(problem)
    log_probs = scores.log_probs[np.arange(len(document)), rows].sum(axis=1)
    penalties = np.array(list(problem.judge.penalties(rows)))
    return float((log_probs - penalties).max())


@settings(max_examples=1500)
@given(problem=problems())
def test_exact_finds_the_best_and_says_so(problem):
    expected = brute_force(*problem)
    found = decode(*problem, decoder="exact", budget=ENOUGH)
    if expected == -inf:
        assert found.status == "infeasible"
        return
    assert found.worth == pytest.approx(expected, abs=1e-9)
    assert found.optimal
    assert found.bound == pytest.approx(expected, abs=1e-9)
    assert found.status == ("relaxed" if found.violations else "satisfied")
