"""The service of one process: its state, its requests, and the layers around them."""

from __future__ import annotations

import asyncio
import codecs
import logging
import sys
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from importlib.metadata import version
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.datastructures import QueryParams
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Scope

from lawful.base.errors import LawfulError
from lawful.server.access_log import AccessLog
from lawful.server.body_limits import BodyLimit, BodyLimits, too_long
from lawful.server.candidates import ChooseWork, GroundWork
from lawful.server.extraction import FILE, ExtractWork, Models, file_part
from lawful.server.file_reading import FileReading, Tell
from lawful.server.job_runner import JOBS, JobRunner
from lawful.server.jobs import Jobs
from lawful.server.lifecycle import Drain, Draining
from lawful.server.logs import log
from lawful.server.messages import (
    CheckForm,
    ChooseForm,
    DecodeForm,
    ExtractForm,
    GroundForm,
    form_of,
    form_of_query,
)
from lawful.server.metrics import Metrics
from lawful.server.openapi import openapi
from lawful.server.pages import api_page, page_response, welcome
from lawful.server.problems import HANDLERS, HttpProblem, Problems, busy
from lawful.server.reader_process import HowToRead
from lawful.server.rule_book import LONGEST_INLINE, RuleBook, description_of, parsed
from lawful.server.security import BearerToken, HostCheck, headers_of
from lawful.server.settings import Settings
from lawful.server.streaming import MEDIA_TYPE as NDJSON
from lawful.server.streaming import LineStream
from lawful.server.uploads import FILES, FORM, Upload, file_of, parts_of
from lawful.server.work import Answer, CheckWork, DecodeWork, FileWork, Work
from lawful.server.worker_pool import WorkerPool

VERSION = version("lawful")

PAGES = ("/", "/docs")
"""Paths of pages that say what the API is, and nothing else: they need no token."""

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
        self._body = BodyLimits(settings.max_bytes, settings.body_seconds)
        kept = None if settings.cache is None else str(settings.cache)
        how = HowToRead(settings.file_seconds, settings.max_pages, kept, settings.warm)
        self._reading = FileReading(how, settings.readers)
        self.drain = Drain(settings.drain_seconds, self._stop)
        self._metrics = Metrics()
        self._pool = WorkerPool(settings.concurrency, settings.waiting, self._metrics.waiting)
        self._models = Models(settings.model)
        api = openapi(settings, VERSION)
        self._openapi = msgspec.json.encode(api)
        self._api = api
        self._docs = api_page(api)
        self._jobs: Jobs | None = None
        if settings.jobs is not None:
            slow = HowToRead(settings.job_seconds, settings.job_pages, kept)
            self._jobs = Jobs(settings.jobs)
            self._runner = JobRunner(
                self._jobs, self._job_work, FileReading(slow, 1), self._pool, self.drain,
                partial(self._metrics.answered, JOBS),
            )  # fmt: skip
        if settings.model is not None or settings.warm:
            self._load_models()
        if settings.warm:
            self._reading.warm_up()

    def begin(self) -> None:
        """Begins with jobs that an earlier process has left. To be called in the event loop."""
        if self._jobs is not None:
            self._runner.begin()

    def _stop(self) -> None:
        """Ends what reads files."""
        self._reading.stop()
        if self._jobs is not None:
            self._runner.stop()

    def _load_models(self) -> None:
        if self.settings.by_kind and not self._models.is_named:
            self._models.load(None)
            return
        for entry in self.book.entries.values():
            self._models.load(entry.rules)

    def app(self) -> ASGIApp:
        """The application, with all its layers."""
        handlers: dict[str, tuple[str, Callable[[Request], Awaitable[Response]]]] = {
            "/": ("GET", self.welcome),
            "/docs": ("GET", self.docs),
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
            "/v1/jobs/{id}": ("GET DELETE", self.job),
            "/v1/choose": ("POST", self.choose),
            "/v1/ground": ("POST", self.ground),
        }
        routes = [Route(path, do, methods=how.split()) for path, (how, do) in handlers.items()]
        app: ASGIApp = Starlette(routes=routes, exception_handlers=dict(HANDLERS))
        app = BodyLimit(app, self._body, is_stream)
        app = Draining(app, self.drain)
        if self.settings.token is not None:
            app = BearerToken(app, self.settings.token, (*PROBES, *PAGES))
        if self.settings.hosts is not None:
            app = HostCheck(app, self.settings.hosts, PROBES)
        app = Problems(app)
        if self.settings.origins:  # around problems, too: a page cannot read them otherwise
            app = CORSMiddleware(
                app,
                allow_origins=self.settings.origins,
                allow_methods=["GET", "POST", "DELETE"],
                allow_headers=["Authorization", "Content-Type", "Prefer", "X-Request-Id"],
                expose_headers=["Location", "X-Request-Id", "Retry-After"],
            )
        return AccessLog(app, self._metrics, handlers, PROBES)

    async def welcome(self, request: Request) -> Response:
        """What this is, for a browser or a terminal."""
        url = f"{request.url.scheme}://{request.url.netloc}"
        names = list(self.book.entries) if self.settings.token is None else []
        html, text = welcome(self._api, url, names, self.settings.by_kind)
        if "text/html" in request.headers.get("accept", ""):
            return page_response(html)
        return Response(text, media_type="text/plain")

    async def docs(self, _: Request) -> Response:
        """The description of the API, to read."""
        return page_response(self._docs)

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
        self._pool.check()
        content = await _body_of(request)
        if len(content) > LONGEST_INLINE:  # it is parsed in Python, which takes its time
            raise too_long(LONGEST_INLINE)
        rules = await self._pool.run(partial(parsed, content, kind))
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
        form = form_of(request, ExtractForm)
        work = ExtractWork(self.settings, self.book, form, self._models, self._reading)
        if "respond-async" in request.headers.get("prefer", "").lower():
            return await self._begin_job(request)
        return await self._answer(request, work, work, *FILES)

    def _job_work(self, query: str, tell: Tell) -> ExtractWork:
        """The work of a job; raises a problem if its options can no longer be used."""
        form = form_of_query(QueryParams(query), ExtractForm)
        reading = self._runner.reading
        return ExtractWork(self.settings, self.book, form, self._models, reading, tell)

    async def _begin_job(self, request: Request) -> Response:
        """Takes a file that is extracted later, and says where its answer will be."""
        jobs = self._running_jobs()
        kind = media_type(request.scope)
        if kind not in (FORM, *FILES):
            raise _unsupported((FORM, *FILES))
        parts = uploads_of(request.scope, await _body_of(request))
        file = file_part(parts)
        file.suffix  # noqa: B018 - raises a problem if no such file can be read
        name = await asyncio.to_thread(jobs.add, request.url.query, file)
        self._runner.begin()
        headers = {"Location": f"{JOBS}/{name}", "Preference-Applied": "respond-async"}
        return _json(await asyncio.to_thread(jobs.find, name), 202, headers)

    async def job(self, request: Request) -> Response:
        """How far a job is, and its answer; or cancels it, or forgets its answer."""
        jobs, name = self._running_jobs(), request.path_params["id"]
        if request.method == "DELETE":
            await asyncio.to_thread(jobs.remove, name)
            return Response(status_code=204)
        return _json(await asyncio.to_thread(jobs.find, name))

    def _running_jobs(self) -> Jobs:
        if self._jobs is None:
            raise HttpProblem(501, "jobs need a service that was started with --jobs FILE")
        return self._jobs

    async def choose(self, request: Request) -> Response:
        """Chooses among candidates per field."""
        form = form_of(request, ChooseForm)
        work = ChooseWork(self.settings, self.book, form, self._reading)
        return await self._answer(request, work, work)

    async def ground(self, request: Request) -> Response:
        """Finds the words of values on a page."""
        form = form_of(request, GroundForm)
        work = GroundWork(self.settings, self.book, form, self._reading)
        return await self._answer(request, work, work)

    async def _answer(
        self, request: Request, work: Work, of_files: FileWork | None = None, *files: str
    ) -> Response:
        """The answer to documents; ``of_files`` answers forms, and files of these types."""
        kind = media_type(request.scope)
        others = () if of_files is None else (FORM, *files)
        count = partial(self._metrics.answered, request.url.path)
        self._pool.check()
        if kind in LINES:
            self._pool.check_stream()
            return LineStream(work, self._pool, self._body, self.drain, count)
        if kind not in ("application/json", *others):
            raise _unsupported(("application/json", NDJSON, *others))
        text = await _body_of(request)
        if not text:
            raise HttpProblem(422, "the body is empty, expected a document")
        if of_files is not None and kind in others:
            size = sys.maxsize  # reading a file is no small work
            run = partial(of_files.of_parts, uploads_of(request.scope, text))
        else:
            text = text.removeprefix(codecs.BOM_UTF8)
            size, run = len(text), partial(work, 1, text)
        self._pool.check(size)
        try:
            answer = await self._pool.run(run, size)
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
            self.take(
                await asyncio.to_thread(RuleBook.load, self.settings.rules, self.settings.trust)
            )
        except LawfulError as error:
            log("reload refused", level=logging.ERROR, detail=str(error))

    def take(self, book: RuleBook) -> None:
        """Takes other rules."""
        self.book = book
        log("reload", rules={name: entry.hash for name, entry in book.entries.items()})


def media_type(scope: Scope) -> str:
    """The media type of a body, in lower case and without parameters."""
    given = headers_of(scope, b"content-type")
    return given[0].partition(b";")[0].strip().lower().decode("latin-1") if given else ""


def uploads_of(scope: Scope, body: bytes) -> dict[str, Upload]:
    """The parts of a form; a file that is the whole body is its part ``file``."""
    kind = media_type(scope)
    if kind == FORM:
        return parts_of(body, headers_of(scope, b"content-type")[0])
    said = headers_of(scope, b"content-disposition")
    return {FILE: file_of(body, kind, said[0] if said else None)}


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
        "/v1/choose",
        "/v1/ground",
    )


def _unsupported(expected: tuple[str, ...]) -> HttpProblem:
    return HttpProblem(415, f"unknown Content-Type, expected one of {', '.join(expected)}")


def _json(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(value), status, headers, "application/json")
