"""Documents for the tests of the page, and what a test reads off it."""

from __future__ import annotations

import json
import re

import pytest

from tests.web.conftest import PATIENCE

expect = pytest.importorskip("playwright.sync_api", reason="needs playwright: make test-web").expect
expect.set_options(timeout=PATIENCE)

RULES = """
scheme: BIO
fields:
  total: {label: total, type: money}
  subtotal: {label: subtotal, type: money}
  tax: {label: tax, type: money}
  seller: {label: seller, type: text}
rules:
  - {id: sum, check: total == subtotal + tax}
"""

LABELS = [
    "O",
    *(f"{p}-{n}" for n in ("total", "subtotal", "tax", "seller") for p in "BI"),
]


def scored(words, best, *, second=None, **more):
    """A line whose model finds ``best`` the likeliest label of each word.

    ``second`` has, by word, a label that is nearly as likely.
    """
    probs = []
    for word, label in enumerate(best):
        row = dict.fromkeys(LABELS, 0.001)
        row[label] = 0.9
        if second and word in second:
            row[label], row[second[word]] = 0.5, 0.4
        whole = sum(row.values())
        probs.append([row[name] / whole for name in LABELS])
    more.setdefault("id", "page")
    return json.dumps({"words": words, "labels": LABELS, "probs": probs, **more})


def boxes(words, columns=4):
    """Boxes of words in a grid, each as wide as its text."""
    return [
        [x := 40 + 130 * (i % columns), y := 40 + 30 * (i // columns), x + 110, y + 20]
        for i in range(len(words))
    ]


WORDS = ["Net", "40.00", "Tax", "4.00", "Sum", "44.00", "Paid", "50.00", "ACME", "Ltd"]
BEST = ["O", "B-subtotal", "O", "B-tax", "O", "B-total", "O", "O", "B-seller", "I-seller"]
BROKEN = ["Net", "40.00", "Tax", "4.00", "Sum", "45.00", "Paid", "50.00", "ACME", "Ltd"]


def right(name="right", **more):
    """A bill on which all is right."""
    return scored(WORDS, BEST, id=name, boxes=boxes(WORDS), **more)


def broken(name="broken", **more):
    """A bill that does not add up, whatever is labelled."""
    return scored(BROKEN, BEST, id=name, boxes=boxes(BROKEN), **more)


def unsure(name="unsure", **more):
    """A bill on which the model is unsure which amount is the total; the rule is not."""
    best = [*BEST[:5], "O", "O", "B-total", *BEST[8:]]
    second = {5: "B-total", 7: "O"}
    return scored(WORDS, best, second=second, id=name, boxes=boxes(WORDS), **more)


def doubtful(name="doubtful", **more):
    """A bill on which the model is unsure who sells, which no rule settles."""
    return scored(WORDS, BEST, second={8: "O", 9: "O"}, id=name, boxes=boxes(WORDS), **more)


def word(page, at):
    """A word on the page."""
    return page.locator(f'[data-word="{at}"]')


def value(page, field):
    """The first value of a field, as a button."""
    return page.get_by_role("button", name=re.compile(f"^{field}: ")).first


def title(page):
    """The id of the document that is open."""
    return page.locator(".title .id")


def selected(page):
    """How the page names what is selected."""
    return page.locator(".palette > p")


def live(page):
    """What was said last."""
    return page.locator(".live")


def said(page):
    """What people have said about the document."""
    return page.get_by_role("region", name="What people said")
