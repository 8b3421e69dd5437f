"""Random instances, small enough for brute force, with ties, zeros and forbidden labels."""

from __future__ import annotations

from math import inf

import numpy as np
from hypothesis import strategies as st

import lawful
from lawful import Document, Field, Rule, Rules, Scores
from lawful.rules import RuleDefaults
from tests.oracles import definitions

# Few distinct values make ties; inf makes forbidden labels, and sometimes forbidden rows.
TIED = st.sampled_from([0.0, -0.0, 0.5, 1.0, 1.5, 2.0, float("inf")])
SMOOTH = st.floats(-20, 20)


@st.composite
def small_costs(draw, most_words=5, labels=None):
    """A cost matrix, words x labels, of up to 4^5 assignments."""
    shape = draw(st.integers(0, most_words)), labels or draw(st.integers(1, 4))
    values = draw(st.sampled_from([TIED, SMOOTH, TIED | SMOOTH]))
    flat = draw(st.lists(values, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    return np.array(flat, dtype=np.float64).reshape(shape)


@st.composite
def small_probs(draw):
    """A probability matrix with zeros, and sometimes a row of zeros."""
    words, labels = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    rows = st.lists(st.integers(0, 9), min_size=labels, max_size=labels)
    weights = np.array(draw(st.lists(rows, min_size=words, max_size=words)), dtype=float)
    return weights / np.maximum(weights.sum(axis=1, keepdims=True), 1)


def label_lists(prefixes):
    """Labels of a scheme in any order, some without their partners or without a prefix."""
    names = ["O", "other", "X-ray", *(f"{p}-{t}" for p in prefixes for t in "ab"), *prefixes]
    return st.lists(st.sampled_from(names), min_size=1, max_size=5, unique=True)


def implied_weights(names):
    """Weights of some conditions that fields of these names imply."""
    conditions = ("reads", "max_words", "pattern", "required", "agrees")
    keys = st.sampled_from([f"{name}:{condition}" for name in names for condition in conditions])
    return st.just({}) | st.dictionaries(keys, st.sampled_from([0.0, 0.5, 2.0, inf]), max_size=4)


AMOUNTS = ["1", "2", "3", "1.000", "x", "-1", "0.5"]


@st.composite
def total_and_parts(draw):
    """A problem for ``tests.oracles.definitions``: up to four words, zeros and ties."""
    words = draw(st.lists(st.sampled_from(AMOUNTS), min_size=1, max_size=4))
    row = st.lists(st.integers(0, 4), min_size=4, max_size=4)
    weights = np.array(draw(st.lists(row, min_size=len(words), max_size=len(words))), dtype=float)
    weights[weights.sum(axis=1) == 0, 0] = 1
    scores = Scores.from_probs(weights / weights.sum(axis=1, keepdims=True), definitions.LABELS)
    weight = st.sampled_from([0.0, 0.5, 1.0, 3.0, inf])
    checks = draw(st.lists(st.sampled_from(sorted(definitions.CHECKS)), max_size=3, unique=True))
    policy = {
        "presence": draw(st.sampled_from(["keep", "free", "required"])),
        "repeat": draw(st.sampled_from(["agree", "first", "any"])),
    }
    rules = Rules(
        [
            Field("total", "total", "money", max_words=draw(st.sampled_from([None, 1, 2]))),
            Field("parts", "part", "money", many=True),
        ],
        [Rule(check, weight=draw(weight)) for check in checks],
        defaults=RuleDefaults(
            weight=draw(weight),
            unchecked=0.0,
            weights=draw(implied_weights(["total", "parts"])),
            **policy,
        ),
    )
    return Document("d", words), scores, rules


AMOUNTS_AND_DAYS = ["1", "2", "3", "1.000", "x", "-1", "0.5", "2024-01-05", "6/1/2024", "12.00"]

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
    "total - tax in (0, 1)",
    "sum(parts) not in (1, 2.5)",
    "day in (date('2024-01-05'), date('2024-01-06'))",
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
    """Rules of all types, on random fields."""
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
            unchecked=draw(st.sampled_from([None, None, 0.5, 3.0])),
        )
        for check in checks
    ]
    if draw(st.integers(0, 5)) == 0:
        rules.append(python_rule)
    return Rules(
        fields,
        rules,
        scheme=draw(st.sampled_from(["BIO", *PREFIXES])),
        defaults=RuleDefaults(
            weight=draw(weight), weights=draw(implied_weights([f.name for f in fields]))
        ),
    )


@st.composite
def problems(draw):
    """A document of up to three words, peaked or tied scores with zeros, and rules of all types."""
    rules = draw(rule_sets())
    words = draw(st.lists(st.sampled_from(AMOUNTS_AND_DAYS), min_size=1, max_size=3))
    labels = LABELS[rules.scheme]
    row = st.lists(st.integers(0, 4), min_size=len(labels), max_size=len(labels))
    weights = np.array(draw(st.lists(row, min_size=len(words), max_size=len(words))), float)
    if draw(st.booleans()):
        weights = weights**3
    weights[weights.sum(axis=1) == 0, 0] = 1
    scores = Scores.from_probs(weights / weights.sum(axis=1, keepdims=True), labels)
    return Document("d", words), scores, rules
