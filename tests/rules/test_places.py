"""Places of fields: what rules can say about them, and that the best labelling is found."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from lawful import Box, Document, Field, Rule, Rules, RulesError, Scores, decode
from lawful.rules import RowKind
from lawful.rules.compiled.plan import plan_of
from tests.helpers import assert_finds_best

NAMES = ("total", "tax", "item")
FIELDS = [
    Field("total", "total", "money", repeat="first"),
    Field("tax", "tax", "money", repeat="any"),
    Field("item", "item", "money", many=True),
]
LABELS = ("O", *(f"B-{name}" for name in NAMES), "I-total")


def checked(words, labels, rules, **document):
    """The states and messages of all checks, of a model that is sure of the labels."""
    probs = np.full((len(words), len(LABELS)), 1e-6)
    probs[range(len(words)), [LABELS.index(label) for label in labels]] = 1
    probs /= probs.sum(axis=1, keepdims=True)
    rules = rules.with_defaults(weight=1)
    found = decode(Document("d", words, **document), Scores.from_probs(probs, LABELS), rules)
    return [(check.state, check.message) for check in found.checks if not check.implied]


def test_places_are_those_of_the_first_readable_span():
    rules = Rules(FIELDS, ["start(total) == 1", "end(total) == start(tax)", "before(item, total)"])
    words, labels = ["1", "Rp", "3", "0.5"], ["B-item", "B-total", "I-total", "B-tax"]
    assert checked(words, labels, rules) == [
        ("satisfied", "1 = 1"),
        ("satisfied", "3 = 3"),
        ("satisfied", "item is 1, total is 3"),
    ]
    labels = ["B-total", "B-item", "B-total", "B-tax"]
    assert checked(["x", "1", "3", "2"], labels, rules) == [
        ("violated", "start(total) is 2, expected 1"),
        ("satisfied", "3 = 3"),
        ("violated", "before(item, total) does not hold: item is 1, total is 3"),
    ]
    assert checked(["1"], ["B-item"], rules)[2] == ("vacuous", "not checked: total missing")


def test_boxes_pages_and_lines_are_missing_unless_the_document_has_them():
    rules = Rules(
        FIELDS,
        ["line(total) == 2", "page(total) == 4", "top(tax) < top(total)", "right(total) == 30.5"],
    )
    words, labels = ["1", "3"], ["B-tax", "B-total"]
    boxes = [Box(0, 0, 10, 10), Box(20, 40, 30.5, 50)]
    found = checked(words, labels, rules, boxes=boxes, pages=[4, 4])
    assert [state for state, _ in found] == ["satisfied"] * 4
    assert {state for state, _ in checked(words, labels, rules)} == {"vacuous"}


def test_rules_of_rows_see_the_places_of_their_row():
    kind = RowKind("line", ("item", "tax"))
    fields = [Field(f.name, f.label, f.type) for f in FIELDS]
    rules = Rules(
        fields,
        [
            Rule("start(item) < start(tax)", each="line", id="own"),
            Rule("start(item) == end(previous.tax)", each="line", id="before"),
            Rule("count(previous.tax) == 1", each="line", id="count"),
        ],
        rows=[kind],
    )
    labels = ["B-item", "B-tax", "B-tax", "B-item"]
    assert [
        state for state, _ in checked(["1", "2", "3", "4"], labels, rules, rows=[1, 1, 2, 2])
    ] == [
        *("satisfied", "violated"),
        *("violated", "vacuous"),
        *("violated", "satisfied"),
    ]


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ("start(item) == 1", "start needs a field of one value, found a list of numbers"),
        ("start(total + tax) == 1", "start takes one field"),
        ("before(total)", "before takes two fields, as in before"),
        ("before(total, 3)", "before takes two fields"),
        ("start(ordered) == 1", "ordered is given, so it has no place in the document"),
        ("before(total, ordered)", "ordered is given"),
        ("start(nothing) == 1", "unknown field 'nothing'"),
    ],
)
def test_what_is_wrong_with_a_place_is_said(check, message):
    with pytest.raises(RulesError, match=message):
        Rules(FIELDS, [check], given={"ordered": "money"})


def test_rules_about_places_are_judged_in_python():
    how = plan_of(Rules(FIELDS, ["start(total) > 1"])).how["start(total) > 1"]
    assert (how.way, how.reason) == ("python", "start(total): the place of a span")


# Brute force: all labellings, judged by hand.

CHECKS = {
    "start(total) >= 2": lambda at, value, top: (
        None if not at["total"] else at["total"][0][0] >= 2
    ),
    "end(total) - start(total) == 2": lambda at, value, top: (
        None if not at["total"] else at["total"][0][1] - at["total"][0][0] == 2
    ),
    "before(item, total)": lambda at, value, top: (
        None
        if not at["item"] or not at["total"]
        else at["item"][-1][1] <= at["total"][0][0]
    ),
    "top(tax) < top(total) or total == 3": lambda at, value, top: (
        None
        if not at["total"]
        else value(at["total"][0]) == 3
        or (None if not at["tax"] or top is None else top[at["tax"][0][0]] < top[at["total"][0][0]])
    ),
    "total == tax and before(tax, total)": lambda at, value, top: (
        None
        if not at["total"] or not at["tax"]
        else any(value(tax) == value(at["total"][0]) for tax in at["tax"])
        and at["tax"][-1][1] <= at["total"][0][0]
    ),
}  # fmt: skip


def spans_by_hand(labels):
    """By field, the spans of a legal BIO labelling; ``None`` if it is not legal."""
    spans = {name: [] for name in NAMES}
    for i, k in enumerate(labels):
        prefix, _, name = LABELS[k].partition("-")
        if prefix == "B":
            spans[name].append((i, i + 1))
        elif prefix == "I":
            if not i or LABELS[labels[i - 1]][2:] != name:
                return None
            spans[name][-1] = (spans[name][-1][0], i + 1)
    return spans


def penalty_by_hand(words, labels, top, checks):
    """With words of one digit, two words of a total are 10 times the first plus the second."""
    spans = spans_by_hand(labels)
    if spans is None:
        return None
    cost = 0.0
    for check in checks:
        holds = CHECKS[check](spans, lambda span: int("".join(words[slice(*span)])), top)
        cost += 0.25 if holds is None else 0.0 if holds else 2.0
    return cost


@pytest.mark.parametrize("decoder", ["auto", "exact", "lazyk"])
def test_the_best_labelling_under_rules_about_places_is_found(decoder):
    for seed in range(60 if decoder != "lazyk" else 20):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(1, 5))
        words = [str(word) for word in rng.integers(1, 4, size)]
        top = [int(y) for y in rng.integers(0, 3, size) * 50] if rng.random() < 0.7 else None
        boxes = (
            None if top is None else [Box(10 * i, y, 10 * i + 9, y + 9) for i, y in enumerate(top)]
        )
        joins = [False] + [True] * (size - 1)  # so that two words are one number
        document = Document("d", words, boxes, joins=joins)
        checks = [check for check in CHECKS if rng.random() < 0.5]
        rules = Rules(FIELDS, checks).with_defaults(weight=2, unchecked=0.25, presence="free")
        scores = Scores.from_probs(rng.dirichlet(np.full(5, 0.6), size), LABELS)
        penalty = partial(penalty_by_hand, words, top=top, checks=checks)
        assert_finds_best(document, scores, rules, decoder, penalty)


def test_words_of_one_line_have_one_number_wherever_they_stand_in_the_document():
    """As where columns follow each other: ``line`` is a printed line, no run of words."""
    words = ["Total", "Tax", "5.00", "1.00"]
    boxes = [Box(x, y, x + 30, y + 10) for x in (0, 50) for y in (0, 40)]
    rules = Rules(
        [Field("total", label="total", type="money"), Field("tax", label="tax", type="money")],
        ["line(total) == 1", "line(tax) == 2"],
    )
    scores = Scores.from_probs(np.eye(3)[[0, 0, 1, 2]], ["O", "B-total", "B-tax"])
    found = decode(Document("d", words, boxes), scores, rules)
    assert [check.state for check in found.rule_checks] == ["satisfied", "satisfied"]
