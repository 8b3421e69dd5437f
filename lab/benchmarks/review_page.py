"""The time from a key to the redrawn review page, in Chromium, on the demo's documents.

    make .venv/with-browser && python -m lab.benchmarks.review_page

For each document, the words of every field become nothing (key 0), and that is undone. Measured in
the page, from the key to the first frame that shows the new answer: the request, the decoding, the
row stored with an ``fsync``, the answer parsed, the page drawn.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from lab import receipts as demo
from tests.web import browser as chromium
from tests.web.conftest import Review

DOCUMENTS = 12

PRESS = """
([key, ctrlKey]) => new Promise((done) => {
  const start = performance.now();
  const watch = new MutationObserver(() => {
    watch.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
  });
  const all = { childList: true, characterData: true, subtree: true };
  watch.observe(document.querySelector(".live"), all);
  const press = new KeyboardEvent("keydown", { key, ctrlKey, bubbles: true });
  document.activeElement.dispatchEvent(press);
})
"""


def main() -> None:
    """Prints the median and the 95th percentile."""
    path = chromium.find()
    if path is None:
        sys.exit(f"needs Chromium: none of {', '.join(chromium.NAMES)} is installed")
    found: list[float] = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Review(demo.shipped(), demo.RULES, Path(folder, "review.db"))
        browser = playwright.chromium.launch(executable_path=path, args=chromium.FLAGS)
        try:
            page = browser.new_page()
            page.goto(server.address)
            for _ in range(DOCUMENTS):
                page.wait_for_selector(".value:focus")
                for value in page.locator(".value:not([aria-label*='not on the page'])").all():
                    value.focus()
                    found.append(page.evaluate(PRESS, ["0", False]))
                    found.append(page.evaluate(PRESS, ["z", True]))
                before = page.locator(".title .id").inner_text()
                page.keyboard.press("n")
                page.wait_for_function(
                    "(id) => document.querySelector('.title .id').innerText !== id", arg=before
                )
        finally:
            browser.close()
            server.kill()
    median, high, worst = np.percentile(found, [50, 95, 100])
    print(
        f"key to redrawn page: median {median:.0f} ms, 95 % {high:.0f} ms, worst {worst:.0f} ms "
        f"({len(found)} keys)"
    )


if __name__ == "__main__":
    main()
