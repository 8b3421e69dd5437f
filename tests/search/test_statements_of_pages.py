"""The oracle of statements on rows, places, words, orders and given values, by hand."""

from __future__ import annotations

from math import inf

import pytest

from lawful import Box, Document, Field, Rule, Rules, Scores
from lawful.rules import Boundaries, Order, RowKind, RuleDefaults, WordRule
from tests.drawing import names_in
from tests.fuzz import run
from tests.oracles.pages import lines_of, runs
from tests.oracles.row_checks_by_hand import BY_ROWS, hand_made
from tests.oracles.statements import Oracle


def verdict_on(text, labels, fields, rules=(), *, document=None, defaults=None, **parts):
    """The oracle's verdict on a document in which every word has only one possible label."""
    given = labels.split()
    names = sorted({"O", *given, *(f"B-{field.label}" for field in fields)})
    scores = Scores.from_probs([[float(n == label) for n in names] for label in given], names)
    policy = RuleDefaults(**{"unchecked": 0.0, "presence": "free", "weight": 1, **(defaults or {})})
    rules = Rules(fields, rules, defaults=policy, **parts)
    oracle = Oracle(Document("d", text.split(), **(document or {})), scores, rules)
    (pair,) = oracle.pairs
    return pair.verdict


def money(*names):
    return [Field(name, name, "money", repeat="first") for name in names]


LINE = RowKind("line", ("quantity", "amount"))


def ids_of(verdict):
    return sorted(violation.id for violation in verdict.violations)


def test_runs_go_on_across_words_without_an_id():
    assert runs([7, None, 7, 3, 3, 7]) == [1, None, 1, 2, 2, 3]
    boxes = [Box(0, y, 1, y + 1) for y in (0, 0, 9, 9)]
    assert lines_of(Document("d", list("abcd"), boxes)) == [1, 1, 2, 2]
    assert lines_of(Document("d", list("abcd"), boxes, [0, 1, 1, 2])) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("starts", "document", "violated"),
    [
        # (1 2) (2 4) (3 5) by ids: the last one is wrong.
        (None, {"rows": [0, 0, 1, 1, 2, 2]}, 1),
        # (1 2 2 4 3 5): a row has its first values.
        (None, {"rows": [0] * 6}, 0),
        # (1) (2 2) (4 3) (5): two rows have both, one of which is wrong: 4 is not 6.
        (None, {"rows": [0, 1, 1, 2, 2, 3]}, 2),
        # By amount: 1 is in no row; (2 2) (4 3) (5).
        ("amount", {"rows": [0, 0, 1, 1, 2, 2]}, 2),
        # Without ids or boxes, by the first field.
        (None, {}, 1),
        # By lines: (1 2) (2 4 3 5).
        (None, {"boxes": [Box(i, 9 * (i > 1), i + 1, 9 * (i > 1) + 2) for i in range(6)]}, 0),
    ],
)
def test_rows_are_judged_one_by_one(starts, document, violated):
    labels = "B-quantity B-amount B-quantity B-amount B-quantity B-amount"
    kind = RowKind("line", LINE.fields, starts)
    rule = Rule("amount == 2 * quantity", each="line", weight=3)
    verdict = verdict_on(
        "1 2 2 4 3 5", labels, money(*LINE.fields), [rule], rows=[kind], document=document
    )
    assert ids_of(verdict) == [rule.id] * violated
    assert verdict.cost == 3 * violated


def test_a_row_knows_the_one_before_and_missing_values_have_a_price():
    rule = Rule("amount >= previous.amount", each="line", weight=3, unchecked=0.5)
    verdict = verdict_on(
        "4 1 2 3 net 5", "B-amount B-quantity B-amount B-amount B-quantity B-quantity",
        money(*LINE.fields), [rule],
        rows=[LINE], document={"rows": [0, 1, 1, 2, 3, 4]}, defaults={"weight": 0},
    )  # fmt: skip
    # 4 (none before), 2 < 4, 3 >= 2, none and none.
    assert verdict.holding == (rule.id,)
    assert verdict.cost == 3 + 3 * 0.5


def test_sums_over_some_rows():
    text = "total == sum(amount where quantity > 1)"
    labels = "B-quantity B-amount B-quantity B-amount B-total"
    for words, labels_, state in (
        ("2 3 1 4 3", labels, {text: True}),
        ("2 3 3 4 3", labels, {text: False}),
        ("1 3 1 4 0", labels, {text: True}),
        ("2 3 2 4 3", "B-quantity O B-quantity B-amount B-total", {}),
        ("2 3 1 4 3", "O B-amount B-quantity B-amount B-total", {}),
    ):
        verdict = verdict_on(
            words, labels_, money(*LINE.fields, "total"), [text],
            rows=[LINE], document={"rows": [0, 0, 1, 1, None]},
        )  # fmt: skip
        assert verdict.holding == tuple(name for name, holds in state.items() if holds)
        assert ids_of(verdict) == [name for name, holds in state.items() if not holds]


def test_words_and_edges_of_spans_have_weights():
    fields = [
        Field("shop", "shop", starts="^A", ends="B$", lexicon=("a b", "net")),
        Field("name", "name"),
    ]
    verdict = verdict_on(
        "A B net 2 A", "B-shop I-shop B-shop B-name I-name", fields,
        words=[WordRule(("name",), match="t|B", weight=5), WordRule((), lexicon=("2",))],
        boundaries=Boundaries("[BC]$", weight=inf),
        defaults={"weights": {"shop:starts": 7}, "repeat": "first"},
    )  # fmt: skip
    # "A B" has B. "net" does not begin with A, nor end with B, and has a t; 2 is in no field, and
    # "2 A" begins after net.
    assert ids_of(verdict) == [
        "name:boundary", "name:words", "shop:ends", "shop:starts", "shop:words", "shop:words",
    ]  # fmt: skip
    assert sum(each.weight for each in verdict.violations if each.weight < inf) == 5 + 7 + 1 + 5 + 1
    assert verdict.broken == {"every span"}


def test_spans_after_one_of_a_later_field_are_out_of_order():
    order = Order(("total", "tax", "parts"), 2)
    fields = money("total", "tax", "parts")
    verdict = verdict_on("1 2 3 4", "B-tax B-total B-parts B-total", fields, orders=[order])
    assert ids_of(verdict) == [order.id] * 2
    assert verdict_on("1 2", "B-total B-parts", fields, orders=[order]).holding == (order.id,)
    alone = verdict_on("1 2", "B-tax B-tax", fields, orders=[order])
    assert (alone.holding, alone.violations) == ((), ())


@pytest.mark.parametrize(
    ("check", "holds"),
    [
        ("start(total) >= 1", True),
        ("end(total) == start(tax)", True),  # the first total that can be read ends at 2
        ("before(total, tax)", False),  # the last one ends at 4
        ("line(total) == 1", False),
        ("page(total) == 1", True),
        ("top(total) > top(tax)", False),
        ("right(total) - left(total) <= 30", True),
        ("total == ordered", None),
        ("total == tax * unit", True),
        ("ordered > 1", None),
        ("not present(ordered) or total == ordered", True),
    ],
)
def test_places_and_given_values(check, holds):
    boxes = [Box(40 * i, y, 40 * i + 30, y + 10) for i, y in enumerate((0, 40, 80, 80))]
    verdict = verdict_on(
        "net 4 2 3", "B-total B-total B-tax B-total", money("total", "tax"), [check],
        document={"boxes": boxes, "pages": [0, 1, 1, 1], "given": {"unit": "2"}},
        given={"ordered": "money", "unit": "number"}, defaults={"weight": 0},
    )  # fmt: skip
    assert verdict.holding == ((check,) if holds else ())
    assert (check in verdict.violated) == (holds is False)


def test_checks_read_fields_that_they_name():
    for each, checks in BY_ROWS.items():
        for text in checks:
            for parameter in set(hand_made(text, each)[1]) - {"t", "rows_line"}:
                what, _, name = parameter.rpartition("_")
                if what not in ("", "previous", "first", "last"):
                    place, _, before = what.partition("_")
                    called = {place, "present"} if place == "count" else {place}
                    assert any(f"{c}({before and 'previous.'}{name})" in text for c in called), text
                assert name in names_in(text), (text, parameter)


def test_all_kinds_of_rules_hold_and_are_violated_in_random_documents():
    count = run(400, seed=20)
    for topic in ("rows", "previous", "places", "given", "order"):
        for state in ("satisfied", "violated", "vacuous"):
            assert count[f"optimum: {topic}, {state}"] >= 5, (topic, state)
    for condition in ("starts", "ends", "in", "words", "boundary"):
        assert count[f"optimum: {condition}, violated"] >= 20, condition
    assert count["optimum: where, violated"]
    assert count["optimum: where, vacuous"]
