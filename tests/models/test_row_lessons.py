"""Rows that are taught by their values: on one line, over several, and in any order."""

from __future__ import annotations

import random

import numpy as np
import pytest

from lawful import Document, Field, Rules
from lawful.documents.document import Box
from lawful.learn.align import Truth
from lawful.models.lessons import Lesson, TrueRows, place
from lawful.models.linear import Example, fit
from lawful.models.row_links import row_ids
from lawful.models.spans import SpanPage
from lawful.models.teaching import Teacher
from lawful.rules import RowKind

RULES = Rules(
    [Field("day", "day", "date"), Field("amount", "amount", "money")],
    rows=[RowKind("entry", ("day", "amount"))],
)
WHO = ("Rent", "Shop", "Wages", "Club", "Power", "Phone")


def page(id_, text):
    words, boxes = [], []
    for line, content in enumerate(text.split("\n")):
        at = 0
        for word in content.split():
            at = content.index(word, at)
            words.append(word)
            boxes.append(Box(6.0 * at, 12.0 * line, 6.0 * (at + len(word)), 12.0 * line + 10))
            at += len(word)
    return Document(id_, words, boxes)


def statement(number, layout):
    """A statement of one of three layouts, and its rows, not in the order of print."""
    chance = random.Random(number)  # noqa: S311 - no secret
    rows, lines = [], [f"Account {number}", f"Balance 01.03.2024 {chance.randint(900, 999)}.00"]
    for day in range(2, 2 + chance.randint(2, 5)):
        amount = f"{chance.randint(10, 99)}.{chance.randint(10, 99)}"
        printed, who = f"{day:02}.03.2024", f"{chance.choice(WHO)} no {chance.randint(10, 99)}"
        rows.append({"day": f"2024-03-{day:02}", "amount": amount})
        lines += {
            "line": [f"{printed} {who} {amount}"],
            "above": [printed, f"{who} {amount}", "many thanks"],
            "below": [amount, f"{printed} {who}", "many thanks"],
        }[layout]
    lines.append(f"Total 31.03.2024 {chance.randint(100, 899)}.00")
    chance.shuffle(rows)
    return page(f"{layout}-{number}", "\n".join(lines)), Truth(
        f"{layout}-{number}", {}, {"entry": tuple(rows)}
    )


def found_rows(decoding):
    return sorted(
        (str(row["day"].value), str(row["amount"].value))
        for row in decoding.rows("entry")
        if {"day", "amount"} <= row.keys()
    )


@pytest.mark.parametrize("layouts", [("line",), ("above",), ("below",), ("line", "below")])
def test_rows_are_learned_wherever_their_values_stand(layouts):
    teacher = Teacher(RULES)
    for number in range(20):
        teacher.add(*statement(number, layouts[number % len(layouts)]))
    model = teacher.teach().tagger
    right = true = 0
    for number in range(100, 120):
        document, truth = statement(number, layouts[number % len(layouts)])
        (decoding,) = model.decode([document], RULES)
        wanted = sorted((row["day"], row["amount"]) for row in truth.rows["entry"])
        true += len(wanted)
        right += len(set(wanted) & set(found_rows(decoding)))
    assert right >= 0.9 * true


def test_row_ids_of_a_document_stay():
    teacher = Teacher(RULES)
    for number in range(12):
        teacher.add(*statement(number, "below"))
    document, _ = statement(50, "below")
    given = Document("d", document.words, document.boxes, rows=(1,) * len(document))
    (scored,) = teacher.tagger().predict([given])
    assert scored.document.rows == given.rows
    (scored,) = teacher.tagger().predict([document])
    assert scored.document.rows is not None


def test_taught_rows_can_be_taken_back():
    teacher = Teacher(RULES)
    for number in range(12):
        teacher.add(*statement(number, "above"))
    before = teacher.tagger()
    teacher.add(*statement(60, "line"))
    teacher.tagger()
    teacher.forget("line-60")
    for one, other in zip(before.models, teacher.tagger().models, strict=True):
        assert np.allclose(one.weights, other.weights, atol=1e-6)


def test_a_saved_model_joins_the_same_rows(tmp_path):
    teacher = Teacher(RULES)
    for number in range(12):
        teacher.add(*statement(number, "below"))
    model = teacher.tagger()
    model.save(tmp_path)
    document, _ = statement(70, "below")
    (one,), (other,) = model.predict([document]), type(model).load(tmp_path).predict([document])
    assert one.document.rows == other.document.rows


@pytest.mark.parametrize(
    ("links", "joined"),
    [
        ({0: []}, [1, 2, 3, 4]),
        ({1: [0]}, [1, 1, 3, 4]),
        ({0: [2]}, [1, 1, 1, 4]),
        ({0: [1], 2: [1]}, [1, 2, 3, 4]),  # a line of two rows joins neither
        ({0: [2], 1: []}, [1, 2, 3, 4]),  # nor do lines around another row
        ({0: [1], 3: [2]}, [1, 1, 3, 3]),
    ],
)
def test_lines_are_joined_unless_another_row_has_some(links, joined):
    found = row_ids(SpanPage(page("d", "a\nb\nc\nd")), links)
    assert [found.index(number) + 1 for number in found] == joined


def lesson(lines, wanted):
    count = len(lines)
    return Lesson(
        np.arange(count), np.arange(count) + 1, [()] * count, np.zeros((count, 1), np.int32),
        np.array(lines), np.zeros(count, bool), np.zeros(count, bool), np.array(wanted),
    )  # fmt: skip


def test_a_row_is_the_line_that_has_most_of_its_values():
    days, amounts = lesson([0, 1, 2], [0, 0, -1]), lesson([1, 2, 3], [0, 0, 1])
    rows = TrueRows([{"day": 0, "amount": 0}, {"amount": 1}], "amount")
    place(rows, {"day": days, "amount": amounts}, {})
    assert amounts.right.tolist() == [True, False, True]
    assert days.right.tolist() == [False, True, False]
    assert not amounts.open.any()


def test_what_may_be_one_of_two_lines_is_open_until_a_model_chooses():
    amounts = lesson([1, 1, 2, 3], [0, 0, 0, -1])
    rows = TrueRows([{"amount": 0}], "amount")
    place(rows, {"amount": amounts}, {})
    assert amounts.open.tolist() == [True, True, True, False]
    place(rows, {"amount": amounts}, {"amount": np.array([0.0, 0.0, 5.0, 9.0])})
    assert amounts.right.tolist() == [False, False, True, False]
    assert not amounts.open.any()


def test_groups_are_fitted_like_documents_of_their_own():
    chance = np.random.default_rng(2)
    rows = chance.integers(0, 8, (12, 3)).astype(np.int32)
    right, groups = chance.random(12) < 0.3, np.repeat([4, 1, 2], 4)
    apart = [Example(rows[groups == g], right[groups == g], np.zeros(4, int)) for g in (1, 2, 4)]
    together = fit([Example(rows, right, groups)], np.zeros(8), prior=0.1, steps=200)
    assert np.allclose(together, fit(apart, np.zeros(8), prior=0.1, steps=200), atol=1e-3)


def test_rows_of_some_documents_lack_the_usual_anchor():
    """The truth of every other document names amounts otherwise; this once raised a KeyError."""
    rules = Rules(
        [*RULES.fields, Field("fee", "fee", "money")],
        rows=[RowKind("entry", ("day", "amount", "fee"))],
    )
    teacher = Teacher(rules)
    for number in range(8):
        document, truth = statement(number, "above")
        name = "fee" if number % 2 else "amount"
        rows = [{"day": row["day"], name: row["amount"]} for row in truth.rows["entry"]]
        teacher.add(document, Truth(document.id, {}, {"entry": tuple(rows)}))
    assert {m.field.label for m in teacher.tagger().models} == {"day", "amount", "fee"}
