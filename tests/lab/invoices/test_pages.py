"""The generated pages that the model of invoices and receipts learns from."""

from collections import Counter

import pytest

from lab.invoices.invoice import print_invoice
from lab.invoices.labels import FIELDS, KINDS, LABELS
from lab.invoices.pages import example
from lab.invoices.phrases import vocabulary
from lab.receipts.dice import Dice
from lab.receipts.noise import Noise, photographed
from lawful import Rules
from lawful.documents.labels import Scheme
from lawful.evaluation.checking import check_record
from lawful.rules.packs import PACKS
from lawful.values import read

SCHEME = Scheme.named("BIO", LABELS)
AMOUNTS = ("line.amount", "net", "tax", "gross", "due", "vat.tax", "vat.basis")


def printed(number, seed=5):
    dice = Dice(seed, number)
    return photographed(dice, print_invoice(dice), str(number), Noise(0, 0, 0, 0, 0, 0))


@pytest.fixture(scope="module")
def pages():
    return [printed(number) for number in range(300)]


def test_labels_are_legal_and_all_occur(pages):
    found = Counter(label[2:] for page in pages for label in page.gold if label != "O")
    assert set(found) == set(FIELDS)
    for page in pages:
        assert SCHEME.allows(SCHEME.indices(page.gold)), page.document.id


def test_only_invoices_have_labels():
    made = [example(1, number) for number in range(120)]
    assert {each.kind for each in made} == set(KINDS)
    for page, kind in made:
        assert SCHEME.allows(SCHEME.indices(page.gold))
        labels = {label[2:] for label in page.gold if label != "O"}
        assert bool(labels) == (kind == "invoice")


def test_a_page_depends_only_on_seed_and_number():
    assert example(1, 7) == example(1, 7)
    assert example(1, 7) != example(2, 7)


def test_amounts_can_be_read(pages):
    """But for a few whose currency stands in another line, or in another column."""
    readable = Counter(
        bool(read(page.document.text(span.start, span.end), "money"))
        for page in pages
        for span in SCHEME.spans(SCHEME.indices(page.gold))
        if span.type in AMOUNTS
    )
    assert readable[True] > 1000
    assert readable[False] < 0.005 * readable[True]


def test_the_sums_of_most_pages_obey_the_pack(pages):
    """Those that do not print two discounts without their sum, or round."""
    rules, states = Rules.load(PACKS["invoice"]), Counter()
    for page in pages:
        states.update((check.id, check.state) for check in check_record(page, rules, "gold")[1])
    for id_ in ("BR-CO-10", "BR-CO-13", "BR-CO-14", "BR-CO-15", "BR-CO-16", "BR-CO-17"):
        good, bad = states[id_, "satisfied"], states[id_, "violated"]
        assert good > 20, id_
        assert bad < 0.15 * good, (id_, good, bad)


def test_every_language_has_all_words():
    keys = {language: set(words) for language, words in vocabulary().items()}
    assert len(keys) == 6
    assert len(set(map(frozenset, keys.values()))) == 1
