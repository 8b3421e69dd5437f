"""Pins: their forms, their names, and the messages for those that cannot be used."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from lawful import Document, DocumentError, InputError, Labelled, Pin, Scored, Scores
from lawful.io.jsonl import encode

FORMS = {
    "pin: word 3 is total": {"words": [3, 4], "field": "total"},
    "pin: words 3:5 are total": {"words": [3, 5], "field": "total"},
    "pin: words 3:5 are nothing": {"words": [3, 5], "field": None},
    "pin: word 3 is not total": {"words": [3, 4], "not": "total"},
    "pin: total is '53.280'": {"field": "total", "value": "53.280"},
    "pin: total is 53280": {"field": "total", "value": 53280},
    "pin: tip is absent": {"field": "tip", "value": None},
    "pin: words 3:5 read 'Rp 53.280'": {"words": [3, 5], "text": "Rp 53.280"},
}


@pytest.mark.parametrize(("name", "form"), FORMS.items())
def test_a_pin_has_a_form_and_a_name(name, form):
    pin = Pin.of(form)
    assert pin.id == name
    assert json.loads(encode(pin.to_dict())) == form
    assert Pin.of(pin.to_dict()) == pin


def test_values_may_be_decimals_and_dates():
    assert Pin.of({"field": "total", "value": Decimal("1.50")}).id == "pin: total is 1.50"
    day = Pin.of({"field": "day", "value": date(2024, 2, 1)})
    assert day.id == "pin: day is 2024-02-01"
    assert day.to_dict() == {"field": "day", "value": "2024-02-01"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"words": [3, 4]}, "found {'words': \\[3, 4\\]}, expected one of"),
        ({"words": [3, 4], "field": "total", "value": 3}, "expected one of"),
        ("total", "found 'total', expected one of"),
        ({"words": [3], "field": "total"}, "words is \\[3\\], expected \\[start, end\\]"),
        ({"words": [4, 4], "field": "total"}, "words is \\[4, 4\\], expected \\[start, end\\]"),
        ({"words": [-1, 4], "field": None}, "words is \\[-1, 4\\]"),
        ({"words": [False, True], "field": None}, "words is \\[False, True\\]"),
        ({"words": [0.0, 1.0], "not": "total"}, "words is \\[0.0, 1.0\\]"),
        ({"words": [3, 4], "not": None}, "field is None, expected the name of a field"),
        ({"words": [3, 4], "field": 7}, "field is 7, expected the name of a field"),
        ({"field": None, "value": 3}, "field is None, expected the name of a field"),
        ({"field": "total", "value": True}, "value is True, expected a text, a number or none"),
        ({"field": "total", "value": float("nan")}, "value is nan, expected"),
        ({"field": "total", "value": [1]}, "value is \\[1\\], expected"),
        ({"words": [3, 4], "text": 5}, "text is 5, expected a string"),
    ],
)
def test_a_form_that_says_nothing_is_an_error(given, message):
    with pytest.raises(InputError, match=message):
        Pin.of(given)


def test_documents_check_their_pins():
    words = ["a", "b"]
    document = Document("d", words, pins=[{"field": "x", "value": None}] * 2)
    assert document.pins == (Pin("absent", field="x"),)
    with pytest.raises(DocumentError, match="document 'd': pin 1: found 5, expected one of"):
        Document("d", words, pins=[{"words": [0, 1], "field": "x"}, 5])
    with pytest.raises(DocumentError, match="document 'd': pins is 'x', expected a list"):
        Document("d", words, pins="x")
    with pytest.raises(DocumentError, match="has 2 words, but a pin: words 1:3 are nothing"):
        Document("d", words, pins=[{"words": [1, 3], "field": None}])
    with pytest.raises(InputError, match="kind is 'was', expected one of is, nothing"):
        Pin("was", (0, 1), "x")
    with pytest.raises(InputError, match="expected none for a field's value"):
        Pin("absent", (0, 1), "x")


@pytest.mark.parametrize(
    ("words", "text", "joins", "expected", "read"),
    [
        ([1, 2], "53.280", None, ("Total", "53.280", ".280"), "53.280"),
        ([0, 1], "Sub total", None, ("Sub total", "53", ".280"), "Sub total"),
        ([1, 3], "53.280", None, ("Total", "53.280", ""), "53.280"),
        ([1, 3], "Rp  53.280", None, ("Total", "Rp", "53.280"), "Rp 53.280"),
        ([1, 3], "Rp 53.280", [False, False, True], ("Total", "Rp 53.280", ""), "Rp 53.280"),
        ([1, 3], "", None, ("Total", "", ""), ""),
    ],
)
def test_a_corrected_text_is_what_the_words_read(words, text, joins, expected, read):
    pins = [{"words": words, "text": text}]
    document = Document("d", ["Total", "53", ".280"], joins=joins, pins=pins).corrected()
    assert document.words == expected
    assert document.text(*words) == read
    assert document.corrected() == document


def test_pins_about_pieces_become_pins_about_words():
    scores = Scores.from_probs([[0.5, 0.5]] * 4, ["O", "B-total"])
    joins = [False, False, True, True]
    pins = [{"words": [1, 4], "field": "total"}, {"field": "tip", "value": None}]
    document = Document("d", ["Total", "56", ".", "000"], joins=joins, pins=pins)
    pooled = Scored(document, scores).to_words().document
    assert pooled.words == ("Total", "56.000")
    assert pooled.pins == (Pin("is", (1, 2), "total"), Pin("absent", None, "tip"))
    part = Document("d", document.words, joins=joins, pins=[{"words": [1, 3], "field": "total"}])
    with pytest.raises(DocumentError, match="a pin about a part of a word, expected whole words"):
        Scored(part, scores).to_words()


def test_a_page_keeps_the_pins_about_its_words():
    pins = [
        {"words": [0, 2], "field": "total"},
        {"words": [2, 3], "text": "x"},
        {"words": [1, 4], "not": "total"},
        {"words": [1, 3], "field": "tax"},
        {"words": [1, 3], "text": "on two pages"},
        {"field": "tip", "value": None},
        {"field": "tax", "value": "5"},
    ]
    document = Document("d", ["a", "b", "c", "d"], pages=[0, 0, 1, 1], pins=pins)
    first, second = Labelled(document, ("O",) * 4).by_page()
    assert [pin.said for pin in first.document.pins] == [
        "words 0:2 are total", "word 1 is not total", "tip is absent",
    ]  # fmt: skip
    assert [pin.said for pin in second.document.pins] == [
        "word 0 reads 'x'", "words 0:2 are not total", "tip is absent",
    ]  # fmt: skip
    (whole,) = Labelled(replace(document, pages=(0,) * 4), ("O",) * 4).by_page()
    assert whole.document.pins == document.pins
