"""What was chosen among candidates, on the page that people look at."""

import io
import json
import re
from contextlib import closing
from dataclasses import replace

import pytest

from lawful import Candidates, Document, Rules, Scored, decode
from lawful.candidates.choose import ready
from lawful.candidates.on_page import on_page
from lawful.documents.document import NOWHERE
from lawful.io.jsonl import LineParser, scored_line
from lawful.report.page import write_report

RULES = """
fields:
  total: {label: sum, type: money}
  net: {label: net, type: money}
  tax: {label: tax, type: money}
  seller: {label: seller, type: text, optional: true}
  iban: {label: iban, type: text, optional: true}
rules:
  - {id: adds up, check: total == net + tax}
"""
WORDS = ("ACME", "Ltd", "Net", "40.00", "Tax", "4.00", "Total", "44.00")
BOXES = [(10 + 90 * (i % 2), 10 + 30 * (i // 2), 90 + 90 * (i % 2), 30 + 30 * (i // 2))
         for i in range(8)]  # fmt: skip
SAID = [
    {"total": 44, "net": 40, "tax": 4, "seller": "Acme Ltd", "iban": "DE89"},
    {"total": 45, "net": 40, "tax": 4, "seller": "Acme Ltd", "iban": "DE89"},
    {"total": 45, "net": 40, "tax": 4, "seller": "ACME Limited", "iban": "DE89"},
]


@pytest.fixture
def rules(tmp_path):
    (tmp_path / "rules.yaml").write_text(RULES)
    return Rules.load(tmp_path / "rules.yaml")


def chosen(rules, page, said=SAID):
    found = ready(Candidates.from_samples(said, id="bill"), rules, page)
    decoding = decode(found.document, found.scores, found.rules, alternatives=2)
    return Scored(found.document, found.scores), found.on_page(decoding)


def page(**more):
    return Document("bill", WORDS, boxes=BOXES, pages=[0] * 8, **more)


def test_values_are_words_of_the_page_and_others_follow_it(rules):
    scored, decoding = chosen(rules, page())
    placed = on_page(scored, rules)
    document = placed.document
    assert document.words[:8] == WORDS
    found = placed.decoding(decoding).fields
    spans = {name: value.words for name, [value] in found.items()}
    assert {name: spans[name] for name in ("seller", "net", "tax", "total")} == {
        "seller": (0, 2), "net": (3, 4), "tax": (5, 6), "total": (7, 8),
    }  # fmt: skip
    start, end = spans["iban"]
    assert document.words[start:end] == ("DE89",)
    assert (document.boxes[start], document.pages[start]) == (NOWHERE, 1)
    # Under the same rules, the page has the same answer.
    again = decode(document, placed.scores, rules, alternatives=2)
    assert again.status == "satisfied"
    assert {n: [v.words for v in each] for n, each in again.fields.items()} == {
        n: [v.words for v in each] for n, each in found.items()
    }
    # A value that nobody has named is as likely as before.
    sure = {name: found.low for name, found in again.confidence.items()}
    assert sure["net"] == pytest.approx(decoding.confidence["net"].low, abs=0.02)
    lines = scored_line(placed.scored).encode()
    assert LineParser("-").parse(1, lines).scores.named == placed.scores.named
    assert [v.text for v in again.fields["seller"]] == ["ACME Ltd"]  # as it is printed
    assert any(other.fields["total"][0].text == "45" for other in again.alternatives if
               other.fields.get("total"))  # fmt: skip


def test_a_place_whose_print_says_something_else_keeps_what_was_said(rules):
    misread = replace(page(), words=(*WORDS[:7], "44.0O"))
    scored, decoding = chosen(rules, misread, [{"total": "44.00", "net": 40, "tax": 4}])
    placed = on_page(scored, rules)
    [value] = placed.decoding(decoding).fields["total"]
    if decoding.fields["total"][0].box is not None:  # found in spite of the letter
        assert placed.document.boxes[value.words[0]] == decoding.fields["total"][0].box
    assert placed.document.text(*value.words) == "44.00"


def test_without_a_page_the_texts_are_the_document(rules):
    scored, decoding = chosen(rules, None)
    placed = on_page(scored, rules)
    assert placed.document.boxes is None
    found = decode(placed.document, placed.scores, rules)
    assert {n: [v.value for v in each] for n, each in found.fields.items()} == {
        n: [v.value for v in each] for n, each in decoding.fields.items()
    }


def test_scores_of_words_and_spans_are_left_as_they_are(rules):
    from lawful import SpanScores

    assert on_page(Scored(page(), SpanScores([(7, 8, "sum", 0.9)], 8)), rules) is None


def test_the_report_draws_the_boxes_on_the_whole_page(rules):
    sized = page(sizes=[(300, 200)])
    out = io.StringIO()
    write_report(out, [chosen(rules, sized)], rules=rules)
    html = out.getvalue()
    svg = re.search(r"<svg.*?</svg>", html, re.DOTALL)[0]
    for word in WORDS:
        assert f">{word}</text>" in svg
    assert "DE89" not in svg
    group = re.search(r'<g class="field c\d+"><title>total: 44.00</title><rect ([^>]*)/>', svg)[1]
    box = {name: float(value) for name, value in re.findall(r'(\w+)="([\d.]+)"', group)}
    word = re.search(r'<text x="(\d+)" y="(\d+)"[^>]*>44.00</text>', svg)
    assert box["x"] <= float(word[1]) <= box["x"] + box["width"]
    assert box["y"] <= float(word[2]) <= box["y"] + box["height"]
    after = html[html.index("Printed nowhere") :]
    assert "DE89" in after


def test_a_review_opens_it_and_exports_what_was_accepted(rules, tmp_path):
    pytest.importorskip("starlette")
    from lawful.review.accepted import accepted_in, json_lines
    from tests.review.client import client_of, desk_of

    scored, _ = chosen(rules, page())
    path = tmp_path / "scored.jsonl"
    path.write_text(scored_line(on_page(scored, rules).scored))
    with closing(desk_of(path, tmp_path / "review.db", rules)) as desk:
        client = client_of(desk)
        found = client.get("/api/documents/0").json
        fields = found["answer"]["fields"]
        assert fields["total"][0]["box"] == list(map(float, BOXES[7]))
        assert [each[0].get("nowhere", False) for each in (fields["iban"], fields["net"])] == [
            True, False,
        ]  # fmt: skip
        others = client.get("/api/documents/0/alternatives").json["alternatives"]
        assert any("total" in other["differs"] for other in others)
        # Said otherwise by a person: the value that is printed nowhere is another one.
        start, end = fields["iban"][0]["words"]
        pins = {"base": 0, "pins": [{"words": [start, end], "text": "DE90"}]}
        found = client.post("/api/documents/0/pins", pins).json
        body = {"base": found["seq"], "verdict": "accepted"}
        assert client.post("/api/documents/0/verdict", body).status == 200
        (line,) = map(json.loads, json_lines(list(accepted_in(desk.store))))
    assert line["fields"]["iban"][0]["text"] == "DE90"
    assert "box" not in line["fields"]["iban"][0]
    assert "page" not in line["fields"]["iban"][0]
    assert line["fields"]["total"][0]["box"] == list(map(float, BOXES[7]))
    assert line["corrected"] == ["iban"]
