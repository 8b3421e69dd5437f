"""Clashes against every labelling."""

from __future__ import annotations

from itertools import combinations
from math import inf

import pytest
from hypothesis import given, settings

from lawful import Budget, Document, Field, Pin, Rule, Rules, Scores, decode
from lawful.decoders.exact import _is_feasible
from lawful.search.clash import _demands, _relaxed, find_clash
from lawful.search.problem import Problem
from tests.fixtures.slow import clashing
from tests.oracles.labellings import every_legal_row
from tests.strategies import problems


@settings(max_examples=300)
@given(problem=problems())
def test_a_clash_is_rules_that_cannot_hold_none_of_which_can_be_left_out(problem):
    document, scores, rules = problem
    rules = rules.with_defaults(weight=inf, presence="free", ambiguity=inf)
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

    def clash(some):
        return all(violated & set(some) for violated in held)

    assert clash(found.clash)
    assert found.clash_minimal
    assert not any(clash(some) for some in combinations(found.clash, len(found.clash) - 1))


def test_without_its_pin_a_text_has_any_of_its_possible_values():
    rules = Rules(
        [Field("day", "day", "date", presence="required")],
        [Rule("day == date('2024-05-04')", id="May", weight=inf)],
    ).with_defaults(weight=inf)
    scores = Scores.from_probs([[0.5, 0.5]], ["O", "B-day"])
    for pins, expected in {(): False, (Pin("value", None, "day", "2024-05-04"),): True}.items():
        whole = Problem(Document("d", ["05/04/2024"], pins=pins), scores, rules)
        some = _relaxed(whole, ("May", "day:required"))
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
    whole = Problem(Document("d", ["7", "abc"]), scores, rules)
    some = _relaxed(whole, ("large", "total:required"))
    assert some.judge.ignored == {1}
    assert _is_feasible(some, Budget(candidates=1000)).feasible is False
    for demands in (("large", "every span"), ("large", "note:required", "total:required")):
        assert not _relaxed(whole, demands).judge.ignored
    found = decode(whole.document, scores, rules)
    assert found.clash == ("large", "total:required")


def test_a_clash_is_the_same_at_every_call_and_says_when_it_may_be_too_large():
    problem = clashing(12)
    some = {decode(*problem).clash for _ in range(3)}
    assert some == {("f0 > 100", "f0:required")}  # no word is above 50
    everything = _demands(Problem(*problem))
    clash, minimal = find_clash(
        Problem(*problem), Budget(seconds=1e-9), lambda *_: pytest.fail("no time for that")
    )
    assert (clash, minimal) == (everything, False)
