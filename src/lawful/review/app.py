"""The review's HTTP application: the page, and the API that it talks to.

It listens on this machine only. Everything but the page itself needs the token that is in the
address behind ``#``, which browsers send to nobody; and a ``Host`` of this machine, so that a
website cannot reach it under a name of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar
from urllib.parse import unquote

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lawful.base.errors import LawfulError
from lawful.io.jsonl import encode
from lawful.review.desk import Desk, Unseen
from lawful.review.documents import ChangedInputError
from lawful.review.rows import Verdict
from lawful.review.shelf import NoDocumentError
from lawful.review.store import BusyStoreError, Conflict, FullStoreError, StoreError
from lawful.server.body_limits import BodyLimit, BodyLimits
from lawful.server.problems import HANDLERS, HttpProblem, Problems, busy
from lawful.server.security import LOOPBACK_HOSTS, BearerToken, HostCheck

STATIC = Path(__file__).with_name("static")
LIMITS = BodyLimits(bytes=4 * 2**20)
LONGEST_NAME = 200

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),  # documents stay out of the browser's cache on the disk
    (b"cross-origin-resource-policy", b"same-origin"),
]
_STATUSES: tuple[tuple[type[Exception], int], ...] = (
    (NoDocumentError, 404),
    (ChangedInputError, 410),
    (FullStoreError, 507),
    (StoreError, 500),
    (LawfulError, 422),
)

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]
T = TypeVar("T")


class PinsBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a request for new pins: all of them."""

    base: int
    pins: list[dict[str, Any]]


class ManyBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a request about several documents, each with its last row."""

    documents: list[tuple[int, int]]


class StepBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body of undo and redo."""

    base: int


class VerdictBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a verdict."""

    base: int
    verdict: Verdict | None
    note: str = ""
    seconds: float | None = None
    confirmed: bool = False
    answer: str | None = None


def make_app(desk: Desk, token: str, reviewer: str) -> Any:
    """The application; ``reviewer`` is the name of those who do not say theirs."""
    api = _Api(desk, reviewer)
    one = "/api/documents/{n:int}"
    routes = [
        Route("/", _static("index.html", "text/html; charset=utf-8")),
        Route("/review.js", _static("review.js", "text/javascript; charset=utf-8")),
        Route("/review.css", _static("review.css", "text/css; charset=utf-8")),
        Route("/api/session", api.session),
        Route("/api/queue", api.queue),
        Route("/api/accept", api.accept, methods=["POST"]),
        Route("/api/take-back", api.take_back, methods=["POST"]),
        Route(one, api.document),
        Route(f"{one}/alternatives", api.alternatives),
        Route(f"{one}/pages/{{page:int}}", api.picture),
        Route(f"{one}/pins", api.pins, methods=["POST"]),
        Route(f"{one}/preview", api.preview, methods=["POST"]),
        Route(f"{one}/undo", api.undo, methods=["POST"]),
        Route(f"{one}/redo", api.redo, methods=["POST"]),
        Route(f"{one}/verdict", api.verdict, methods=["POST"]),
    ]
    handlers: Any = {**HANDLERS, LawfulError: _error, Conflict: api.conflict}
    app: ASGIApp = Starlette(routes=routes, exception_handlers=handlers)
    app = BearerToken(BodyLimit(app, LIMITS), token, under="/api/")
    return _Headers(Problems(HostCheck(app, LOOPBACK_HOSTS)))


class _Headers:
    """Middleware: adds the headers that every answer has."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
            await send(message)

        await self._app(scope, receive, with_headers)


class _Api:
    """The routes under ``/api``. The work is done in threads: the page stays responsive."""

    def __init__(self, desk: Desk, reviewer: str) -> None:
        self._desk, self._reviewer = desk, reviewer
        self._ranking = asyncio.Semaphore(1)

    async def session(self, request: Request) -> Response:
        return _json(self._desk.session(self._who(request)))

    async def queue(self, request: Request) -> Response:
        tag = await run_in_threadpool(self._desk.listing_tag)
        language = _language(request)
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers={"ETag": tag})
        return _json(await run_in_threadpool(self._desk.listing, language), headers={"ETag": tag})

    async def document(self, request: Request) -> Response:
        found = await run_in_threadpool(
            self._desk.document, _n(request), _language(request), self._who(request)
        )
        return _json(found)

    async def alternatives(self, request: Request) -> Response:
        # One at a time: they take seconds, and who pins meanwhile must not wait for them.
        async with self._ranking:
            if await request.is_disconnected():  # the reviewer went on to another document
                return Response(status_code=204)
            found = await run_in_threadpool(
                self._desk.alternatives, _n(request), _language(request)
            )
            return _json(found)

    async def picture(self, request: Request) -> Response:
        page = request.path_params["page"]
        found = await run_in_threadpool(self._desk.picture, _n(request), page)
        if found is None:
            raise HttpProblem(404, f"there is no picture of page {page}")
        return Response(found, media_type="image/jpeg")

    async def pins(self, request: Request) -> Response:
        body = await _body(request, PinsBody)
        who = self._who(request)
        return _json(
            await run_in_threadpool(
                self._desk.pin, _n(request), body.base, body.pins, who, _language(request)
            )
        )

    async def preview(self, request: Request) -> Response:
        body = await _body(request, PinsBody)
        return _json(
            await run_in_threadpool(
                self._desk.preview, _n(request), body.base, body.pins, _language(request)
            )
        )

    async def accept(self, request: Request) -> Response:
        return await self._many(request, self._desk.accept_passing)

    async def take_back(self, request: Request) -> Response:
        return await self._many(request, self._desk.take_back)

    async def _many(
        self, request: Request, what: Callable[[list[tuple[int, int]], str], Any]
    ) -> Response:
        body = await _body(request, ManyBody)
        done = await run_in_threadpool(what, body.documents, self._who(request))
        return _json({"documents": done})

    async def undo(self, request: Request) -> Response:
        return await self._step(request, "undo")

    async def redo(self, request: Request) -> Response:
        return await self._step(request, "redo")

    async def _step(self, request: Request, which: Literal["undo", "redo"]) -> Response:
        body = await _body(request, StepBody)
        who = self._who(request)
        return _json(
            await run_in_threadpool(
                self._desk.step, _n(request), body.base, which, who, _language(request)
            )
        )

    async def verdict(self, request: Request) -> Response:
        body = await _body(request, VerdictBody)
        done = await run_in_threadpool(
            self._desk.judge, _n(request), body.base, body.verdict, self._who(request),
            note=body.note, seconds=body.seconds, confirmed=body.confirmed, seen=body.answer,
            language=_language(request),
        )  # fmt: skip
        return _json(done)

    async def conflict(self, request: Request, error: Exception) -> Response:
        """Somebody was faster: the answer has the document as it is now."""
        language = _language(request)
        who = self._who(request)
        document = await run_in_threadpool(self._desk.document, _n(request), language, who)
        return HttpProblem(409, str(error), document=msgspec.Raw(encode(document))).response()

    def _who(self, request: Request) -> str:
        name = unquote(request.headers.get("x-reviewer", "")) or self._reviewer
        if len(name) > LONGEST_NAME or not name.isprintable():
            detail = f"X-Reviewer is no printable name of at most {LONGEST_NAME} characters"
            raise HttpProblem(400, detail)
        return name


def _language(request: Request) -> str:
    return request.headers.get("accept-language", "")


def _n(request: Request) -> int:
    n: int = request.path_params["n"]
    return n


def _json(value: Any, headers: dict[str, str] | None = None) -> Response:
    return Response(encode(value), media_type="application/json", headers=headers)


async def _body(request: Request, kind: type[T]) -> T:
    """The body of a request as one of the structs above."""
    try:
        return msgspec.json.decode(await request.body(), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise HttpProblem(422, str(error)) from None


async def _error(request: Request, error: Exception) -> Response:
    """What cannot be done, and why."""
    del request
    if isinstance(error, BusyStoreError):
        return busy(str(error)).response()
    more: dict[str, Any] = {"unseen": error.violated} if isinstance(error, Unseen) else {}
    status = next(status for kind, status in _STATUSES if isinstance(error, kind))
    return HttpProblem(409 if more else status, str(error), **more).response()


_NOT_BUILT = b"<!doctype html><title>lawful review</title><p>The page is not built: make web"


def _static(name: str, kind: str) -> Handler:
    async def serve(request: Request) -> Response:
        del request
        file = STATIC / name
        if not file.is_file():
            status = 200 if name == "index.html" else 404
            return Response(_NOT_BUILT, status, media_type="text/html; charset=utf-8")
        return Response(file.read_bytes(), headers={"Content-Type": kind})

    return serve
