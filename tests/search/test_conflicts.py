"""Clashes against every labelling."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import inf
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lawful import Budget, Document, Field, Pin, Rule, Rules, Scores, decode
from lawful.decoders.exact import _is_feasible
from lawful.rules import Boundaries, RuleDefaults
from lawful.search import conflicts as clash
from lawful.search.conflicts import _demands, _hitting_set, _relaxed, find_clash
from lawful.search.problem import Problem
from tests.fixtures.slow import clashing
from tests.oracles.labellings import every_legal_row
from tests.strategies import problems


def all_hard(rules):
    """The same rules, all of which must hold."""
    hard = tuple(replace(rule, weight=inf) for rule in rules.rules)
    return replace(rules, rules=hard).with_defaults(weight=inf, ambiguity=inf)


@settings(max_examples=300)
@given(problem=problems(), hard=st.booleans(), presence=st.sampled_from(["free", "keep"]))
def test_a_clash_is_rules_that_cannot_hold_none_of_which_can_be_left_out(problem, hard, presence):
    document, scores, rules = problem
    rules = all_hard(rules) if hard else rules.with_defaults(weight=inf, ambiguity=inf)
    rules = rules.with_defaults(presence=presence)
    found = decode(document, scores, rules)
    assert bool(found.clash) == (found.status == "infeasible")
    whole = Problem(document, scores, rules)
    if not found.clash or whole.best_legal is None:
        return
    held = []
    for row in every_legal_row(whole)[0]:
        violated = {
            c.id for c in whole.judge.checks(whole.judge.read(row)) if c.state == "violated"
        }
        spans = {name for name in violated if name.partition(":")[2] in
                 ("reads", "agrees", "max_words", "pattern")}  # fmt: skip
        held.append({*(violated - spans), *(("every span",) if spans else ())})

    def can_not_hold(some):
        return all(violated & set(some) for violated in held)

    assert can_not_hold(found.clash)
    assert found.clash_minimal
    assert not any(can_not_hold(some) for some in combinations(found.clash, len(found.clash) - 1))


@settings(max_examples=300)
@given(problem=problems(), data=st.data())
def test_spans_that_make_no_difference_may_be_ruled_out(problem, data):
    document, scores, rules = problem
    whole = Problem(document, scores, all_hard(rules))
    if whole.best_legal is None:
        return
    kinds = st.sampled_from(_demands(whole) or ("every span",))
    some = data.draw(st.frozensets(kinds, max_size=6)) - {"every span"}
    feasible = _is_feasible(_relaxed(whole, some), Budget()).feasible
    with mock.patch.object(clash, "_can_drop_spans", return_value=False):
        assert _is_feasible(_relaxed(whole, some), Budget()).feasible is feasible


def test_unreadable_spans_of_single_fields_are_ruled_out_unless_rules_count_them():
    fields = [Field("total", "total", "money"), Field("items", "item", "money", many=True)]
    scores = Scores.from_probs([[0.4, 0.3, 0.3]] * 2, ["O", "B-total", "B-item"])
    for check, expected in {"total == sum(items)": inf, "count(total) <= sum(items)": 0.0}.items():
        rules = Rules(fields, [Rule(check, id="one")]).with_defaults(weight=inf)
        whole = Problem(Document("d", ["7", "abc"]), scores, rules)
        relaxed = _relaxed(whole, frozenset({"one"})).judge.rules
        total, items = relaxed.fields
        assert relaxed.weight_of(total, "reads") == expected
        assert relaxed.weight_of(items, "reads") == 0.0  # one makes the sum unknown
    sure = Scores.from_probs([[0.0, 0.5, 0.5]] * 2, ["O", "B-total", "B-item"])
    relaxed = _relaxed(Problem(whole.document, sure, rules), frozenset({"one"})).judge.rules
    assert relaxed.weight_of(total, "reads") == 0.0  # no word can be outside all spans


@pytest.mark.parametrize("many", [4, 12])
def test_labellings_next_to_known_ones_save_searches(many):
    labels = ["O", "B-total", "B-part"]
    probs = [[0.1, 0.9, 0.0], *([[0.2, 0.0, 0.8]] * many)]
    rules = Rules(
        [Field("total", "total", "money"), Field("parts", "part", "money", many=True)],
        [Rule("total == sum(parts)", id="sum"), Rule("total < 100", id="small")],
    ).with_defaults(weight=inf)
    problem = Problem(
        Document("d", ["99", *["2"] * (many - 1), "x"]), Scores.from_probs(probs, labels), rules
    )
    asked = []

    def search(relaxed, budget):
        asked.append(relaxed)
        return _is_feasible(relaxed, budget)

    demands, minimal = find_clash(problem, Budget(), search)
    assert minimal
    assert demands == ("sum", "total:kept", "parts:kept", "every span")
    assert len(asked) <= 1


@example(sets=[frozenset("ab"), frozenset("ac"), frozenset("b"), frozenset("c")])
@given(sets=st.lists(st.frozensets(st.sampled_from("abcdef"), min_size=1), max_size=6))
def test_a_hitting_set_has_one_of_each_set_and_nothing_needless(sets):
    found = set(_hitting_set(tuple("abcdef"), sets))
    assert all(found & some for some in sets)
    assert all(any(some & found == {one} for some in sets) for one in found)


def test_without_its_pin_a_text_has_any_of_its_possible_values():
    rules = Rules(
        [Field("day", "day", "date", presence="required")],
        [Rule("day == date('2024-05-04')", id="May", weight=inf)],
    ).with_defaults(weight=inf)
    scores = Scores.from_probs([[0.5, 0.5]], ["O", "B-day"])
    for pins, expected in {(): False, (Pin("value", None, "day", "2024-05-04"),): True}.items():
        whole = Problem(Document("d", ["05/04/2024"], pins=pins), scores, rules)
        some = _relaxed(whole, frozenset({"May", "day:required"}))
        assert _is_feasible(some, Budget(candidates=100))[0] is expected


def test_a_labelling_that_breaks_conditions_on_spans_does_not_show_that_they_can_hold():
    rules = Rules(
        [Field("total", "total", "money", presence="free"), Field("tax", "tax", "money")],
        [Rule("total > 5", id="large"), Rule("count(tax) == 0", id="none")],
    ).with_defaults(weight=inf, presence="free")
    scores = Scores.from_probs([[0.0, 0.9, 0.1], [0.5, 0.2, 0.3]], ["O", "B-total", "B-tax"])
    found = decode(Document("d", ["abc", "7"]), scores, rules)
    assert (found.status, found.clash, found.clash_minimal) == ("infeasible", ("every span",), True)


def test_fields_that_no_demand_reads_are_passed_over():
    rules = Rules(
        [Field("total", "total", "money"), Field("note", "note", "money")],
        [Rule("total > 100", id="large")],
    ).with_defaults(weight=inf, presence="required")
    scores = Scores.from_probs([[0.4, 0.3, 0.3]] * 2, ["O", "B-total", "B-note"])
    whole = Problem(Document("d", ["7", "8"]), scores, rules)
    some = _relaxed(whole, frozenset({"large", "total:required"}))
    assert some.judge.ignored == {1}
    assert _is_feasible(some, Budget(candidates=1000)).feasible is False
    for demands in (("large", "every span"), ("large", "note:required", "total:required")):
        assert not _relaxed(whole, frozenset(demands)).judge.ignored
    found = decode(whole.document, scores, rules)
    assert found.clash == ("large", "total:required")


def test_a_clash_is_the_same_at_every_call_and_says_when_it_may_be_too_large():
    problem = clashing(12)
    some = {decode(*problem).clash for _ in range(3)}
    assert some == {("f0 > 100", "f0:required")}  # no word is above 50
    everything = _demands(Problem(*problem))
    found = find_clash(
        Problem(*problem), Budget(seconds=1e-9), lambda *_: pytest.fail("no time for that")
    )
    assert found == (everything, False)


def test_boundaries_with_a_weight_of_their_own_are_conditions_on_every_span():
    # Their labellings were said to break total:boundary only, so a larger clash was called minimal.
    rules = Rules(
        [Field("total", "total", "money", presence="free", repeat="any")],
        boundaries=Boundaries("^2", weight=inf),
        defaults=RuleDefaults(weights={"total:boundary": inf}),
    )
    scores = Scores.from_probs([[0.0, 1.0]] * 2, ["O", "B-total"])
    found = decode(Document("d", ["4", "6"]), scores, rules)
    assert (found.status, found.clash, found.clash_minimal) == ("infeasible", ("every span",), True)


@pytest.mark.parametrize("decoder", ["auto", "readings", "paths", "lazyk", "CRF"])
def test_every_decoder_that_proves_a_clash_names_it(decoder):
    rules = Rules([Field("a", "a", "money")], [Rule("a > 100", weight=inf)])
    scores = Scores.from_probs([[0.2, 0.8]], ["O", "B-a"])
    if decoder == "CRF":
        scores = scores.with_chain(start=np.zeros(2), between=np.zeros((2, 2)), end=np.zeros(2))
        decoder = "auto"
    found = decode(Document("d", ["1.00"]), scores, rules, decoder=decoder)
    assert (found.status, found.clash) == ("infeasible", ("a > 100", "a:kept"))
    assert found.clash_minimal


def test_without_a_clash_nothing_is_called_minimal():
    scores = Scores.from_probs([[0.2, 0.8]], ["O", "B-a"])
    assert not decode(Document("d", ["1"]), scores, Rules([Field("a", "a")])).clash_minimal
