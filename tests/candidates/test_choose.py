"""Choosing among candidates, against every combination of them."""

from __future__ import annotations

from itertools import product
from math import exp, inf, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Budget, Candidates, Document, Field, InputError, Rule, Rules, RulesError, choose
from lawful.candidates.choose import laid_out
from lawful.rules import RowKind, RuleDefaults
from lawful.search import Problem
from tests.helpers import ENOUGH
from tests.oracles.span_sets import assert_is_best
from tests.strategies import AMOUNTS_AND_DAYS, rule_sets

AMOUNTS = ("total", "tax", "day", "due")


@st.composite
def slots(draw, texts=AMOUNTS_AND_DAYS, most=2):
    """Log-probabilities of some texts and of missing, with ties and zeros."""
    some = draw(st.lists(st.sampled_from(texts), max_size=most, unique=True))
    votes = [draw(st.integers(0, 3)) for _ in some]
    missing = draw(st.integers(1, 3))
    total = sum(votes) + missing
    found = {
        text: log(vote / total) if vote else -inf for text, vote in zip(some, votes, strict=True)
    }
    return {**found, "": log(missing / total)}


def every_combination(places):
    """All combinations of (type, slot) as spans of one word per text, and their log p."""
    options, word = [], 0
    for type_, slot in places:
        here: list = [(None, slot[""])]
        for text, log_prob in slot.items():
            if text and log_prob > -inf:
                here.append(((word, word + 1, type_), log_prob))
                word += 1
        options.append(here)
    for combination in product(*options):
        spans = [span for span, _ in combination if span is not None]
        yield spans, sum(log_prob for _, log_prob in combination)


def compare(fields, places, rules, count):
    """Asserts that the best combination is chosen; ``places`` are in the order of the document."""
    candidates = Candidates(fields)
    found = choose(candidates, rules, budget=ENOUGH, alternatives=count)
    combinations = list(every_combination(places))
    laid = laid_out(candidates, rules)
    whole = Problem(laid.document, laid.scores, laid.rules)
    own = whole.log_prob(whole.best_legal)
    assert own == pytest.approx(max(log_prob for _, log_prob in combinations), abs=1e-9)
    assert_is_best(found, whole.judge, combinations, count)
    prices = sum(change.price for change in found.span_corrections)
    assert prices == pytest.approx(own - found.log_prob, abs=1e-6)


@settings(max_examples=400)
@given(st.data(), rule_sets(), st.integers(1, 3))
def test_the_best_combination_of_fields_and_lists_is_chosen(data, rules, count):
    names = data.draw(st.lists(st.sampled_from(AMOUNTS), max_size=3, unique=True))
    single = {name: data.draw(slots()) for name in names}
    parts = data.draw(st.lists(slots(), max_size=2))
    places = [*single.items(), *(("parts", slot) for slot in parts)]
    compare({**single, "parts": parts}, places, rules, count)


WEIGHTS = st.sampled_from([0.5, 2.0, 10.0, inf])
NUMBERS = ["1", "2", "3", "6", "x"]


@settings(max_examples=200)
@given(st.data(), WEIGHTS, WEIGHTS, st.integers(1, 2))
def test_the_best_combination_of_rows_is_chosen(data, one, other, count):
    rules = Rules(
        [
            Field("sum", "s", "money"),
            Field("quantity", "q", "number"),
            Field("amount", "a", "money"),
        ],
        [
            Rule("amount == 2 * quantity", each="line", weight=one),
            Rule("sum == sum(amount)", weight=other),
            Rule("amount >= previous.amount", each="line", weight=1),
        ],
        rows=[RowKind("line", ("quantity", "amount"), starts="amount")],
        defaults=RuleDefaults(presence=data.draw(st.sampled_from(["keep", "free"]))),
    )
    total = data.draw(slots(NUMBERS))
    names = st.lists(st.sampled_from(["quantity", "amount"]), min_size=1, unique=True)
    rows = [
        {name: data.draw(slots(NUMBERS)) for name in data.draw(names)}
        for _ in range(data.draw(st.integers(0, 2)))
    ]
    places = [("sum", total), *((name, slot) for row in rows for name, slot in row.items())]
    compare({"sum": total, "lines": rows}, places, rules, count)


def test_rows_are_those_of_the_samples_whatever_starts_a_row():
    rules = Rules(
        [Field("amount", "a", "money"), Field("quantity", "q", "number")],
        [Rule("amount == 2 * quantity", each="line")],
        rows=[RowKind("line", ("amount", "quantity"), starts="amount")],
    )
    lines = [{"quantity": 7}, {"amount": 6, "quantity": 3}, {"amount": 8}]
    found = choose(Candidates.from_samples([{"lines": lines}] * 3), rules)
    rows = [{name: int(v.value) for name, v in row.items()} for row in found.rows("line")]
    assert rows == lines


def test_lists_next_to_each_other_are_not_one_row():
    rules = Rules(
        [Field("a", "a"), Field("b", "b")], rows=[RowKind("one", ("a",)), RowKind("two", ("b",))]
    )
    sample = {"page": {"first": [{"a": "x"}], "second": [{"b": "y"}]}}
    document = laid_out(Candidates.from_samples([sample]), rules).document
    assert (document.words, document.rows) == (("x", "y"), (0, 1))


RULES = Rules(
    [Field(name, name, "money") for name in ("total", "subtotal", "tax")],
    ["total == subtotal + tax"],
)


def test_votes_are_combined_so_that_the_rule_holds():
    samples = [
        {"total": 53.28, "subtotal": "48.00", "tax": 5.28},
        {"total": "5.28", "subtotal": 48, "tax": "5.28"},
        {"total": "5.28", "subtotal": None, "tax": "5.28"},
    ]
    found = choose(Candidates.from_samples(samples, id="r1"), RULES, alternatives=1)
    assert (found.id, found.status, found.optimal) == ("r1", "satisfied", True)
    assert {name: str(*found.values(name)) for name in found.fields} == {
        "total": "53.28",
        "subtotal": "48.00",
        "tax": "5.28",
    }
    [change] = found.span_corrections
    assert change.text(found.words) == "total '5.28' -> total '53.28'"
    assert change.price == pytest.approx(log(2.5 / 1.5))
    assert change.because == ("total == subtotal + tax",)
    # 53.28 is one of two values, 48 is one besides missing, 5.28 is the only one.
    assert exp(found.log_prob) == pytest.approx((1.5 / 4) * (2.5 / 4))


def test_candidates_that_cannot_agree_name_the_rule_to_ask_about():
    hard = RULES.with_defaults(weight=inf)
    found = choose(
        Candidates({"total": {"9.00": -0.1}, "subtotal": {"5.00": -0.1}, "tax": {"1.00": -0.1}}),
        hard,
    )
    assert found.status == "infeasible"
    assert found.clash == ("total == subtotal + tax", "total:kept", "subtotal:kept", "tax:kept")
    assert found.clash_minimal


def test_texts_of_one_value_are_one_candidate_unless_something_tells_them_apart():
    fields = {"total": {"$5.00": log(0.3), "5.00": log(0.3), "7.00": log(0.4)}}
    found = choose(Candidates(fields), Rules([Field("total", "total", "money")]))
    assert found.fields["total"][0].text == "$5.00"
    assert found.words == ("$5.00", "7.00")
    assert exp(found.log_prob) == pytest.approx(0.6, abs=1e-3)
    for rules in (
        Rules([Field("total", "total", "money", pattern="[^$]*")]),
        Rules([Field("total", "total", "money")], ["total.currency != 'USD'"]),
    ):
        found = choose(Candidates(fields), rules)
        assert found.words == ("$5.00", "5.00", "7.00")
        assert found.fields["total"][0].text == "7.00"


def test_a_field_of_one_value_in_a_list_is_one_of_the_values():
    fields = {"total": [{"5.00": log(0.9)}, {"7.00": log(0.8)}, {"5.00": log(0.5)}]}
    found = choose(Candidates(fields), Rules([Field("total", "total", "money")]))
    assert found.values("total") == (5,)
    odds = 9 + 4 + 1  # of 5.00 twice, and of 7.00, against missing
    assert exp(found.log_prob) == pytest.approx(10 / (1 + odds))


def test_conditions_about_words_see_the_words_of_a_text():
    rules = Rules([Field("name", "name", max_words=2, starts="^[A-Z]", ends="[a-z]$")])
    fields = {"name": {"Ada Mary King": log(0.6), "Ada King": log(0.1), "ada king": log(0.2)}}
    found = choose(Candidates(fields), rules)
    assert found.fields["name"][0].text == "Ada King"
    assert found.fields["name"][0].words == (3, 5)
    assert found.labels[:6] == ("O", "O", "O", "B-name", "I-name", "O")


def test_fields_are_found_by_name_by_path_and_by_label():
    rules = Rules(
        [
            Field("name", "n"),
            Field("buyer_name", "b"),
            Field("paid", "pay.amount", "money"),
            Field("issued", "date", "date", where="line <= 5"),
            Field("due", "date", "date"),
        ]
    )
    sample = {
        "seller": {"name": "A"},
        "buyer": {"name": "B"},
        "pay": {"amount": 3.125, "currency": "EUR"},
        "due": "2024-01-05",
    }
    found = choose(Candidates.from_samples([sample]), rules)
    texts = {name: [value.text for value in values] for name, values in found.fields.items()}
    assert texts == {"name": ["A"], "buyer_name": ["B"], "paid": ["3.1250"], "due": ["2024-01-05"]}
    assert found.fields["paid"][0].value == 3.125


def test_given_values_and_classes_come_along():
    rules = Rules(
        [Field("total", "t", "money")],
        ["total == ordered", Rule("total < 0", when="kind == 'credit note'", weight=1)],
        given={"ordered": "money"},
        classes={"kind": "kind"},
    )
    candidates = Candidates(
        {"total": {"5": log(0.6), "7": log(0.4)}},
        given={"ordered": 7},
        classes={"kind": {"invoice": log(0.5), "credit note": log(0.5)}},
    )
    found = choose(candidates, rules)
    assert (found.values("total"), found.classes["kind"].value) == ((7,), "invoice")


def test_what_cannot_be_used_is_refused():
    candidates = Candidates({"total": {"1": 0.0}})
    with pytest.raises(RulesError, match=r"rule 'line.total. > 1' is about the place of total"):
        choose(candidates, RULES.with_rules("line(total) > 1"))
    with pytest.raises(InputError, match="no candidates for the fields of the rules: x; found tot"):
        choose(candidates, Rules([Field("x", "x")]))
    with pytest.raises(InputError, match="candidates is of type Document, expected a Candidates"):
        choose(Document("d", []), RULES)
    with pytest.raises(InputError, match="rules is of type str, expected a Rules"):
        choose(candidates, "rules")
    empty = choose(Candidates({}), RULES)
    assert (empty.status, empty.fields, empty.log_prob) == ("unchecked", {}, 0.0)


ROWS = Rules(
    [
        Field("note", "note"),
        *(Field(name, name, "money") for name in ("quantity", "price", "amount", "total")),
    ],
    [
        Rule("amount == quantity * price", each="lines"),
        Rule("amount >= previous.amount", each="lines"),
        Rule("total == sum(amount)"),
    ],
    rows=[RowKind("lines", ("note", "quantity", "price", "amount"))],
)
LINE = {"note": "chair", "quantity": 2, "price": 149.9, "amount": 269.82}


def test_what_all_samples_say_stays_whatever_rules_say():
    """Smoothing made up a missing value, which was cheaper than the rule."""
    found = choose(Candidates.from_samples([{"lines": [LINE], "total": 269.82}] * 5), ROWS)
    assert found.status == "relaxed"
    [violation] = found.violations
    assert violation.message == "lines 1: amount is 269.82, quantity * price is 299.8"
    assert found.span_corrections == ()
    assert {name: str(v.value) for name, v in found.rows("lines")[0].items()} == {
        "note": "chair", "quantity": "2", "price": "149.9", "amount": "269.82",
    }  # fmt: skip


def test_a_value_that_most_samples_have_stays_in_its_row():
    lines = [dict(LINE) for _ in range(5)]
    del lines[3]["price"]
    samples = [{"lines": [line], "total": 269.82} for line in lines]
    assert choose(Candidates.from_samples(samples), ROWS).status == "relaxed"
    free = choose(Candidates.from_samples(samples), ROWS.with_defaults(presence="free"))
    assert (free.status, "price" in free.fields) == ("satisfied", False)


def test_values_of_an_xml_file_are_all_kept():
    """Given values that are sure, three of which do not add up; two of them used to vanish."""
    amounts = [{"amount": {text: 0.0}} for text in ("100.00", "71.20", "5.00")]
    found = choose(Candidates({"total": {"171.20": 0.0}, "lines": amounts}), ROWS)
    assert [str(value.value) for value in found.fields["amount"]] == ["100.00", "71.20", "5.00"]
    assert [check.id for check in found.violations if check.row is None] == ["total == sum(amount)"]


def test_a_value_that_all_samples_have_somewhere_is_not_missing():
    rules = Rules([Field("name", "name")], ["name == 'C'"])
    samples = [{"seller": {"name": "A"}}, {"name": "B"}]
    found = choose(Candidates.from_samples(samples), rules)
    assert found.fields["name"][0].text in ("A", "B")
    lines = [{"unit": {"price": 5}, "amount": 4}, {"price": 5, "amount": 4}]
    found = choose(Candidates.from_samples([{"lines": [line]} for line in lines]), ROWS)
    assert [value.text for value in found.fields["price"]] == ["5"]


@st.composite
def samples(draw):
    """Objects with rows, which differ in some values, and lack some."""
    numbers = st.sampled_from([1, 2, 3, 4, 6, "x", None])
    names = ("quantity", "price", "amount")
    lines = draw(st.integers(0, 3))
    whole = {
        "total": draw(numbers),
        "lines": [{"note": f"n{i}", **{n: draw(numbers) for n in names}} for i in range(lines)],
    }
    found = []
    for _ in range(draw(st.integers(1, 4))):
        one = {"total": whole["total"], "lines": [dict(line) for line in whole["lines"]]}
        for part in (one, *one["lines"]):
            for name in {*part} & {"total", *names}:
                if draw(st.integers(0, 5)) == 0:
                    part[name] = draw(numbers)
        found.append(one)
    return found


@settings(max_examples=150, deadline=None)
@given(samples(), WEIGHTS, st.sampled_from(["keep", "required", "free"]), st.booleans())
def test_nothing_that_sources_agree_on_disappears(given_samples, weight, presence, exact):
    """Nor does anything that the best combination without rules has in a row, unless free."""
    rules = ROWS.with_defaults(weight=weight, presence=presence)
    candidates = Candidates.from_samples(given_samples)
    laid = laid_out(candidates, rules)
    problem = Problem(laid.document, laid.scores, laid.rules)
    best = problem.judge.fields(problem.judge.read(problem.best_legal))
    found = choose(candidates, rules, budget=ENOUGH if exact else Budget(candidates=2))
    rows = problem.document.rows
    there = {(name, rows[v.words[0]]): v for name in found.fields for v in found.fields[name]}
    for name in ("total", "quantity", "price", "amount", "note"):
        groups = (
            [[one["total"] for one in given_samples]]
            if name == "total"
            else [list(values) for values in zip(
                *([line[name] for line in one["lines"]] for one in given_samples), strict=True
            )]
        )  # fmt: skip
        for number, values in enumerate(groups):
            if None not in values:
                row = None if name == "total" else number
                assert (name, row) in there, f"{name} of row {row} is gone: {values}"
        for value in best.get(name, ()) if presence == "keep" else ():
            if value.value is not None:
                now = there[name, rows[value.words[0]]]
                assert now.value is not None


def test_agreement_makes_sure_and_a_violated_rule_unsure():
    def sure(samples, rules=RULES):
        found = choose(Candidates.from_samples(samples), rules, confidence=True)
        return {name: float(each.low) for name, each in found.confidence.items()}

    right = {"total": 11, "subtotal": 10, "tax": 1}
    # One of two votes, and one of twelve, would be that of a value which nobody has named.
    assert sure([right])["total"] == pytest.approx(0.75, abs=0.01)
    assert sure([right] * 5)["total"] == pytest.approx(1 - 0.5 / 6, abs=0.01)
    wrong = sure([{**right, "total": 12}] * 5)
    assert all(each == pytest.approx(2 / 3, abs=0.01) for each in wrong.values())
    named = Candidates({name: {str(value): 0.0} for name, value in right.items()})
    assert choose(named, RULES, confidence=True).confidence["total"].low > 0.999
