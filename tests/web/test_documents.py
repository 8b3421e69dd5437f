"""Documents of all kinds: long, without boxes, with images, with rows, with hostile texts."""

from __future__ import annotations

import re

import pytest

from tests.web.pages import (
    BEST,
    RULES,
    WORDS,
    boxes,
    expect,
    live,
    right,
    scored,
    selected,
    title,
    value,
    word,
)

PAGES, PER_PAGE = 200, 100


def long_line(**more):
    """A document of 200 pages; the bill is on the last one."""
    filler = [f"w{i}" for i in range(PER_PAGE)]
    words = filler * (PAGES - 1) + WORDS
    best = ["O"] * (len(words) - len(WORDS)) + BEST
    pages = [i // PER_PAGE for i in range(len(words))]
    return scored(words, best, id="long", pages=pages, **more)


@pytest.mark.parametrize("boxed", [True, False], ids=["with boxes", "running text"])
def test_only_pages_near_the_viewport_are_drawn(review, visit, boxed):
    filler = boxes(range(PER_PAGE))
    places = {"boxes": filler * (PAGES - 1) + boxes(WORDS)} if boxed else {}
    page = visit(review([long_line(**places)], RULES))
    first = PER_PAGE * (PAGES - 1)

    # The first doubtful field, or the first one, is on the last page: it is in view.
    expect(value(page, "total")).to_contain_text("44.00")
    value(page, "total").click()
    expect(word(page, first + 5)).to_be_in_viewport()
    expect(page.get_by_role("heading", name=f"Page {PAGES}", exact=True)).to_have_count(1)
    assert page.locator("[data-word]").count() <= 12 * PER_PAGE

    # Scrolling to the top draws the first page and lets go of the last.
    page.evaluate("document.querySelector('.pages').scrollTo(0, 0)")
    expect(word(page, 0)).to_be_in_viewport()
    expect(word(page, first + 5)).to_have_count(0)
    word(page, 3).click()
    page.keyboard.press("4")
    expect(live(page)).to_contain_text("“w3” is seller")
    expect(value(page, "seller")).to_contain_text("w3")
    assert page.locator("[data-word]").count() <= 12 * PER_PAGE


def test_words_without_boxes_are_running_text(review, visit):
    page = visit(review([scored(WORDS, BEST, id="flow")], RULES))
    expect(page.locator(".flow")).to_contain_text("Net 40.00")
    value(page, "seller").click()
    expect(page.locator(".flow .selected")).to_have_count(2)
    word(page, 7).click()
    page.keyboard.press("1")
    expect(value(page, "total")).to_contain_text("50.00")
    expect(word(page, 7)).to_contain_text("⚑")


def test_the_image_of_a_page_lies_under_its_words(review, visit, tmp_path):
    image = pytest.importorskip("PIL.Image")
    image.new("RGB", (600, 200), "#fffbe8").save(tmp_path / "right.png")
    line = right(sizes=[[600, 200]], images=["right.png"])
    page = visit(review([line, right("blind")], RULES), n=0)
    expect(page.locator("svg image")).to_have_attribute("href", re.compile("^blob:"))
    drawn = page.locator("svg image").bounding_box()
    box = word(page, 5).bounding_box()
    scale = drawn["width"] / 600
    assert box["x"] - drawn["x"] == pytest.approx(170 * scale, abs=3)
    word(page, 5).click()
    expect(selected(page)).to_contain_text("“44.00”")
    page.keyboard.press("n")
    expect(title(page)).to_have_text("blind")
    expect(page.locator("svg image")).to_have_count(0)


ROWS = """
scheme: BIO
fields:
  name: {label: seller, type: text, many: true}
  price: {label: total, type: money, many: true}
rows:
  item: {fields: [name, price], starts: name}
rules:
  - {id: prices, check: price > 0, each: item}
"""


def test_rows_are_a_table(review, visit):
    words = ["Tea", "1.50", "Rice", "cake", "3.00"]
    best = ["B-seller", "B-total", "B-seller", "I-seller", "B-total"]
    page = visit(review([scored(words, best, id="rows", boxes=boxes(words, 2))], ROWS))
    table = page.locator("table.rows")
    expect(table.locator("tbody tr")).to_have_count(2)
    expect(table.locator("tbody tr").nth(1)).to_contain_text("Rice cake")
    table.get_by_role("button", name="price: 3.00").click()
    expect(selected(page)).to_contain_text("“3.00”")


HOSTILE = {
    "html": "<img src=x onerror=alert(1)>",
    "script": "</script><script>alert(1)</script>",
    "right to left": "\u202emoc.elpmaxe\u202c",
    "Arabic": "المجموع ٤٤",
    "control characters": "a\u0000b\u001b[31mc\u0085d",
    "long": "x" * 10_000,
    "surrogates and emoji": "👩‍👩‍👧‍👦 \ufffe \U0010ffff",
    "combining": "Z" + "\u0351" * 300,
    "CSS": "}*{display:none}",
    "empty": "",
}


@pytest.mark.parametrize("boxed", [True, False], ids=["with boxes", "running text"])
def test_hostile_texts_are_only_texts(review, visit, boxed):
    words = [*HOSTILE.values(), *WORDS]
    best = ["B-seller", *["O"] * (len(HOSTILE) - 1), *BEST[:-2], "O", "O"]
    places = {"boxes": boxes(words)} if boxed else {}
    name = "<b>bold</b>\u202e\u0007"
    page = visit(review([scored(words, best, id=name, **places)], RULES))
    page.on("dialog", lambda dialog: page.complaints.append("alert"))
    expect(title(page)).to_have_text("<b>bold</b>\ufffd\ufffd")
    expect(value(page, "seller")).to_contain_text("<img src=x onerror=alert(1)>")
    expect(word(page, 2)).to_contain_text("\ufffdmoc.elpmaxe\ufffd")
    for at in range(len(HOSTILE)):
        page.locator(".pages").focus()
        page.keyboard.press("ArrowRight")
        assert page.locator("img, script:not([src]), b b").count() == 0, at
    word(page, 0).click()
    page.keyboard.press("e")
    page.get_by_label("The text of the selected words").fill("<svg onload=alert(2)>\u202e")
    page.keyboard.press("Enter")
    expect(value(page, "seller")).to_contain_text("<svg onload=alert(2)>\ufffd")
    # Nothing is wider than the window, not even 10,000 letters.
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("document.querySelector('.facts').scrollWidth <= innerWidth")


def test_a_document_without_words(review, visit):
    page = visit(review([scored([], [], id="empty")], RULES))
    expect(page.locator(".pages")).to_contain_text("This document has no words.")
    page.keyboard.press("1")
    expect(live(page)).to_contain_text("Select words first")
    page.keyboard.press("a")
    expect(page.locator("header")).to_contain_text("1 of 1")


def test_a_list_without_documents(review, visit):
    page = visit(review(["this is no JSON"], RULES), wait=".facts")
    expect(page.locator(".facts")).to_contain_text("Choose a document from the queue.")
    page.get_by_label("Show").select_option("all")
    expect(page.locator(".row")).to_contain_text("✗")
    for key in "jkaru1n?":
        page.keyboard.press(key)
    expect(page.get_by_role("dialog")).to_contain_text("Keys")
