"""Alignment: which words carry true values, against brute force and on small pages."""

from __future__ import annotations

import random
from datetime import date
from decimal import Decimal
from itertools import product

import pytest

from lawful import Box, Document, Field, InputError, Rules, Scores, SpanScores
from lawful.candidates.grounding.matches import Occurrences, distance
from lawful.documents.records import UNKNOWN
from lawful.learn.align import Truth, align
from lawful.rules import RowKind
from lawful.values import read
from tests.fixtures.pages import block

TOTALS = Rules(
    [Field("total", label="total", type="money"), Field("tax", label="tax", type="money")], []
)


def page(text, id_="d"):
    placed = block(text)
    return Document(id_, [word for word, _ in placed], [box for _, box in placed])


def labels(document, values, rules=TOTALS, **how):
    truth = Truth("d", {name: (value,) for name, value in values.items()})
    return align(document, truth, rules, **how)


def test_the_only_word_with_the_value_is_labelled():
    found = labels(Document("d", ["Total", "1.234,50", "EUR", "9,00"]), {"total": "1234.50"})
    assert found.labelled.gold == ("O", "B-total", "O", "O")
    assert found.states == {"total": "labelled"}


def test_several_words_with_the_value_stay_open():
    found = labels(Document("d", ["5.00", "x", "5.00"]), {"total": "5"})
    assert found.labelled.gold == (UNKNOWN, "O", UNKNOWN)
    assert found.states == {"total": "ambiguous"}


def test_a_value_that_is_not_printed():
    found = labels(Document("d", ["5.00", "x"]), {"total": "6"})
    assert found.labelled.gold == ("O", "O")
    assert found.states == {"total": "not found"}


def test_one_word_and_two_fields_with_its_value():
    found = labels(Document("d", ["5.00"]), {"total": "5", "tax": "5"})
    assert found.labelled.gold == (UNKNOWN,)


def test_a_model_decides_between_occurrences_by_a_margin():
    document = Document("d", ["5.00", "x", "5.00"])
    sure = Scores.from_probs([[0.1, 0.9], [0.9, 0.1], [0.99, 0.01]], ["O", "B-total"])
    unsure = Scores.from_probs([[0.5, 0.5], [0.9, 0.1], [0.6, 0.4]], ["O", "B-total"])
    assert labels(document, {"total": "5"}, scores=sure).labelled.gold == ("B-total", "O", "O")
    open_ = labels(document, {"total": "5"}, scores=unsure).labelled.gold
    assert open_ == (UNKNOWN, "O", UNKNOWN)


def test_scores_of_spans_decide_as_those_of_words():
    document = Document("d", ["5.00", "x", "5.00"])
    sure = SpanScores([(0, 1, "total", 0.9), (2, 3, "total", 0.01)], 3)
    unsure = SpanScores([(0, 1, "total", 0.5), (2, 3, "total", 0.4)], 3)
    only = SpanScores([(2, 3, "total", 0.9)], 3)
    others = SpanScores([(0, 1, "other", 0.9)], 3)
    assert labels(document, {"total": "5"}, scores=sure).labelled.gold == ("B-total", "O", "O")
    assert labels(document, {"total": "5"}, scores=only).labelled.gold == ("O", "O", "B-total")
    for scores in (unsure, others):
        found = labels(document, {"total": "5"}, scores=scores).labelled.gold
        assert found == (UNKNOWN, "O", UNKNOWN)


LABELS = ("O", "B-total", "B-tax")


@pytest.mark.parametrize("seed", range(150))
def test_choices_are_those_of_brute_force(seed):
    """The best choice of spans, and for each of them how much worse the best without it is."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    words = [rng.choice(["1.00", "2.00", "x"]) for _ in range(rng.randint(1, 5))]
    values = {"total": rng.choice(["1", "2"]), "tax": rng.choice(["1", "2"])}
    probs = [[rng.choice([1, 2, 5]) for _ in LABELS] for _ in words]
    scores = Scores.from_probs([[p / sum(row) for p in row] for row in probs], LABELS)
    margin = 0.5

    def worth(assignment):
        found = 0.0
        for i, label in enumerate(assignment):
            if label != "O":
                odds = scores.log_probs[i]
                found += odds[LABELS.index(label)] - odds[0]
        found -= 1000 * sum(f"B-{name}" not in assignment for name in printed)
        return found

    options = [
        ["O", *(f"B-{n}" for n, v in values.items() if read(w, "money")[:1] == (Decimal(v),))]
        for w in words
    ]
    printed = [n for n in values if any(f"B-{n}" in each for each in options)]
    ranked = sorted(product(*options), key=worth, reverse=True)
    found = labels(Document("d", words), values, scores=scores, margin=margin).labelled.gold
    for i, label in enumerate(found):
        if label in ("O", UNKNOWN):
            continue
        others = [each for each in ranked if each[i] != label]
        slot = sum(f"B-{label[2:]}" in each for each in options)
        rivals = len(options[i]) > 2 or slot > 1
        assert ranked[0][i] == label or worth(ranked[0]) == pytest.approx(
            max(worth(each) for each in ranked if each[i] == label)
        )
        if rivals and others:
            assert worth(ranked[0]) - worth(others[0]) >= margin - 1e-6


def pages_of_amounts(count):
    """A total and a tax, each printed often on lines of its own, and once on one line."""
    words, boxes = [], []
    for line in range(2 * count):
        words.append(("53.28", "8.51")[line % 2])
        boxes.append((0.0, 30.0 * line, 60.0, 30.0 * line + 20))
    for i, word in enumerate(("53.28", "8.51")):
        words.append(word)
        boxes.append((100.0 * i, 60.0 * count, 100.0 * i + 60, 60.0 * count + 20))
    return Document("d", words, boxes=boxes)


@pytest.mark.parametrize("count", [2, 5, 30])
def test_a_rule_about_places_chooses_among_dozens_of_spans(count):
    """Any number of spans could be chosen, in 2^60 ways; this once took minutes."""
    rules = Rules(TOTALS.fields, ["line(total) == line(tax)"])
    truth = Truth("d", {"total": ("53.28",), "tax": ("8.51",)})
    found = align(pages_of_amounts(count), truth, rules)
    assert found.labelled.gold[-2:] == ("B-total", "B-tax")
    assert set(found.labelled.gold[:-2]) <= {"O", UNKNOWN}


def test_what_is_not_proven_stays_open():
    rules = Rules(TOTALS.fields, ["line(total) == line(tax) and line(tax) < 0"])
    truth = Truth("d", {"total": ("53.28",), "tax": ("8.51",)})
    found = align(pages_of_amounts(80), truth, rules)
    assert set(found.labelled.gold) == {UNKNOWN}


AD = Rules(
    [
        Field("gross", label="gross", type="money"),
        Field("net", label="net", type="money"),
        Field("commission", label="commission", type="money"),
        Field("lines", label="line", type="money", many=True),
    ],
    ["gross == sum(lines)", "net == gross - commission"],
)

COLUMN = """Spot one          100.00
Spot two           50.00
Spot three         25.00
Gross             175.00
Agency             26.25
Net               148.75"""


def test_columns_and_differences_label_fields_without_values():
    found = labels(page(COLUMN), {"gross": 175}, AD)
    by_word = dict(zip(found.labelled.document.words, found.labelled.gold, strict=True))
    assert [by_word[w] for w in ("100.00", "50.00", "25.00", "175.00")] == [
        "B-line", "B-line", "B-line", "B-gross",
    ]  # fmt: skip
    # Either of the two may be the net amount, so neither is labelled.
    assert by_word["26.25"] == by_word["148.75"] == UNKNOWN
    assert "lines" in found.tied


def test_two_columns_with_the_sum_are_ambiguous():
    text = "A   10.00   10.00\nB   20.00   20.00\nC    5.00    5.00\nGross      35.00"
    found = labels(page(text), {"gross": 35}, AD)
    assert set(found.labelled.gold) <= {"O", UNKNOWN, "B-gross"}
    assert found.states["lines"] == "ambiguous"


ROWS = Rules(
    [
        Field("name", label="name"),
        Field("count", label="count", type="number"),
        Field("amount", label="amount", type="money"),
    ],
    [],
    rows=[RowKind("line", ("name", "count", "amount"))],
)


def test_rows_are_matched_in_order():
    text = "Tea 2 8.00\nRice 1 8.00\nTea 2 8.00\nTotal 24.00"
    row = {"count": 2, "amount": "8.00", "name": "Tea"}
    rice = {"count": 1, "amount": "8.00", "name": "Rice"}
    found = align(page(text), Truth("d", {}, {"line": (row, rice, row)}), ROWS)
    assert found.labelled.gold == (*("B-name", "B-count", "B-amount") * 3, "O", "O")


def test_a_row_that_may_be_either_of_two_lines_stays_open():
    text = "Tea 2 8.00\nTea 2 8.00"
    row = {"count": 2, "amount": "8.00", "name": "Tea"}
    found = align(page(text), Truth("d", {}, {"line": (row,)}), ROWS)
    assert set(found.labelled.gold) == {UNKNOWN}


@pytest.mark.parametrize(
    ("words", "value", "type_", "spans"),
    [
        (["31.01.2024"], "2024-01-31", "date", [(0, 1)]),
        (["January", "31,", "2024"], date(2024, 1, 31), "date", [(0, 3)]),
        (["1", "234,50"], "1234.50", "money", [(0, 2)]),
        (["-5.00"], "5", "money", [(0, 1)]),
        (["ACME", "Corp."], "Acme Corp", "text", [(0, 2)]),
        (["Müller", "&", "Söhne"], "MULLER & SOHNE", "text", [(0, 3)]),
        (["Anerica", "First", "Action"], "America First Action", "text", [(0, 3)]),
        (["Invoice", "4712"], "4711", "text", []),
        (["Order", "123457"], "Order 123456", "text", []),
        (["", "x"], "", "text", []),
    ],
)
def test_where_values_are_printed(words, value, type_, spans):
    assert Occurrences(Document("d", words)).find(value, type_) == spans


def edits(one, other):
    if not one or not other:
        return len(one) + len(other)
    return min(
        edits(one[1:], other) + 1,
        edits(one, other[1:]) + 1,
        edits(one[1:], other[1:]) + (one[0] != other[0]),
    )


def test_distance_is_that_of_its_definition():
    rng = random.Random(1)  # noqa: S311 - no secret
    for _ in range(500):
        one, other = ("".join(rng.choices("ab", k=rng.randint(0, 5))) for _ in range(2))
        most = rng.randint(0, 5)
        assert distance(one, other, most) == min(edits(one, other), most + 1)


def test_documents_for_training_only_are_refused_elsewhere():
    from lawful import Scored

    scores = Scores.from_probs([[0.5, 0.5]], ["O", "B-total"])
    with pytest.raises(InputError, match="unknown: such documents are for training only"):
        Scored(Document("d", ["5"]), scores, (UNKNOWN,))


def test_boxes_are_not_needed():
    assert Occurrences(Document("d", ["5", "5"])).lines == [0, 0]
    assert Occurrences(Document("d", ["5"], [Box(0, 0, 1, 1)])).lines == [0]
