"""A reviewer's whole session, by mouse and by keyboard."""

from __future__ import annotations

import json
import re
import sqlite3

from tests.web.pages import (
    RULES,
    WORDS,
    boxes,
    broken,
    doubtful,
    expect,
    live,
    right,
    said,
    scored,
    selected,
    title,
    unsure,
    value,
    word,
)


def rows(running):
    with sqlite3.connect(running.db) as connection:
        return connection.execute("select count(*) from review").fetchone()[0]


def test_by_mouse(review, visit):
    running = review([doubtful("other"), broken(), doubtful()], RULES)
    page = visit(running)

    # The worst comes first, and the page says why.
    expect(title(page)).to_have_text("broken")
    expect(page.locator(".row").first).to_contain_text("total is 45.00, subtotal + tax is 44.00")
    expect(page.get_by_role("region", name="Checks")).to_contain_text(
        "45.00 ≠ 40.00 + 4.00 = 44.00"
    )

    # A field lights up its words, and a word its field.
    value(page, "tax").click()
    expect(page.locator("rect.selected")).to_have_count(1)
    expect(selected(page)).to_contain_text("“4.00”")
    word(page, 1).click()
    expect(value(page, "subtotal")).to_have_attribute("aria-current", "true")

    # The text was read wrong: corrected, the sum is right.
    word(page, 5).click()
    page.get_by_role("button", name="put right").click()
    page.get_by_label("What it says on the page").fill("44.00")
    page.get_by_role("button", name="↵ Take").click()
    expect(value(page, "total")).to_contain_text("44.00")
    expect(page.locator(".badge").first).to_contain_text("rules hold")
    expect(said(page)).to_contain_text("“45.00” reads “44.00”")

    # Undo, redo, accept; the next one comes.
    page.get_by_role("button", name="Undo").click()
    expect(value(page, "total")).to_contain_text("45.00")
    page.get_by_role("button", name="Redo").click()
    expect(value(page, "total")).to_contain_text("44.00")
    page.locator("footer .accept").click()
    expect(title(page)).not_to_have_text("broken")
    expect(page.locator("header")).to_contain_text("1 of 3")

    # The next one is rejected with a note, and taken back.
    second = title(page).inner_text()
    page.get_by_role("button", name="c Note").click()
    page.get_by_label("Note", exact=True).fill("the photo is cut off")
    page.get_by_role("button", name="Keep").click()
    expect(page.locator(".note")).to_have_text("Note: the photo is cut off")
    page.get_by_role("button", name="Reject").click()
    expect(title(page)).not_to_have_text(second)
    page.get_by_role("button", name="Take it back").click()
    expect(title(page)).to_have_text(second)
    expect(page.locator(".badge.verdict")).to_have_count(0)
    assert rows(running) >= 6


def test_fields_by_keyboard(review, visit):
    page = visit(review([right(), broken(), unsure()], RULES))
    keys = page.keyboard
    expect(title(page)).to_have_text("broken")

    # Tab goes from doubtful field to doubtful field, and on: it is no trap.
    expect(page.locator(".value:focus")).to_have_count(1)
    first = page.locator(".value:focus").get_attribute("id")
    keys.press("Tab")
    expect(page.locator(".value:focus")).not_to_have_id(first)
    keys.press("Shift+Tab")
    expect(page.locator(".value:focus")).to_have_id(first)
    for _ in range(40):
        keys.press("Tab")
        if page.evaluate("document.activeElement.matches('.accept')"):
            break
    else:
        raise AssertionError("Tab never came to the button that accepts")

    # j and k go to every field.
    keys.press("j")
    expect(page.locator(".value:focus")).to_have_count(1)
    for _ in range(8):
        keys.press("k")
    expect(value(page, "total")).to_be_focused()
    keys.press("j")
    expect(value(page, "subtotal")).to_be_focused()
    keys.press("k")


def test_corrections_by_keyboard(review, visit):
    page = visit(review([right(), broken(), unsure()], RULES))
    keys = page.keyboard
    expect(title(page)).to_have_text("broken")
    value(page, "total").focus()
    keys.press("e")
    expect(page.get_by_label("What it says on the page")).to_be_focused()
    keys.type("44.00")
    keys.press("Enter")
    expect(page.locator(".badge").first).to_contain_text("rules hold")
    expect(value(page, "total")).to_be_focused()
    keys.press("Control+z")
    expect(page.locator(".badge").first).to_contain_text("violated")
    keys.press("Control+Shift+z")
    expect(page.locator(".badge").first).to_contain_text("rules hold")

    # Other words: two of them become a seller, then nothing.
    keys.press("u")
    expect(live(page)).to_contain_text("Unpinned")
    keys.press("ArrowRight")
    expect(selected(page)).to_contain_text("“Paid”")
    keys.press("Shift+ArrowRight")
    expect(selected(page)).to_contain_text("“Paid 50.00”")
    keys.press("4")
    expect(live(page)).to_contain_text("“Paid 50.00” is seller")
    expect(value(page, "seller")).to_contain_text("Paid 50.00")
    keys.press("0")
    expect(value(page, "seller")).not_to_contain_text("Paid")


def test_verdicts_by_keyboard(review, visit):
    page = visit(review([right(), broken(), doubtful()], RULES))
    keys = page.keyboard
    expect(title(page)).to_have_text("broken")
    # Accepting what breaks a rule asks once.
    page.complaints.allow("409")
    keys.press("a")
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("li")).to_have_count(1)
    expect(dialog).to_contain_text("total is 45.00, subtotal + tax is 44.00")
    keys.press("Escape")
    expect(dialog).to_have_count(0)
    expect(title(page)).to_have_text("broken")
    keys.press("s")
    expect(title(page)).not_to_have_text("broken")
    expect(page.locator("header")).to_contain_text("1 skipped")

    # Other documents, help, boxes.
    page.get_by_label("Show").select_option("all")
    page.locator(".value").first.focus()
    here = title(page).inner_text()
    keys.press("p")
    expect(title(page)).not_to_have_text(here)
    keys.press("n")
    expect(title(page)).to_have_text(here)
    keys.press("?")
    expect(dialog).to_contain_text("next, previous value to look at")
    keys.press("Escape")
    expect(dialog).to_have_count(0)
    keys.press("h")
    expect(page.locator(".pages.bare")).to_have_count(1)
    keys.press("h")
    keys.press("c")
    keys.type("no comment")
    keys.press("Control+Enter")
    expect(page.locator(".note")).to_have_text("Note: no comment")
    keys.press("r")
    expect(page.locator("header")).to_contain_text("1 rejected")


def test_the_key_after_a_dialog_is_not_lost(review, visit):
    page = visit(review([right()], RULES))
    expect(title(page)).to_have_text("right")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("next, previous value to look at")
    # What Escape does, and a key before the browser tells of the end of the dialog.
    page.evaluate("""() => {
        document.querySelector("dialog").requestClose();
        const key = new KeyboardEvent("keydown", {key: "c", bubbles: true});
        document.body.dispatchEvent(key);
    }""")
    expect(page.get_by_label("Note", exact=True)).to_be_focused()
    page.keyboard.type("quick")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".note")).to_have_text("Note: quick")


def test_accepting_a_violation_that_was_confirmed(review, visit):
    running = review([broken(), right()], RULES)
    page = visit(running)
    page.complaints.allow("409")
    page.keyboard.press("a")
    expect(page.get_by_role("dialog")).to_contain_text("45.00 ≠ 40.00 + 4.00")
    page.get_by_role("button", name="Accept anyway").click()
    # What is left asks for no look: it is apart, to be accepted together.
    expect(live(page)).to_contain_text("1 other with nothing to look at")
    with sqlite3.connect(running.db) as connection:
        found = connection.execute("select verdict from review").fetchall()
    assert found == [("accepted",)]


def test_a_pin_shows_what_moved_because_of_it(review, visit):
    page = visit(review([unsure()], RULES))
    expect(value(page, "total")).to_contain_text("44.00")
    word(page, 3).click()
    page.keyboard.press("e")
    page.get_by_label("What it says on the page").fill("10.00")
    page.keyboard.press("Enter")
    # 40 and 10 make 50: the rule moves the total, which nobody has mentioned.
    expect(value(page, "total")).to_contain_text("50.00")
    expect(value(page, "total")).to_contain_text("↷")
    expect(page.locator(".marks .moved rect")).to_have_count(2)
    expect(live(page)).to_contain_text("“50.00” is now total")


def test_the_queue_says_what_the_page_says(review, visit):
    page = visit(review([broken(), doubtful()], RULES))
    row = page.locator(".row.current")
    expect(row).to_contain_text("✗ total is 45.00, subtotal + tax is 44.00")
    value(page, "total").focus()
    page.keyboard.press("x")
    expect(row).to_contain_text("? no rule could be checked")
    expect(row).to_contain_text("⚑ 1")
    page.keyboard.press("n")
    expect(title(page)).to_have_text("doubtful")
    expect(page.locator("tr.doubtful").first).to_be_visible()
    expect(row).to_contain_text("?")
    expect(row).not_to_contain_text("nothing doubtful")


def test_a_confidence_that_is_not_known_is_explained(review, visit):
    page = visit(review([right()], RULES), wait=".facts")

    def unknown(route):
        answer = route.fetch()
        found = answer.json()
        why = "not known: the time was up"
        found["confidence"]["total"] = {"low": 0, "high": 1, "known": False, "text": why}
        route.fulfill(response=answer, json=found)

    page.route("**/alternatives", unknown)
    page.reload()
    expect(page.locator("td.sure").first).to_contain_text("·")
    expect(page.locator("td.sure span").first).to_have_attribute("title", re.compile("time was up"))
    expect(page.locator(".facts")).to_contain_text("not known: the time was up")


def test_alternatives_are_taken_by_key_and_by_mouse(review, visit):
    page = visit(review([unsure()], RULES))
    page.locator(".alternative").first.wait_for()
    expect(value(page, "total")).to_contain_text("44.00")
    value(page, "total").focus()
    page.keyboard.press("Enter")
    # It would break a rule: that is told first, and another Enter takes it.
    asked = page.get_by_role("group", name="What would change")
    expect(asked).to_contain_text("total is 50.00, subtotal + tax is 44.00")
    expect(value(page, "total")).to_contain_text("44.00")
    page.keyboard.press("Escape")
    expect(asked).to_have_count(0)
    page.reload()
    page.locator(".alternative").first.wait_for()
    value(page, "total").focus()
    page.keyboard.press("Enter")
    expect(asked).to_have_count(1)
    page.keyboard.press("Enter")
    expect(value(page, "total")).not_to_contain_text("44.00")
    pinned = said(page).locator("li")
    expect(pinned).not_to_have_count(0)
    for _ in range(5):
        if "44.00" in value(page, "total").inner_text():
            break
        page.keyboard.press("Enter")
        expect(live(page)).to_contain_text("total ")
    page.keyboard.press("Control+z")
    page.reload()
    page.locator(".alternative").first.wait_for()
    changes = page.locator(".alternative").first.locator("b").first.inner_text()
    before = value(page, changes).inner_text()
    page.get_by_role("button", name="Take it").first.click()
    expect(value(page, changes)).not_to_have_text(before)


def test_undo_works_after_a_reload_and_a_restart(review, visit):
    running = review([broken(), right()], RULES)
    page = visit(running)
    value(page, "tax").focus()
    page.keyboard.press("0")
    expect(live(page)).to_contain_text("“4.00” is no field")
    page.reload()
    expect(title(page)).to_have_text("broken")
    expect(said(page)).to_contain_text("“4.00” is no field")

    page.complaints.allow("ERR_CONNECTION_REFUSED")
    running.kill()  # no time to tidy up
    running.start()
    page = visit(running)
    expect(said(page)).to_contain_text("“4.00” is no field")
    page.keyboard.press("Control+z")
    expect(said(page)).to_contain_text("Nothing is pinned")
    expect(value(page, "tax")).to_contain_text("4.00")


def test_words_are_selected_by_dragging_and_by_shift(review, visit):
    page = visit(review([right()], RULES))
    word(page, 4).hover()
    page.mouse.down()
    word(page, 6).hover()
    page.mouse.up()
    expect(selected(page)).to_contain_text("“Sum 44.00 Paid”")
    word(page, 0).click()
    word(page, 2).click(modifiers=["Shift"])
    expect(selected(page)).to_contain_text("“Net 40.00 Tax”")
    # The first click takes the whole value, the second the word.
    word(page, 8).click()
    expect(selected(page)).to_contain_text("“ACME Ltd”")
    word(page, 8).click()
    expect(selected(page)).to_contain_text("“ACME”")
    # Arrows go from word to word, and from line to line.
    word(page, 6).click()
    page.keyboard.press("ArrowUp")
    expect(selected(page)).to_contain_text("“Tax”")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    expect(selected(page)).to_contain_text("“44.00”")


def test_filters_search_and_unreadable_lines(review, visit):
    page = visit(review([right(), broken(), "this is no JSON", right("other")], RULES))
    rows = page.locator(".row")
    expect(rows).to_have_count(1)
    page.get_by_label("Show").select_option("open")
    expect(rows).to_have_count(3)
    expect(page.locator(".filters")).to_contain_text("✗ 1 line could not be read")
    page.get_by_label("Show").select_option("unreadable")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("✗")
    page.get_by_label("Show").select_option("rule violated")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("broken")
    page.get_by_label("Show").select_option("all")
    page.get_by_label("Find").fill("OTH")
    expect(rows).to_have_count(1)
    rows.click()
    expect(title(page)).to_have_text("other")


def test_fields_beyond_nine_have_a_key_too(review, visit):
    names = [f"field{i}" for i in range(12)]
    fields = "".join(f"  {name}: {{label: {name}, type: text}}\n" for name in names)
    labels = ["O", *(f"B-{name}" for name in names)]
    line = {"id": "many", "words": ["a", "b"], "labels": labels}
    line["probs"] = [[0.9] + [0.1 / 12] * 12] * 2
    page = visit(review([json.dumps(line)], f"scheme: BIO\nfields:\n{fields}rules: []\n"))
    word(page, 1).click()
    page.keyboard.press("l")
    page.keyboard.type("d11")
    page.keyboard.press("Enter")
    expect(value(page, "field11")).to_contain_text("b")


def test_a_value_is_put_right_in_its_own_line_beside_the_print(review, visit):
    page = visit(review([broken()], RULES))
    value(page, "total").focus()
    page.keyboard.press("e")
    editor = page.locator(".below .editor")
    expect(editor.locator("svg.crop")).to_have_count(1)
    expect(page.get_by_label("What it says on the page")).to_have_value("45.00")
    expect(page.get_by_label("What it says on the page")).to_be_focused()
    # It covers neither the page nor the words that are to be copied.
    line, pane = editor.bounding_box(), page.locator(".pages").bounding_box()
    assert line["x"] >= pane["x"] + pane["width"]

    # A text that is printed elsewhere: with what is printed there, as a choice.
    page.keyboard.type("50.00")
    ways = editor.locator(".way")
    expect(ways).to_have_count(2)
    page.keyboard.press("ArrowDown")
    expect(editor.locator(".way.chosen")).to_contain_text("It says “50.00” here")
    page.keyboard.press("ArrowUp")
    expect(editor.locator(".way.chosen")).to_contain_text("total is “50.00” here")
    expect(editor.locator(".way.chosen svg.crop")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(said(page)).to_contain_text("“50.00” is total")
    expect(value(page, "total")).to_be_focused()

    # Escape changes nothing, and gives the focus back.
    page.keyboard.press("e")
    page.keyboard.type("1")
    page.keyboard.press("Escape")
    expect(editor).to_have_count(0)
    expect(value(page, "total")).to_be_focused()
    expect(value(page, "total")).to_contain_text("50.00")


def test_what_is_printed_nowhere_is_not_taken(review, visit):
    page = visit(review([unsure()], RULES))
    value(page, "tax").focus()
    page.keyboard.press("x")
    expect(value(page, "tax")).to_contain_text("–")
    page.keyboard.press("e")
    page.keyboard.type("77.77")
    page.keyboard.press("Enter")
    expect(live(page)).to_contain_text("“77.77” was not found on the page")
    page.get_by_label("What it says on the page").fill("4,00")
    page.keyboard.press("Enter")
    expect(value(page, "tax")).to_contain_text("4.00")


def test_a_field_is_picked_by_a_part_of_its_name(review, visit):
    page = visit(review([right()], RULES))
    page.keyboard.press("/")
    page.keyboard.type("sel")
    page.keyboard.press("Enter")
    expect(value(page, "seller")).to_be_focused()


def test_the_focus_is_never_lost(review, visit):
    page = visit(review([right(), broken()], RULES))
    for key in ("0", "Control+z", "x", "Control+z", "u", "Enter", "Escape", "Tab", "j", "0"):
        page.keyboard.press(key)
        page.wait_for_timeout(300)
        assert page.evaluate("document.activeElement !== document.body"), key


def test_fields_that_are_not_on_the_page_are_folded(review, visit):
    words, best = WORDS[4:6], ["O", "B-total"]
    page = visit(review([scored(words, best, id="short", boxes=boxes(words))], RULES))
    expect(page.locator(".fields tbody tr")).to_have_count(1)
    folded = page.get_by_role("button", name="3 fields not on the page")
    expect(folded).to_contain_text("subtotal, tax, seller")
    folded.click()
    expect(page.locator(".fields tbody tr")).to_have_count(4)


def test_those_with_nothing_to_look_at_are_accepted_together(review, visit):
    running = review([right(), broken(), right("other")], RULES)
    page = visit(running)
    expect(title(page)).to_have_text("broken")
    expect(page.locator(".passing")).to_contain_text("2 documents with nothing to look at")
    expect(page.locator(".passing")).to_contain_text("nothing is promised")
    page.get_by_role("button", name="Accept all 2").click()
    expect(page.locator("header")).to_contain_text("2 of 3")
    expect(page.locator(".passing")).to_have_count(0)
    expect(title(page)).to_have_text("broken")
    page.get_by_role("button", name="Take it back").click()
    expect(page.locator("header")).to_contain_text("0 of 3")
    expect(page.locator(".passing")).to_contain_text("2 documents")


def test_the_queue_shows_what_documents_are(review, visit):
    page = visit(review([broken(), right()], RULES))
    expect(page.locator(".row").first).to_contain_text("ACME Ltd · 45.00")
    page.get_by_label("Show").select_option("open")
    page.get_by_label("Find").fill("44.0")
    expect(page.locator(".row")).to_have_count(1)
    expect(page.locator(".row")).to_contain_text("ACME Ltd · 44.00")


MESSAGES = RULES.replace(
    "check: total == subtotal + tax}",
    "check: total == subtotal + tax, message: {en: 'sum {right}', de: 'Summe {right}'}}",
)


def test_messages_are_in_the_language_of_the_browser(review, visit):
    running = review([broken()], MESSAGES)
    german = visit(running, locale="de-DE")
    expect(german.locator(".summary")).to_contain_text("Summe 44.00")
    expect(german.get_by_role("region", name="Prüfungen")).to_contain_text("Summe 44.00")
    expect(german.locator(".row").first).to_contain_text("Summe 44.00")
    expect(visit(running, locale="pl-PL").locator(".summary")).to_contain_text("Sum 44.00")
