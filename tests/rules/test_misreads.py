"""Values that OCR nearly read: where they may be chosen, at which price, and where never."""

from __future__ import annotations

from decimal import Decimal
from math import log

import pytest

from lawful import Document, DocumentError, Field, Pin, Rules, RulesError, Scored, Scores, decode
from lawful.cli.counts import Tally
from lawful.cli.writers import writer_for
from lawful.documents.misreads import Misread
from lawful.pipeline.call import Call
from lawful.report.page import notebook_card
from lawful.report.plain import doubt

LABELS = ["O", "B-a", "B-b", "B-total"]
WORDS = ("7.00", "12.46", "19.16")


def scores(*fields: str) -> Scores:
    rows = [[0.94 if label == f"B-{f}" else 0.02 for label in LABELS] for f in fields]
    return Scores.from_probs(rows, LABELS)


def rules(check="total == a + b", **settings) -> Rules:
    fields = (Field("a", "a", "money"), Field("b", "b", "money"))
    return Rules((*fields, Field("total", "total", "money", **settings)), [check])


def value(found):
    return found.fields["total"][0].value


def page(*misreads: tuple[str, float], words=WORDS, **parts) -> Document:
    return Document("d", words, misreads=((), (), misreads), **parts)


SCORES = scores("a", "b", "total")


def test_a_sum_decides_which_of_two_readings_is_meant():
    found = decode(page(("19.46", 2.5), ("10.16", 2.0)), SCORES, rules())
    assert found.status == "satisfied"
    assert value(found) == Decimal("19.46")
    assert found.log_prob == pytest.approx(3 * log(0.94))
    assert found.penalty == pytest.approx(2.5)
    assert found.optimal


def test_every_output_says_what_was_repaired():
    scored = Scored(page(("19.46", 2.5)), SCORES)
    found = decode(scored.document, SCORES, rules())
    assert (found.repaired, found.fields["total"][0].read_as) == (1, "19.46")
    assert "total  19.16  read as 19.46  = 19.46" in str(found)
    data = found.to_dict()
    assert (data["repaired"], data["fields"]["total"][0]["read_as"]) == (1, "19.46")
    assert "read_as" not in data["fields"]["a"][0]
    assert doubt(found) == "repaired"
    writer = writer_for("csv", Call(rules()))
    row, counts = writer.write(scored, found)
    assert "19.46,,,total 19.16 read as 19.46" in row
    assert str(Tally(counts)).startswith("1 satisfied; 1 with misread characters repaired; ")
    assert "the print looks like 19.16" in notebook_card(found)
    read = decode(page(), SCORES, rules())
    assert (read.repaired, "repaired" in read.to_dict()) == (0, False)


@pytest.mark.parametrize(
    ("settings", "check"),
    [
        ({"type": "money", "misreads": 0}, "total == a + b"),
        ({"type": "money", "misreads": 2.0}, "total == a + b"),
        ({"type": "text"}, "total == '19.46'"),
    ],
)
def test_no_other_reading_beyond_the_price_or_of_a_text(settings, check):
    fields = (Field("a", "a", "money"), Field("b", "b", "money"))
    some = Rules([*fields, Field("total", "total", **settings)], [check])
    found = decode(page(("19.46", 2.5)), SCORES, some)
    assert str(value(found)) == found.fields["total"][0].text == "19.16"


def test_a_text_may_be_misread_if_its_field_says_so():
    some = Rules([Field("total", "total", misreads=3)], ["total == '19.46'"])
    assert value(decode(page(("19.46", 2.5)), SCORES, some)) == "19.46"


def test_a_repair_never_makes_a_value_of_what_is_none():
    words = ("7.00", "12.46", "l9.l6")
    found = decode(page(("19.46", 0.1), words=words), SCORES, rules())
    assert found.status != "satisfied"
    assert "total" not in found.fields


def test_a_repair_without_need_does_not_happen():
    found = decode(page(("19.46", 0.0), words=("7.00", "12.16", "19.16")), SCORES, rules())
    assert (value(found), found.penalty) == (Decimal("19.16"), 0)


def test_a_pinned_value_is_read_where_it_was_misread():
    pin = Pin.of({"field": "total", "value": "19.46"})
    found = decode(page(("19.46", 2.5), pins=(pin,)), SCORES, rules("total > a"))
    assert value(found) == Decimal("19.46")
    assert found.penalty == 0
    other = page(("19.46", 2.5), pins=(Pin.of({"field": "total", "value": "1.00"}),))
    assert decode(other, SCORES, rules()).status == "infeasible"


def test_a_corrected_word_was_not_misread():
    pin = Pin.of({"words": [2, 3], "text": "19.16"})
    found = decode(page(("19.46", 2.5), pins=(pin,)), SCORES, rules())
    assert value(found) == Decimal("19.16")


@pytest.mark.parametrize(
    ("misreads", "message"),
    [
        (((), ()), r"3 words, but 2 lists of misreads"),
        (((), (), (("1", -1),)), r"misread of word 2 is \('1', -1\), expected a text and a price"),
        (((), (), "19.46"), r"misreads of word 2 is '19.46', expected \[text, price\] pairs"),
        (((), (), (("1", float("nan")),)), r"expected a text and a price in nats"),
    ],
)
def test_misreads_of_another_form_are_refused(misreads, message):
    with pytest.raises(DocumentError, match=message):
        Document("d", WORDS, misreads=misreads)


def test_misreads_are_sorted_and_those_like_the_word_left_out():
    some = [[], [], [("1", 2), ("19.16", 1), ("2", 1.5), ("1", 1)]]
    assert Document("d", WORDS, misreads=some).misreads[2] == (
        Misread("1", 1.0), Misread("2", 1.5),
    )  # fmt: skip


def test_a_price_that_is_none_is_refused():
    with pytest.raises(RulesError, match="misreads is 'never', expected a number of nats"):
        Field("a", "a", "money", misreads="never")
