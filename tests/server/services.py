"""`lawful serve` in a process of its own, on a free port of loopback."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from time import monotonic

import httpx

from tests.helpers import DOCUMENTS, ROOT, RULES, run

LONG = 120
"""Seconds after which a test gives up; a busy machine starts a process in ten."""


class Service:
    """A running service, its log as records, and a client of it."""

    def __init__(self, process):
        self.process = process
        self.log = []
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.url = self.wait_for("start")["url"]
        self.port = int(self.url.rpartition(":")[2])
        # A connection of its own for each request: one that is idle for long is closed, and on a
        # busy machine that may be while the next request is on its way.
        apart = httpx.Limits(max_keepalive_connections=0)
        self.client = httpx.Client(base_url=self.url, timeout=LONG, limits=apart)

    def _read(self):
        for line in self.process.stderr:
            with self._news:
                self.log.append(line)
                self._news.notify_all()
        with self._news:
            self.log.append("")
            self._news.notify_all()

    def records(self, event=None):
        found = [json.loads(line) for line in list(self.log) if line.startswith("{")]
        return [record for record in found if event in (None, record["event"])]

    def wait_for(self, event, count=1):
        """The record of the event, once so many have come."""
        until = monotonic() + LONG
        with self._news:
            while len(self.records(event)) < count:
                assert "" not in self.log, "".join(self.log)
                assert self._news.wait(until - monotonic()), "".join(self.log)
        return self.records(event)[count - 1]

    def decode(self, body, kind="application/json", **options):
        headers = {"Content-Type": kind}
        return self.client.post("/v1/decode", content=body, headers=headers, params=options)

    def decode_lines(self, text, **options):
        return self.decode(text, "application/x-ndjson", **options)

    def end(self, how=signal.SIGTERM):
        """Ends it and returns its exit code."""
        if self.process.poll() is None and not self.records("end"):
            self.process.send_signal(how)
        code = self.process.wait(LONG)
        self._reader.join(LONG)
        self.client.close()
        self.process.stderr.close()
        return code


@contextmanager
def serving(
    *options, rules=(f"receipt={RULES}",), environment=(), workers=1, prepare=lambda: None, code=0
):
    """A service with these options; it must end with this code. It calls ``prepare`` first."""
    command = [sys.executable, "-m", "lawful", "serve", "--port", "0", "--workers", str(workers)]
    for each in rules:
        command += ["--rules", str(each)]
    process = subprocess.Popen(
        [*command, *map(str, options)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **dict(environment)},
        preexec_fn=prepare,  # noqa: PLW1509 - no other thread holds a lock
    )
    try:
        service = Service(process)
        service.wait_for("ready", workers)
        yield service
        assert service.end() == code, "".join(service.log)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def demo_documents(count):
    """Lines of the first documents that the package ships."""
    import gzip

    with gzip.open(DOCUMENTS) as lines:
        return [next(lines).rstrip() for _ in range(count)]


def decoded_by_command(lines, *options, command="decode", rules=RULES):
    """What the command line writes for these lines, as bytes."""
    found = run(
        command, "-", "--rules", rules, "--quiet", *options, stdin=b"\n".join(lines).decode()
    )
    return found.stdout.encode()


def timeless(text):
    """The same bytes without the seconds that decoding took."""
    return re.sub(rb'"seconds":[-+.e0-9]+', b'"seconds":0', text)
