"""The report as a browser reads it: headings, tables, labels, and the decodings' counts."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from lab import receipts as demo
from lawful import Rules, decode
from lawful.documents.records import Scored
from lawful.report.plain import doubt
from tests.report.reading import Reader, corrected, report, shown


@pytest.fixture(scope="module")
def pages():
    """Receipts and their decodings, some of which need a person."""
    rules = Rules.load(demo.RULES)
    return [
        (Scored(page.document, page.scores, page.gold), decode(page.document, page.scores, rules))
        for page in demo.generate(30, words=(20, 50))
    ]


@pytest.fixture(scope="module")
def html(pages):
    return report(*pages, rules=Rules.load(demo.RULES))


def test_the_first_sentences_count_what_the_decodings_say(pages, html):
    doubts = Counter(doubt(found) for _, found in pages)
    needed = sum(doubts.values()) - doubts[None]
    assert doubts[None]
    assert needed
    lead = shown(re.search('<p class="lead">.*?</p>', html).group())
    assert lead.startswith(
        f"The fields found in 30 documents, under 3 rules. {doubts[None]} passed"
    )
    assert f"{needed} need a person : {doubts['broken']} with a broken rule" in lead
    assert html.count('<details class="card person') == needed
    assert f"{needed} need a person</label>" in html


def test_what_passed_is_compared_with_the_truth(pages, html):
    counts = Counter()
    for item, found in pages:
        side = "person" if doubt(found) else "passed"
        counts[side] += 1
        counts[f"{side} right"] += found.labels == item.gold
    assert (
        f"No word is wrong in {counts['passed right']} of {counts['passed']} documents that passed "
        f"and in {counts['person right']} of {counts['person']} documents that need a person."
    ) in shown(html)


def test_one_document_is_written_in_the_singular():
    text = shown(report(corrected()))
    assert "The fields found in 1 document. 1 passed" in text
    assert "None needs a person." in text
    assert "1 document 1 rules hold" in text
    assert "1 rule checked 1 hold" in text


def test_bars_have_the_shares_of_their_numbers():
    # The counts of a single document were truth values, which no style sheet takes for numbers.
    bars = re.findall('<i class="[^"]*" style="flex:([^"]*)"></i>', report(corrected()))
    assert bars == ["1", "1", "1"]


def test_every_document_has_a_heading_and_every_table_has_heads(html):
    assert html.count("<h1>") == 1
    assert len(re.findall("<summary><b[^>]*>[^<]*</b><h2>", html)) == 30
    for table in re.findall("<table>.*?</table>", html, re.DOTALL):
        assert '<th scope="row"' in table
        assert ("<thead>" not in table) or '<th scope="col"' in table
        for row in re.findall("<tr>.*?</tr>", table):
            assert "<th></th>" not in row


def test_every_control_has_a_name(html):
    form = re.search("<form aria-label=.*?</form>", html, re.DOTALL).group()
    assert len(re.findall("<label[^>]*>[^<]*<input", form)) == form.count("<input") == 4
    assert not re.search("<button[^>]*></button>", html)


def test_the_body_of_a_card_is_text_until_a_script_asks_for_it(html):
    # A browser with scripts ends <noscript> at the first end tag, whatever is inside.
    cards = html[: html.index("</main>")]
    bodies = re.findall("</summary><noscript>(.*?)</noscript></details>\n", cards, re.DOTALL)
    assert len(bodies) == cards.count("<noscript>") == 30
    for body in bodies:
        Reader(body)
    outside = re.sub("<noscript>.*?</noscript>", "", cards, flags=re.DOTALL)
    assert "<svg" not in outside
    assert len(re.findall("<[a-z]", outside)) < 30 * 12


def test_a_notebook_has_no_script_so_its_card_is_open(pages):
    card = pages[0][1]._repr_html_()
    assert "<noscript>" not in card
    assert '<details class="card" open>' in card
    style = card[card.index("<style>") : card.index("</style>")]
    assert not re.search(r":root|(^|[\s,}])body\s*\{", style)


def test_scripts_are_allowed_by_their_hash_only(html):
    (policy,) = re.findall('Content-Security-Policy" content="([^"]*)"', html)
    assert policy.startswith("default-src 'none'; ")
    assert re.search("script-src 'sha256-[^']{44}'$", policy)
    assert html.count("<script") == 1
