"""The report: harmless whatever the words are, well-formed, streamed, and its totals add up."""

from __future__ import annotations

import io
import re
import time
from dataclasses import replace
from math import inf
from xml.etree import ElementTree

import pytest

from lab import receipts as demo
from lawful import Document, Field, Rules, SpanScores, decode
from lawful.base.errors import InputError
from lawful.documents.records import Scored
from lawful.report.page import write_report
from lawful.results.decoding import Confidence, Correction, Decoding
from lawful.rules.judging.checks import Check
from lawful.rules.judging.field_reader import FieldValue
from tests.report.reading import BOXES, RULES, Reader, corrected, report, scored, shown, solved


def drawings(html):
    return [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", html, re.DOTALL)]  # noqa: S314


def decoding(item, status="satisfied", **changes):
    values = {
        "id": item.document.id,
        "decoder": "paths",
        "status": status,
        "optimal": status in ("satisfied", "relaxed"),
        "labels": ("O",) * len(item.document),
        "fields": {},
        "log_prob": -1.0,
        "penalty": 0.0,
        "bound": -1.0,
        "checks": (),
        "corrections": (),
        "tried": 3,
        "mass": 0.5,
        "seconds": 0.0012,
    }
    return Decoding(**values | changes)


@pytest.mark.parametrize("boxes", [None, BOXES], ids=["flow", "drawn"])
def test_shows_what_was_corrected_and_why(boxes):
    html = report(corrected(boxes=boxes))
    text = shown(html)
    assert "“ 70.000 ”: total → cash , because of total:agrees (2 times less likely by" in text
    assert "rules hold r1 1 of 1 rules checked · 1 correction" in text
    assert "holds cash > total : 70,000 > 66,000" in text
    assert "“ 70.000 ”: total → cash 0.69 nats" in text  # among the figures of the search
    assert "They are proven to be the best ones" in text
    assert "1 → 0 words wrong" in text
    assert "✓ was wrong, now right" in text
    assert '<details class="card corrected">' in html
    assert len(drawings(html)) == (boxes is not None)
    assert ("<mark" in html) == (boxes is None)


def test_draws_every_word_in_its_box():
    (page,) = drawings(report(corrected(boxes=BOXES)))
    words = {text.text: text for text in page.iter("text")}
    assert words["66.000"].get("textLength") == "80"  # boxes are drawn twice as large
    assert float(words["70.000"].get("y")) > float(words["66.000"].get("y"))
    titles = [title.text for title in page.iter("title")]
    assert titles[-1] == "cash: 70.000\ncorrected: total → cash\n✓ was wrong, now right"
    (caption,) = (t for t in page.iter("text") if t.find("tspan") is not None)
    assert "".join(caption.itertext()) == "total → cash"


def test_words_that_differ_from_gold_are_marked():
    item = scored(["1", "2", "3"], ["B-total", "O", "B-cash"])
    change = Correction(2, "B-cash", "O", 0.5, ())
    html = report((item, decoding(item, labels=("O", "O", "O"), corrections=(change,))))
    assert "✗ still wrong, gold is total" in html
    assert "✗! made wrong, gold is cash" in html
    assert "words wrong, before → after 1 → 2" in shown(html)
    assert "wrong" not in shown(report((scored(["1"]), decoding(scored(["1"])))))


EVIL = [
    "<script>alert(1)</script>",
    '"onload="alert(1)',
    "'><img src=x onerror=alert(1)>",
    "]]>&amp;",
]


@pytest.mark.parametrize("boxes", [None, BOXES], ids=["flow", "drawn"])
def test_nothing_from_a_document_is_markup(boxes):
    evil = EVIL[0] + EVIL[1] + "{0}{x}"
    item = scored(EVIL, boxes=boxes)
    item = Scored(Document(evil, EVIL, boxes), item.scores)
    html = report(
        (
            item,
            decoding(
                item,
                decoder=evil,
                labels=(evil,) * 4,
                fields={evil: [FieldValue(evil, evil, (0, 2))]},
                checks=(Check(evil, "violated", evil),),
                corrections=(
                    Correction(1, evil, "O", 1.0, (evil,)),
                    Correction(2, "O", evil, 1, ()),
                ),
            ),
        ),
        title=evil,
    )
    page = Reader(html)
    assert page.tags.count("script") == 1
    assert "img" not in page.tags
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    for word in EVIL:
        assert any(word in text for text in page.text)
    assert len(drawings(html)) == (boxes is not None)


def test_text_that_no_file_can_hold_is_replaced():
    words = ["a\0b", "\ud800", "c\x1bd", ""]
    html = report((scored(words, boxes=BOXES), decoding(scored(words))))
    html.encode()
    (page,) = drawings(html)
    assert [text.text for text in page.iter("text")] == ["a\ufffdb", "\ufffd", "c\ufffdd"]


def test_asks_for_nothing_but_itself():
    page = Reader(report(corrected(boxes=BOXES)))
    assert not {"link", "img", "iframe", "base"} & set(page.tags)
    assert not {"src", "href"} & {name for name, _ in page.attributes}


def test_is_written_as_the_documents_come():
    out = io.StringIO()
    seen = []

    def items():
        for _ in range(3):
            seen.append(out.getvalue().count('<details class="card'))
            yield corrected()

    write_report(out, items())
    assert seen == [0, 1, 2]


def test_two_pages_are_two_drawings():
    html = report(corrected(boxes=BOXES, pages=[0, 0, 1, 1]))
    first, second = drawings(html)
    assert "Total" in list(first.itertext())
    assert "Cash" in list(second.itertext())
    assert "Cash" not in list(first.itertext())
    assert "Page 2" in shown(html)
    assert len(drawings(report(corrected(pages=[0, 0, 1, 1])))) == 0


def test_a_document_without_words_has_a_card():
    assert "no words" in shown(report(solved([])))
    assert "no words" in shown(report(solved([], boxes=[])))


@pytest.mark.parametrize("box", [(5, 5, 5, 5), (0, 0, 9, 0), (-1e8, 3, 1e8, 3.5), (0, 0, 1e-9, 1)])
def test_odd_boxes_are_drawn_all_the_same(box):
    item = scored(["x", "word"], boxes=[box, (0, 0, 0.5, 0.1)])
    Reader(report((item, decoding(item))))
    (page,) = drawings(report((item, decoding(item))))
    assert "nan" not in ElementTree.tostring(page, "unicode")
    assert [text.text for text in page.iter("text")] == ["x", "word"]


def test_joined_words_flow_without_blanks():
    item = scored(["56", ".", "000"], joins=[False, True, True])
    assert "56.000" in report((item, decoding(item)))


def test_the_proof_is_told():
    item = scored(["x"])
    infeasible = report((item, decoding(item, "infeasible", penalty=float("inf"))))
    assert "rules clash r1" in shown(infeasible)
    assert "Proven: no values can keep all hard rules." in shown(infeasible)
    assert "They are proven" not in infeasible
    exhausted = report((item, decoding(item, "exhausted", stopped_by="seconds")))
    assert "They are not proven to be the best ones: out of time." in shown(exhausted)


def test_totals_add_up():
    item = scored(["1", "2"])
    states = ("satisfied", "violated", "vacuous")
    ok, bad, not_checked = (Check(state, state, "") for state in states)
    also = Check("another", "satisfied", "")
    implied = Check("total:agrees", "violated", "", implied=True)
    change = Correction(0, "B-total", "O", 0.5, ())
    html = report(
        (item, decoding(item, checks=(ok, also, not_checked))),
        (
            item,
            decoding(
                item, "relaxed", checks=(ok, bad, implied, implied), corrections=(change, change)
            ),
        ),
        (item, decoding(item, "infeasible", checks=(bad,))),
        (item, decoding(item, "exhausted", corrections=(change,))),
        (item, decoding(item, "unchecked", checks=(not_checked,))),
        (item, decoding(item, checks=(ok,))),
    )
    totals = shown(html[html.index('<section id="totals"') : html.index("</section>") + 10])
    assert totals == (
        "The fields found in 6 documents. 2 passed : every rule that could be checked holds, and "
        "the values are proven to be the best ones, by model and rules together. 4 need a person : "
        "2 with a broken rule, 1 without any rule that could be checked, "
        "1 whose values are not proven to be the best ones. "
        "6 documents 2 rules hold 1 not checked 1 rule broken 1 not finished 1 rules clash "
        "6 rules checked 4 hold 2 broken 2 not checked "
        "2 other checks broken: conditions that fields imply "
        "3 corrections 2 corrected 4 as the model read them "
        "all 6 4 need a person 2 corrected find open all close all"
    )
    cards = re.findall(r'<details class="(card[^"]*)">', html)
    assert cards == [
        "card",
        "card person corrected",
        "card person",
        "card person corrected",
        "card person",  # no rule spoke for it
        "card",
    ]
    assert "1 of 2 rules checked" not in html
    text = shown(html)
    assert "rule broken r1 2 of 2 rules checked, 1 broken · 2 other checks broken" in text
    assert "not checked r1 0 of 1 rules checked" in text
    assert "not finished r1 no rules · 1 correction" in text


def test_the_number_of_rules_is_said_where_there_is_one():
    # Receipts and invoices told apart are under the rules of two files, and those of all have none.
    item = scored(["x"])
    one = (item, decoding(item, checks=(Check("a", "satisfied", ""),)))
    assert f"under {len(RULES.rules)} rule" in shown(report(one, rules=RULES))
    every = shown(report(one, rules=Rules(RULES.fields)))
    assert "The fields found in 1 document. " in every
    assert "1 rule checked" in every


def test_alternatives_are_told_with_how_far_behind_they_are():
    item, best = corrected()
    amounts = {"total": [FieldValue("66.000", 66000, (1, 2))]}
    spent = {"cash": [FieldValue("<9>", 9, (3, 4))]}
    best = replace(best, fields=amounts | spent, log_prob=-1.0, penalty=0.0)
    broken = (Check("<r>", "violated", "", 10.0),)
    others = (
        replace(best, fields=amounts, log_prob=-2.5, checks=()),
        replace(best, fields=spent | amounts | {"cash": spent["cash"] * 2}, log_prob=-3.0,
                checks=broken, optimal=False),
    )  # fmt: skip
    html = report((item, replace(best, alternatives=others, margin=1.5)))
    text = shown(html)
    assert "Next best values cash 9 → missing (4.5 times less likely)" in text
    assert "cash with 9 , which breaks <r> (7.4 times less likely, not proven to be" in text
    assert "All other values are at least 4.4 times less likely, broken rules included." in text
    assert "margin 1.50 nats" in text
    single = report((item, replace(best, alternatives=others, margin=1.5)), rules=RULES)
    assert "cash with" not in shown(single)  # it has one value, which is the same
    assert "Next best" not in report((item, best))
    assert "All other values are impossible" in report((item, replace(best, margin=inf)))
    unproven = replace(best, alternatives=others, optimal=False, status="exhausted")
    assert "unknown: these are not proven to be the best." in report((item, unproven))


def test_how_sure_each_field_is_stands_beside_it():
    item, best = corrected()
    assert "sure" not in shown(report((item, best)))
    sure = {"total": Confidence(0.2, 0.4), "tax": Confidence(0.995, 0.999)}
    text = shown(report((item, replace(best, confidence=sure))))
    assert "field text read as sure" in text
    assert "total 66.000 66,000 20 to 40 %" in text
    assert "tax missing at least 99 %" in text


@pytest.mark.parametrize("minimal", [True, False])
def test_a_clash_is_listed(minimal):
    item = scored(["x"])
    clash = decoding(item, "infeasible", clash=("a", "<b>"), clash_minimal=minimal)
    some = "These" if minimal else "These, or some of these,"
    assert f"Clash {some} cannot hold together: a <b>" in shown(report((item, clash)))


def test_no_time_to_find_out_why_is_told():
    item = scored(["x"])
    changes = (Correction(0, "B-total", "O", 0.5, None), Correction(0, "B-total", "O", 0.5, ()))
    text = shown(report((item, decoding(item, corrections=changes))))
    assert "total → no field , no time to find out why (1.6 times less likely" in text
    assert text.count("no time to find out why") == 1


def test_a_proven_answer_whose_alternatives_were_cut_short_is_still_proven():
    item = scored(["x"])
    text = shown(report((item, decoding(item, stopped_by="candidates"))))
    assert "They are proven to be the best ones" in text
    assert "not proven" not in text


def test_no_documents_is_a_report_too():
    assert "0 documents" in shown(report())


def test_a_decoding_of_another_document_is_refused():
    item = scored(["1", "2"])
    with pytest.raises(InputError, match="has 2 words, but 1 decoded label"):
        report((item, decoding(item, labels=("O",))))


def test_generated_receipts_are_well_formed_and_fast():
    rules = Rules.load(demo.RULES)
    items = [
        (Scored(e.document, e.scores, e.gold), decode(e.document, e.scores, rules))
        for e in demo.generate(20, words=(40, 90))
    ]
    html = report(*items)
    Reader(html)
    assert len(drawings(html)) >= 20
    assert len(html) < 20 * 25_000
    began = time.process_time()
    report(*items * 10)
    assert time.process_time() - began < 5


def test_the_card_lists_spans_that_were_moved():
    fields = [Field("a", "a", presence="free"), Field("b", "b", presence="free")]
    scores = SpanScores([(0, 1, "a", 0.6), (0, 2, "b", 0.4)], words=2)
    found = decode(Document("d", ["x", "<y>"]), scores, Rules(fields, ["present(b)"]))
    card = found._repr_html_()
    assert "“<bdi>x &lt;y&gt;</bdi>”: <del>a x</del> → <b>b</b>, because of <code>pres" in card
    assert "times less likely by the model alone" in card
    assert "1 correction<" in card


PAGE = {
    "boxes": [(10, 10, 60, 20), (100, 10, 140, 20)], "pages": [0, 0],
    "sizes": [(200, 100)], "images": ["a.pdf#page=1"],
}  # fmt: skip


def test_a_page_that_has_a_picture_is_drawn_from_it():
    given = scored(["Total", "5.00"], ["O", "B-total"], **PAGE)
    answer = decode(given.document, given.scores, RULES)
    asked = []

    def picture(reference, width):
        asked.append((reference, width))
        return b"jpeg"

    html = report((given, answer), rules=RULES, pictures=picture)
    (drawing,) = drawings(html)
    image = drawing.find("image")
    assert image.get("href") == "data:image/jpeg;base64,anBlZw=="
    (field,) = (group for group in drawing.findall("g") if "field" in group.get("class"))
    rectangle = field.find("rect")
    # The page is 400 pixels wide: a word is 20 high.
    assert asked == [("a.pdf#page=1", 400)]
    assert (image.get("width"), image.get("height")) == ("400", "200")
    assert (rectangle.get("x"), rectangle.get("width")) == ("198", "84")
    assert [text.text for text in drawing.iter("text")] == ["total"]  # a caption, no words
    assert "img-src data:" in html


@pytest.mark.parametrize(
    ("layout", "pictures"),
    [
        (PAGE, None),
        (PAGE, lambda *_: None),
        (PAGE | {"images": [None]}, lambda *_: b"jpeg"),
        (PAGE | {"sizes": None}, lambda *_: b"jpeg"),
        (PAGE | {"sizes": [(0, 0)]}, lambda *_: b"jpeg"),
    ],
    ids=("not asked", "gone", "no image", "no size", "empty"),
)
def test_a_page_without_a_picture_is_drawn_word_by_word(layout, pictures):
    given = scored(["Total", "5.00"], ["O", "B-total"], **layout)
    answer = decode(given.document, given.scores, RULES)
    (drawing,) = drawings(report((given, answer), rules=RULES, pictures=pictures))
    assert drawing.find("image") is None
    assert "5.00" in [text.text for text in drawing.iter("text")]
