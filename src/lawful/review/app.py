"""The review's HTTP application: the page, and the API that it talks to.

It listens on this machine only. Everything but the page itself needs the token that is in the
address behind ``#``, which browsers send to nobody; and a ``Host`` of this machine, so that a
website cannot reach it under a name of its own.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar
from urllib.parse import unquote

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lawful.errors import InputError, LawfulError
from lawful.io.jsonl import encode
from lawful.review.desk import Desk, NoDocumentError, Unseen
from lawful.review.documents import ChangedInputError
from lawful.review.store import (
    BusyStoreError,
    Conflict,
    FullStoreError,
    StoreError,
    Verdict,
)

STATIC = Path(__file__).with_name("static")
MOST_BYTES = 4 * 2**20
"""The largest body of a request."""

LONGEST_NAME = 200
LOCAL = ("127.0.0.1", "localhost", "[::1]")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_STATUSES: tuple[tuple[type[Exception], int, str], ...] = (
    (NoDocumentError, 404, "No such document"),
    (ChangedInputError, 410, "The documents have changed"),
    (FullStoreError, 507, "Not stored"),
    (BusyStoreError, 503, "Not stored"),
    (StoreError, 500, "The reviews cannot be read"),
    (InputError, 422, "Not possible"),
    (LawfulError, 422, "Not possible"),
    (MemoryError, 507, "Not enough memory"),
)

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]
T = TypeVar("T")


class PinsBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a request for new pins: all of them."""

    base: int
    pins: list[dict[str, Any]]


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
        Route(one, api.document),
        Route(f"{one}/alternatives", api.alternatives),
        Route(f"{one}/pages/{{page:int}}", api.picture),
        Route(f"{one}/pins", api.pins, methods=["POST"]),
        Route(f"{one}/undo", api.undo, methods=["POST"]),
        Route(f"{one}/redo", api.redo, methods=["POST"]),
        Route(f"{one}/verdict", api.verdict, methods=["POST"]),
    ]
    handlers: Any = {
        HTTPException: _http_error,
        Conflict: api.conflict,
        Unseen: _unseen,
        **{kind: _error for kind, _, _ in _STATUSES},
    }
    return _Guard(Starlette(routes=routes, exception_handlers=handlers), token)


class _Guard:
    """Checks the ``Host`` and the token, and adds the headers that every answer has."""

    def __init__(self, app: Any, token: str) -> None:
        self._app, self._token = app, token.encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])

        async def guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *(
                        (name.lower().encode(), value.encode())
                        for name, value in _HEADERS.items()
                        if name.lower().encode() not in own
                    ),
                ]
            await send(message)

        refused = None
        if not _is_local(headers.get(b"host", b"").decode("latin-1")):
            refused = problem(421, "Wrong host", "this server answers to 127.0.0.1 and localhost")
        elif scope["path"].startswith("/api/") and not self._knows(headers):
            refused = problem(
                401, "No token", "open the address that lawful review has printed",
                headers={"WWW-Authenticate": "Bearer"},
            )  # fmt: skip
        await (refused or self._app)(scope, receive, guarded)

    def _knows(self, headers: dict[bytes, bytes]) -> bool:
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        right = hmac.compare_digest(token.strip(), self._token)
        return right and scheme.lower() == b"bearer"


def _is_local(host: str) -> bool:
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdigit() else host).lower() in LOCAL


class _Api:
    """The routes under ``/api``. The work is done in threads: the page stays responsive."""

    def __init__(self, desk: Desk, reviewer: str) -> None:
        self._desk, self._reviewer = desk, reviewer

    async def session(self, request: Request) -> Response:
        return _json(self._desk.session(self._who(request)))

    async def queue(self, request: Request) -> Response:
        tag = await run_in_threadpool(self._desk.listing_tag)
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers={"ETag": tag})
        return _json(await run_in_threadpool(self._desk.listing), headers={"ETag": tag})

    async def document(self, request: Request) -> Response:
        return _json(await run_in_threadpool(self._desk.document, _n(request)))

    async def alternatives(self, request: Request) -> Response:
        return _json(await run_in_threadpool(self._desk.alternatives, _n(request)))

    async def picture(self, request: Request) -> Response:
        page = request.path_params["page"]
        found = await run_in_threadpool(self._desk.picture, _n(request), page)
        if found is None:
            return problem(404, "No picture", f"there is no picture of page {page}")
        return Response(found, media_type="image/jpeg")

    async def pins(self, request: Request) -> Response:
        body = await _body(request, PinsBody)
        who = self._who(request)
        done = await run_in_threadpool(self._desk.pin, _n(request), body.base, body.pins, who)
        return _json(done)

    async def undo(self, request: Request) -> Response:
        return await self._step(request, "undo")

    async def redo(self, request: Request) -> Response:
        return await self._step(request, "redo")

    async def _step(self, request: Request, which: Literal["undo", "redo"]) -> Response:
        body = await _body(request, StepBody)
        who = self._who(request)
        return _json(await run_in_threadpool(self._desk.step, _n(request), body.base, which, who))

    async def verdict(self, request: Request) -> Response:
        body = await _body(request, VerdictBody)
        done = await run_in_threadpool(
            self._desk.judge, _n(request), body.base, body.verdict, self._who(request),
            note=body.note, seconds=body.seconds, confirmed=body.confirmed, seen=body.answer,
        )  # fmt: skip
        return _json(done)

    async def conflict(self, request: Request, error: Exception) -> Response:
        """Somebody was faster: the answer has the document as it is now."""
        document = await run_in_threadpool(self._desk.document, _n(request))
        return problem(409, "Changed meanwhile", str(error), document=document)

    def _who(self, request: Request) -> str:
        name = unquote(request.headers.get("x-reviewer", "")) or self._reviewer
        if len(name) > LONGEST_NAME or not name.isprintable():
            raise HTTPException(400, f"a reviewer's name has at most {LONGEST_NAME} characters")
        return name


def _n(request: Request) -> int:
    n: int = request.path_params["n"]
    return n


def _json(value: Any, headers: dict[str, str] | None = None) -> Response:
    return Response(encode(value), media_type="application/json", headers=headers)


async def _body(request: Request, kind: type[T]) -> T:
    """The body of a request as one of the structs above; refused beyond ``MOST_BYTES``."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise HTTPException(413, f"the body has more than {MOST_BYTES:,} bytes")
    try:
        return msgspec.json.decode(bytes(body), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise HTTPException(422, str(error)) from None


def problem(
    status: int, title: str, detail: str, *, headers: dict[str, str] | None = None, **more: Any
) -> Response:
    """An error as ``application/problem+json`` (RFC 9457)."""
    record = {"type": "about:blank", "title": title, "status": status, "detail": detail, **more}
    return Response(encode(record), status, headers=headers, media_type="application/problem+json")


async def _http_error(request: Request, error: Exception) -> Response:
    del request
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for it
    titles = {404: "Not found", 405: "Wrong method", 413: "Too large", 422: "Not as expected"}
    title = titles.get(error.status_code, "Refused")
    return problem(error.status_code, title, error.detail, headers=dict(error.headers or {}))


async def _error(request: Request, error: Exception) -> Response:
    del request
    status, title = next((s, t) for kind, s, t in _STATUSES if isinstance(error, kind))
    return problem(status, title, str(error))


async def _unseen(request: Request, error: Exception) -> Response:
    del request
    assert isinstance(error, Unseen)  # noqa: S101 - registered for it
    return problem(409, "Rules are broken", str(error), unseen=error.violated)


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
