"""Pins in the lines of documents, on the command line."""

from __future__ import annotations

import json

import pytest

from lab import receipts as demo
from lawful import read_jsonl
from lawful.io.jsonl import scored_line
from tests.helpers import RULES, run


@pytest.fixture(scope="module")
def line():
    pages = {page.document.id: page for page in read_jsonl(demo.shipped())}
    return json.loads(scored_line(pages["receipt-00010"]))


def decoded(line, *arguments):
    return run("decode", "-", "--rules", RULES, *arguments, stdin=json.dumps(line) + "\n")


def test_decode_obeys_the_pins_of_a_line(line):
    pins = [{"words": [39, 40], "field": None}, {"words": [36, 37], "text": "Rp5.281"}]
    found = json.loads(decoded({**line, "pins": pins}).stdout)
    assert found["labels"][39] == "O"
    assert found["pins"] == pins
    assert {"word": 39, "old": "B-total", "new": "O", "pinned": True} in found["moved"]
    assert found["fields"]["tax"][0]["text"] == "Rp5.281"


def test_the_report_shows_pins_and_corrected_texts(line):
    pins = [{"words": [39, 40], "field": None}, {"words": [36, 37], "text": "Rp5.281"}]
    page = decoded({**line, "pins": pins}, "--format", "html").stdout
    assert "<code>pin: word 39 is nothing</code>" in page
    assert "Rp5.281" in page
    assert "Rp5.280" not in page


def test_explain_obeys_pins(line):
    text = json.dumps({**line, "pins": [{"field": "total", "value": 48000}]}) + "\n"
    done = run("explain", "-", "--rules", RULES, "--alternatives", 0, stdin=text)
    assert "because of pin: total is 48000" in done.stdout
    assert "violated pin: total is 48000: total is 'Rp53.280' (words 53:54)" in done.stdout


@pytest.mark.parametrize(
    ("pins", "message"),
    [
        ([{"words": [39, 40]}], "pin 0: found {'words': [39, 40]}, expected one of"),
        ([{"words": [39, 400], "field": None}], "has 67 words, but a pin: words 39:400 are"),
        ([{"words": [39, 40], "field": "x"}], "unknown field 'x'; "),
        (
            [{"field": "tax", "value": None}, {"field": "tax", "value": 3}],
            "two pins contradict each other: tax is absent; tax is 3",
        ),
        ("none", "Expected `array`, got `str` - at `$.pins`"),
    ],
)
def test_pins_that_cannot_be_used_make_a_bad_line(line, pins, message):
    done = decoded({**line, "pins": pins}, "--quiet")
    assert done.returncode == 2  # it was the only line
    assert message in " ".join(done.stderr.split())


def test_extract_obeys_pins(line):
    pytest.importorskip("onnxruntime", reason="needs the 'onnx' extra")
    some = {key: line[key] for key in ("id", "words", "boxes")}
    some["pins"] = [{"words": [32, 33], "field": "total"}, {"field": "subtotal", "value": None}]
    done = run("extract", "-", stdin=json.dumps(some) + "\n")
    found = json.loads(done.stdout)
    assert found["labels"][32] == "B-total"
    assert "subtotal" not in found["fields"]
    assert found["pins"] == some["pins"]
