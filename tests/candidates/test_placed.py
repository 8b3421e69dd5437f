"""Candidates on a page: prices of places, rules about places, boxes; against every choice."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import pytest

from lawful import (
    Box,
    Candidates,
    Document,
    Field,
    InputError,
    Order,
    RowKind,
    Rules,
    RulesError,
    choose,
)  # fmt: skip
from lawful.candidates.placed import NOT_PRINTED, SHARE, Wanted, places_of
from tests.fixtures.pages import block

AMOUNTS = [Field(name, label=name, type="money") for name in ("total", "tax", "cash")]
FREE = Rules(AMOUNTS, [])


def page(text):
    placed = block(text)
    return Document("page", [word for word, _ in placed], [box for _, box in placed])


RECEIPT = "Tea    16.00\nTax     5.28\nTotal  53.28\nCash   60.00"


def chosen(samples, rules=FREE, text=RECEIPT, **more):
    return choose(Candidates.from_samples(samples), rules, document=page(text), **more)


def test_key_words_on_the_page_outvote_samples():
    samples = [{"total": 5.28}, {"total": 5.28}, {"total": 53.28}]
    assert str(choose(Candidates.from_samples(samples), FREE).values("total")[0]) == "5.28"
    found = chosen(samples)
    assert str(found.values("total")[0]) == "53.28"
    (value,) = found.fields["total"]
    assert value.box == page(RECEIPT).box(5, 6)


def test_what_is_printed_nowhere_pays_but_does_not_vanish():
    few = chosen([{"tax": 5.82}, {"tax": 5.82}, {"tax": 5.28}])
    assert [(v.text, v.box is None) for v in few.fields["tax"]] == [("5.28", False)]
    all_say = chosen([{"tax": 5.82}] * 3)
    assert [(v.text, v.box, v.page) for v in all_say.fields["tax"]] == [("5.82", None, None)]
    sure = {"tax": {"5.82": -0.001, "5.28": -NOT_PRINTED - 2}}
    found = choose(Candidates(sure), FREE, document=page(RECEIPT))
    assert found.fields["tax"][0].text == "5.82"


def test_fields_say_where_they_are():
    text = "Total  53.28\nSum    58.28\nTax     5.28"
    low = Rules([Field("total", label="total", type="money", where="line >= 2")], [])
    samples = [{"total": 53.28}, {"total": 58.28}]
    assert str(chosen(samples, text=text).values("total")[0]) == "53.28"
    assert str(chosen(samples, low, text).values("total")[0]) == "58.28"


def test_one_of_several_places_of_a_text_obeys_the_rule():
    text = "Total  5.00\nTax    5.00  Cash  7.00"
    rules = Rules(AMOUNTS, ["line(total) == line(cash)"])
    found = chosen([{"total": 5, "cash": 7}], rules, text)
    assert found.status == "satisfied"
    assert found.fields["total"][0].box == page(text).box(3, 4)
    assert [value.page for value in found.fields["total"]] == [None]


@pytest.mark.parametrize(
    ("rule", "state"),
    [("line(total) == line(cash)", "satisfied"), ("line(total) == 2", "satisfied"),
     ("line(tax) == 1", "satisfied"), ("line(tax) == line(total)", "violated")],
)  # fmt: skip
def test_lines_are_those_of_the_page(rule, state):
    """Whatever candidates stand between: total has three places, cash is the last one."""
    text = "Tax    1.00  5.00\nTotal  5.00  Cash  7.00\nx 5.00"
    rules = Rules(
        [*AMOUNTS, Field("note", label="note")], dict.fromkeys([rule, "line(total) == 2"])
    )
    found = chosen([{"total": 5, "tax": 1, "note": "x", "cash": 7}], rules, text)
    assert [check.state for check in found.checks if check.id == rule] == [state]


@pytest.mark.parametrize(
    "rule",
    ["line(total) == line(tax)", "left(total) == left(tax)", "top(total) < 3", "page(total) >= 0",
     "page(total) != 7"],
)  # fmt: skip
@pytest.mark.parametrize("boxes", [True, False])
def test_nothing_is_said_about_the_place_of_what_is_printed_nowhere(rule, boxes):
    where = page("Tax 1.00\nTotal 5.00") if boxes else Document("d", ["Tax"], pages=[0])
    found = choose(Candidates.from_samples([{"total": 7, "tax": 2}]), Rules(AMOUNTS, [rule]),
                   document=where)  # fmt: skip
    assert [check.state for check in found.checks if check.id == rule] == ["vacuous"]
    assert found.fields["total"][0].box is None
    low = Rules(
        [replace(AMOUNTS[0], where="line == 1 and page == 0 and left < 5"), *AMOUNTS[1:]], []
    )
    found = choose(Candidates.from_samples([{"total": 7}]), low, document=where)
    assert not found.violations


def test_orders_hold_on_the_page():
    text = "a  5.00\nb  7.00\nc  5.00"
    rules = Rules(AMOUNTS, [], orders=[Order(("tax", "total"), weight=9)])
    samples = [{"total": 5, "tax": 7}]
    assert chosen(samples, rules, text).fields["total"][0].box == page(text).box(5, 6)


def test_rules_about_the_order_of_words_are_refused():
    rules = Rules(AMOUNTS, ["before(tax, total)"])
    with pytest.raises(RulesError, match="about the order of words"):
        chosen([{"total": 5}], rules)


def test_rows_are_placed_together():
    text = "Tea   1   5.00   5.00\nRice  2   5.00  10.00\nTotal            15.00"
    names = ("name", "quantity", "price")
    rules = Rules(
        [Field("name", label="name", many=True)]
        + [Field(n, label=n, type="money", many=True) for n in ("quantity", "price")],
        [],
        rows=[RowKind("items", names)],
    )
    rows = [
        {"name": "Tea", "quantity": 1, "price": 5},
        {"name": "Rice", "quantity": 2, "price": 10},
    ]
    found = chosen([{"items": rows}], rules, text)
    assert [v.box for v in found.fields["price"]] == [page(text).box(3, 4), page(text).box(7, 8)]
    assert [v.box for v in found.fields["quantity"]] == [page(text).box(1, 2), page(text).box(5, 6)]


def test_pages_without_boxes_and_with_several():
    document = Document("d", ["Total", "5.00", "Total", "7.00"], pages=[0, 0, 1, 1])
    found = choose(Candidates.from_samples([{"total": 7}]), FREE, document=document)
    assert [(v.box, v.page) for v in found.fields["total"]] == [(None, 1)]
    boxes = [Box(0, 0, 9, 9), Box(10, 0, 19, 9)] * 2
    document = Document("d", document.words, boxes, document.pages)
    found = choose(Candidates.from_samples([{"total": 7}]), FREE, document=document)
    assert [(v.box, v.page) for v in found.fields["total"]] == [(boxes[1], 1)]


def test_alternatives_have_boxes_too():
    found = chosen([{"total": 53.28}, {"total": 60}], alternatives=1)
    assert found.alternatives[0].fields["total"][0].box == page(RECEIPT).box(7, 8)


def test_a_field_that_nobody_has_a_text_for_has_no_place():
    candidates = Candidates({"total": {"53.28": 0.0}, "tax": {}})
    assert list(choose(candidates, FREE, document=page(RECEIPT)).fields) == ["total"]


def test_the_document_is_checked():
    with pytest.raises(InputError, match="document is of type str"):
        choose(Candidates.from_samples([{"total": 5}]), FREE, document="page")


@pytest.mark.parametrize("seed", range(60))
def test_the_choice_is_that_of_brute_force(seed):
    """Over all texts of all fields: votes minus prices of places, each field on its own."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    amounts = ["5.00", "7.00", "53.28", "60.00"]
    text = "\n".join(
        f"{rng.choice(['Total', 'Tax', 'Cash', 'x'])}  {rng.choice(amounts)}" for _ in range(4)
    )
    samples = [
        {name: rng.choice([*amounts, "8.88"]) for name in ("total", "tax", "cash")}
        for _ in range(rng.randint(1, 4))
    ]
    candidates = Candidates.from_samples(samples)
    ranked = [sorted(slot.log_probs, key=lambda t: -slot.log_probs[t]) for slot in candidates.slots]
    wanted = [
        Wanted(slot.path[0], texts, None, False)
        for slot, texts in zip(candidates.slots, ranked, strict=True)
    ]
    spots = places_of(page(text), wanted, FREE, several=False)

    def worth(texts):
        total = 0.0
        for each, slot, there in zip(texts, candidates.slots, spots, strict=True):
            free = min(spot[0].price for spot in there.values())
            total += slot.log_probs[each] - there[each][0].price + free
        return total

    best = max(map(worth, product(*ranked)))
    found = choose(candidates, FREE, document=page(text))
    texts = [found.fields[slot.path[0]][0].text for slot in candidates.slots]
    assert worth(texts) == pytest.approx(best)
    assert found.log_prob == pytest.approx(best)


def test_prices_of_places():
    wanted = [Wanted("total", ["53.28", "60.00", "9.99"], None, False)]
    (spots,) = places_of(page(RECEIPT), wanted, FREE, several=True)
    (total,), (cash,), (nowhere,) = (spots[text] for text in wanted[0].texts)
    assert total.price < cash.price < nowhere.price == NOT_PRINTED
    assert (total.words, nowhere.words, nowhere.box) == ((5,), (), None)
    assert cash.price - total.price > SHARE
