"""Given values: read by their types, used by rules, kept with the document."""

from __future__ import annotations

import pickle
from decimal import Decimal
from functools import partial

import numpy as np
import pytest

from lawful import (
    Document,
    DocumentError,
    Field,
    Labelled,
    Rule,
    Rules,
    RulesError,
    Scored,
    Scores,
    decode,
    read_jsonl,
    rule,
    write_jsonl,
)
from lawful.rules import RowKind
from lawful.rules.compiled.plan import plan_of
from lawful.rules.files import rules_from
from tests.helpers import assert_finds_best

NAMES = ("total", "tax", "item", "shop")
FIELDS = [
    Field("total", "total", "money"),
    Field("tax", "tax", "money", default=0),
    Field("item", "item", "money", many=True),
    Field("shop", "shop"),
]
LABELS = ("O", *(f"B-{name}" for name in NAMES))
GIVEN = {"ordered": "money", "vendor": "text", "day": "date", "rate": "number"}


def decoded(words, labels, rules, given=None, rows=None):
    probs = np.full((len(words), len(LABELS)), 1e-6)
    probs[range(len(words)), [LABELS.index(label) for label in labels]] = 1
    probs /= probs.sum(axis=1, keepdims=True)
    document = Document("d", words, given=given, rows=rows)
    return decode(document, Scores.from_probs(probs, LABELS), rules)


def states(words, labels, rules, given=None, rows=None):
    return [(c.state, c.message) for c in decoded(words, labels, rules, given, rows).checks]


def test_rules_compare_fields_with_given_values():
    rules = Rules(FIELDS, ["total == ordered", "shop == vendor"], given=GIVEN)
    words, labels = ["1234.00", "ACME"], ["B-total", "B-shop"]
    assert states(words, labels, rules, {"ordered": "1,234.00", "vendor": "Acme"}) == [
        ("satisfied", "1,234.00 = 1,234.00"),
        ("violated", "shop is ACME, vendor is Acme"),
    ]
    assert states(words, labels, rules, {"vendor": "ACME", "ordered": None, "other": "x"}) == [
        ("vacuous", "not checked: ordered missing"),
        ("satisfied", "ACME = ACME"),
    ]
    assert states(words, labels, rules)[1] == ("vacuous", "not checked: vendor missing")


def test_numbers_are_what_they_are():
    rules = Rules(FIELDS, ["total == ordered"], given=GIVEN)
    assert states(["1.234"], ["B-total"], rules, {"ordered": "1.234"})[0][0] == "satisfied"
    assert states(["1234"], ["B-total"], rules, {"ordered": 1.234})[0][0] == "violated"
    assert states(["1234"], ["B-total"], rules, {"ordered": 1234})[0][0] == "satisfied"


def test_given_values_may_be_counted_and_shown():
    check = Rule("not present(ordered) or total <= ordered", id="x", message="{total} of {ordered}")
    rules = Rules(FIELDS, [check], given=GIVEN)
    assert states(["3"], ["B-total"], rules, {"ordered": 2}) == [("violated", "3 of 2")]
    assert states(["3"], ["B-total"], rules)[0][0] == "satisfied"


def test_python_functions_read_given_values():
    @rule(reads=("total", "ordered"))
    def at_most_ordered(total, ordered):
        return total <= ordered

    rules = Rules(FIELDS, [at_most_ordered], given=GIVEN)
    assert states(["3"], ["B-total"], rules, {"ordered": 2})[0][0] == "violated"
    assert states(["3"], ["B-total"], rules)[0][0] == "vacuous"


def test_rules_of_rows_read_given_values():
    kind = RowKind("line", ("item", "tax"))
    fields = [Field(f.name, f.label, f.type) for f in FIELDS]
    rules = Rules(fields, [Rule("tax == item * rate", each="line")], rows=[kind], given=GIVEN)
    found = states(
        ["10", "1", "20", "3"], ["B-item", "B-tax"] * 2, rules, {"rate": "0.1"}, [1, 1, 2, 2]
    )
    assert [state for state, _ in found] == ["satisfied", "violated"]
    assert plan_of(rules).how["tax == item * rate"].way == "compiled"


def test_rules_with_given_values_are_judged_inside_the_search():
    checks = ["total == ordered", "total == tax + ordered", "ordered > 3 or shop == vendor"]
    rules = Rules(FIELDS, checks, given=GIVEN)
    assert [how.way for how in plan_of(rules).how.values()] == ["local", "compiled", "local"]
    again = pickle.loads(pickle.dumps(rules))
    assert again.given == rules.given
    assert rules.with_rules("tax < ordered").with_defaults(weight=3).given == GIVEN


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ordered": "much"}, "document 'd': given ordered is 'much', which is no money"),
        ({"ordered": 1e300}, "given ordered is 1e.300, expected a number up to 1e18"),
        ({"ordered": 10**400}, "given ordered is 1.*, expected a number up to 1e18"),
        ({"day": "2024-13-45"}, "given day is '2024-13-45', which is no date"),
        ({"ordered": [1]}, r"given 'ordered' is \[1\], expected a name and a text or a number"),
        ({"ordered": float("nan")}, "expected a name and a text or a number"),
        ({"ordered": True}, "given 'ordered' is True"),
        ([1], r"given is \[1\], expected names and values"),
    ],
)
def test_what_is_wrong_with_given_values_is_said(given, message):
    with pytest.raises(DocumentError, match=message):
        decoded(["3"], ["B-total"], Rules(FIELDS, ["total == ordered"], given=GIVEN), given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], r"given is \[\], expected names and types of values"),
        ({"a b": "text"}, "given: 'a b' is no name of letters, digits and _"),
        ({"class": "text"}, "given: 'class' is no name"),
        ({"total": "money"}, "given: the name 'total' is defined twice"),
        ({"ordered": "cash"}, "given: ordered: unknown type 'cash'; types: "),
        ({"ordered": "text"}, "rule 'total == ordered': cannot compare"),
        ({"orderd": "money"}, "unknown field 'ordered'.*did you mean 'orderd'"),
    ],
)
def test_what_is_wrong_with_names_and_types_is_said(given, message):
    fields = {"total": {"label": "total", "type": "money"}}
    with pytest.raises(RulesError, match=message):
        rules_from({"fields": fields, "given": given, "rules": ["total == ordered"]})


def test_given_values_stay_with_the_document(tmp_path):
    given = {"ordered": "1,234.00", "rate": 0.1, "vendor": None}
    document = Document("d", ["a", "b"], pages=[0, 1], joins=[False, True], given=given)
    scores = Scores.from_probs([[0.5, 0.5]] * 2, ["O", "B-total"])
    write_jsonl(tmp_path / "x.jsonl", [Scored(document, scores)])
    (again,) = read_jsonl(tmp_path / "x.jsonl")
    assert again.document == document
    assert again.to_words().document.given == given
    assert [page.document.given for page in Labelled(document, ("O", "O")).by_page()] == [given] * 2
    assert hash(document) == hash(again.document)


# Brute force: all labellings, judged by hand. None stands for a value that is missing.

CHECKS = {
    "total == ordered": lambda total, ordered, **_: (
        None if None in (total, ordered) else total == ordered
    ),
    "total == tax + ordered": lambda total, tax, ordered, **_: (
        None if None in (total, ordered) else total == tax + ordered
    ),
    "sum(item) == ordered": lambda items, ordered, **_: (
        None if ordered is None or not items else sum(items) == ordered
    ),
    "tax <= total * rate": lambda total, tax, rate, **_: (
        None if None in (total, rate) else tax <= total * rate
    ),
    "count(item) > ordered or total * ordered > 6": lambda total, items, ordered, **_: (
        None
        if ordered is None
        else len(items) > ordered or (None if total is None else total * ordered > 6)
    ),
    "ordered < 3": lambda ordered, **_: None if ordered is None else ordered < 3,
    "present(ordered) == present(total)": lambda total, ordered, **_: (
        (ordered is None) == (total is None)
    ),
    "total / ordered == 1": lambda total, ordered, **_: (
        None if None in (total, ordered) else total == ordered
    ),
}


def penalty_by_hand(words, labels, given, checks):
    values = [
        [Decimal(word) for word, k in zip(words, labels, strict=True) if LABELS[k] == f"B-{name}"]
        for name in NAMES
    ]
    total, tax = next(iter(values[0]), None), next(iter(values[1]), Decimal(0))
    cost = 0.0
    for check in checks:
        known = {"ordered": given.get("ordered"), "rate": given.get("rate")}
        holds = CHECKS[check](total=total, tax=tax, items=values[2], **known)
        cost += 0.25 if holds is None else 0.0 if holds else 2.0
    return cost


@pytest.mark.parametrize("decoder", ["auto", "exact", "lazyk"])
def test_the_best_labelling_under_rules_with_given_values_is_found(decoder):
    for seed in range(80 if decoder != "lazyk" else 25):
        rng = np.random.default_rng(seed)
        words = [str(word) for word in rng.integers(1, 5, rng.integers(1, 6))]
        given = {}
        if rng.random() < 0.8:
            given["ordered"] = int(rng.integers(1, 5))
        if rng.random() < 0.8:
            given["rate"] = Decimal(int(rng.integers(1, 4))) / 2
        checks = [check for check in CHECKS if rng.random() < 0.4]
        rules = Rules(FIELDS, checks, given=GIVEN).with_defaults(
            weight=2, unchecked=0.25, presence="free", repeat="first"
        )
        scores = Scores.from_probs(rng.dirichlet(np.full(5, 0.5), len(words)), LABELS)
        texts = {name: str(value) for name, value in given.items()}
        document = Document("d", words, given=texts if seed % 2 else given)
        penalty = partial(penalty_by_hand, words, given=given, checks=checks)
        assert_finds_best(document, scores, rules, decoder, penalty)
