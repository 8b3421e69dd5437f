"""Mining: planted rules are found with true figures, and noise is not."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.datasets import RULES as RULE_FILES
from lawful import Document, Field, Rules
from lawful.base.errors import InputError
from lawful.documents.records import Labelled
from lawful.io.jsonl import read_labelled, write_labelled
from lawful.learn.intervals import Share
from lawful.learn.mined_file import mined_text
from lawful.learn.mining import mine, suggested_weight
from lawful.learn.span_patterns import pattern_of
from lawful.learn.truth import guessed_rules
from lawful.rules.definitions import DEFAULT_WEIGHT
from lawful.rules.language.patterns import compiled
from tests.fixtures.outputs import SHARED
from tests.fixtures.planted import RULES, planted_pages
from tests.helpers import needs_shared, run

PLANTED = [
    "net == sum(amount)",
    "tax == 0.1 * net",
    "total == net + tax + (tip if present(tip) else 0)",
    "amount == quantity * price (each line)",
    "issued <= due",
    "currency in (eur, usd)",
    r"number matches [A-Z]{2}\-\d{4}",
]


@pytest.fixture(scope="module")
def found():
    return mine(planted_pages(240), RULES)


def texts(found):
    return [each.proposal.text for each in found]


def test_planted_rules_are_found(found):
    missing = [rule for rule in PLANTED if rule not in texts(found)]
    assert not missing, "\n".join(texts(found))
    order = next(each for each in found if each.proposal.kind == "order")
    fields = order.proposal.rule.fields
    assert [name for name in fields if name in ("number", "issued", "net", "total")] == [
        "number", "issued", "net", "total",
    ]  # fmt: skip


def test_fields_that_obey_nothing_are_in_no_rule_about_values(found):
    for each in found:
        if each.proposal.kind != "order":  # they do have a place
            assert not any(name in each.proposal.text for name in ("noise", "junk", "whim"))


def test_rules_that_follow_from_shorter_ones_are_not_found(found):
    assert not any("sum(amount) + tax" in text for text in texts(found))
    assert not any(text.startswith("sum(amount) <= net") for text in texts(found))
    assert sum("total" in text and "==" in text for text in texts(found)) == 1


@pytest.mark.parametrize("seed", range(6))
def test_nothing_is_found_in_noise(seed):
    assert texts(mine(planted_pages(90, seed, noise=True), RULES, seed)) == []


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.floats(0.0, 0.3))
def test_the_sum_is_found_if_some_pages_break_it(seed, broken):
    pages = planted_pages(150, seed, broken=broken)
    found = {each.proposal.text: each for each in mine(pages, RULES, seed % 7)}
    # What items cost adds up to the net amount on all pages, so either may be in the sum.
    sums = [f"{net} + tax" for net in ("net", "sum(amount)")] + ["tax + sum(amount)"]
    texts = [f"total == {each} + (tip if present(tip) else 0)" for each in sums]
    rule = next(found[text] for text in texts if text in found)
    low, high = rule.pages.interval(3.3)
    assert low <= 1 - broken <= high
    assert rule.chance.value < 0.05
    assert rule.held_out.of < rule.pages.of == 150


def test_figures_say_how_often_the_rule_holds(found):
    for each in found:
        rule = each.proposal.text
        if rule in PLANTED:
            assert each.pages.holds == each.pages.of, rule
            assert 0 < each.held_out.of < each.pages.of
            assert each.weight >= 1
    product = next(each for each in found if each.proposal.kind == "product")
    assert product.unit == "rows"
    assert product.pages.of > 240


def test_what_the_file_says_is_told():
    known = RULES.with_rules("total == net + tax", "tax == 0.1 * net")
    found = {each.proposal.text: each for each in mine(planted_pages(240), known)}
    total = found["total == net + tax + (tip if present(tip) else 0)"]
    assert 0.5 < total.said < 0.95  # pages with a tip are not
    assert found["issued <= due"].said == 0


def test_the_same_seed_finds_the_same(found):
    again = mine(planted_pages(240), RULES)
    assert again == found
    other = mine(planted_pages(240), RULES, seed=1)
    assert set(PLANTED) <= set(texts(other))
    assert other != found


def test_too_few_pages_are_refused():
    with pytest.raises(InputError, match="29 pages with true labels, expected at least 30"):
        mine(planted_pages(29), RULES)


def test_the_file_loads_and_its_rules_hold(found, tmp_path):
    path = tmp_path / "mined.yaml"
    path.write_text(mined_text(found, RULES, ["mined"]))
    loaded = Rules.load(path)
    assert len(loaded.rules) + len(loaded.orders) + 2 == len(found)
    assert [f.name for f in loaded.fields] == [f.name for f in RULES.fields]
    assert next(f for f in loaded.fields if f.name == "number").pattern == r"[A-Z]{2}\-\d{4}"
    assert loaded.defaults.weights.keys() == {"number:pattern", "currency:in"}
    assert "# holds on 240 of 240 pages, 100.0% (98.4% to 100.0%)" in path.read_text()


def test_a_constant_difference_is_found():
    def page(i):
        net = 1000 + 37 * i * i
        words = (f"{net / 100:.2f}", f"{net / 100 + (4.99 if i % 9 else 0):.2f}")
        return Labelled(Document(f"f{i}", words), ("B-net", "B-total"))

    rules = Rules([Field(name, name, "money") for name in ("net", "total")])
    found = {each.proposal.text: each for each in mine([page(i) for i in range(90)], rules)}
    assert found["total == net + 4.99"].pages == Share(80, 90)


def test_a_bound_on_a_share_is_found_and_no_smaller_one():
    def page(i):
        random = np.random.default_rng(i)
        total = int(random.integers(1_000, 90_000))
        tax = round(total * random.uniform(0.05, 0.19))
        fee = int(random.integers(1_000, 90_000))
        words = [f"{amount / 100:.2f}" for amount in (total, tax, fee)]
        return Labelled(Document(f"p{i}", words), ("B-total", "B-tax", "B-fee"))

    rules = Rules([Field(name, name, "money") for name in ("total", "tax", "fee")])
    found = {each.proposal.text: each for each in mine([page(i) for i in range(200)], rules)}
    assert list(found) == ["order: total, tax, fee", "tax <= 0.2 * total"]
    bound = found["tax <= 0.2 * total"]
    assert bound.pages == (200, 200)
    assert bound.chance.value < 0.8
    assert 1 <= bound.weight < DEFAULT_WEIGHT


def test_inequalities_stay_though_rules_about_more_fields_imply_them():
    def page(i):
        random = np.random.default_rng(i)
        net, tax = int(random.integers(1_000, 90_000)), int(random.integers(100, 30_000))
        words = [f"{amount / 100:.2f}" for amount in (net, tax, net + tax)]
        labels = ("B-net", "B-tax" if i % 4 else "O", "B-total")
        return Labelled(Document(f"p{i}", words), labels)

    rules = Rules([Field(name, name, "money") for name in ("net", "tax", "total")])
    found = [each.proposal for each in mine([page(i) for i in range(200)], rules)]
    assert {"equation", "inequality"} <= {each.kind for each in found}
    assert "net <= total" in [each.text for each in found]  # where there is no tax


def test_the_largest_of_a_list_is_bounded():
    def page(i):
        random = np.random.default_rng(i)
        items = random.integers(100, 90_000, size=random.integers(1, 5))
        discount = random.uniform(0, 1) * (items.sum() - items.max())
        words = [f"{amount / 100:.2f}" for amount in (*items, round(items.sum() - discount))]
        return Labelled(Document(f"p{i}", words), ("B-item",) * len(items) + ("B-total",))

    rules = Rules([Field("items", "item", "money", many=True), Field("total", "total", "money")])
    found = {each.proposal.text: each for each in mine([page(i) for i in range(120)], rules)}
    assert found["max(items) <= total"].pages == (120, 120)


def page_of_lines(i, *, apart=False):
    """A key and its amount on one printed line, among four others; or anywhere, if apart."""
    random = np.random.default_rng(i)
    words, labels, boxes = [], [], []
    key, value, note = random.permutation(5)[:3]
    for line in range(5):
        texts = {key: ("Total", "B-key"), note: ("Thanks", "B-note")}
        left = texts.get(line, (f"word{line}", "O"))
        at = value if apart else key
        right = (f"{random.integers(100, 9000) / 100:.2f}", "B-total" if line == at else "O")
        for x, (text, label) in enumerate((left, right)):
            words.append(text)
            labels.append(label)
            boxes.append((100.0 * x, 30.0 * line, 100.0 * x + 60, 30.0 * line + 20))
    return Labelled(Document(f"p{i}", words, boxes=boxes), tuple(labels))


LINED = Rules([Field("total", "total", "money"), Field("key", "key"), Field("note", "note")])


@pytest.mark.parametrize("apart", [False, True])
def test_fields_of_one_line_are_found(apart, tmp_path):
    pages = [page_of_lines(i, apart=apart) for i in range(90)]
    found = [each for each in mine(pages, LINED) if each.proposal.kind == "line"]
    assert texts(found) == ([] if apart else ["line(total) == line(key)"])
    for each in found:
        assert each.pages == (90, 90)
        assert each.chance.value < 0.3
        assert each.said == 0
        path = tmp_path / "mined.yaml"
        path.write_text(mined_text(found, LINED))
        (rule,) = Rules.load(path).parsed
        assert rule.weight == each.weight
        again = mine(pages, Rules(LINED.fields, [each.proposal.rule]))
        assert [a.said for a in again if a.proposal.kind == "line"] == [1]


def test_pages_without_boxes_have_no_lines():
    pages = [page_of_lines(i) for i in range(60)]
    plain = [replace(p, document=replace(p.document, boxes=None)) for p in pages]
    assert not [each for each in mine(plain, LINED) if each.proposal.kind == "line"]


def test_boundaries_are_found():
    def page(i):
        words = f"Ada L., On Growth., Nature, {1900 + i}.".split()
        gold = ("B-author", "I-author", "B-title", "I-title", "B-journal", "B-year")
        return Labelled(Document(f"r{i}", (*words, "see", "also", "this")), (*gold, "O", "O", "O"))

    fields = [Field(name, name) for name in ("author", "title", "journal", "year")]
    found = mine([page(i) for i in range(60)], Rules(fields))
    at = next(each for each in found if each.proposal.kind == "boundaries")
    assert at.proposal.rule.after == "[,]$"
    assert at.pages == Share(180, 180)
    assert at.weight <= 5


def test_fields_are_guessed_from_labels():
    rules = guessed_rules(planted_pages(60))
    types = {f.name: (f.type, f.many) for f in rules.fields}
    assert types["total"] == ("money", False)
    assert types["due"] == ("date", False)
    assert types["amount"] == ("money", True)
    assert types["number"] == ("text", False)
    kept = guessed_rules(planted_pages(60), Rules([Field("sum_", "total", "number")]))
    assert (kept.fields[0].name, kept.fields[0].type) == ("sum_", "number")
    assert len(kept.fields) == len(rules.fields)


@given(st.integers(0, 200), st.integers(0, 200))
def test_wilsons_interval_has_the_share(holds, more):
    share = Share(holds, holds + more)
    low, high = share.interval()
    assert 0 <= low <= share.value <= high <= 1 or not share.of
    if share.of:  # the ends solve |p - q| = z sqrt(q (1 - q) / n)
        for end in (low, high):
            width = 1.96 * (end * (1 - end) / share.of) ** 0.5
            assert abs(share.value - end) == pytest.approx(width, abs=1e-9)


def test_weights_grow_with_evidence_up_to_the_default():
    chance = Share(1, 400)
    weights = [suggested_weight(Share(n, n), chance) for n in (10, 100, 1000, 10**6)]
    assert weights == sorted(weights)
    assert weights[-1] == 10
    assert suggested_weight(Share(50, 100), Share(50, 100)) == 0


def test_a_pattern_covers_nearly_all_texts():
    pattern = pattern_of([f"{d}/2024" for d in range(1, 13)] * 3 + ["soon"])
    assert pattern == r"\d{1,2}/\d{4}"
    assert compiled(pattern).matches("7/1999")
    assert pattern_of(["some words", "other words"] * 9) is None
    assert pattern_of([f"{'x' * i}{i}." * (i % 7 + 1) for i in range(40)]) is None


def test_the_command_writes_a_rule_file(tmp_path):
    documents, mined, figures = (tmp_path / n for n in ("gold.jsonl", "mined.yaml", "f.json"))
    write_labelled(documents, planted_pages(90))
    done = run("rules", "mine", documents, "--out", mined, "--figures", figures)
    assert done.returncode == 0, done.stderr
    assert "known" in done.stderr
    assert run("rules", mined).returncode == 0
    rules = json.loads(figures.read_text())["rules"]
    assert {"rule", "pages", "held_out", "chance", "said", "weight"} <= rules[0].keys()
    assert run("rules", "mine", documents, "--quiet").stdout == mined.read_text()
    write_labelled(documents, planted_pages(20))
    done = run("rules", "mine", documents)
    assert done.returncode == 2
    assert "20 pages with true labels, expected at least 30" in done.stderr


@needs_shared
def test_the_papers_rules_are_found_in_real_receipts(tmp_path):
    data = SHARED / "data"
    run("data", "convert", "cord", data / "cord" / "raw", "--out", tmp_path / "c.jsonl")
    run("data", "convert", "wildreceipt", data / "wildreceipt" / "raw" / "part.txt.gz",
        "--out", tmp_path / "w.jsonl")  # fmt: skip
    pages = list(read_labelled(tmp_path / "c.jsonl"))
    found = {
        m.proposal.text: m
        for m in mine(pages, guessed_rules(pages, Rules.load(RULE_FILES["cord"])))
    }
    assert found["total == total_creditcardprice"].pages == Share(141, 148)
    for rule in ("subtotal == sum(items)", "cash == total +", "total == subtotal +", "tax == "):
        assert any(text.startswith(rule) for text in found), rule
    found = mine(list(read_labelled(tmp_path / "w.jsonl")), Rules.load(RULE_FILES["wildreceipt"]))
    both = ["subtotal == sum(items)", "total == subtotal + (tax if present(tax) else 0)"]
    assert set(both) <= set(texts(found)[:3])
