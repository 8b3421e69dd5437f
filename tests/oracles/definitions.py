"""The worth of every labelling, from the definitions of labels, fields and rules.

It uses lawful only to read texts as money, and to choose among several best labellings. It supports
two fields, ``total`` and ``parts``, BIO labels and the rules in ``CHECKS``.
"""

from __future__ import annotations

from decimal import Decimal
from itertools import product
from math import inf

import numpy as np

import lawful
from lawful.values import read
from tests.oracles.streams import legal_bio

LABELS = ("O", "B-total", "I-total", "B-part")


def spans_of(labels):
    """The spans of a legal BIO labelling as (type, start, end)."""
    spans = []
    for at, label in enumerate(labels):
        if label.startswith("B-"):
            spans.append([label[2:], at, at + 1])
        elif label.startswith("I-"):
            spans[-1][2] = at + 1
    return spans


def close(a, b):
    return abs(a - b) <= Decimal("0.005")


def both(a, b):
    """Kleene's and."""
    return False if False in (a, b) else None if None in (a, b) else True


# Each check in plain Python. Arguments: the total or None, the parts or None, and the number of
# occurrences of each.
CHECKS = {
    "total == sum(parts)": lambda t, p, *_: None if None in (t, p) else close(t, sum(p)),
    "total == 3": lambda t, *_: None if t is None else close(t, 3),
    "total > 1 and count(parts) >= 1": lambda t, p, totals, parts: both(
        None if t is None else t > 1 and not close(t, 1), parts >= 1
    ),
    "sum(parts) <= 2": lambda t, p, *_: None if p is None else sum(p) <= 2 or close(sum(p), 2),
    "present(total)": lambda t, p, totals, parts: totals > 0,
    "count(parts) == 2": lambda t, p, totals, parts: parts == 2,
    "not present(total) or total != 2": lambda t, p, totals, parts: (
        True if totals == 0 else None if t is None else not close(t, 2)
    ),
    "1 == 2": lambda *_: False,
}


def penalty_of(document, labels, rules, kept):
    """The sum of the weights that a labelling violates, without the judge."""
    texts = {"total": [], "part": []}
    penalty = 0.0
    policy = rules.defaults

    def weight(name):
        return policy.weights.get(name, policy.weight)

    names = {"total": "total", "part": "parts"}
    for type_, start, end in spans_of(labels):
        texts[type_].append(" ".join(document.words[start:end]))
        most = rules.fields[0].max_words
        if type_ == "total" and most is not None and end - start > most:
            penalty += weight("total:max_words")
    values = {type_: [read(text, "money") for text in found] for type_, found in texts.items()}
    for type_, readings in values.items():
        penalty += sum(weight(f"{names[type_]}:reads") for reading in readings if not reading)
        if not any(readings) and type_ in kept:
            penalty += inf
        if not any(readings) and policy.presence == "required":
            penalty += weight(f"{names[type_]}:required")
    totals = list(dict.fromkeys(reading[0] for reading in values["total"] if reading))
    if policy.repeat == "agree" and len(totals) > 1:
        penalty += weight("total:agrees")
    parts = tuple(reading[0] for reading in values["part"] if reading)
    parts = parts if parts and len(parts) == len(values["part"]) else None
    choices = totals if policy.repeat == "any" else totals[:1]
    for rule in rules.rules:
        counts = len(values["total"]), len(values["part"])
        verdicts = [CHECKS[rule.check](total, parts, *counts) for total in choices or [None]]
        if True not in verdicts and False in verdicts:
            penalty += rule.weight
    return penalty


def kept_by(document, labels, rules):
    """The types of a labelling's spans that have a value, if fields are to be kept."""
    if rules.defaults.presence != "keep":
        return set()
    return {
        type_
        for type_, start, end in spans_of(labels)
        if read(" ".join(document.words[start:end]), "money")
    }


def best_worth(document, scores, rules):
    """The highest worth of a legal labelling; minus infinity if hard rules refuse all."""
    words = len(document)
    legal = [
        labels
        for labels in product(range(len(LABELS)), repeat=words)
        if legal_bio([LABELS[i] for i in labels])
        and np.isfinite(scores.log_probs[range(words), labels]).all()
    ]
    if not legal:
        return -inf
    # If several legal labellings are best, the kept fields depend on which one is chosen; decoders
    # choose the one that ``paths`` yields first.
    best, _ = next(lawful.paths(scores.costs, rules.scheme_for(LABELS), kind="costs"))
    kept = kept_by(document, [LABELS[i] for i in best], rules)
    return max(
        scores.log_probs[range(words), labels].sum()
        - penalty_of(document, [LABELS[i] for i in labels], rules, kept)
        for labels in legal
    )
