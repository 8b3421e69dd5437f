"""Sections: rows between headings and subtotals, or on a page; their rules and results."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from lawful import Box, Document, Scored, Scores, decode
from lawful.cli.options import WriteOptions
from lawful.cli.writers import writer_for
from lawful.io.jsonl import decoding_line
from lawful.pipeline.call import Call
from lawful.report.page import Report
from lawful.results.sections import nested
from lawful.rules.files import rules_from
from lawful.rules.to_file import rules_data

RULES = {
    "fields": {
        "name": {"label": "name"},
        "amount": {"label": "amount", "type": "money"},
        "heading": {"label": "heading"},
        "subtotal": {"label": "subtotal", "type": "money"},
        "carried": {"label": "carried", "type": "money"},
    },
    "rows": {
        "line": {"fields": ["name", "amount"], "starts": "name"},
        "section": {
            "fields": ["heading", "subtotal"],
            "of": "line",
            "starts": "heading",
            "ends": "subtotal",
        },
        "page": {"fields": ["carried"], "of": "line", "by": "page"},
    },
    "rules": [
        {"id": "subtotal", "each": "section", "check": "subtotal == sum(amount)"},
        {"id": "carried", "each": "page", "check": "carried == previous.carried + sum(amount)"},
        {
            "id": "first",
            "each": "page",
            "when": "not present(previous.carried)",
            "check": "carried == sum(amount)",
        },
        {"id": "food", "check": "sum(amount where amount > 2) == 7"},
    ],
}
PAGES = (  # a section goes on on the next page
    "Food:heading bread:name 2:amount milk:name 3:amount carried 5:carried",
    "jam:name 1:amount 6:subtotal Drinks:heading tea:name 4:amount 4:subtotal 10:carried",
)


def decoded(pages=PAGES, *, wrong=(), rules=None):
    """The decoding of pages, of which the model takes some words (by number) for no field."""
    rules = rules_from(RULES if rules is None else rules)
    words, labels, numbers = [], ["O", *(f"B-{f.label}" for f in rules.fields)], []
    probs = []
    for number, page in enumerate(pages, 1):
        for word in page.split():
            text, _, name = word.partition(":")
            row = np.full(len(labels), 0.001)
            row[labels.index(f"B-{name}" if name else "O")] = 1
            if len(words) in wrong:
                row[0] = 3
            words.append(text)
            numbers.append(number)
            probs.append(row / row.sum())
    document = Document("d", words, pages=numbers)
    scores = Scores.from_probs(probs, labels)
    return Scored(document, scores), decode(document, scores, rules), rules


def test_sections_and_pages_are_checked_and_sums_repaired():
    _, found, rules = decoded(wrong=[8])  # the amount of the jam
    assert (found.status, found.optimal) == ("satisfied", True)
    assert found.values("amount") == (2, 3, 1, 4)
    assert {rule: how.way for rule, how in rules_way(rules).items()} == dict.fromkeys(
        ("subtotal", "carried", "first", "food"), "compiled"
    )
    assert [(c.id, c.row, c.message) for c in found.checks if c.row] == [
        ("subtotal", 1, "section 1: 2 + 3 + 1 = 6"),
        ("subtotal", 2, "section 2: 4 = 4"),
        ("carried", 2, "page 2: 5 + 1 + 4 = 10"),
        ("first", 1, "page 1: 2 + 3 = 5"),
    ]


def rules_way(rules):
    from lawful.rules.compiled.plan import plan_of

    return plan_of(rules).how


def test_a_wrong_subtotal_is_named():
    _, found, _ = decoded([PAGES[0], PAGES[1].replace("4:subtotal", "5:subtotal")])
    (check,) = found.violations
    assert check.message == "section 2: subtotal is 5, sum(amount) is 4"


def test_results_are_nested():
    scored, found, rules = decoded()
    sections = nested(found, "section")
    names = [[row["name"].text for row in each.rows] for each in sections]
    assert names == [["bread", "milk", "jam"], ["tea"]]
    assert [each.values["heading"].text for each in sections] == ["Food", "Drinks"]
    pages = [[row["name"].text for row in each.rows] for each in nested(found, "page")]
    assert pages == [["bread", "milk"], ["jam", "tea"]]

    line = json.loads(decoding_line(found))
    second = line["sections"]["section"][1]
    assert second["values"]["subtotal"] == {"text": "4", "value": 4}
    assert second["rows"] == [
        {"name": {"text": "tea", "value": "tea"}, "amount": {"text": "4", "value": 4}}
    ]
    assert line == json.loads(json.dumps(found.to_dict(), default=float))

    writer = writer_for("csv", Call(rules), WriteOptions(rows="line"))
    text = writer.head() + writer.write(scored, found)[0]
    table = list(csv.DictReader(io.StringIO(text)))
    assert [(r["section"], r["heading"], r["subtotal"], r["page"], r["name"]) for r in table] == [
        ("1", "Food", "6", "1", "bread"),
        ("1", "Food", "6", "1", "milk"),
        ("1", "Food", "6", "2", "jam"),
        ("2", "Drinks", "4", "2", "tea"),
    ]
    card, _ = Report(rules=rules, pictures=lambda _: None).card(scored, found)
    assert card.count('scope="rowgroup"') == 4
    assert "Sections: section of line" in card


def test_sections_may_hold_sections_and_rows_may_be_in_none():
    rules = {
        **RULES,
        "rows": {
            "line": {"fields": ["name", "amount"], "starts": "name"},
            "section": {"fields": ["subtotal"], "of": "line", "ends": "subtotal"},
            "part": {"fields": ["heading", "carried"], "of": "section", "starts": "heading"},
        },
        "rules": [{"id": "part", "each": "part", "check": "carried == sum(subtotal)"}],
    }
    page = "oil:name 1:amount A:heading x:name 2:amount 2:subtotal"
    page += " y:name 3:amount 3:subtotal 5:carried"
    scored, found, made = decoded([page], rules=rules)
    assert found.checks[0].message == "part 1: 2 + 3 = 5"
    (part,) = nested(found, "part")
    assert [[row["name"].text for row in each.rows] for each in part.sections] == [["y"]]
    first = nested(found, "section")[0]
    assert [row["name"].text for row in first.rows] == ["oil", "x"]  # it began before the part
    writer = writer_for("csv", Call(made), WriteOptions(rows="line"))
    table = list(csv.DictReader(io.StringIO(writer.head() + writer.write(scored, found)[0])))
    assert [(r["section"], r["part"]) for r in table] == [("1", ""), ("1", ""), ("2", "1")]


def test_rules_of_sections_are_written_as_they_were():
    rules = rules_from(RULES)
    assert rules_from(rules_data(rules)).rows == rules.rows


@pytest.mark.parametrize("tiny", ["0.1234567", "0.12"])
def test_numbers_that_the_core_cannot_hold_are_left_to_python(tiny):
    # Rows and sections with such numbers must still have states of their own in the search.
    fields = {name: {**f, "type": "number"} for name, f in RULES["fields"].items() if "type" in f}
    food = {"id": "food", "check": f"sum(amount where amount > 2) == 7{tiny[1:]}"}
    rules = {**RULES, "fields": {**RULES["fields"], **fields}, "rules": [RULES["rules"][0], food]}
    page = f"A:heading x:name 2{tiny[1:]}:amount y:name 5:amount 7{tiny[1:]}:subtotal"
    _, found, _ = decoded([page], wrong=[4], rules=rules)
    assert (found.status, found.optimal) == ("satisfied", True)
    assert found.values("amount")[1:] == (5,)


def test_a_row_may_go_on_over_lines_and_pages():
    # The model takes the third line of a description for a row of its own, which lacks an amount.
    rules = rules_from(
        {
            "fields": {
                "name": {"label": "name", "presence": "free"},
                "amount": RULES["fields"]["amount"],
            },
            "rows": {
                "line": {"fields": ["name", "amount"], "starts": "name", "required": ["amount"]}
            },
        }
    )
    pages = (
        "Item Amount /steel:B-name /door:I-name /with:I-name lock:I-name 12.00:B-amount"
        " /lamp:B-name",
        "Item Amount 7.00:B-amount",  # the heading again, and the rest of the row
    )
    labels = ["O", "B-name", "I-name", "B-amount"]
    words, boxes, numbers, probs, top = [], [], [], [], 0
    for number, page in enumerate(pages):
        for word in page.split():
            text, _, label = word.partition(":")
            top += 20 * (text.startswith("/") or not words)
            words.append(text.removeprefix("/"))
            boxes.append(Box(60 * len(words), top, 60 * len(words) + 40, top + 10))
            numbers.append(number)
            row = np.full(len(labels), 0.001)
            row[labels.index(label or "O")] = 1
            if words[-1] == "with":
                row[1] = 1.5
            probs.append(row / row.sum())
    document = Document("d", words, boxes, numbers)
    found = decode(document, Scores.from_probs(probs, labels), rules)
    assert (found.status, found.optimal) == ("unchecked", True)  # there are no rules
    assert [(row["name"].text, row["amount"].text) for row in found.rows("line")] == [
        ("steel door with lock", "12.00"),
        ("lamp", "7.00"),
    ]
    assert [change.new for change in found.corrections] == ["I-name"]
