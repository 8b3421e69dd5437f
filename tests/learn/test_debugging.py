"""Debugging: each cause is told from the others, and useless rules are named."""

from __future__ import annotations

import json

import pytest

from lawful import Document, Field, Rule, Rules
from lawful.documents.records import Labelled
from lawful.io.jsonl import write_labelled
from lawful.learn.debugging import debug
from lawful.learn.diagnosis import CAUSES
from tests.fixtures.planted import RULES, planted_pages
from tests.helpers import run

NAMES = ("total", "net", "tax", "tip")
FIELDS = [Field(name, name, "money") for name in NAMES] + [
    Field("items", "item", "money", many=True)
]
SUM = Rules(FIELDS, [Rule("total == net + tax", id="sum"), Rule("net == sum(items)", id="items")])


def page(text, name="p"):
    """``total:7 net:5 tax:2 9``: a word without a field has no label."""
    words, labels = [], []
    for part in text.split():
        field, _, word = part.rpartition(":")
        words.append(word)
        labels.append(f"B-{field}" if field else "O")
    return Labelled(Document(name, tuple(words)), tuple(labels))


def causes(*texts, rules=SUM, id_="sum"):
    found = {
        each.id: each for each in debug([page(t, f"p{i}") for i, t in enumerate(texts)], rules)
    }
    return [
        (group.cause, group.detail or group.pages[0].reason.detail) for group in found[id_].groups
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("total:7.01 net:5.00 tax:2.00", ("one unit", "0.01")),
        ("total:701 net:500 tax:200", ("one unit", "1")),
        ("total:3352 net:3.350 tax:2", None),
        ("total:5.35 net:3.350 tax:2", ("another value", "net: 3.350")),
        ("total:7000.00 net:5.00 tax:2.00", ("power of ten", "1,000")),
        ("total:3.00 net:5.00 tax:2.00", ("sign", "tax")),
        ("total:8.50 net:5.00 tax:2.00 tip:1.50", ("missing field", "+ tip")),
        ("total:5.50 net:5.00 tax:2.00 tip:1.50", ("missing field", "- tip")),
        ("total:8.50 net:5.00 tax:2.00 1.50", ("unlabelled", "word 3: 1.50")),
        ("total:9.00 net:5.00 tax:2.00 7.00", ("another number", "total, word 3: 7.00")),
        ("total:9.33 net:5.00 tax:2.00", ("unknown", "")),
        ("total:7.00 net:5.00 tax:2.00", None),
    ],
)
def test_one_page_has_one_cause(text, expected):
    assert causes(text) == ([] if expected is None else [expected])


def test_a_list_with_a_value_too_many():
    found = causes("net:5.00 item:2.00 item:3.00 item:4.44", id_="items")
    assert found == [("list", "items, word 3: 4.44")]


def test_a_constant_share_needs_several_pages():
    texts = [f"total:{1.1 * (n + 10):.2f} net:{n}.00 tax:10.00" for n in (117, 263, 471, 992)]
    assert causes(*texts) == [("share", "+10.0%")]
    assert [cause for cause, _ in causes(*texts[:2])] == ["unknown"]


def test_unreadable_texts_and_conditions_have_their_own_findings():
    found = {f.id: f for f in debug([page("total:x net:5 tax:2 net:6")], SUM)}
    assert [g.cause for g in found["total:reads"].groups] == ["unreadable"]
    assert [g.cause for g in found["net:agrees"].groups] == ["condition"]
    assert found["total:reads"].implied
    assert found["sum"].never == "not checked: total missing"


def test_rules_that_are_of_no_use_are_named():
    rules = RULES.with_rules(
        Rule("total == net + tax + (tip if present(tip) else 0)", id="sum"),
        Rule("net == sum(amount)", id="net"),
        Rule("net <= total", id="weak"),
        Rule("total < 0", id="wrong"),
        Rule("noise > junk", id="one"),
        Rule("junk > noise", id="other"),
        Rule("tip == 5", id="idle", when="total > 99999999"),
    )
    found = {each.id: each for each in debug(planted_pages(120), rules)}
    assert found["weak"].implied_by == ("sum",)
    assert found["net"].implied_by == ()
    assert found["wrong"].is_wrong
    assert found["one"].against == ("other",)
    assert found["other"].against == ("one",)
    assert found["idle"].never
    assert found["sum"].is_fine
    assert found["net"].is_fine


def test_rows_have_causes_too():
    rules = RULES.with_rules(Rule("amount == quantity * price + 0.01", each="line", id="p"))
    found = next(each for each in debug(planted_pages(40), rules) if each.id == "p")
    assert {group.cause for group in found.groups} == {"one unit"}
    assert sum(len(group.pages) for group in found.groups) > 40


def test_the_command_prints_writes_json_and_a_page(tmp_path):
    documents, rules = tmp_path / "gold.jsonl", tmp_path / "rules.yaml"
    pages = [page("total:8.50 net:5.00 tax:2.00 tip:1.50", "<b>&")]
    write_labelled(documents, [*pages, page("total:7.00 net:5.00 tax:2.00")])
    rules.write_text(
        "fields: {total: {label: total, type: money}, net: {label: net, type: money},\n"
        "  tax: {label: tax, type: money}, tip: {label: tip, type: money}}\n"
        "rules: [{id: '<i>sum', check: total == net + tax}, total < 100]\n"
    )
    done = run("rules", "debug", documents, "-r", rules, "-o", tmp_path / "f.json",
               "--html", tmp_path / "f.html")  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "1 off by the value of a field that the rule does not read (+ tip)" in done.stdout
    assert "<b>&: total is 8.50, net + tax is 7.00" in done.stdout
    findings = json.loads((tmp_path / "f.json").read_text())["findings"]
    assert findings[0]["groups"][0]["advice"] == (
        "'+ tip' on the right side would let the rule hold on 1 page"
    )
    html = (tmp_path / "f.html").read_text()
    assert "<b>&:" not in html
    assert "&lt;i&gt;sum" in html
    assert "default-src 'none'" in html
    assert "<script" not in html
    write_labelled(documents, [page("total:7.00 net:5.00 tax:2.00")])
    assert run("rules", "debug", documents, "-r", rules, "-q").returncode == 0


def test_every_cause_has_a_meaning():
    assert all(text and text[0].islower() for text in CAUSES.values())
