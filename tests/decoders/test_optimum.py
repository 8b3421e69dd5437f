"""Exact decoders against brute force over labels and rules."""

from __future__ import annotations

from decimal import Decimal
from itertools import product
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lawful
from lawful import Budget, Document, Field, Rule, Rules, Scores, decode
from lawful.experiments.baselines import lazyk as published
from lawful.rules.definitions import PAPER
from lawful.rules.judge import Judge
from lawful.values import read
from tests.oracles.streams import legal_bio

LABELS = ("O", "B-total", "I-total", "B-part")
WORDS = ["1", "2", "3", "1.000", "x", "-1", "0.5"]
ENOUGH = Budget(candidates=10**6)


@st.composite
def problems(draw):
    """A document of up to four words, peaked or tied scores with zeros, and random rules."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
    row = st.lists(st.integers(0, 4), min_size=4, max_size=4)
    weights = np.array(draw(st.lists(row, min_size=len(words), max_size=len(words))), dtype=float)
    weights[weights.sum(axis=1) == 0, 0] = 1
    scores = Scores.from_probs(weights / weights.sum(axis=1, keepdims=True), LABELS)
    weight = st.sampled_from([0.0, 0.5, 1.0, 3.0, inf])
    checks = draw(st.lists(st.sampled_from(sorted(CHECKS)), max_size=3, unique=True))
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
        defaults=lawful.RuleDefaults(weight=draw(weight), unchecked=0.0, **policy),
    )
    return Document("d", words), scores, rules


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


# Each check by itself, in plain Python: of the total (or None), the parts (or None) and how often
# either occurs.
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
    """The weights that a labelling violates, from the definitions, without the judge."""
    texts = {"total": [], "part": []}
    penalty = 0.0
    weight, policy = rules.defaults.weight, rules.defaults
    for type_, start, end in spans_of(labels):
        texts[type_].append(" ".join(document.words[start:end]))
        most = rules.fields[0].max_words
        if type_ == "total" and most is not None and end - start > most:
            penalty += weight
    values = {type_: [read(text, "money") for text in found] for type_, found in texts.items()}
    for type_, readings in values.items():
        penalty += sum(weight for reading in readings if not reading)
        if not any(readings) and type_ in kept:
            penalty += inf
        if not any(readings) and policy.presence == "required":
            penalty += weight
    totals = list(dict.fromkeys(reading[0] for reading in values["total"] if reading))
    if policy.repeat == "agree" and len(totals) > 1:
        penalty += weight
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
    """The types that the best legal labelling has, with a text that can be read."""
    if rules.defaults.presence != "keep":
        return set()
    return {
        type_
        for type_, start, end in spans_of(labels)
        if read(" ".join(document.words[start:end]), "money")
    }


def brute_force(document, scores, rules):
    """The worth of the best legal labelling; ``None`` when hard rules refuse all of them."""
    words = len(document)
    legal = [
        labels
        for labels in product(range(len(LABELS)), repeat=words)
        if legal_bio([LABELS[i] for i in labels])
        and np.isfinite(scores.log_probs[range(words), labels]).all()
    ]
    if not legal:
        return None
    # Where the best legal labelling is a tie, what is to be kept depends on which one is meant;
    # decoders mean the one that ``paths`` yields first.
    best, _ = next(lawful.paths(scores.costs, rules.scheme_for(LABELS), kind="costs"))
    kept = kept_by(document, [LABELS[i] for i in best], rules)
    worth = max(
        scores.log_probs[range(words), labels].sum()
        - penalty_of(document, [LABELS[i] for i in labels], rules, kept)
        for labels in legal
    )
    return None if worth == -inf else worth


@pytest.mark.parametrize("decoder", ["lazyk", "best_first", "paths", "beam", "exact"])
@settings(max_examples=700)
@given(problem=problems())
def test_finds_the_labelling_of_highest_worth(decoder, problem):
    expected = brute_force(*problem)
    found = decode(*problem, decoder=decoder, budget=ENOUGH)
    if expected is None:
        assert found.status == ("exhausted" if decoder == "beam" else "infeasible")
        return
    assert found.log_prob - found.penalty == pytest.approx(expected)
    if decoder != "beam" or found.status != "exhausted":
        assert found.optimal
        held = any(check.state == "satisfied" for check in found.checks)
        assert found.status == (
            "relaxed" if found.violations else "satisfied" if held else "unchecked"
        )
        assert found.bound == pytest.approx(expected)


@settings(max_examples=25)
@given(problem=problems())
def test_lazy_ilp_finds_it_too(problem):
    expected = brute_force(*problem)
    found = decode(*problem, decoder="lazy_ilp", budget=Budget(candidates=300))
    if expected is None:
        assert found.status == "infeasible"
    else:
        assert found.log_prob - found.penalty == pytest.approx(expected)


@settings(max_examples=300)
@given(problem=problems(), candidates=st.integers(1, 30))
def test_a_small_budget_never_lies(problem, candidates):
    expected = brute_force(*problem)
    for decoder in ("paths", "lazyk", "exact"):
        found = decode(*problem, decoder=decoder, budget=Budget(candidates=candidates))
        assert found.tried <= candidates
        worth = -inf if expected is None else expected
        assert found.bound >= worth - 1e-9
        if found.optimal:
            assert found.log_prob - found.penalty == pytest.approx(worth)
        if found.status == "infeasible":
            assert expected is None


@settings(max_examples=300)
@given(problem=problems())
def test_lazyk_agrees_with_the_published_algorithm_under_hard_rules(problem):
    document, scores, rules = problem
    rules = rules.with_defaults(**PAPER)
    judge = Judge(document, rules, rules.scheme_for(LABELS))
    accepted = (
        log_prob
        for labels, log_prob in published(np.exp(scores.log_probs))
        if legal_bio([LABELS[i] for i in labels]) and judge.cost(np.array(labels)).most == 0
    )
    expected = next(accepted, None)
    found = decode(document, scores, rules, decoder="lazyk", budget=ENOUGH)
    if expected is None:
        assert found.status == "infeasible"
    else:
        assert found.status in ("satisfied", "unchecked")
        assert found.log_prob == pytest.approx(expected)
