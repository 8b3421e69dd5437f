"""Two reviewers at once, lost connections, wrong tokens, narrow and dark windows."""

from __future__ import annotations

import pytest

from tests.web.pages import (
    BEST,
    RULES,
    WORDS,
    boxes,
    broken,
    expect,
    live,
    right,
    said,
    scored,
    title,
    value,
    word,
)  # fmt: skip


def be(page, name):
    page.locator(".who").click()
    page.get_by_label("Your name").fill(name)
    page.keyboard.press("Enter")
    expect(page.locator(".who")).to_have_text(name)


def test_two_reviewers_see_each_other(review, visit):
    running = review([broken(), right()], RULES)
    ann, ben = visit(running), visit(running)
    be(ann, "Ånn Müller")
    be(ben, "Ben")
    value(ann, "tax").focus()
    ann.keyboard.press("0")
    expect(live(ann)).to_contain_text("“4.00” is no field")

    # Ben has not seen that. His change is not made over hers; he sees hers, and can make his.
    ben.complaints.allow("409")
    value(ben, "seller").focus()
    ben.keyboard.press("0")
    message = ben.locator(".message")
    expect(message).to_contain_text("Ånn Müller changed this document in the meantime")
    expect(said(ben)).to_contain_text("“4.00” is no field")
    expect(value(ben, "seller")).to_contain_text("ACME Ltd")
    ben.get_by_role("button", name="Make it now").click()
    expect(value(ben, "seller")).to_contain_text("–")
    expect(said(ben).locator("li")).to_have_count(2)


def test_a_lost_connection_loses_nothing(review, visit):
    running = review([broken(), right()], RULES)
    page = visit(running)
    expect(title(page)).to_have_text("broken")
    page.complaints.allow("ERR_|Failed to load")
    page.context.set_offline(True)
    value(page, "tax").focus()
    page.keyboard.press("0")
    value(page, "seller").focus()
    page.keyboard.press("0")
    expect(page.locator(".message.bad")).to_contain_text("2 changes of yours will be sent")
    message, pane = (page.locator(each).bounding_box() for each in (".message.bad", "main"))
    assert message["y"] >= pane["y"] + pane["height"]  # it covers nothing
    page.context.set_offline(False)
    expect(page.locator(".message.bad")).to_have_count(0)
    expect(said(page).locator("li")).to_have_count(2)
    expect(value(page, "seller")).to_contain_text("–")


def test_a_server_that_is_started_again_gets_what_was_said_meanwhile(review, visit):
    running = review([broken(), right()], RULES)
    page = visit(running)
    expect(title(page)).to_have_text("broken")
    page.complaints.allow("ERR_|Failed to load|401")
    port = running.base.rstrip("/").rpartition(":")[2]
    running.kill()
    value(page, "tax").focus()
    page.keyboard.press("0")
    message = page.locator(".message.bad")
    expect(message).to_contain_text("1 change of yours will be sent")
    running.start(int(port))
    expect(message).to_contain_text("was started again")
    expect(title(page)).to_have_text("broken")
    page.goto(running.address)  # only what is behind the # differs: the page is not loaded again
    expect(message).to_have_count(0)
    expect(said(page).locator("li")).to_have_count(1)
    assert "token" not in page.url


def test_a_wrong_token_is_explained(review, visit, engine):
    running = review([right()], RULES)
    page = engine.new_context().new_page()
    page.goto(f"{running.base}#token=wrong")
    expect(page.locator(".failure")).to_contain_text("no valid token")
    page.context.close()


def test_the_token_leaves_the_address(review, visit):
    page = visit(review([right()], RULES))
    assert "token" not in page.url
    page.reload()
    expect(title(page)).to_have_text("right")


def test_pins_that_contradict_each_other_are_refused(review, visit):
    page = visit(review([right()], RULES))
    word(page, 0).click()
    page.keyboard.press("1")  # "Net" is no amount of money
    expect(live(page)).to_contain_text("“Net” is total")
    page.keyboard.press("Control+z")
    expect(value(page, "total")).to_contain_text("44.00")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_window_shows_everything(review, visit, scheme):
    page = visit(review([broken(), right()], RULES), width=390, height=844, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for name in ("Accept", "Reject", "Skip", "Undo", "Queue", "Zoom in"):
        button = page.get_by_role("button", name=name).first
        expect(button).to_be_in_viewport(ratio=0.9)
    expect(word(page, 5)).to_be_in_viewport()
    page.get_by_role("button", name="Queue").click()
    expect(page.locator(".row").first).to_be_in_viewport()
    page.get_by_role("button", name="Queue").click()
    value(page, "seller").click()
    page.get_by_role("button", name="nothing").click()
    expect(value(page, "seller")).to_contain_text("–")


@pytest.mark.parametrize("width", [390, 1280])
def test_words_and_captions_can_be_read_at_any_width(review, visit, width):
    wide = [[4 * x0, y0, 4 * x1, y1] for x0, y0, x1, y1 in boxes(WORDS)]
    line = scored(WORDS, BEST, id="wide", boxes=wide)
    page = visit(review([line], RULES), width=width, height=844)
    expect(page.locator(".captions text")).to_have_count(4)
    page.wait_for_function(
        "document.querySelector('.captions text').getBoundingClientRect().height >= 10"
    )
    assert word(page, 1).bounding_box()["height"] >= 11
    for caption in page.locator(".captions text").all():
        box = caption.bounding_box()
        for at in range(len(WORDS)):
            assert not covers(box, word(page, at).bounding_box()), WORDS[at]


def covers(box, other):
    """Whether a box lies over the middle of another one."""
    x, y = other["x"] + other["width"] / 2, other["y"] + other["height"] / 2
    across = box["x"] < x < box["x"] + box["width"]
    return across and box["y"] < y < box["y"] + box["height"]


CONTRAST = """
() => {
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => {
      v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const parse = (c) => (c.match(/[\\d.]+/g) || []).map(Number);
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] > 0.99) return c;
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const e of document.querySelectorAll('header *, main *, footer *')) {
    if (e.closest('svg, :disabled, .idle') || !e.checkVisibility()) continue;
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
    const [a, b] = [luminance(parse(getComputedStyle(e).color)), luminance(ground(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.push(`${e.className || e.tagName} ${e.textContent}: ${ratio.toFixed(1)}`);
  }
  return poor;
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_contrast_and_controls_have_names(review, visit, scheme):
    page = visit(review([broken(), right()], RULES), scheme=scheme)
    page.locator(".alternative").first.wait_for()
    assert page.evaluate(CONTRAST) == []
    nameless = """() => [...document.querySelectorAll('button, input, select, textarea')]
        .filter((e) => !(e.textContent.trim() || e.ariaLabel || e.labels?.length))
        .map((e) => e.outerHTML)"""
    assert page.evaluate(nameless) == []
    ids = "() => [...document.querySelectorAll('[id]')].map((e) => e.id)"
    found = page.evaluate(ids)
    assert len(found) == len(set(found))
    assert page.locator("[role=status][aria-live=polite]").count() == 1
