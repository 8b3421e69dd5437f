"""The generated receipts that the receipt model learns from."""

from collections import Counter

import pytest

from lab.receipts.dice import Dice
from lab.receipts.labels import CORD, LABELS, WILDRECEIPT, renamed
from lab.receipts.noise import Noise, photographed
from lab.receipts.tills import print_page
from lawful import Document, Rules
from lawful.documents.labels import Scheme
from lawful.documents.records import Labelled
from lawful.evaluation.survey import judge_gold
from lawful.models.shipped import RULES
from lawful.values import read

SCHEME = Scheme.named("BIO", LABELS)
AMOUNTS = ("item.price", "subtotal", "discount", "service", "tax", "total", "cash", "change")


def printed(number, seed=3):
    page = print_page(Dice(seed, number))
    document = Document(str(number), tuple(page.words), tuple(page.boxes))
    return Labelled(document, tuple(page.labels))


def seen(number, seed=3):
    dice = Dice(seed, number)
    return photographed(dice, print_page(dice), str(number))


@pytest.fixture(scope="module")
def pages():
    return [printed(number) for number in range(400)]


def index(page):
    return SCHEME.indices(page.gold)


def test_labels_are_legal_on_paper_and_in_photos(pages):
    for page in (*pages, *map(seen, range(200))):
        assert len(page.gold) == len(page.document)
        assert SCHEME.allows(index(page)), page.document.id


def test_a_page_depends_only_on_seed_and_number():
    assert seen(7) == seen(7)
    assert seen(7) != seen(7, seed=4)


def test_all_labels_but_priced_extras_occur(pages):
    found = Counter(label[2:] for page in pages for label in page.gold if label != "O")
    missing = {label[2:] for label in LABELS if label != "O"} - set(found)
    assert missing == {"item.extra"}  # CORD has those


def test_amounts_on_paper_can_be_read(pages):
    for page in pages:
        for span in SCHEME.spans(index(page)):
            if span.type in AMOUNTS:
                text = page.document.text(span.start, span.end)
                assert read(text, "money") or read(text[:-1], "money"), text  # a tax code


def test_amounts_on_paper_obey_the_rules_of_receipts(pages):
    truth = judge_gold(pages, Rules.load(RULES))
    for rule, least in (("items", 0.9), ("total", 0.85), ("change", 0.99), ("card", 0.99)):
        states = truth.states[rule]
        checked = states["satisfied"] + states["violated"]
        assert checked > 50
        assert states["satisfied"] >= least * checked, rule


def test_pages_differ_in_noise():
    drawn = [Noise.drawn(Dice(0, number)) for number in range(200)]
    assert {noise.glue for noise in drawn} == {0.0, 0.15, 0.5, 1.0}
    assert any(noise.swap == 0 for noise in drawn)
    assert any(noise.swap > 0.03 for noise in drawn)


def test_photos_keep_what_is_printed_but_for_some_noise():
    """Most words of a photo, without blanks, are parts of the printed text."""
    kept = total = 0
    for number in range(100):
        text = "".join(printed(number).document.words)
        for word in seen(number).document.words:
            kept += word in text
            total += 1
    assert 0.9 < kept / total < 1


@pytest.mark.parametrize("names", [CORD, WILDRECEIPT])
def test_labels_of_data_sets_become_those_of_the_model(names):
    old = next(iter(names))
    page = Labelled(Document("d", ("a", "b", "c")), (f"B-{old}", f"I-{old}", "B-unheard_of"))
    new = names[old]
    assert renamed(page, names).gold == (f"B-{new}", f"I-{new}", "O")
    assert {f"B-{name}" for name in names.values()} <= set(LABELS)
