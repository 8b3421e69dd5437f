"""The time from a pin to the answer of the review's server, on the demo's documents.

    python -m lab.benchmarks.review

A server in a process of its own, requests over loopback, each pin answered before the next one is
sent, while the queue is idle. Every field that is found gets two pins, one after the other: its
first value is this field, and it is not. The times are those that the page waits: the document is
decoded, stored with an ``fsync``, put into words and sent.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np

from lab import receipts as demo

FIELDS = 4  # of every document, the first ones


class Page:
    """What the page does: requests on one connection."""

    def __init__(self, address: str) -> None:
        origin, _, token = address.partition("/#token=")
        self._connection = HTTPConnection(origin.removeprefix("http://"), timeout=60)
        self._headers = {"Authorization": f"Bearer {token}", "X-Reviewer": "benchmark"}

    def ask(self, path: str, body: Any = None) -> Any:
        """The answer to a request, as plain values."""
        method, data = ("GET", None) if body is None else ("POST", json.dumps(body))
        self._connection.request(method, path, data, self._headers)
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status} {text.decode()}")
        return json.loads(text)


def main() -> None:
    """Prints the median and the 95th percentile."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable, "-m", "lawful", "review", str(demo.shipped()),
            "--rules", str(demo.RULES), "--db", str(Path(folder, "review.db")), "--no-browser",
        ]  # fmt: skip
        server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            lines = iter(server.stderr or ())
            address = next(line.split()[1] for line in lines if line.startswith("open "))
            page = Page(address)
            _wait_for_queue(page)
            before = _processor_seconds(server.pid)
            seconds, decoding, unproven = _pin_all(page)
            used = _processor_seconds(server.pid) - before
        finally:
            server.terminate()
            server.wait()
    for name, found in (("POST pins to answer", seconds), ("of it, decoding", decoding)):
        median, high, worst = np.percentile(found, [50, 95, 100]) * 1000
        print(f"{name:20} median {median:6.1f} ms   95 % {high:6.1f} ms   worst {worst:6.1f} ms")
    print(f"processor time of the server: mean {1000 * used / len(seconds):.1f} ms a pin")
    print(f"{len(seconds)} pins; {unproven} answers not proven within their quarter of a second")


def _wait_for_queue(page: Page) -> None:
    """Waits until all is decoded: until the queue has not changed for three seconds."""
    before = None
    while (found := page.ask("/api/queue")) != before or found["decoded"] < len(found["documents"]):
        before = found
        time.sleep(3)


def _processor_seconds(process: int) -> float:
    """The processor time that a process has used so far; 0 where Linux does not say it."""
    try:
        user, system = Path(f"/proc/{process}/stat").read_text().split()[13:15]
    except OSError:
        return 0.0
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _pin_all(page: Page) -> tuple[list[float], list[float], int]:
    seconds, decoding, unproven = [], [], 0
    for n in range(page.ask("/api/session")["documents"]):
        found = page.ask(f"/api/documents/{n}")
        for name, values in list(found["answer"]["fields"].items())[:FIELDS]:
            for pin in (
                {"words": values[0]["words"], "field": name},
                {"words": values[0]["words"], "not": name},
            ):
                body = {"base": found["seq"], "pins": [pin]}
                began = time.perf_counter()
                found = page.ask(f"/api/documents/{n}/pins", body)
                seconds.append(time.perf_counter() - began)
                decoding.append(found["answer"]["seconds"])
                unproven += not found["answer"]["optimal"]
    return seconds, decoding, unproven


if __name__ == "__main__":
    main()
