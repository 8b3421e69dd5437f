"""The service of one process: its state, its requests, and the layers around them."""

from __future__ import annotations

import asyncio
import codecs
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from importlib.metadata import version
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Scope

from lawful.errors import RulesError
from lawful.server.extraction import FILES, ExtractWork, FileReading, Model
from lawful.server.gate import Gate
from lawful.server.limits import BodyLimit, too_long
from lawful.server.logs import log
from lawful.server.messages import CheckForm, DecodeForm, ExtractForm, form_of
from lawful.server.metrics import Metrics
from lawful.server.observed import Observed
from lawful.server.openapi import openapi
from lawful.server.problems import HANDLERS, HttpProblem, Problems, busy
from lawful.server.rule_book import LONGEST_INLINE, RuleBook, description_of, parsed
from lawful.server.running import Drain, Draining
from lawful.server.security import BearerToken, HostCheck, headers_of
from lawful.server.settings import Settings
from lawful.server.streaming import MEDIA_TYPE as NDJSON
from lawful.server.streaming import LineStream
from lawful.server.work import Answer, CheckWork, DecodeWork, Work

VERSION = version("lawful")

PROBES = ("/health", "/ready")
"""Paths that are never limited, logged, or closed by a token."""

LINES = (NDJSON, "application/jsonl", "application/x-jsonlines", "application/jsonlines")
RULE_TYPES = {
    "application/yaml": "yaml",
    "application/x-yaml": "yaml",
    "text/yaml": "yaml",
    "application/toml": "toml",
    "application/json": "json",
}
"""Media types of rule files."""


class Service:
    """The rules, the threads and the counts of a process, and what requests do with them."""

    def __init__(self, settings: Settings, book: RuleBook) -> None:
        self.settings = settings
        self.book = book
        self._reading = FileReading()
        self.drain = Drain(settings.drain_seconds, self._reading.stop)
        self._metrics = Metrics()
        self._gate = Gate(settings.concurrency, settings.waiting, self._metrics.waiting)
        self._model = Model(settings.model)
        self._openapi = msgspec.json.encode(openapi(settings, VERSION))
        if settings.model is not None:
            self._model.load()

    def app(self) -> ASGIApp:
        """The application, with all its layers."""
        handlers: dict[str, tuple[str, Callable[[Request], Awaitable[Response]]]] = {
            "/health": ("GET", self.health),
            "/ready": ("GET", self.ready),
            "/version": ("GET", self.version),
            "/metrics": ("GET", self.metrics),
            "/openapi.json": ("GET", self.openapi),
            "/v1/rules": ("GET", self.list_rules),
            "/v1/rules/validate": ("POST", self.validate),
            "/v1/decode": ("POST", self.decode),
            "/v1/check": ("POST", self.check),
            "/v1/extract": ("POST", self.extract),
        }
        routes = [Route(path, do, methods=[method]) for path, (method, do) in handlers.items()]
        app: ASGIApp = Starlette(routes=routes, exception_handlers=dict(HANDLERS))
        app = BodyLimit(app, self.settings.body, is_stream)
        app = Draining(app, self.drain)
        if self.settings.token is not None:
            app = BearerToken(app, self.settings.token, PROBES)
        if self.settings.hosts is not None:
            app = HostCheck(app, self.settings.hosts, PROBES)
        app = Problems(app)
        if self.settings.origins:  # around problems, too: a page cannot read them otherwise
            app = CORSMiddleware(
                app,
                allow_origins=self.settings.origins,
                allow_methods=["GET", "POST"],
                allow_headers=["Authorization", "Content-Type", "X-Request-Id"],
                expose_headers=["X-Request-Id", "Retry-After"],
            )
        return Observed(app, self._metrics, handlers, PROBES)

    async def health(self, _: Request) -> Response:
        """The process runs."""
        return _json({"status": "ok"})

    async def ready(self, _: Request) -> Response:
        """The rules are compiled, the model is loaded if it was named, and the end is not near."""
        if self.drain.begun:
            raise busy("the service ends")
        return _json({"status": "ready"})

    async def version(self, _: Request) -> Response:
        """The version of lawful."""
        return _json({"version": VERSION})

    async def metrics(self, _: Request) -> Response:
        """All counts, for Prometheus."""
        text = await asyncio.to_thread(self._metrics.text)
        return Response(text, media_type=self._metrics.media_type)

    async def openapi(self, _: Request) -> Response:
        """The description of the API."""
        return Response(self._openapi, media_type="application/json")

    async def list_rules(self, _: Request) -> Response:
        """The rules of the service."""
        return _json({"rules": self.book.describe()})

    async def validate(self, request: Request) -> Response:
        """Whether a rule file is valid: its fields and rules, or where it is wrong."""
        form_of(request, msgspec.defstruct("NoOptions", [], forbid_unknown_fields=True))
        kind = RULE_TYPES.get(media_type(request.scope))
        if kind is None:
            raise _unsupported(tuple(RULE_TYPES))
        self._gate.check()
        content = await _body_of(request)
        if len(content) > LONGEST_INLINE:  # it is parsed in Python, which takes its time
            raise too_long(LONGEST_INLINE)
        rules = await self._gate.run(partial(parsed, content, kind))
        return _json(description_of(rules))

    async def decode(self, request: Request) -> Response:
        """Decodes one document, or a stream of them."""
        form = form_of(request, DecodeForm)
        return await self._answer(request, DecodeWork(self.settings, self.book, form))

    async def check(self, request: Request) -> Response:
        """Judges the labels of one document, or of a stream of them."""
        form = form_of(request, CheckForm)
        return await self._answer(request, CheckWork(self.settings, self.book, form))

    async def extract(self, request: Request) -> Response:
        """Decodes a file, or a document without scores, with the model of the service."""
        kind = media_type(request.scope)
        form = form_of(request, ExtractForm)
        work = ExtractWork(self.settings, self.book, form, self._model, self._reading, kind)
        return await self._answer(request, work, *FILES)

    async def _answer(self, request: Request, work: Work, *others: str) -> Response:
        """The answer to a body of documents; ``others`` are further media types of one document."""
        kind = media_type(request.scope)
        count = partial(self._metrics.answered, request.url.path)
        self._gate.check()
        if kind in LINES:
            self._gate.check_stream()
            return LineStream(work, self._gate, self.settings.body, self.drain, count)
        if kind not in ("application/json", *others):
            raise _unsupported(("application/json", NDJSON, *others))
        text = (await _body_of(request)).removeprefix(codecs.BOM_UTF8)
        if not text:
            raise HttpProblem(422, "the body is empty, expected a document")
        self._gate.check()
        try:
            answer = await self._gate.run(partial(work, 1, text))
        except HttpProblem as problem:
            count(Answer(b"", "error"))
            if kind == "application/json" and _has_lines(text):
                problem.detail += f"; several documents, one per line, are sent as {NDJSON}"
            raise
        count(answer)
        return Response(answer.body, media_type="application/json")

    async def reload(self) -> None:
        """Loads all rules again, and takes them if they all load; running requests keep theirs."""
        try:
            self.take(await asyncio.to_thread(RuleBook.load, self.settings.rules))
        except RulesError as error:
            log("reload refused", level=logging.ERROR, detail=str(error))

    def take(self, book: RuleBook) -> None:
        """Takes other rules."""
        self.book = book
        log("reload", rules={name: entry.hash for name, entry in book.entries.items()})


def media_type(scope: Scope) -> str:
    """The media type of a body, in lower case and without parameters."""
    given = headers_of(scope, b"content-type")
    return given[0].partition(b";")[0].strip().lower().decode("latin-1") if given else ""


async def _body_of(request: Request) -> bytes:
    try:
        return await request.body()
    except ClientDisconnect:
        raise HttpProblem(400, "the body broke off") from None


def _has_lines(text: bytes) -> bool:
    """Whether a body is lines of JSON, and not one object on several lines."""
    first, _, rest = text.strip().partition(b"\n")
    try:
        return bool(rest) and isinstance(msgspec.json.decode(first), dict)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def is_stream(scope: Scope) -> bool:
    """Whether a body is a stream of lines, which has limits of its own."""
    return media_type(scope) in LINES and scope["path"] in (
        "/v1/decode",
        "/v1/check",
        "/v1/extract",
    )


def _unsupported(expected: tuple[str, ...]) -> HttpProblem:
    return HttpProblem(415, f"unknown Content-Type, expected one of {', '.join(expected)}")


def _json(value: Any) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")
