"""Rule packs: each on a small document that obeys its rules, and on one that breaks them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from lawful import Box, Document, Rules, Scores, decode
from lawful.review.needed import NEEDS
from lawful.rules.compiled.plan import plan_of
from lawful.rules.packs import PACKS as NAMED
from lawful.rules.packs import rules_named
from tests.helpers import ROOT, run

PACKS = {name: path for name, path in NAMED.items() if path.parent.name == "packs"}

RECEIPT = """
1: item.name=Tea item.count=2 item.unit_price=1.50 item.price=3.00
2: item.name=Cake item.count=1 item.unit_price=4.00 item.price=4.00
: subtotal=7.00 tax=0.70 discount=-1.00 total=6.70 cash=10.00 change=3.30
"""
BY_CARD = """
1: item.name=Soup item.price=9.00
: shop.name=Corner subtotal=9.00 tax=0.90 tip=1.10 total=11.00 card=11.00
"""
SHORT = """
1: item.name=Tea item.price=3.00
2: item.name=Cake item.price=4.00
: total=7.00
"""
INVOICE = """
1: line.name=Desk line.quantity=2 line.unit_price=100.00 line.rate=19.00 line.category=S
1: line.amount=200.00
2: line.name=Book line.quantity=3 line.unit_price=10.00 line.rate=7.00 line.category=S
2: line.amount=30.00
3: line.name=Care line.quantity=1 line.unit_price=5.00 line.rate=0 line.category=E
3: line.amount=5.00
4: allowance.rate=19.00 allowance.category=S allowance.amount=20.00
5: charge.rate=7.00 charge.category=S charge.amount=2.00
6: vat.category=S vat.rate=19.00 vat.basis=180.00 vat.tax=34.20
7: vat.category=S vat.rate=7.00 vat.basis=32.00 vat.tax=2.24
8: vat.category=E vat.rate=0 vat.basis=5.00 vat.tax=0.00
: line_total=235.00 allowances=20.00 charges=2.00 net=217.00 tax=36.44 gross=253.44 prepaid=53.00
: rounding=0.01 due=200.45
"""
CREDIT = """
1: line.name=Desk line.quantity=2 line.unit_price=100.00 line.discount=10 line.amount=-180.00
2: allowance.amount=-5.00
: line_total=-180.00 net=-185.00 gross=-185.00
"""
STATEMENT = """
: opening_balance=100.00
1: entry.date=2024-03-01 entry.amount=-30.00 entry.balance=70.00
2: entry.date=2024-03-02 entry.amount=50.00 entry.balance=120.00
3: entry.date=2024-03-02 entry.amount=-20.00 entry.balance=100.00
: closing_balance=100.00
"""
COLUMNS = """
: opening_balance=100.00
1: entry.date=2024-03-01 entry.debit=30.00 entry.balance=70.00
2: entry.date=2024-03-02 entry.credit=50.00 entry.balance=120.00
3: entry.date=2024-03-03 entry.debit=20.00 entry.balance=100.00
: total_credits=50.00 total_debits=50.00 closing_balance=100.00
"""
ORDER = """
1: line.description=News line.spots=4 line.rate=250.00 line.amount=1,000.00
2: line.description=Sport line.spots=1 line.rate=600.00 line.amount=600.00
: gross_amount=$1,600.00 commission=$240.00 net_amount=$1,360.00
: flight_from=05/06/20 flight_to=05/12/20
"""
NOTE = """
: isin=US0378331005 shares=10 price=12.50 gross=125.00 fee=5.00 tax=1.00 amount=-131.00
: date=2024-03-01
"""
FOREIGN = """
: isin=US0378331005 shares=10 price=13.75 rate=1.1 gross=125.00 tax=25.00 amount=100.00
"""
DOCUMENTS = [
    ("receipt", RECEIPT),
    ("receipt", BY_CARD),
    ("receipt", SHORT),
    ("invoice", INVOICE),
    ("invoice", CREDIT),
    ("bank-statement", STATEMENT),
    ("bank-statement", COLUMNS),
    ("broker-note", NOTE),
    ("broker-note", FOREIGN),
    ("ad-order", ORDER),
]


def checks_of(pack, text):
    """The checks on a document whose labels the model is sure of."""
    words, labels, rows, boxes = [], [], [], []
    for number, line in enumerate(text.strip().splitlines()):
        row, _, values = line.partition(":")
        for pair in values.split():
            label, _, word = pair.partition("=")
            words.append(word)
            labels.append(f"B-{label}")
            rows.append(int(row) if row else None)
            left = 80 * len(boxes)
            boxes.append(Box(left, 20 * number, left + 60, 20 * number + 10))
    names = ("O", *sorted(set(labels)))
    probs = np.full((len(words), len(names)), 1e-12)
    probs[range(len(words)), [names.index(label) for label in labels]] = 1
    scores = Scores.from_probs(probs / probs.sum(axis=1, keepdims=True), names)
    found = decode(Document("d", words, boxes, rows=rows), scores, Rules.load(PACKS[pack]))
    assert found.labels == tuple(labels)
    return found.checks


def violated(pack, text):
    return {check.id for check in checks_of(pack, text) if check.state == "violated"}


@pytest.mark.parametrize(("pack", "text"), DOCUMENTS)
def test_a_right_document_obeys_the_rules(pack, text):
    assert not violated(pack, text)


def test_every_rule_is_checked_on_one_of_the_documents():
    for pack, path in PACKS.items():
        checked = {
            check.id
            for name, text in DOCUMENTS
            if name == pack
            for check in checks_of(pack, text)
            if check.state == "satisfied"
        }
        rules = Rules.load(path)
        assert checked == {each.id for each in (*rules.rules, *rules.orders)}


@pytest.mark.parametrize(
    ("pack", "text", "old", "new", "rules"),
    [
        ("receipt", RECEIPT, "item.price=3.00", "item.price=3.50", {"items", "item"}),
        ("receipt", RECEIPT, "tax=0.70", "tax=0.75", {"total"}),
        ("receipt", SHORT, "item.price=3.00", "item.price=3.50", {"prices"}),
        ("receipt", SHORT, ": total=7.00", "3: total=11.00\n4: item.price=4.00", {"items first"}),
        ("receipt", RECEIPT, "change=3.30", "change=3.00", {"change"}),
        ("invoice", INVOICE, "line.amount=30.00", "line.amount=30.02", {"BR-CO-10"}),
        (
            "invoice",
            INVOICE,
            "line.amount=30.00",
            "line.amount=31.50",
            {"BR-CO-10", "BR-S-08", "PEPPOL-R120"},
        ),
        ("invoice", INVOICE, "vat.tax=2.24", "vat.tax=3.23", {"BR-CO-14"}),
        ("invoice", INVOICE, "vat.tax=2.24", "vat.tax=3.24", {"BR-CO-14", "BR-CO-17"}),
        ("invoice", INVOICE, "vat.tax=0.00", "vat.tax=0.01", {"BR-CO-14", "BR-Z-09"}),
        ("invoice", INVOICE, "vat.basis=5.00", "vat.basis=4.00", {"BR-Z-08"}),
        ("invoice", INVOICE, "unit_price=5.00", "unit_price=-5.00", {"BR-27"}),
        ("invoice", INVOICE, "gross=253.44 ", "", {"BR-14"}),
        ("invoice", INVOICE, "allowances=20.00 ", "", set()),
        ("invoice", CREDIT, "line.discount=10", "line.discount=12", {"discount"}),
        ("invoice", INVOICE, "rounding=0.01", "rounding=0.02", {"BR-CO-16"}),
        ("bank-statement", STATEMENT, "amount=50.00", "amount=51.00", {"movements", "running"}),
        ("bank-statement", STATEMENT, "2024-03-01", "2024-03-05", {"dates"}),
        (
            "bank-statement",
            COLUMNS,
            "credit=50.00",
            "credit=51.00",
            {"columns", "credits", "running-credit"},
        ),
        ("broker-note", NOTE, "fee=5.00", "fee=6.00", {"amount"}),
        ("broker-note", NOTE, "price=12.50", "price=12.60", {"price"}),
        ("broker-note", NOTE, "US0378331005", "US0378331006", {"isin"}),
        ("broker-note", FOREIGN, "rate=1.1", "rate=1.2", {"rate"}),
        ("ad-order", ORDER, "line.spots=1", "line.spots=2", {"line"}),
        ("ad-order", ORDER, "commission=$240.00", "commission=$250.00", {"net", "commission"}),
    ],
)
def test_a_wrong_value_breaks_the_rules_that_read_it(pack, text, old, new, rules):
    assert old in text
    assert violated(pack, text.replace(old, new)) == rules


def test_a_model_may_lack_every_label():
    for path in PACKS.values():
        rules = Rules.load(path)
        found = decode(Document("d", ["a"]), Scores.from_probs([[1.0]], ["O"]), rules)
        assert found.status == "unchecked"


def test_most_rules_are_judged_inside_the_search():
    in_python = {
        rule
        for path in PACKS.values()
        for rule, how in plan_of(Rules.load(path)).how.items()
        if how.way == "python"
    }
    assert in_python == {"BR-S-08", "BR-Z-08", "beside"}


def test_packs_are_used_by_name():
    assert rules_named("ad-order").fields == Rules.load(PACKS["ad-order"]).fields
    assert run("rules", "receipt", "--text").stdout == PACKS["receipt"].read_text()
    assert "PEPPOL-R120" in run("rules", "invoice").stdout
    found = run("decode", "-", "--rules", "receipts", stdin="")
    assert found.returncode == 2


def test_the_docs_name_every_pack_and_the_measurements_every_rule():
    listed, counted = (
        set(re.findall(r"`([^`\n]+)`", (ROOT / page).read_text()))
        for page in ("docs/packs.md", "lab/results/packs.md")
    )
    for name, path in PACKS.items():
        assert name in listed
        assert {rule.id for rule in Rules.load(path).rules} <= counted


@pytest.mark.parametrize("pack", PACKS)
def test_review_knows_what_is_needed_and_says_what_is_wrong_in_three_languages(pack):
    rules = rules_named(pack)
    rows = {kind.name for kind in rules.rows}
    assert NEEDS[pack]
    assert set(NEEDS[pack]) <= {f.name for f in rules.fields} | rows
    for rule in rules.rules:
        assert isinstance(rule.message, dict), rule.id
        assert {"en", "de", "fr"} <= set(rule.message), rule.id
