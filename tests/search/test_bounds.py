"""Bounds of the search: they shorten it, and never change its answer."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given, settings

from lawful import Budget, Document, Field, Rule, Rules, Scores, decode
from lawful.rules import RuleDefaults
from lawful.search import reading_search
from tests.fixtures.searches import ITEMS, a_dozen_fields
from tests.fixtures.slow import receipt
from tests.helpers import ENOUGH
from tests.oracles.definitions import best_worth
from tests.oracles.sums import worth_of_receipt
from tests.strategies import problems, total_and_parts

WITHOUT = [
    (),
    ("equations",),
    ("detours",),
    ("projections",),
    ("admission",),
    ("cases",),
    ("equations", "projections"),
]


@pytest.fixture
def at_once(monkeypatch):
    """Searches make bounds at the first step, and guess at the second."""
    monkeypatch.setattr(reading_search, "PATIENCE", 1)
    monkeypatch.setattr(reading_search, "FIRST_PAUSE", 1)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("without", WITHOUT, ids=" ".join)
def test_the_optimum_does_not_depend_on_bounds(without):
    @settings(max_examples=200)
    @given(problem=total_and_parts())
    def check(problem):
        expected = best_worth(*problem)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(reading_search, "WITHOUT", without)
            found = decode(*problem, decoder="exact", budget=ENOUGH)
        if expected == -inf:
            assert found.status == "infeasible"
            return
        assert found.optimal
        assert found.worth == pytest.approx(expected)
        assert found.bound == pytest.approx(expected)

    check()


@pytest.mark.usefixtures("at_once")
@settings(max_examples=200)
@given(problem=problems())
def test_alternatives_do_not_depend_on_bounds(problem):
    found = decode(*problem, decoder="exact", budget=ENOUGH, alternatives=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading_search, "PATIENCE", 2**62)
        plain = decode(*problem, decoder="exact", budget=ENOUGH, alternatives=3)
    assert found.optimal == plain.optimal  # among ties, a rule of weight 0 may hold or not
    assert found.worth == pytest.approx(plain.worth)
    worths = [[other.worth for other in each.alternatives] for each in (found, plain)]
    assert worths[0] == pytest.approx(worths[1])


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("words", [("1", "5", "x"), ("x", "5", "1")])
def test_an_unreadable_span_beside_a_readable_one_hides_no_alternative(words):
    # The first and the last word are the tax, which has a default; the other is one of two fields.
    labels = ["O", "B-total", "B-tax", "B-part", "B-day"]
    probs = np.zeros((3, 5))
    probs[0, 2] = probs[2, 2] = 1
    probs[1, 3:] = 0.4, 0.6
    rules = Rules(
        [Field("total", "total", "money"), Field("tax", "tax", "money", default=0),
         Field("parts", "part", "money", many=True), Field("day", "day", presence="free")],
        [Rule("total + tax == 3", weight=0.3, unchecked=0.5)],
        defaults=RuleDefaults(weight=0.0),
    )  # fmt: skip
    problem = Document("d", words), Scores.from_probs(probs, labels), rules
    found = decode(*problem, decoder="exact", budget=ENOUGH, alternatives=3)
    assert found.optimal
    assert found.margin == pytest.approx(np.log(0.6 / 0.4))
    assert [other.labels for other in found.alternatives] == [("B-tax", "B-part", "B-tax")]


@pytest.mark.parametrize("weight", [10.0, inf])
@pytest.mark.parametrize("seed", range(5))
def test_counts_of_a_dozen_fields_take_few_partial_readings(weight, seed):
    document, scores, rules = a_dozen_fields(36, seed)
    found = decode(document, scores, rules.with_defaults(weight=weight), decoder="exact")
    assert found.optimal
    assert found.tried < 20_000


def test_two_equations_that_cannot_hold_are_given_up_soon():
    # A rule each of ten nats: the best labelling violates both, and bounds must add up to see it.
    rng = np.random.default_rng(3)
    document, scores = receipt(12, rng, adds_up=False)
    rules = Rules(
        [Field("subtotal", "subtotal", "money"), Field("items", "item", "money", many=True)],
        ["subtotal == sum(items)", "subtotal == sum(items) + 1", "count(items) <= 40"],
    )
    found = decode(document, scores, rules, decoder="exact", budget=Budget(2**14))
    assert found.optimal
    assert found.penalty >= 10


@pytest.mark.parametrize("patience", [1, 1024])
@pytest.mark.parametrize("adds_up", [True, False])
@pytest.mark.parametrize("weight", [10.0, inf])
@pytest.mark.parametrize(("items", "receipts"), [(5, 12), (10, 6), (30, 1)])
def test_sums_of_long_lists(items, receipts, weight, adds_up, patience, monkeypatch):
    monkeypatch.setattr(reading_search, "PATIENCE", patience)
    rng = np.random.default_rng(items)
    rules = ITEMS.with_defaults(weight=weight)
    for _ in range(receipts):
        document, scores = receipt(items, rng, adds_up=adds_up)
        found = decode(document, scores, rules, decoder="exact")
        assert found.optimal
        assert found.worth == pytest.approx(worth_of_receipt(document, scores, weight))


@pytest.mark.parametrize(("number", "weight"), [(5, inf), (38, 10.0)])
def test_sums_that_need_all_of_the_lists(number, weight):
    # The only two of 360 receipts that are wrong if starts are listed up to 0.7 of their limit.
    rng = np.random.default_rng(1025)
    rules = ITEMS.with_defaults(weight=weight)
    document, scores = [receipt(25, rng, adds_up=False) for _ in range(number + 1)][-1]
    found = decode(document, scores, rules, decoder="exact")
    assert found.optimal
    assert found.worth == pytest.approx(worth_of_receipt(document, scores, weight))


@pytest.mark.parametrize(
    ("items", "base", "noise", "tolerance", "seed"),
    [(150, 997, 10, 2, 306), (100, 5000, 100, 0, 328)],
)
def test_sums_of_nearly_equal_amounts(items, base, noise, tolerance, seed):
    # So many sums are the same that lists of them tell little: large primes must still be tried.
    rng = np.random.default_rng(seed)
    amounts = base * rng.integers(1, 3, items) + rng.integers(0, noise, items)
    is_item = rng.random(items) < 0.5
    doubt = rng.uniform(0.02, 0.49, items)
    probs = np.full((items + 1, 3), 1e-4)
    probs[:items, 0] = np.where(is_item, doubt, 1 - doubt)
    probs[:items, 1] = 1 - probs[:items, 0]
    probs[items] = [0.01, 0.01, 0.98]
    subtotal = int(amounts[is_item].sum()) + (498 if base == 997 else 1666)
    document = Document("nearly equal", [*map(str, amounts), str(subtotal)])
    labels = ("O", "B-item", "B-subtotal")
    scores = Scores.from_probs(probs / probs.sum(axis=1, keepdims=True), labels)
    rules = Rules(
        [Field("subtotal", "subtotal", "money"), Field("items", "item", "money", many=True)],
        [Rule("subtotal == sum(items)", tolerance=tolerance, weight=15.0)],
    )
    found = decode(document, scores, rules, decoder="exact")
    assert found.optimal


@pytest.mark.parametrize("far", [10**6, 10**9])
def test_items_far_from_a_subtotal_are_dropped_before_the_search(far):
    # The model takes every amount for an item; of all sums, only 3 + 4 is the subtotal.
    amounts = [3, -40 * far, *(far * n + 11 for n in range(10, 22)), 4]
    words = [*map(str, amounts), "7"]
    labels = ["O", "B-item", "B-subtotal"]
    probs = [[0.04, 0.96, 0.0]] * len(amounts) + [[0.1, 0.0, 0.9]]
    rules = Rules(
        [Field("subtotal", "subtotal", "number"), Field("items", "item", "number", many=True)],
        [Rule("subtotal == sum(items)", weight=inf)],
    )
    document, scores = Document("r", words), Scores.from_probs(probs, labels)
    found = decode(document, scores, rules, decoder="exact")
    assert found.optimal
    assert [str(item.value) for item in found.fields["items"]] == ["3", "4"]
    assert found.tried < 50


def test_an_unknown_kind_of_bounds_is_named(monkeypatch):
    monkeypatch.setattr(reading_search, "WITHOUT", ("residues",))
    document, scores, rules = a_dozen_fields(6, 1)
    rules = rules.with_defaults(presence="required")
    with pytest.raises(ValueError, match="unknown bounds 'residues'; known are equations, detours"):
        decode(document, scores, rules, decoder="exact")
