"""A running ``lawful review``, and pages of it in Chromium that must not complain."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from contextlib import suppress
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from tests.web import browser as chromium

PATIENCE = 60_000
"""Milliseconds: the machine may be busy."""


class Review:
    """``lawful review`` in a process of its own, on some documents."""

    def __init__(self, documents, rules, db, *more, port=0):
        self.documents, self.rules, self.db, self.more = documents, rules, db, more
        self.start(port)

    def start(self, port=0):
        command = [sys.executable, "-m", "lawful", "review", str(self.documents), "--rules"]
        command += [str(self.rules), "--db", str(self.db), "--no-browser", *self.more]
        self._process = subprocess.Popen(
            [*command, "--port", str(port)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        said = []
        for line in self._process.stdout:
            said.append(line)
            found = re.search(r"http://\S+#token=\S+", line)
            if found:
                self.address = found[0]
                self._wait()
                return
        raise AssertionError("lawful review did not start: " + "".join(said))

    def _wait(self):
        """Waits until all is decoded, so that the worst document is known."""
        base, token = self.address.split("#token=")
        ask = Request(f"{base}api/queue", headers={"Authorization": f"Bearer {token}"})  # noqa: S310
        until = time.monotonic() + 2 * PATIENCE / 1000
        while self._process.poll() is None and time.monotonic() < until:
            with suppress(URLError), urlopen(ask) as answer:  # noqa: S310
                entries = json.load(answer)["documents"]
                if all(entry.get("error") or entry["status"] for entry in entries):
                    return
            time.sleep(0.05)
        raise AssertionError("lawful review did not decode its documents")

    @property
    def base(self):
        return self.address.split("#")[0]

    def kill(self):
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()


@pytest.fixture
def review(tmp_path):
    """Starts reviews of JSON lines under rules; all are ended after the test."""
    started = []

    def start(lines, rules, *more, name="documents.jsonl"):
        documents = tmp_path / name
        documents.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        if "\n" in str(rules):
            (tmp_path / "rules.yaml").write_text(rules)
            rules = tmp_path / "rules.yaml"
        started.append(Review(documents, rules, tmp_path / "review.db", *more))
        return started[-1]

    yield start
    for each in started:
        each.kill()


@pytest.fixture(scope="session")
def engine():
    api = pytest.importorskip("playwright.sync_api", reason="needs playwright: make test-web")
    path = chromium.find()
    if path is None:
        pytest.skip(f"needs Chromium: none of {', '.join(chromium.NAMES)} is installed")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=chromium.FLAGS)
        yield running
        running.close()


class Complaints(list):
    """What a page complained about: errors, and requests to anybody but its server."""

    def __init__(self, page, base):
        super().__init__()
        self._allowed = []
        host = urlsplit(base).netloc
        page.on("pageerror", lambda error: self.append(f"error: {error}"))
        page.on("console", self._console)
        page.on("request", lambda request: self._request(request.url, host))

    def allow(self, pattern):
        """Do not count this: the test provokes it."""
        self._allowed.append(pattern)

    def _console(self, message):
        if message.type not in ("error", "warning"):
            return
        if not any(re.search(pattern, message.text) for pattern in self._allowed):
            self.append(f"console: {message.text}")

    def _request(self, url, host):
        parts = urlsplit(url)
        if parts.scheme not in ("blob", "data") and parts.netloc != host:
            self.append(f"request: {url}")


@pytest.fixture
def visit(engine):
    """Opens the page of a review in a browser of its own; it must not complain."""
    opened = []

    def go(
        running, *, width=1280, height=900, scheme="light", n=None, wait=".title .id", **options
    ):
        context = engine.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, **options
        )
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.complaints = Complaints(page, running.base)
        opened.append((context, page))
        if n is not None:  # the page remembers the token
            page.goto(running.address)
            page.wait_for_selector(wait)
            page.goto(f"{running.base}#{n}")
            page.reload()
        else:
            page.goto(running.address)
        page.wait_for_selector(wait)
        return page

    yield go
    complaints = []
    for context, page in opened:
        complaints += page.complaints
        context.close()
    assert complaints == []
