"""Cases in which the exact decoder was once wrong, hung or read memory that was not its own."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

import lawful
from lab import receipts as demo
from lawful import Budget, Document, Field, Rule, Rules, Scores, decode
from lawful.rules import RuleDefaults
from lawful.search import reading_search
from tests.helpers import ENOUGH


def scores(rows, labels):
    weights = np.array(rows, float)
    return Scores.from_probs(weights / weights.sum(axis=1, keepdims=True), labels)


def agree(document, given, rules):
    """Exact and paths, which judges every labelling in Python, find the same worth."""
    found = decode(document, given, rules, decoder="exact", budget=ENOUGH)
    expected = decode(document, given, rules, decoder="paths", budget=ENOUGH)
    assert found.worth == pytest.approx(expected.worth)
    assert found.optimal
    assert expected.optimal
    return found


def test_lists_whose_sums_are_left_to_python_are_not_mixed_up():
    rules = Rules(
        [Field("t", "t", "number"), Field("i", "i", "number", many=True, presence="free")],
        [Rule("t == sum(i)", weight=20, tolerance=0)],
    )
    rows = [[0.01, 0.98, 0.01], [0.01, 0.01, 0.98], [0.3, 0.01, 0.69], [0.6, 0.01, 0.39]]
    document = Document("d", ["3.0000001", "1.0000001", "1", "2"])
    agree(document, scores(rows, ("O", "B-t", "B-i")), rules)


def test_a_function_may_apply_only_where_a_field_occurs_so_often():
    rule = Rule(lambda a: a > 5, id="f", when="count(a) == 1", weight=50, reads=("a",))
    rules = Rules([Field("a", "a", "number", presence="free")], [rule])
    agree(Document("d", ["1", "1"]), scores([[0.1, 0.9], [0.6, 0.4]], ("O", "B-a")), rules)


def test_many_ambiguous_texts_are_read_as_the_search_reads_them():
    rules = Rules(
        [Field("a", "a", "money"), Field("i", "i", "money", many=True, ambiguity=0.1)],
        [Rule("a == sum(i)", weight=inf)],
    )
    given = scores([[0, 1, 0]] + [[0, 0, 1]] * 14, ("O", "B-a", "B-i"))
    found = decode(Document("d", ["11014.0030"] + ["1.001"] * 14), given, rules)
    assert found.status == "satisfied"
    assert found.penalty == pytest.approx(0.3)


def test_a_type_may_give_any_value():
    lawful.register_type("odd", lambda text: False if text == "no" else text)
    rules = Rules(
        [Field("a", "a", "odd"), Field("b", "b", "odd", presence="free")],
        [Rule("a != b", weight=inf), Rule("present(b)", weight=6), Rule("count(a) == 1", weight=1)],
    )
    rows = [[0.05, 0.9, 0.05], [0.6, 0.01, 0.4], [0.6, 0.39, 0.01]]
    agree(Document("d", ["no", "x", "x"]), scores(rows, ("O", "B-a", "B-b")), rules)


def test_more_spans_than_can_be_looked_at_end_the_search():
    fields = 100
    labels = ["O", *(f"{prefix}-f{i}" for i in range(fields) for prefix in "IB")]
    rows = np.zeros((1400, len(labels)))
    rows[:, 0] = 0.004
    for word, row in enumerate(rows):
        for i in range(word % 2, fields, 2):
            row[1 + 2 * i], row[2 + 2 * i] = 1e-12, 0.0199
    rules = Rules(
        [Field(f"f{i}", f"f{i}", "number", presence="free" if i else "required")
         for i in range(fields)],
        scheme="IOB1",
    )  # fmt: skip
    found = decode(Document("d", ["1"] * 1400), scores(rows, labels), rules,
                   budget=Budget(seconds=1.0))  # fmt: skip
    assert found.status == "exhausted"


def test_a_clash_about_fields_that_no_rule_reads():
    rules = Rules(
        [Field("t", "t", "money", presence="required", repeat="first"), Field("x", "x", "money")],
        ["x == 5"],
        defaults=RuleDefaults(weight=inf),
    )
    found = decode(
        Document("d", ["1", "2"]), scores([[0.1, 0, 0.9]] * 2, ("O", "B-t", "B-x")), rules
    )
    assert found.status == "infeasible"
    assert found.clash == ("t:required",)


@pytest.mark.parametrize(
    "check",
    [
        f"max({', '.join(['a', 'b'] * 70)}) == 3",
        " and ".join(["a < b"] * 60),
        "a" + " - b - a" * 15 + " == 0",
        "8796093.022208 * a * 4398046.511104 * b * -4398046.511104 < 0",
        "0 * a + b == 3",
    ],
)
@pytest.mark.parametrize("patience", [1, 256])
def test_long_and_large_expressions(check, patience, monkeypatch):
    monkeypatch.setattr(reading_search, "PATIENCE", patience)
    rules = Rules([Field("a", "a", "number"), Field("b", "b", "number")], [check])
    rows = [[0.2, 0.5, 0.3], [0.2, 0.3, 0.5], [0.4, 0.3, 0.3]]
    agree(Document("d", ["1", "2", "3"]), scores(rows, ("O", "B-a", "B-b")), rules)


def test_a_search_out_of_memory_says_so(monkeypatch):
    monkeypatch.setattr(reading_search, "MEMORY", 20_000)
    page = next(iter(demo.generate(1, seed=12, words=(120, 200))))
    rules = Rules.load(demo.RULES).with_defaults(weight=inf)
    rules = Rules(rules.fields, [*rules.rules, Rule("total == 123456.78", weight=inf)])
    found = decode(page.document, page.scores, rules, budget=Budget(candidates=inf))
    assert found.status == "exhausted"
    assert found.stopped_by == "memory"


def test_a_hard_rule_about_one_value_is_settled_without_a_search():
    fields = Rules.load(demo.RULES).fields
    rules = Rules(fields, [Rule("total == 0.123", weight=inf)])
    settled = 0
    for page in demo.generate(5, seed=12, words=(60, 80)):
        found = decode(page.document, page.scores, rules)
        assert found.tried < 100
        if found.status == "infeasible":  # the others have no total to begin with
            assert set(found.clash) == {"total == 0.123", "total:kept"}
            settled += 1
    assert settled


@pytest.mark.parametrize("decoder", ["exact", "readings"])
def test_whole_pages_where_deep_enumeration_finishes(decoder):
    rules = Rules.load(demo.RULES)
    compared = 0
    for page in demo.generate(60, seed=31, words=(24, 60)):
        expected = decode(page.document, page.scores, rules, decoder="paths")
        if expected.optimal:
            found = decode(page.document, page.scores, rules, decoder=decoder)
            assert found.optimal
            assert found.worth == pytest.approx(expected.worth, abs=1e-9)
            compared += 1
    assert compared > 40


WORDS, FIELDS = 5000, 20
LABELS = ["O", *(f"{prefix}-{name}{i}" for name, count in (("f", FIELDS), ("x", 80))
                 for i in range(count) for prefix in "BI")]  # fmt: skip


def sharp(rng):
    return rng.dirichlet(np.full(len(LABELS), 0.02), WORDS) + 1e-9


def flat(_):
    return np.ones((WORDS, len(LABELS)))


def one_label_a_word(_):
    rows = np.zeros((WORDS, len(LABELS)))
    rows[np.arange(WORDS), 1 + 2 * (np.arange(WORDS) % FIELDS)] = 1
    return rows


@pytest.mark.parametrize("weight", [10.0, inf])
@pytest.mark.parametrize("rows", [sharp, flat, one_label_a_word])
@pytest.mark.parametrize("values", [1, 97])
def test_huge_documents_end_with_a_true_status(rows, weight, values):
    rules = Rules(
        [Field(f"f{i}", f"f{i}", "money") for i in range(FIELDS)],
        [
            *(f"f{i} == f{(i + 1) % FIELDS} + f{(i + 2) % FIELDS}" for i in range(FIELDS)),
            *(f"f{i} <= 2 * f{i + 1}" for i in range(10)),
        ],
        defaults=RuleDefaults(weight=weight),
    )
    document = Document("d", [str(i % values + 1) for i in range(WORDS)])
    given = scores(rows(np.random.default_rng(0)), LABELS)
    found = decode(document, given, rules, budget=Budget(seconds=5.0))
    assert found.bound >= found.worth - 1e-6
    assert (found.stopped_by is None) == (found.status != "exhausted")
    assert rules.scheme_for(given.labels).allows(
        rules.scheme_for(given.labels).indices(found.labels)
    )
    if found.status == "satisfied":
        assert not found.violations


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("weight", [10.0, inf])
def test_sixty_items_and_their_sum(equal, weight):
    rng = np.random.default_rng(7)
    amounts = [500] * 60 if equal else rng.integers(100, 99_999, 60).tolist()
    left_out = set(rng.choice(60, 4, replace=False).tolist())
    total = sum(amount for i, amount in enumerate(amounts) if i not in left_out)
    rules = Rules(
        [Field("s", "s", "money"), Field("items", "i", "money", many=True)],
        ["s == sum(items)"],
        defaults=RuleDefaults(weight=weight),
    )
    rows = [[0.4, 0.02, 0.58]] * 60 + [[0.02, 0.96, 0.02]]
    document = Document("d", [*map(str, amounts), str(total)])
    found = decode(document, scores(rows, ("O", "B-s", "B-i")), rules)
    assert found.status == "satisfied"
    assert found.optimal
    assert len(found.fields["items"]) == 56


def test_alternatives_that_are_worth_the_same_differ():
    """The second set of values was found first, worth less; then both were worth the same."""
    fields = [
        Field("total", "total", "money"),
        Field("tax", "tax", "money", default=0),
        Field("parts", "part", "money", many=True),
    ]
    checks = [
        Rule("total / 3 == tax", weight=1.0),
        Rule("total == sum(parts)", weight=0.0),
        Rule("total == sum(parts) + tax", weight=0.0),
        Rule("total + tax == 3", weight=0.0),
        lawful.rule(reads=("total", "parts"))(lambda total, parts: total <= sum(parts)),
    ]
    rules = Rules(fields, checks, defaults=RuleDefaults(weight=0.0))
    labels = ("O", "B-total", "I-total", "B-part", "I-part", "B-x", "I-x", "B-tax")
    probs = np.zeros((3, len(labels)))
    probs[0, [1, 5]] = 0.5
    probs[1, 1] = 1.0
    probs[2, [5, 7]] = 2 / 3, 1 / 3
    document = Document("d", ("1", "2", "x"))
    found = decode(document, Scores.from_probs(probs, labels), rules, alternatives=1)
    (other,) = found.alternatives
    assert other.worth == pytest.approx(found.worth)
    assert other.values("total")[0] != found.values("total")[0]
