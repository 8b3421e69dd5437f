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
    page.get_by_label("What it says on the page").fill("<svg onload=alert(2)>\u202e")
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


def test_a_large_page_says_that_it_is_loading_and_nobody_else_waits(review, visit, tmp_path):
    image = pytest.importorskip("PIL.Image")
    for name in ("a", "b"):
        image.new("RGB", (600, 200), "#fffbe8").save(tmp_path / f"{name}.png")
    lines = [right(name, sizes=[[600, 200]], images=[f"{name}.png"]) for name in "ab"]
    page = visit(review(lines, RULES), wait=".facts")
    held = []

    def hold(route):
        held.append(route)

    page.route("**/documents/0/pages/0", hold)
    page.goto(page.url.split("#")[0] + "#0")
    page.reload()
    expect(page.locator(".loading")).to_contain_text("Loading the picture")
    page.keyboard.press("n")
    expect(title(page)).to_have_text("b")
    expect(page.locator("svg image")).to_have_count(1)
    expect(page.locator(".loading")).to_have_count(0)
    page.keyboard.press("p")
    expect(page.locator(".loading")).to_have_count(1)
    for route in held:
        route.continue_()
    expect(page.locator("svg.paper image")).to_have_count(1)
    expect(page.locator(".loading")).to_have_count(0)


def test_a_corrected_text_does_not_hide_the_print(review, visit, tmp_path):
    image = pytest.importorskip("PIL.Image")
    image.new("RGB", (600, 400), "#fffbe8").save(tmp_path / "right.png")
    wide = [[40 + 280 * (i % 2), 40 + 60 * (i // 2), 120 + 280 * (i % 2), 60 + 60 * (i // 2)]
            for i in range(len(WORDS))]  # fmt: skip
    line = scored(WORDS, BEST, boxes=wide, sizes=[[600, 400]], images=["right.png"])
    page = visit(review([line], RULES))
    expect(page.locator("svg.paper image")).to_have_count(1)
    value(page, "total").focus()
    page.keyboard.press("e")
    expect(page.locator(".editor svg.crop image")).to_have_count(1)
    page.get_by_label("What it says on the page").fill("44.01")
    page.keyboard.press("Enter")
    expect(page.locator(".captions")).to_contain_text("total “44.01”")
    rect = page.locator(".corrected rect")
    assert rect.evaluate("each => getComputedStyle(each).fill") == "rgba(0, 0, 0, 0)"
    expect(page.locator(".corrected text")).to_have_count(0)


def test_names_of_fields_cover_no_words(review, visit):
    count = 40
    words = [f"{n}.00" for n in range(count)]
    best = ["B-total" if n % 2 else "B-tax" for n in range(count)]
    places = [[60 * (n % 5), 14 * (n // 5), 60 * (n % 5) + 55, 14 * (n // 5) + 12]
              for n in range(count)]  # fmt: skip
    rules = RULES.replace("type: money}", "type: money, many: true}").split("rules:")[0]
    page = visit(review([scored(words, best, id="table", boxes=places)], rules + "rules: []\n"))
    word(page, 0).wait_for()
    covered = page.evaluate("""() => {
        const box = (each) => each.getBoundingClientRect();
        const all = (what) => [...document.querySelectorAll(what)].map(box);
        const [boxes, names] = [all(".word rect"), all(".captions text")];
        const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 &&
            Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
        return [names.length, names.filter((a) => boxes.some((b) => meet(a, b))).length];
    }""")
    assert covered[0] > 0
    assert covered[1] == 0


def test_a_narrow_window_has_no_empty_space_to_scroll_into(review, visit):
    page = visit(review([right(), right("other")], RULES), width=390, height=844, wait=".head")
    sizes = "[document.documentElement, document.body].map((e) => [e.scrollWidth, e.scrollHeight])"
    assert page.evaluate(sizes) == [[390, 844], [390, 844]]
    page.evaluate("window.scrollTo(0, 5000)")
    assert page.evaluate("window.scrollY") == 0
    # The queue closes when a document is chosen from it.
    page.get_by_role("button", name="Queue").click()
    page.get_by_label("Show").select_option("all")
    page.locator(".row").nth(1).click()
    expect(page.locator(".queue")).to_have_count(0)
