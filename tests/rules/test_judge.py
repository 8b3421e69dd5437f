"""The judge: which rules a labelling satisfies, violates or leaves unchecked, and why."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
import yaml

import lawful
from lawful import Document, Field, Rule, RuleFailure, Rules
from lawful.rules import RuleDefaults
from lawful.rules.files import rules_from
from lawful.rules.judging.judge import Judge
from tests.fixtures.rule_file import FILE
from tests.helpers import judged

RULES = rules_from(yaml.safe_load(FILE))


def test_three_states_and_their_messages():
    rules = RULES
    words = ["66.000", "60.000", "5.000", "40.000", "20.000"]
    checks = judged(words, ["B-total", "B-sub", "B-tax", "B-item", "B-item"], rules)
    assert checks["subtotal == sum(items)"].state == "satisfied"
    assert checks["sum"].state == "violated"
    assert checks["sum"].message == "total 66,000, not so"
    assert checks["small"].state == "vacuous"
    assert checks["small"].message == "does not apply"
    assert checks["subtotal == sum(items)"].fields == ("items", "subtotal")
    checks = judged(words, ["B-total", "O", "O", "B-item", "B-item"], rules)
    assert checks["sum"].message == "not checked: subtotal missing"
    checks = judged(words, ["O", "B-sub", "O", "B-item", "B-total"], rules)
    assert checks["subtotal == sum(items)"].message == "subtotal is 60,000, sum(items) is 40,000"


def test_a_field_that_was_there_may_not_vanish():
    rules = RULES
    best = ["B-total", "B-sub"]
    vanished = judged(["3", "4"], ["B-total", "O"], rules, best)
    assert vanished["subtotal:kept"].weight == inf
    assert "subtotal:kept" not in judged(["3", "4"], ["B-total", "O"], rules)
    free = rules.with_defaults(presence="free")
    assert "subtotal:kept" not in judged(["3", "4"], ["B-total", "O"], free, best)
    required = rules.with_defaults(presence="required")
    assert judged(["3", "4"], ["O", "O"], required)["total:required"].message == "total is missing"


def test_what_a_field_implies():
    rules = Rules([Field("total", "total", "money", max_words=1, pattern=r"[\d.,]+")])
    wrong = judged(["TOTAL", "1.000", "x"], ["B-total", "I-total", "O"], rules)
    assert wrong["total:reads"].message == "total is 'TOTAL 1.000', which is no money"
    assert wrong["total:max_words"].message == "total is 'TOTAL 1.000': more than 1 word"
    assert "does not match" in wrong["total:pattern"].message
    assert judged(["1.000", "x", "y"], ["B-total", "O", "O"], rules) == {}


@pytest.mark.parametrize(
    ("repeat", "states"),
    [
        ("agree", {"total == 5000": "violated", "total:agrees": "violated"}),
        ("first", {"total == 5000": "violated"}),
        ("any", {"total == 5000": "satisfied"}),
    ],
)
def test_repeats(repeat, states):
    rules = Rules(
        [Field("total", "total", "money")], ["total == 5000"], defaults=RuleDefaults(repeat=repeat)
    )
    checks = judged(["6.000", "5.000"], ["B-total", "B-total"], rules)
    assert {name: check.state for name, check in checks.items()} == states
    agreeing = judged(["5.000", "5000"], ["B-total", "B-total"], rules)
    assert {check.state for check in agreeing.values()} == {"satisfied"}


def test_any_looks_only_at_the_fields_that_a_rule_reads():
    names = [f"f{i}" for i in range(7)]
    labels = ["O", *(f"B-{name}" for name in names)]
    rules = Rules(
        [Field(name, name, "money") for name in names],
        ["f0 == 5", "f0 + f1 + f2 + f3 + f4 + f5 + f6 == 99"],
        defaults=RuleDefaults(repeat="any"),
    )
    made = Judge(Document("d", ["6", "5"] * 7), rules, rules.scheme_for(tuple(labels)))
    row = np.array([1 + i // 2 for i in range(14)])
    first, both = made.checks(made.read(row))
    assert first.state == "satisfied"
    assert both.state == "violated"  # all 128 combinations were tried


def test_a_field_without_a_readable_value_is_not_there():
    rules = Rules([Field("total", "total", "money"), Field("subtotal", "sub", "money")],
                  ["total == subtotal"])  # fmt: skip
    best = ["B-total", "B-sub", "O"]
    moved = judged(["7", "5", "x"], ["O", "B-sub", "B-total"], rules, best)
    assert moved["total:kept"].weight == inf  # a word that is no amount does not keep the field
    unreadable = judged(["x", "5", "7"], ["O", "B-sub", "O"], rules, ["B-total", "B-sub", "O"])
    assert "total:kept" not in unreadable  # nor is there anything to keep
    required = rules.with_defaults(presence="required")
    assert "total:required" in judged(["x", "5", "7"], ["B-total", "B-sub", "O"], required)


def test_required_wins_over_a_default():
    rules = Rules([Field("tax", "tax", "money", default=0, presence="required")])
    assert judged(["x"], ["O"], rules)["tax:required"].state == "violated"


def test_items_need_not_agree():
    rules = Rules([Field("items", "item", "money", many=True)])
    assert judged(["5", "6"], ["B-item", "B-item"], rules) == {}


def test_a_pattern_is_for_the_whole_text():
    rules = Rules([Field("total", "total", "text", pattern="[a-z]+")])
    assert "total:pattern" in judged(["abc1"], ["B-total"], rules)
    assert judged(["abc"], ["B-total"], rules) == {}


def test_when_must_hold_and_none_from_a_function_is_no_violation():
    fields = [Field("total", "total", "money"), Field("tax", "tax", "money")]
    applies = lawful.rule(reads=["total"])(lambda total: None)
    rules = Rules(fields, [Rule("total == 1", id="when", when="tax > 0"), applies])
    checks = judged(["5"], ["B-total"], rules)
    assert {check.state for check in checks.values()} == {"vacuous"}


def test_one_unreadable_item_leaves_their_sum_unknown():
    rules = Rules([Field("items", "item", "money", many=True)], ["sum(items) == 5"])
    checks = judged(["5", "x"], ["B-item", "B-item"], rules)
    assert checks["sum(items) == 5"].state == "vacuous"
    assert checks["items:reads"].state == "violated"


def test_a_function_is_a_rule():
    @lawful.rule(reads=("total", "items"), weight=3)
    def adds_up(total, items):
        return total == sum(items)

    fields = [Field("total", "total", "money"), Field("items", "item", "money", many=True)]
    rules = Rules(fields, [adds_up])
    assert (
        judged(["7", "3", "4"], ["B-total", "B-item", "B-item"], rules)["adds_up"].state
        == "satisfied"
    )
    found = judged(["8", "3", "4"], ["B-total", "B-item", "B-item"], rules)["adds_up"]
    assert (found.state, found.weight) == ("violated", 3)
    assert found.message == "adds_up does not hold: total is 8, items is 3, 4"
    assert judged(["8", "3"], ["B-total", "O"], rules)["adds_up"].state == "vacuous"


def test_an_exception_in_a_function_is_reported_with_document_and_rule():
    @lawful.rule(reads=["total"], id="broken")
    def function(total):
        return total / 0

    rules = Rules([Field("total", "total", "money")], [function])
    with pytest.raises(RuleFailure, match="document 'd', rule 'broken': DivisionByZero"):
        judged(["8"], ["B-total"], rules)


def test_a_function_says_yes_no_or_nothing():
    rules = Rules(
        [Field("total", "total")], [lawful.rule(reads="total", id="r")(lambda total: "no")]
    )
    with pytest.raises(RuleFailure, match="function returned 'no', expected True, False or None"):
        judged(["5"], ["B-total"], rules)
