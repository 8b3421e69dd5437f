"""Errors as problem+json (RFC 9457): what was found, what was expected, and where."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, ExceptionHandler, Message, Receive, Scope, Send

from lawful.server.logs import log_failure

MEDIA_TYPE = "application/problem+json"


class HttpProblem(Exception):  # noqa: N818 - RFC 9457 calls it a problem
    """A request that cannot be answered, with the status and the reason that the client gets.

    ``more`` are further members of the answer, such as ``line`` and ``column`` of a wrong rule.
    """

    def __init__(
        self, status: int, detail: str, *, headers: Mapping[str, str] | None = None, **more: Any
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})
        self.more = more

    def to_dict(self) -> dict[str, Any]:
        """The members of the answer; those without a value are left out."""
        found = {name: value for name, value in self.more.items() if value is not None}
        title = HTTPStatus(self.status).phrase
        return {
            "type": "about:blank", "title": title, "status": self.status, "detail": self.detail,
            **found,
        }  # fmt: skip

    def response(self) -> Response:
        """The answer."""
        body = msgspec.json.encode(self.to_dict())
        return Response(body, self.status, self.headers, MEDIA_TYPE)


def busy(detail: str, *, seconds: int = 1) -> HttpProblem:
    """503 with ``Retry-After``: the same request may succeed later."""
    return HttpProblem(503, detail, headers={"Retry-After": str(seconds)})


async def _answer(_: Request, error: Exception) -> Response:
    if isinstance(error, HttpProblem):
        return error.response()
    if isinstance(error, HTTPException):  # such as 404 and 405
        return HttpProblem(error.status_code, error.detail, headers=error.headers).response()
    return DEFECT.response()


DEFECT = HttpProblem(500, "a defect of the service; its log says where")

HANDLERS: Mapping[Any, ExceptionHandler] = dict.fromkeys(
    (HttpProblem, HTTPException, Exception), _answer
)
"""Exception handlers of Starlette applications, whose exceptions all become problems."""


class CutOff(Exception):  # noqa: N818 - it ends a connection
    """The answer has begun and cannot be finished; the server closes the connection."""


class Problems:
    """Middleware around all that raise: exceptions become problems, none reaches the server's log.

    An unexpected one becomes a 500 that says nothing about it, and a line of the log with its type
    and place but without its message, which may quote a document. If the answer has already begun,
    the connection is cut off, so that the client sees that it is not whole.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Runs the application."""
        begun = complete = False

        async def watched(message: Message) -> None:
            nonlocal begun, complete
            await send(message)
            begun = True
            complete = message["type"] == "http.response.body" and not message.get("more_body")

        try:
            await self._app(scope, receive, watched)
        except Exception as error:
            problem = error if isinstance(error, HttpProblem) else DEFECT
            if problem is DEFECT and not isinstance(error, CutOff):
                log_failure(error, scope)
            if not begun:
                await problem.response()(scope, receive, send)
            elif not complete:
                raise CutOff from None
