"""Ambiguous texts, read as rules need them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import lawful
from lawful import Document, Field, Rules, Scores
from lawful.search.problem import Problem


def test_forty_ambiguous_texts_are_settled_as_they_should_be():
    # 2^40 ways to read them; which of these add up with the fewest unlikely readings is found by
    # dynamic programming. The value of an amount is 1,000 times smaller, read otherwise.
    labels = ("O", "B-total", "B-item")
    values = [1000 * i + 1500 for i in range(40)]
    texts = [f"{value / 1000:.3f}" for value in values]
    total = sum(value / 1000 if i % 3 == 0 else value for i, value in enumerate(values))
    fewest = {0: 0}
    for value in values:
        taken = {amount + value: count + 1 for amount, count in fewest.items()}
        for amount, count in taken.items():
            fewest[amount] = min(count, fewest.get(amount, count))
    expected = fewest[sum(values[::3])]
    rules = Rules(
        [
            Field("total", "total", "money"),
            Field("items", "item", "money", many=True, ambiguity=0.01),
        ],
        [lawful.Rule("total == sum(items)", tolerance=0)],
    )
    document = Document("d", [f"{total:.2f}", *texts])
    judge = Problem(document, Scores.from_probs([[0.1, 0.8, 0.1]] * 41, labels), rules).judge
    reading, cost = judge.settle(judge.read(np.array([1] + [2] * 40)))
    assert expected < 14
    assert cost.most == cost.least == pytest.approx(0.01 * expected)
    assert sum(span.choice for span in reading[1]) == expected
    (check,) = judge.checks(reading)
    assert check.state == "satisfied"


def test_no_values_are_tried_where_a_span_is_missing(monkeypatch):
    monkeypatch.setattr("lawful.rules.judging.judge.Settler", None)
    fields = [Field(name, name, "money", ambiguity=0.01) for name in ("total", "item")]
    rules = Rules(fields, [lawful.Rule("total == 2 * item")])
    document = Document("d", ["1.500", "1.500"])
    labels = ("O", "B-total", "B-item")
    judge = Problem(document, Scores.from_probs([[0.1, 0.1, 0.8]] * 2, labels), rules).judge
    lacking = judge.read(np.array([1, 0]))  # the model's best has an item, which is kept
    assert judge.settle(lacking) == (lacking, (np.inf, np.inf))
    with pytest.raises(TypeError):  # now the values matter
        judge.settle(judge.read(np.array([1, 2])))


def test_a_search_that_ends_early_is_followed_by_single_changes(monkeypatch):
    # Each misread cell breaks its row and its column; no search over all cells would end.
    monkeypatch.setattr("lawful.rules.judging.ambiguity.MAX_EXTENSIONS", 1)
    fields = [Field(name, name, "integer") for name in ("a", "b", "sum", "all_a", "all_b")]
    checks = [lawful.Rule("sum == a + b", id="row", each="line")]
    checks += [lawful.Rule(f"all_{name} == sum({name})", id=name) for name in "ab"]
    rules = Rules(fields, checks, rows=[lawful.rules.RowKind("line", ("a", "b", "sum"))])
    words, names, rows, misreads = [], [], [], []
    for row in range(6):
        texts = (str(row + 1), str(2 * row + 1), str(3 * row + 2))
        wrong = row % 2  # a cell of every other row
        words += [
            *(f"9{text}" if wrong == at else text for at, text in enumerate(texts[:2])),
            texts[2],
        ]
        misreads += [((text, 1.5),) if wrong == at else () for at, text in enumerate(texts)]
        names += ["a", "b", "sum"]
        rows += [row] * 3
    words += ["21", "36"]
    names, rows = [*names, "all_a", "all_b"], [*rows, None, None]
    document = Document("d", words, rows=rows, misreads=[*misreads, (), ()])
    labels = ("O", *(f"B-{field.name}" for field in fields))
    probs = np.full((len(words), len(labels)), 0.01)
    probs[range(len(words)), [labels.index(f"B-{name}") for name in names]] = 0.95
    rules = rules.with_defaults(misreads=6.0)
    judge = Problem(document, Scores.from_probs(probs, labels), rules).judge
    reading, cost = judge.settle(judge.read(probs.argmax(axis=1)))
    assert cost.most == pytest.approx(6 * 1.5)
    assert cost.least <= cost.most
    assert {check.state for check in judge.checks(reading)} == {"satisfied"}


@pytest.mark.parametrize("unfinished", [0, 1])
@pytest.mark.parametrize("seed", range(20))
def test_what_is_not_settled_is_never_called_optimal(monkeypatch, seed, unfinished):
    """After searches without a proof, other labellings are read as printed; against all choices."""
    monkeypatch.setattr("lawful.rules.judging.ambiguity.MAX_EXTENSIONS", 1)
    monkeypatch.setattr("lawful.rules.judging.ambiguity.MAX_UNFINISHED", unfinished)
    chance = np.random.default_rng(seed)
    values = (1000 * chance.integers(1, 9, 4) + 500).tolist()
    total = sum(v / 1000 if chance.random() < 0.5 else v for v in values)
    document = Document("d", [f"{total:.2f}", *(f"{v / 1000:.3f}" for v in values)])
    rules = Rules(
        [
            Field("total", "total", "money"),
            Field("items", "item", "money", many=True, ambiguity=0.5, presence="free"),
        ],
        [lawful.Rule("total == sum(items)", tolerance=0, weight=6)],
    )
    probs = np.array([[0.1, 0.9, 0.0], *([[0.3, 0.0, 0.7]] * 4)])
    scores = Scores.from_probs(probs, ("O", "B-total", "B-item"))
    best = -np.inf
    for labels in product((0, 1), repeat=4):
        log_prob = np.log(0.9) + sum(np.log((0.3, 0.7)[each]) for each in labels)
        items = [v for v, each in zip(values, labels, strict=True) if each]
        for small in product((0, 1), repeat=len(items)):
            added = sum(v / 1000 if each else v for v, each in zip(items, small, strict=True))
            price = 0.5 * sum(small) + (6.0 if abs(added - total) > 1e-6 else 0.0)
            if not items:  # nothing to add up
                price = rules.defaults.unchecked
            best = max(best, log_prob - price)
    found = lawful.decode(document, scores, rules, decoder="paths")
    assert found.worth <= best + 1e-6
    if found.optimal:
        assert found.worth == pytest.approx(best)
    monkeypatch.undo()
    whole = lawful.decode(document, scores, rules, decoder="paths")
    assert whole.optimal
    assert whole.worth == pytest.approx(best)
