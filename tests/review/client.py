"""The review's application in this process: a desk over documents, and requests to it."""

from __future__ import annotations

import asyncio
import json
from typing import NamedTuple

from lab import receipts as demo
from lawful import Rules
from lawful.review.app import make_app
from lawful.review.desk import Desk
from lawful.review.documents import Documents
from lawful.review.pictures import Pictures
from lawful.review.queue import Queue
from lawful.review.serving import shared
from lawful.review.store import Store

TOKEN = "t" * 32


class Answer(NamedTuple):
    """What came back from the application."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self):
        """The body as plain values."""
        return json.loads(self.body)


class Client:
    """Sends requests to an ASGI application, without a network."""

    def __init__(self, app):
        self._app = app

    def send(self, method, path, body=None, *, headers=None, reviewer="ada"):
        """Sends a request; a body that is no bytes goes as JSON."""
        given = {
            "host": "127.0.0.1:80", "authorization": f"Bearer {TOKEN}", "x-reviewer": reviewer,
        }  # fmt: skip
        given |= headers or {}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        scope = {
            "type": "http", "http_version": "1.1", "method": method, "path": path,
            "raw_path": path.encode(), "query_string": b"", "scheme": "http", "root_path": "",
            "headers": [(k.encode(), v.encode("latin-1")) for k, v in given.items() if v],
        }  # fmt: skip
        sent = []
        incoming = iter([{"type": "http.request", "body": body or b"", "more_body": False}])

        async def receive():
            return next(incoming, {"type": "http.disconnect"})

        async def send(message):
            sent.append(message)

        asyncio.run(self._app(scope, receive, send))
        head = {k.decode(): v.decode() for k, v in sent[0]["headers"]}
        return Answer(sent[0]["status"], head, b"".join(m.get("body", b"") for m in sent[1:]))

    def get(self, path, **how):
        """A GET request."""
        return self.send("GET", path, **how)

    def post(self, path, body, **how):
        """A POST request with a body in JSON."""
        return self.send("POST", path, body, **how)


def desk_of(path, db, rules=None, images=None, folders=()):
    """A desk over a file of documents; its queue is not started."""
    common = shared(rules or Rules.load(demo.RULES), "rules")
    documents = Documents.open(str(path))
    queue = Queue(documents, common.sets)
    return Desk(documents, Store(db), common, Pictures(folders, images), queue)


def client_of(desk):
    """Requests to the application of a desk."""
    return Client(make_app(desk, TOKEN, "somebody"))
