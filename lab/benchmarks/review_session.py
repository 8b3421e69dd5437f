"""A review by keyboard, as a script does it: keys and seconds per document.

    lawful read photos/ | lawful predict - --out scored.jsonl
    python -m lab.benchmarks.review_session scored.jsonl KEYS [COUNT]

KEYS is the folder ``key`` of SROIE. The reviewer knows total and date of each receipt, looks
at all places at which the page stops (Tab), puts these two fields right where they are wrong, and
accepts. Seconds are those that the page and its server take; those of a person are guessed by the
keystroke-level model (Card, Moran and Newell, 1980): 0.28 s per key, 1.35 s per thing looked at.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from lawful.rules.packs import PACKS
from lawful.values import type_named
from tests.web import browser as chromium
from tests.web.conftest import Review

KEY, LOOK = 0.28, 1.35
FIELDS = {"total": "money", "issued": "date"}

ASK = """async (n) => (await fetch(`/api/documents/${n}`, {
  headers: {Authorization: `Bearer ${sessionStorage.getItem("lawful.token")}`}})).json()"""


def values_of(text: str, kind: str) -> set[str]:
    """What a text can mean."""
    return {str(each) for each in type_named(kind).read(text)}


class Reviewer:
    """Presses keys, and counts them."""

    def __init__(self, page: Page) -> None:
        self.page, self.keys, self.looks = page, 0, 0
        self._pending: set[Any] = set()
        page.on("request", self._begun)
        for event in ("requestfinished", "requestfailed"):
            page.on(event, self._ended)

    def _begun(self, request: Any) -> None:
        if "alternatives" not in request.url:
            self._pending.add(request)

    def _ended(self, request: Any) -> None:
        self._pending.discard(request)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.keys += 1
        self.settle()

    def type(self, text: str) -> None:
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)
        self.keys += len(text)
        self.settle()

    def settle(self) -> None:
        self.page.wait_for_timeout(20)
        while self._pending:
            self.page.wait_for_timeout(5)

    @property
    def n(self) -> int:
        return int(self.page.evaluate("location.hash.slice(1)"))

    def ask(self) -> dict[str, Any]:
        found: dict[str, Any] = self.page.evaluate(ASK, self.n)
        return found

    def look(self) -> int:
        """Goes through the stops; returns how many there were."""
        stops = 0
        while stops < 60 and self.page.evaluate("document.activeElement.matches('.value')"):
            stops += 1
            if not self.page.evaluate("""() => {
                const all = [...document.querySelectorAll(".value")];
                const here = all.indexOf(document.activeElement);
                return all.slice(here + 1).some((each) => each.tabIndex === 0);
            }"""):
                break
            self.press("Tab")
        self.looks += stops
        return stops

    def go_to(self, field: str) -> None:
        """To a field: by j and k, or by its name if that takes fewer keys."""
        order = self.page.evaluate("""() => [...document.querySelectorAll(".value")]
            .map((each) => [each.getAttribute("aria-label").split(":")[0].replaceAll(" ", "_"),
                            each === document.activeElement])""")
        names, here = [name for name, _ in order], [now for _, now in order]
        away = names.index(field) - here.index(True) if field in names and any(here) else None
        by_name = len(field[:4]) + 2
        if away is None or abs(away) > by_name:
            self.press("/", *field[:4], "Enter")
        else:
            self.press(*["j" if away > 0 else "k"] * abs(away))

    def correct(self, field: str, kind: str, truth: str) -> bool:
        """Puts a field right; says whether it is now."""
        document = self.ask()
        words, wanted = document["words"], values_of(truth, kind)
        place = next(
            (
                (start, start + size)
                for size in (1, 2, 3)
                for start in range(len(words) - size + 1)
                if wanted & values_of(" ".join(words[start : start + size]), kind)
            ),
            None,
        )
        self.go_to(field)
        self.looks += 1
        text = truth if place is None else " ".join(words[slice(*place)])
        self.press("e")
        self.type(text)
        self.press("Enter")
        if self.page.locator(".editor").count():
            self.press("Escape")
        return self.is_right(field, kind, truth)

    def is_right(self, field: str, kind: str, truth: str) -> bool:
        found = self.ask()["answer"]["fields"].get(field) or []
        return bool(found) and str(found[0]["value"]) in {
            str(each if kind == "date" else float(each)) for each in values_of(truth, kind)
        }

    def accept(self) -> None:
        self.press("a")
        self.page.wait_for_timeout(100)
        if self.page.locator("dialog").count():
            self.press("Tab", "Enter")


def main() -> None:
    """Prints the medians."""
    scored, keys = Path(sys.argv[1]), Path(sys.argv[2])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    lines = [json.loads(line) for line in scored.read_text().splitlines()]
    truths = {
        line["id"]: json.loads(file.read_text())
        for line in lines
        if (file := keys / f"{Path(line['id']).stem}.json").is_file()
    }
    lines = [line for line in lines if line["id"] in truths][:count]
    rows = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        documents = Path(folder, "documents.jsonl")
        documents.write_text("".join(json.dumps(line) + "\n" for line in lines))
        images = ("--images-from", str(scored.parent))
        server = Review(documents, PACKS["receipt"], Path(folder, "review.db"), *images)
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=chromium.FLAGS)
        try:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(server.address)
            page.wait_for_selector(".value:focus")
            one = Reviewer(page)
            for n, line in enumerate(lines):
                page.goto(f"{server.base}#{n}")
                page.reload()
                page.wait_for_selector(".value:focus")
                page.wait_for_timeout(1500)  # the reviewer reads; alternatives come
                one.keys = one.looks = 0
                began, truth = time.perf_counter(), truths[line["id"]]
                stops, right = one.look(), 0
                for field, kind in FIELDS.items():
                    said = truth["total" if field == "total" else "date"]
                    done = one.is_right(field, kind, said) or one.correct(field, kind, said)
                    right += done
                one.accept()
                rows.append((stops, one.keys, one.looks, time.perf_counter() - began, right))
                print(line["id"], *rows[-1], file=sys.stderr)
        finally:
            browser.close()
            server.kill()
    stops, pressed, looks, seconds, right = zip(*rows, strict=True)
    guess = [KEY * k + LOOK * look for k, look in zip(pressed, looks, strict=True)]
    for name, values in (
        ("stops", stops), ("keys", pressed), ("seconds of the page", seconds),
        ("seconds of a person, guessed", guess),
    ):  # fmt: skip
        print(f"{name}: median {statistics.median(values):.1f}, mean {statistics.mean(values):.1f}")
    print(f"{sum(right)} of {len(FIELDS) * len(rows)} values right")


if __name__ == "__main__":
    main()
