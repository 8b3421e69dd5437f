"""Rules about how numbers are printed: their currency and their decimals."""

from __future__ import annotations

import json
from decimal import Decimal
from functools import partial
from itertools import product

import numpy as np
import pytest

from lawful import Document, Field, Rule, Rules, RulesError, Scores, decode
from lawful.rules import RowKind, RuleDefaults
from lawful.rules.compiled.plan import plan_of
from lawful.values.money import read_currency
from tests.helpers import assert_finds_best

NAMES = ("total", "sub")
LABELS = ("O", *(f"B-{name}" for name in NAMES))
FIELDS = [Field(name, name, "money") for name in NAMES]


@pytest.mark.parametrize(
    ("text", "currency"),
    [
        *[("12,30 €", "EUR"), ("EUR 12.30", "EUR"), ("€12", "EUR"), ("1,99 EUR A", "EUR")],
        *[("$ 5.00", "USD"), ("US$5", "USD"), ("$ 5 CAD", "CAD"), ("5.00 USD", "USD")],
        *[("Rp 12.000,-", "IDR"), ("£3", "GBP"), ("CHF 9.50", "CHF"), ("-5 eur", "EUR")],
        *[("12.30", None), ("12.30 T", None), ("5 kr", None), ("total", None), ("", None)],
    ],
)
def test_the_currency_is_that_of_the_sign_or_the_code(text, currency):
    assert read_currency(text) == currency


def decoded(words, labels, rules, names=LABELS, **options):
    probs = np.full((len(words), len(names)), 1e-9)
    probs[range(len(words)), [names.index(label) for label in labels]] = 1
    probs /= probs.sum(axis=1, keepdims=True)
    return decode(Document("d", words), Scores.from_probs(probs, names), rules, **options)


@pytest.mark.parametrize(
    ("check", "words", "state", "message"),
    [
        ("total.currency == sub.currency", ["€5", "5EUR"], "satisfied", "EUR = EUR"),
        ("total.currency == sub.currency", ["€5", "$5"], "violated",
         "total.currency is EUR, sub.currency is USD"),
        ("total.currency == sub.currency", ["€5", "5"], "vacuous", "not checked"),
        ("total.currency in ('EUR', 'CHF')", ["$5", "5"], "violated",
         "total.currency in ('EUR', 'CHF') does not hold: total.currency is USD"),
        ("decimals(total) == 2", ["5.00", "5"], "satisfied", "decimals(5.00) = 2"),
        ("decimals(total) == 2", ["5.0", "5"], "violated", "decimals(total) is 1, expected 2"),
        ("decimals(total) == decimals(sub)", ["5,0", "5"], "violated",
         "decimals(total) is 1, decimals(sub) is 0"),
    ],
)  # fmt: skip
def test_what_rules_see_of_the_print(check, words, state, message):
    found = decoded(words, ["B-total", "B-sub"], Rules(FIELDS, [check]))
    assert [(c.state, c.message) for c in found.checks] == [(state, message)]
    assert plan_of(Rules(FIELDS, [check])).how[check].way in ("local", "compiled")


def test_repeats_agree_if_their_numbers_do():
    rules = Rules(FIELDS, ["total.currency == 'EUR'", "decimals(total) == 0"])
    found = decoded(["5 €", "5.00", "$5"], ["B-total"] * 3, rules)
    assert found.violations == ()
    found = decoded(["5 €", "5.00", "$6"], ["B-total"] * 3, rules)
    assert [check.id for check in found.violations] == ["total:agrees"]


def test_an_ambiguous_text_has_the_decimals_of_its_chosen_value():
    fields = [Field("total", "total", "money", ambiguity=1)]
    names = ("O", "B-total")
    rules = Rules(fields, [Rule("decimals(total) == 3", weight=5)])
    found = decoded(["3.350"], ["B-total"], rules, names)
    assert (found.fields["total"][0].value, found.penalty) == (Decimal("3.350"), 1)
    rules = Rules(fields, [Rule("decimals(total) == 0", weight=5)])
    assert decoded(["3.350"], ["B-total"], rules, names).fields["total"][0].value == 3350


def test_values_in_results_are_plain_decimals():
    found = decoded(["5 €"], ["B-total"], Rules(FIELDS, ["total.currency == 'EUR'"]))
    assert type(found.fields["total"][0].value) is Decimal
    json.dumps(found.to_dict(), default=str)


def test_a_row_has_currencies_of_its_own():
    rows = [RowKind("line", NAMES)]
    rules = Rules(FIELDS, [Rule("total.currency == sub.currency", each="line")], rows=rows)
    words, labels = ["€1", "€2", "€1", "$2"], ["B-total", "B-sub"] * 2
    states = [check.state for check in decoded(words, labels, rules).checks]
    assert states == ["satisfied", "violated"]
    before = Rule("total.currency == previous.total.currency", each="line")
    found = decoded(words, labels, Rules(FIELDS, [before], rows=rows))
    assert [check.state for check in found.checks] == ["satisfied", "vacuous"]


def test_a_field_may_be_called_currency():
    fields = [*FIELDS, Field("currency", "currency")]
    rules = Rules(fields, ["total.currency == currency"])
    names = (*LABELS, "B-currency")
    found = decoded(["€5", "USD"], ["B-total", "B-currency"], rules, names)
    assert [check.message for check in found.violations] == [
        "total.currency is EUR, currency is USD"
    ]
    rows = [RowKind("line", ("currency",))]
    rules = Rules(fields, [Rule("line.currency == 'EUR'", each="line")], rows=rows)
    assert decoded(["EUR"], ["B-currency"], rules, names).violations == ()


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ("many.currency == 'EUR'", "many is a list"),
        ("rate.currency == 'EUR'", "rate is not of type money and has no currency"),
        ("nothing.currency == 'EUR'", "unknown field 'nothing'"),
        ("total.curency == 'EUR'", "unknown field 'total.curency'"),
        ("(1 + total).currency == 'EUR'", "'.' is not part of the rule language"),
        ("total.currency == 1", "cannot compare text"),
        ("total.currency.currency == 'EUR'", "unknown field 'total.currency'"),
        ("count(total.currency) == 1", "unknown field 'total.currency'"),
        ("decimals(many) == 1", "decimals needs one number, found a list of numbers"),
        ("decimals(shop) == 1", "decimals needs one number, found a text"),
        ("decimals(1.25) == 2", "decimals takes one field"),
        ("decimals() == 2", "decimals takes one field"),
    ],
)
def test_what_is_wrong_is_said(check, message):
    more = [
        Field("many", "many", "money", many=True),
        Field("rate", "rate", "number"),
        Field("shop", "shop"),
    ]
    with pytest.raises(RulesError) as error:
        Rules([*FIELDS, *more], [check])
    assert message in str(error.value)


# Brute force: all labellings, judged by hand.

PRINTED = {  # by word: the number, the currency and the decimals
    "5": (Decimal(5), None, 0),
    "€5": (Decimal(5), "EUR", 0),
    "5.00": (Decimal(5), None, 2),
    "$5.0": (Decimal(5), "USD", 1),
    "6.00€": (Decimal(6), "EUR", 2),
    "6": (Decimal(6), None, 0),
    "x": None,
}
CHECKS = {
    "total.currency == sub.currency": lambda t, s: None if None in (t[1], s[1]) else t[1] == s[1],
    "total.currency == 'EUR'": lambda t, s: None if t[1] is None else t[1] == "EUR",
    "decimals(total) == decimals(sub)": lambda t, s: t[2] == s[2],
    "decimals(sub) == 2 or total == 5": lambda t, s: s[2] == 2 or t[0] == 5,
    "total == sub": lambda t, s: t[0] == s[0],
    "total.currency != sub.currency or decimals(total) < 2": lambda t, s: (
        True if t[2] < 2 else None if None in (t[1], s[1]) else t[1] != s[1]
    ),
}
READS = {"total.currency == 'EUR'": ("total",)}


def outcome_by_hand(check, totals, subs):
    """True, False, or None if a value is missing, of all combinations of the values."""
    both = "total" in READS.get(check, NAMES), "sub" in READS.get(check, NAMES)
    totals, subs = (
        values if used else ["unused"] for values, used in zip((totals, subs), both, strict=True)
    )
    outcomes = set()
    for t, s in product(totals, subs):
        if t is None or s is None:
            outcomes.add(by_logic(check, t, s))
        else:
            outcomes.add(CHECKS[check](t, s))
    return True if True in outcomes else False if False in outcomes else None


def by_logic(check, t, s):
    """The outcome with a missing value: an ``or`` may still hold."""
    if check.startswith("decimals(sub) == 2 or") and (
        (s is not None and s[2] == 2) or (t is not None and t[0] == 5)
    ):
        return True
    if check.endswith("or decimals(total) < 2") and t is not None and t[2] < 2:
        return True
    return None


def penalty_by_hand(words, labels, rules, repeat):
    cost, values = 0.0, {}
    for name in NAMES:
        found = [PRINTED[w] for w, k in zip(words, labels, strict=True) if LABELS[k][2:] == name]
        cost += 1.5 * found.count(None)
        found = [value for value in found if value is not None]
        if repeat == "agree" and len({value[0] for value in found}) > 1:
            cost += 1.5
        values[name] = (found if repeat == "any" else found[:1]) or [None]
    for rule in rules:
        outcome = outcome_by_hand(rule.check, values["total"], values["sub"])
        cost += rule.weight if outcome is False else rule.unchecked if outcome is None else 0
    return cost


def random_case(seed):
    rng = np.random.default_rng(seed)
    words = [str(word) for word in rng.choice(list(PRINTED), rng.integers(1, 6))]
    probs = rng.dirichlet(np.full(3, 0.5), len(words))
    if rng.random() < 0.3:
        probs = np.round(probs, 1) + 0.1  # ties
        probs /= probs.sum(axis=1, keepdims=True)
    checks = [check for check in CHECKS if rng.random() < 0.5]
    rules = [
        Rule(check, weight=float(rng.choice([0.5, 2, 4])), unchecked=float(rng.choice([0, 0.5])))
        for check in checks
    ]
    repeat = str(rng.choice(["agree", "first", "any"]))
    defaults = RuleDefaults(presence="free", repeat=repeat, weight=1.5)
    made = Rules(FIELDS, rules, defaults=defaults)
    return Document("d", words), Scores.from_probs(probs, LABELS), made, rules, repeat


@pytest.mark.parametrize("decoder", ["auto", "exact", "lazyk", "paths", "readings", "best_first"])
def test_the_best_labelling_under_rules_about_print_is_found(decoder):
    for seed in range(150 if decoder in ("auto", "exact") else 50):
        document, scores, made, rules, repeat = random_case(seed)
        penalty = partial(penalty_by_hand, document.words, rules=rules, repeat=repeat)
        assert_finds_best(document, scores, made, decoder, penalty)


def test_confidences_are_of_numbers():
    for seed in range(60):
        document, scores, made, rules, repeat = random_case(seed)
        found = decode(document, scores, made, alternatives=2)
        total, same = 0.0, dict.fromkeys(NAMES, 0.0)
        for labels in product(range(3), repeat=len(document)):
            weight = np.exp(
                sum(scores.log_probs[range(len(labels)), list(labels)])
                - penalty_by_hand(document.words, labels, rules, repeat)
            )
            total += weight
            for name in NAMES:
                values = [
                    PRINTED[word][0]
                    for word, k in zip(document.words, labels, strict=True)
                    if LABELS[k][2:] == name and PRINTED[word] is not None
                ]
                answer = [v.value for v in found.fields.get(name, ()) if v.value is not None]
                same[name] += weight * (values[:1] == answer[:1])
        for name, sure in found.confidence.items():
            assert sure.low - 1e-6 <= same[name] / total <= sure.high + 1e-6, (seed, name)


@pytest.mark.parametrize("type_", ["money", "number", "integer"])
@pytest.mark.parametrize(("text", "decimals"), [("10.00", 2), ("10", 0), ("7.0", 1)])
def test_decimals_are_those_of_the_print_whatever_the_type(type_, text, decimals):
    rules = Rules([Field("total", "total", type_)], [f"decimals(total) == {decimals}"])
    scores = Scores.from_probs([[0, 1]], ["O", "B-total"])
    assert decode(Document("d", [text]), scores, rules).status == "satisfied"


def test_a_default_has_the_decimals_it_is_written_with():
    rules = Rules([Field("tax", "tax", "money", default="0.00")], ["decimals(tax) == 2"])
    scores = Scores.from_probs([[1, 0]], ["O", "B-tax"])
    assert decode(Document("d", ["x"]), scores, rules).status == "satisfied"
