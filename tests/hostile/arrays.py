"""Arrays and nested lists as scores, of every type, shape and memory layout."""

from __future__ import annotations

import warnings

import numpy as np

from lawful import Scheme, Scores, assignments, paths
from tests.hostile.mutations import bent_array, damaged_value, odd_value

LABELS = (["O"], ["O", "B-x"], ["O", "B-x", "I-x"], ["B-x", "I-x", "O", "B-y", "S-y"])
MAKERS = ("from_probs", "from_log_probs", "from_logits", "assignments", "paths", "init", "chain")


def draw(rng):
    """How scores are made, the numbers, and the labels."""
    labels = rng.choice(LABELS)
    rows = np.array([[rng.random() for _ in labels] for _ in range(rng.randrange(5))])
    rows = rows.reshape(len(rows), len(labels))
    rows /= np.maximum(rows.sum(axis=1, keepdims=True), 1e-9)
    maker = rng.choice(MAKERS)
    if maker in ("from_log_probs", "init", "chain"):
        rows = np.log(np.maximum(rows, 1e-300))
    found = rows
    kind = rng.random()
    if kind < 0.15:
        found = rows.tolist()
        for _ in range(rng.randrange(3)):
            found = damaged_value(rng, found)
    elif kind < 0.25:
        found = odd_value(rng)
    elif kind < 0.9:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for _ in range(rng.choice((0, 1, 1, 2))):
                found = bent_array(rng, found)
    if rng.random() < 0.2:
        labels = damaged_value(rng, labels)
    how = rng.choice(("first", "first", "mean", "product", "x", None))
    temperature = rng.choice((1.0, 0.5, 2)) if rng.random() < 0.7 else odd_value(rng)
    return maker, found, labels, temperature, how


def run(case):
    """Makes scores, then all that can be made of them."""
    maker, rows, labels, temperature, how = case
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if maker in ("assignments", "paths"):
            if maker == "assignments":
                stream = assignments(rows)
            else:
                stream = paths(rows, Scheme.named("BIO", labels))
            stream.take(5)
            return "answer"
        if maker == "chain":
            scores = Scores.from_log_probs(rows, labels).with_chain(between=rows)
            scores.marginals()
        elif maker == "init":
            scores = Scores(rows, labels)
        else:
            scores = getattr(Scores, maker)(rows, labels)
        assert scores.log_probs.shape == (len(scores), len(scores.labels))
        assert not np.isnan(scores.log_probs).any()
        assert not np.isnan(scores.costs).any()
        scores.to_words([False, *[True] * (len(scores) - 1)][: len(scores)], how)
        scores.with_temperature(temperature)
    return "answer"
