"""Rules of rows against brute force: all labellings of small receipts, judged by hand."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from lawful import Document, Field, Rule, Rules, Scores, decode
from lawful.rules import RowKind
from tests.helpers import ENOUGH, possible_labellings

NAMES = ("quantity", "price", "amount", "total")
FIELDS = [Field(name, name, "money") for name in NAMES]
LABELS = ("O", *(f"B-{name}" for name in NAMES))
IN_ROWS = NAMES[:3]

RULES = (
    Rule("amount == quantity * price", id="product", each="line", weight=3),
    Rule("amount >= previous.amount", id="rising", each="line", weight=2, unchecked=0.25),
    Rule("total == sum(line.amount)", id="sum", weight=4, unchecked=0.5),
)
PRICES = {  # of a check that is violated, and of one that is vacuous
    "product": (3, 0),
    "rising": (2, 0.25),
    "sum": (4, 0.5),
}


def rows_by_hand(document, labels, starts):
    """The values of each row by field; ``starts`` is the field that begins one, if one does."""
    rows, last = [], None
    for i, label in enumerate(labels):
        name = LABELS[label].removeprefix("B-")
        if name not in IN_ROWS:
            continue
        if starts is not None:
            if name == starts:
                rows.append({})
            elif not rows:
                continue
        elif document.rows[i] is None:
            continue
        elif not rows or runs_between(document.rows, last, i):
            rows.append({})
        last = i
        rows[-1].setdefault(name, Decimal(document.words[i]))
    return rows


def runs_between(ids, one, other):
    seen = [id_ for id_ in ids[one : other + 1] if id_ is not None]
    return any(a != b for a, b in pairwise(seen))


def checks_by_hand(document, labels, starts, rules):
    """The rules' checks: a rule's name, and whether it holds, which may be ``None``."""
    rows = rows_by_hand(document, labels, starts)
    for before, row in zip([{}, *rows], rows, strict=False):
        if "product" in rules:
            known = set(row) == set(IN_ROWS)
            yield "product", row["amount"] == row["quantity"] * row["price"] if known else None
        if "rising" in rules:
            known = "amount" in row and "amount" in before
            yield "rising", row["amount"] >= before["amount"] if known else None
    if "sum" in rules:
        totals, amounts = (values_by_hand(document, labels, name) for name in ("total", "amount"))
        yield "sum", totals[0] == sum(amounts) if totals and amounts else None


def penalty_by_hand(document, labels, starts, rules):
    checks = checks_by_hand(document, labels, starts, rules)
    return sum(0 if holds else PRICES[name][holds is None] for name, holds in checks)


def values_by_hand(document, labels, name):
    return [Decimal(document.words[i]) for i, k in enumerate(labels) if LABELS[k][2:] == name]


# Random receipts.


def receipt(rng):
    """Words with their labels and row ids; products, rising amounts and the sum often hold."""
    words, labels, ids, amounts = [], [], [], []
    for row in range(rng.choice([1, 2, 2, 2, 3])):
        quantity, price = (int(n) for n in rng.integers(1, 5, 2))
        amounts.append(quantity * price + int(rng.choice([0, 0, 1])))
        values = {"quantity": quantity, "price": price, "amount": amounts[-1]}
        names = list(IN_ROWS)
        if rng.random() < 0.2:
            rng.shuffle(names)
        if rng.random() < 0.15:
            names.pop()
        words += [str(values[name]) for name in names]
        labels += names
        ids += [row] * len(names)
    if rng.random() < 0.7:
        words.append(str(sum(amounts) + int(rng.choice([0, 0, 0, 1]))))
        labels.append("total")
        ids.append(row if rng.random() < 0.3 else None)
    return words, labels, ids


def tagged(rng, labels):
    """Probabilities of a tagger that knows most labels; each word has one to three possible ones.

    A sure label is worth more than any rule, one in doubt less.
    """
    probs = np.zeros((len(labels), len(LABELS)))
    for row, name in zip(probs, labels, strict=True):
        true = LABELS.index(f"B-{name}")
        others = rng.permutation([k for k in range(len(LABELS)) if k != true])[: rng.integers(3)]
        row[others] = rng.choice([0.001, 0.001, 0.02, 0.3]) * rng.uniform(0.5, 1, len(others))
        row[true] = 1
        if len(others) and rng.random() < 0.08:
            row[[true, others[0]]] = row[[others[0], true]]
    return probs / probs.sum(axis=1, keepdims=True)


def random_case(seed):
    """A document, scores, rules, their names, and the field that begins a row, if one does."""
    rng = np.random.default_rng(seed)
    if rng.random() < 0.8:
        words, labels, ids = receipt(rng)
        probs = tagged(rng, labels)
    else:  # anything: up to five words with ties
        size = int(rng.integers(1, 6))
        words = [str(w) for w in rng.integers(1, 5, size)]
        ids = np.sort(rng.integers(0, 3, size)).tolist()
        probs = rng.dirichlet(np.full(5, 0.5), size)
        if rng.random() < 0.5:
            probs = np.round(probs, 1) + 0.1
            probs /= probs.sum(axis=1, keepdims=True)
    if rng.random() < 0.15:
        ids = None
    elif rng.random() < 0.2:
        ids = [None if rng.random() < 0.2 else id_ for id_ in ids]
    starts = str(rng.choice(IN_ROWS)) if rng.random() < 0.2 else None
    document = Document("d", words, rows=ids)
    chosen = [rule for rule in RULES if rng.random() < 0.7]
    kind = RowKind("line", IN_ROWS, starts)
    rules = Rules(FIELDS, chosen, rows=[kind]).with_defaults(presence="free", repeat="first")
    hand = starts if starts or ids else IN_ROWS[0]
    return document, Scores.from_probs(probs, LABELS), rules, {rule.id for rule in chosen}, hand


@cache
def judged_by_hand(seed):
    """The penalty and log-probability of every possible labelling."""
    document, scores, _, chosen, starts = random_case(seed)
    return {
        labels: (
            penalty_by_hand(document, labels, starts, chosen),
            float(scores.log_probs[range(len(labels)), labels].sum()),
        )
        for labels in possible_labellings(scores)
    }


def best_by_hand(seed):
    """The labelling of highest worth, and its worth."""
    judged = judged_by_hand(seed)
    best = max(judged, key=lambda labels: judged[labels][1] - judged[labels][0])
    return best, judged[best][1] - judged[best][0]


SEEDS = 300


@pytest.mark.parametrize("decoder", ["auto", "exact", "lazyk", "paths", "readings", "best_first"])
def test_the_best_labelling_under_rules_of_rows_is_found(decoder):
    for seed in range(SEEDS if decoder in ("auto", "exact") else 80):
        document, scores, rules, _, _ = random_case(seed)
        found = decode(document, scores, rules, decoder=decoder, budget=ENOUGH)
        labels = tuple(LABELS.index(label) for label in found.labels)
        assert found.penalty == pytest.approx(judged_by_hand(seed)[labels][0]), seed
        assert found.worth == pytest.approx(best_by_hand(seed)[1]), seed
        assert found.optimal, seed


def test_checks_of_rows_are_those_by_hand():
    for seed in range(SEEDS):
        document, scores, rules, chosen, starts = random_case(seed)
        found = decode(document, scores, rules)
        labels = tuple(LABELS.index(label) for label in found.labels)
        by_hand = Counter(checks_by_hand(document, labels, starts, chosen))
        for name in chosen:
            checks = Counter(check.state for check in found.checks if check.id == name)
            assert checks["satisfied"] == by_hand[name, True], (seed, name)
            assert checks["violated"] == by_hand[name, False], (seed, name)
            price = sum(check.price for check in found.checks if check.id == name)
            violated, vacuous = PRICES[name]
            expected = violated * by_hand[name, False] + vacuous * by_hand[name, None]
            assert price == pytest.approx(expected), (seed, name)


def test_each_rule_often_holds_and_is_often_violated_by_the_best_labelling():
    checks, changed = Counter(), 0
    for seed in range(SEEDS):
        document, scores, _, chosen, starts = random_case(seed)
        best, _ = best_by_hand(seed)
        checks.update(checks_by_hand(document, best, starts, chosen))
        changed += scores.log_probs[range(len(best)), best].sum() < (
            scores.log_probs.max(axis=1).sum() - 1e-9
        )
    for name in PRICES:
        for holds in (True, False, None):
            assert checks[name, holds] >= 30, (name, holds, checks)
    assert changed >= 60  # rules change the labels that the model likes best


def test_confidences_are_right_under_rules_of_rows():
    for seed in range(100):
        document, scores, rules, _, _ = random_case(seed)
        total, same = 0.0, dict.fromkeys(NAMES, 0.0)
        found = decode(document, scores, rules, alternatives=1)
        for labels, (penalty, log_prob) in judged_by_hand(seed).items():
            mass = np.exp(log_prob - penalty)
            total += mass
            for name in NAMES:
                values, answer = values_by_hand(document, labels, name), list(found.values(name))
                if name == "total":
                    values, answer = values[:1], answer[:1]
                same[name] += mass * (values == answer)
        for name, sure in found.confidence.items():
            assert sure.low - 1e-6 <= same[name] / total <= sure.high + 1e-6, (seed, name)


@pytest.mark.parametrize("weight", [10.0, float("inf")])
@pytest.mark.parametrize("decoder", ["auto", "exact", "readings", "paths"])
def test_a_rule_of_rows_that_names_none_of_their_fields_sees_the_rows(decoder, weight):
    # Readings that differ only in having the row were one to the search: a false proof.
    fields = [Field("kind", "kind"), *(Field(n, n, "money", presence="free") for n in ("a", "b"))]
    rows = [RowKind("line", ("a",)), RowKind("vat", ("b",))]
    of_page = Rules(fields, [Rule("kind == 'invoice'", each="line", weight=weight)], rows=rows)
    of_others = Rules(fields, [Rule("sum(a) > 5", each="vat", weight=weight)], rows=rows)
    labels = ["O", "B-kind", "B-a", "B-b"]
    for rules, words, first, second in (
        (of_page, ["reminder", "4.00"], "B-kind", "B-a"),
        (of_others, ["4.00", "19"], "B-a", "B-b"),
    ):
        probs = np.zeros((2, 4))
        probs[0, labels.index(first)] = 1
        probs[1, [0, labels.index(second)]] = 0.45, 0.55
        document = Document("d", words, rows=[1, 2])
        found = decode(document, Scores.from_probs(probs, labels), rules, decoder=decoder)
        assert found.labels == (first, "O")
        assert (found.optimal, found.worth) == (True, pytest.approx(np.log(0.45)))
