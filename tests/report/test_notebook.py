"""What notebooks show: escaped, small, and the same values as the objects."""

from __future__ import annotations

import re
import subprocess
import sys

import lawful
from lawful import Document, Field, Rule, Rules, Scored, Scores, decode
from lawful.report import show
from lawful.report.notebook import MAX_WORDS, draw_words

HOSTILE = "<script>alert(1)</script>"


def test_a_document_is_drawn_word_by_word():
    document = Document("d", ["Total", "5.00"], boxes=[(0, 0, 40, 10), (60, 0, 100, 10)])
    html = document._repr_html_()
    assert re.findall(r">([^<]*)</text>", html) == ["Total", "5.00"]
    assert "2 words" in html
    left = [float(x) for x in re.findall(r'<text x="([\d.]+)"', html)]
    assert left == [0.0, 240.0]  # words are at most 40 pixels tall: four times their size


def test_a_document_without_boxes_is_its_text():
    assert "<p>Total 5.00</p>" in Document("d", ["Total", "5.00"])._repr_html_()
    assert "0 words" in Document("d", [])._repr_html_()


def test_pages_are_drawn_apart_and_long_documents_are_cut():
    document = Document("d", ["a", "b"], boxes=[(0, 0, 9, 9), (0, 0, 9, 9)], pages=[0, 1])
    assert document._repr_html_().count("<svg") == 2
    assert "2 pages" in document._repr_html_()
    words = MAX_WORDS + 5
    long = Document("d", ["x"] * words, boxes=[(i, 0, i + 1, 1) for i in range(words)])
    assert long._repr_html_().count("<text") == MAX_WORDS
    assert f"the first {MAX_WORDS:,} are shown" in long._repr_html_()


def test_words_with_a_style_get_a_box():
    document = Document("d", ["a", "b"], boxes=[(0, 0, 9, 9), (10, 0, 19, 9)])
    assert draw_words(document, 0, {1: "field"}).count('<rect class="field"') == 1


def test_rules_are_two_tables():
    @lawful.rule(reads=("total",), weight=3)
    def is_even(total):
        return total % 2 == 0

    fields = [Field("total", "total", "money"), Field("items", "item", "money", many=True)]
    rules = Rules(fields, [Rule("total == sum(items)", id="sum", when="total > 5"), is_even])
    html = rules._repr_html_()
    assert "<td>list of money</td>" in html
    assert "<code>total == sum(items)</code> when <code>total &gt; 5</code>" in html
    assert "<code>is_even()</code></td><td>3</td>" in html
    assert "hard" in rules.with_defaults(weight=float("inf"))._repr_html_()


def test_texts_are_escaped_everywhere():
    document = Document(HOSTILE, [HOSTILE, "5.00"], boxes=[(0, 0, 40, 10), (60, 0, 100, 10)])
    scores = Scores.from_probs([[0.9, 0.1], [0.1, 0.9]], ["O", "B-total"])
    rules = Rules([Field("total", "total", "money")], [Rule("total > 0", id=HOSTILE)])
    decoding = decode(document, scores, rules)
    shown = show(Scored(document, scores), decoding, rules=rules)
    for html in (document._repr_html_(), rules._repr_html_(), shown._repr_html_()):
        assert "<script>alert" not in html
        assert "&lt;script&gt;" in html


def test_a_decoding_is_shown_on_its_page():
    document = Document("d", ["Total", "5.00"], boxes=[(0, 0, 40, 10), (60, 0, 100, 10)])
    scores = Scores.from_probs([[0.9, 0.1], [0.1, 0.9]], ["O", "B-total"])
    rules = Rules([Field("total", "total", "money")])
    html = show(Scored(document, scores), decode(document, scores, rules))._repr_html_()
    assert "<svg" in html
    assert "5.00" in html


def test_displays_cost_nothing_before_they_are_used():
    script = (
        "import lawful, sys; lawful.Document, lawful.Rules;"
        "print([name for name in sys.modules if name.startswith('lawful.report')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
