"""``lawful review`` in a process of its own, and requests to it over the network."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from tests.helpers import ROOT, RULES

OPEN = build_opener(ProxyHandler({})).open  # no proxy is asked for 127.0.0.1


class Server:
    """A running review: its process, and requests to it."""

    def __init__(self, process, address):
        self.process = process
        self.address, _, self.token = address.partition("/#token=")

    def ask(self, path, body=None, reviewer="ada"):
        """The status and the JSON of an answer; a POST if there is a body."""
        request = Request(  # noqa: S310 - our own address
            self.address + path,
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {self.token}", "X-Reviewer": reviewer},
        )
        try:
            with OPEN(request, timeout=120) as answer:
                return answer.status, json.loads(answer.read())
        except HTTPError as error:
            with error:
                return error.code, json.loads(error.read())

    def documents(self):
        """The documents of the queue, once all have been read."""
        while "reading" in (queue := self.ask("/api/queue")[1]):
            time.sleep(0.1)
        return queue["documents"]

    def pin(self, n, base, pins, **who):
        """New pins for a document."""
        return self.ask(f"/api/documents/{n}/pins", {"base": base, "pins": pins}, **who)

    def kill(self):
        """Ends it as a crash would: nothing is said, nothing is closed."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(60)


@contextmanager
def reviewing(documents, db, *options, rules=RULES, **how):
    """A review that is running; interrupted at the end, unless it was killed."""
    command = [
        sys.executable, "-m", "lawful", "review", str(documents), "--db", str(db), "--no-browser",
        *(() if rules is None else ("--rules", str(rules))), *map(str, options),
    ]  # fmt: skip
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, **how)
    said = ""
    try:
        for line in process.stderr:
            said += line
            if line.startswith("open "):
                yield Server(process, line.split()[1])
                break
        else:
            raise AssertionError(said)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.wait(60)
        finally:
            process.kill()
            process.stderr.close()
