"""Rows, words, boundaries, orders, given values and weights in one rule file."""

from __future__ import annotations

import pickle
from functools import lru_cache
from itertools import groupby, product
from math import inf

import numpy as np
import pytest

from lawful import Budget, Document, Scores, decode
from lawful.rules.files import rules_from

LABELS = ("O", "B-name", "I-name", "B-quantity", "B-amount", "B-total")
WORDS = ("Tea,", "Cup", "x", "2", "3", "4", "6")
IN_ROWS = ("name", "quantity", "amount")


def random_case(seed):
    rng = np.random.default_rng(seed)

    def weight(*more):
        return float(rng.choice([0.4, 1.5, 4.0, *more]))

    def some(choices):
        return {key: value for key, value in choices.items() if rng.random() < 0.7}

    words = [str(word) for word in rng.choice(WORDS, rng.integers(1, 5))]
    numbers = {"quantity": "integer", "amount": "money", "total": "money"}
    data = {
        "fields": {
            "name": {"label": "name", **some({"starts": "^[A-Z]", "ends": "p$"})},
            **{name: {"label": name, "type": type_} for name, type_ in numbers.items()},
        },
        "rows": {"line": {"fields": list(IN_ROWS), **some({"starts": "name"})}},
        "rules": [
            {"id": "product", "each": "line", "check": "amount == quantity * unit", "weight": 3},
            {"id": "sum", "check": "total == sum(line.amount)", "weight": 2, "unchecked": 0.5},
        ],
        "given": {"unit": "money"},
        "weight": weight(),
        "weights": some(
            {
                "name:starts": weight(inf),
                "name:ends": weight(),
                "name:words": weight(),
                "amount:reads": weight(inf),
                "amount:words": weight(inf),
                "total:reads": weight(),
                "total:boundary": weight(inf),
            }
        ),
        "presence": "free",
        "repeat": "first",
    }
    data |= some(
        {
            "words": [
                {"match": r"\d", "only": ["quantity", "total"], **some({"weight": weight(inf)})},
                {"in": ["x", "tea,"], "only": []},
            ],
            "boundaries": {"after": "[^x]$", **some({"weight": weight(inf)})},
            "order": {"fields": ["name", "amount", "total"], **some({"weight": weight(inf)})},
        }
    )
    given = some({"unit": 2})
    ids = np.sort(rng.integers(0, 3, len(words))).tolist()
    document = Document("d", words, rows=ids, given=given)
    probs = rng.dirichlet(np.full(len(LABELS), 0.5), len(words))
    return document, Scores.from_probs(probs, LABELS), data


def spans_by_hand(labels):
    """The spans of a legal labelling: name, start, end; ``None`` if it is not legal."""
    spans = []
    for i, label in enumerate(labels):
        if label[0] == "B":
            spans.append((label[2:], i, i + 1))
        elif label[0] == "I":
            if not i or labels[i - 1][2:] != label[2:]:
                return None
            name, start, _ = spans.pop()
            spans.append((name, start, i + 1))
    return spans


def number(document, start):
    text = document.words[start]
    return int(text) if text.isdigit() else None


def rows_by_hand(document, spans, starts):
    own = [span for span in spans if span[0] in IN_ROWS]
    if starts is None:
        return [list(row) for _, row in groupby(own, lambda span: document.rows[span[1]])]
    rows = []
    for span in own:
        if span[0] == starts:
            rows.append([span])
        elif rows:
            rows[-1].append(span)
    return rows


def penalty_by_hand(document, spans, data):
    words, default = document.words, data["weight"]

    def implied(name, condition):
        return data["weights"].get(f"{name}:{condition}", default)

    cost = 0.0
    order = data.get("order", {"fields": []})
    for name, start, end in spans:
        if name == "name":
            keys = data["fields"]["name"]
            cost += implied(name, "starts") if "starts" in keys and words[start] == "x" else 0
            cost += implied(name, "starts") if "starts" in keys and words[start].isdigit() else 0
            cost += implied(name, "ends") if "ends" in keys and words[end - 1] != "Cup" else 0
        elif number(document, start) is None:
            cost += implied(name, "reads")
        for rule in data.get("words", ()):
            own = rule.get("weight", implied(name, "words"))
            for word in words[start:end]:
                meant = word.isdigit() if "match" in rule else word in ("x", "Tea,")
                cost += own if meant and name not in rule["only"] else 0
        if "boundaries" in data and start and words[start - 1] == "x":
            cost += data["boundaries"].get("weight", implied(name, "boundary"))
        if name in order["fields"]:
            later = order["fields"][order["fields"].index(name) + 1 :]
            if any(other in later and begin < start for other, begin, _ in spans):
                cost += order.get("weight", default)
    for row in rows_by_hand(document, spans, data["rows"]["line"].get("starts")):
        first = {}
        for name, start, _ in row:
            if name != "name" and (value := number(document, start)) is not None:
                first.setdefault(name, value)
        if {"quantity", "amount"} <= first.keys() and document.given:
            cost += 3 if first["amount"] != first["quantity"] * 2 else 0
    amounts = [number(document, start) for name, start, _ in spans if name == "amount"]
    totals = [number(document, start) for name, start, _ in spans if name == "total"]
    totals = [total for total in totals if total is not None]
    if not totals or not amounts or None in amounts:
        return cost + 0.5
    return cost + (2 if totals[0] != sum(amounts) else 0)


@lru_cache
def best_by_hand(seed):
    document, scores, data = random_case(seed)
    return max(
        sum(scores.log_probs[range(len(labels)), list(labels)])
        - penalty_by_hand(document, spans, data)
        for labels in product(range(len(LABELS)), repeat=len(document))
        if (spans := spans_by_hand([LABELS[k] for k in labels])) is not None
    )


@pytest.mark.parametrize("decoder", ["auto", "exact", "lazyk", "paths", "readings", "best_first"])
def test_the_best_labelling_under_all_kinds_of_rules_is_found(decoder):
    for seed in range(80 if decoder in ("auto", "exact") else 25):
        document, scores, data = random_case(seed)
        rules = pickle.loads(pickle.dumps(rules_from(data)))
        found = decode(document, scores, rules, decoder=decoder, budget=Budget(candidates=10**6))
        by_hand = penalty_by_hand(document, spans_by_hand(found.labels), data)
        assert found.penalty == pytest.approx(by_hand), seed
        assert found.worth == pytest.approx(best_by_hand(seed)), seed
        assert found.optimal, seed


def test_copies_of_rules_keep_all_parts():
    parts = ("rows", "words", "boundaries", "orders", "given", "defaults")
    for seed in range(20):
        rules = rules_from(random_case(seed)[2])
        for copy in (
            rules.with_rules("total > 0"),
            rules.with_defaults(tolerance=rules.defaults.tolerance),
            pickle.loads(pickle.dumps(rules)),
        ):
            assert [getattr(copy, part) for part in parts] == [
                getattr(rules, part) for part in parts
            ]


def test_a_hard_condition_of_words_clashes_by_name():
    _, _, data = random_case(0)
    data |= {
        "words": [{"match": r"\d", "only": []}],
        "weights": {"total:words": inf},
        "rules": [{"id": "there", "check": "present(total)", "weight": "hard"}],
    }
    scores = Scores.from_probs(np.full((1, len(LABELS)), 1 / len(LABELS)), LABELS)
    found = decode(Document("d", ["2"]), scores, rules_from(data))
    assert found.status == "infeasible"
    assert found.clash == ("there", "total:words")
