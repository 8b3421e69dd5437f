"""What axe finds on the page, in all its states: nothing serious."""

from __future__ import annotations

import pytest

from tests.helpers import ROOT
from tests.web.pages import RULES, broken, expect, right, title, unsure, value

AXE = ROOT / "web/node_modules/axe-core/axe.min.js"

pytestmark = pytest.mark.skipif(not AXE.is_file(), reason="needs axe-core: make test-web")


def findings(page):
    """The serious and critical findings, each with what it is about."""
    # Not by a script element, which the page's policy forbids.
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        (each["id"], [node["html"][:200] for node in each["nodes"]][:5])
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(review, visit, width, scheme):
    running = review([broken(), unsure(), right()], RULES)
    page = visit(running, width=width, scheme=scheme)
    expect(title(page)).to_have_text("broken")
    page.locator(".alternative").first.wait_for()
    assert findings(page) == []

    page.keyboard.press("e")
    expect(page.locator(".editor")).to_have_count(1)
    page.keyboard.type("50.00")
    assert findings(page) == []
    page.keyboard.press("Escape")

    for key in ("?", "/", "c"):
        page.keyboard.press(key)
        expect(page.get_by_role("dialog")).to_have_count(1)
        assert findings(page) == [], key
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)

    page.keyboard.press("x")
    expect(page.locator(".moved").first).to_be_attached()
    page.complaints.allow("409")
    page.keyboard.press("Control+z")
    expect(value(page, "total")).to_contain_text("45.00")
    page.keyboard.press("a")
    expect(page.get_by_role("dialog")).to_have_count(1)
    assert findings(page) == []
    page.keyboard.press("Escape")
    if not page.locator(".queue").count():
        page.get_by_role("button", name="Queue").click()
    expect(page.locator(".passing")).to_have_count(1)
    assert findings(page) == []
