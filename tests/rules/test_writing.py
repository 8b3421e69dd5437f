"""Rules written as a rule file, and read again."""

from __future__ import annotations

from math import inf

import pytest

from lawful import Field, Rule, Rules
from lawful.base.errors import RulesError
from lawful.rules import Boundaries, Order, RuleDefaults, WordRule
from lawful.rules.judging.rows import RowKind
from lawful.rules.packs import PACKS
from lawful.rules.to_file import rules_data, rules_text


def again(rules, tmp_path):
    path = tmp_path / "again.yaml"
    path.write_text(rules_text(rules_data(rules), ["a comment"]), encoding="utf-8")
    return Rules.load(path)


def parts(rules):
    names = (
        "fields",
        "rules",
        "scheme",
        "defaults",
        "rows",
        "boundaries",
        "given",
        "classes",
        "orders",
    )
    words = [(each.match, each.only, each.weight) for each in rules.words]
    return [getattr(rules, name) for name in names], words


@pytest.mark.parametrize("name", PACKS)
def test_shipped_rules_are_the_same_after_a_round_trip(name, tmp_path):
    rules = Rules.load(PACKS[name])
    assert parts(again(rules, tmp_path)) == parts(rules)


def test_every_setting_is_kept(tmp_path):
    rules = Rules(
        [
            Field("total", "a.total", "money", default=0, presence="free", repeat="any"),
            Field(
                "due", "due", "date", default="2024-05-01", pattern=r"\d+, [a-z]: 'x'", max_words=3
            ),
            Field(
                "state", "state", lexicon=["1", "new york", "no"], optional=True, where="line < 3"
            ),
            Field("name", "name", starts="^A", ends="z$", ambiguity=3),
            Field("amount", "amount", "money"),
        ],
        [
            Rule(
                "total > 0", weight=inf, tolerance="0.5", message="{total}: no", when="present(due)"
            ),
            Rule("amount > 1", id="each: one", each="line", unchecked=2),
            "name != 'a, b'",
        ],
        scheme="IOBES",
        defaults=RuleDefaults(weight=3, unchecked=0, ambiguity=2, weights={"total:reads": inf}),
        rows=[RowKind("line", ("amount",), "amount")],
        words=[WordRule(("due",), match=r"^\d", weight=2), WordRule((), lexicon=["x"])],
        boundaries=Boundaries("[.,]$", weight=2.5),
        given={"ordered": "money"},
        classes={"kind": "scores"},
        orders=[Order(("total", "due"), weight=inf), Order(("due", "name"), id="last")],
    )
    assert parts(again(rules, tmp_path)) == parts(rules)


def test_a_function_cannot_be_written():
    rules = Rules([Field("a", "a")], [Rule(lambda a: True, id="f", reads="a")])
    with pytest.raises(RulesError, match="'f' is a Python function, which no rule file can hold"):
        rules_data(rules)
