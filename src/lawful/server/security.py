"""Who may ask: a bearer token, the ``Host`` header, and where a service may listen without one."""

from __future__ import annotations

import hmac
import os
from collections.abc import Collection, Iterable
from ipaddress import ip_address
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from lawful.base.errors import InputError
from lawful.server.problems import HttpProblem

TOKEN_VARIABLE = "LAWFUL_TOKEN"  # noqa: S105 - the name of the variable
SHORTEST_TOKEN = 16
_MAX_TOKEN_BYTES = 4096


def find_token(file: Path | None) -> str | None:
    """The token of a file, or that of the environment variable; ``None`` if there is neither."""
    if file is None:
        where, text = TOKEN_VARIABLE, os.environ.get(TOKEN_VARIABLE, "")
        if not text:
            return None
    else:
        where = str(file)
        try:
            with file.open("rb") as opened:
                text = opened.read(_MAX_TOKEN_BYTES).decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8"
            raise InputError(f"cannot read the token file {file}: {reason}") from None
    token = text.strip()
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable():
        raise InputError(
            f"the token of {where} has {len(token)} characters, expected at least "
            f"{SHORTEST_TOKEN}, all of them printable ASCII"
        )
    return token


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a service that listens at this address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def check_address(host: str, token: str | None) -> None:
    """Raises an ``InputError`` if others could use the service without a token."""
    if token is None and not is_loopback(host):
        raise InputError(
            f"refusing to listen at {host} without a token, because others can reach it: set "
            f"{TOKEN_VARIABLE} or --token-file, or listen at 127.0.0.1"
        )


class BearerToken:
    """Middleware: 401 unless ``Authorization: Bearer TOKEN`` is right, compared in constant time.

    Requests to ``open_paths`` need none; with ``under``, only paths below it do.
    """

    def __init__(
        self, app: ASGIApp, token: str, open_paths: Collection[str] = (), *, under: str = "/"
    ) -> None:
        self._app = app
        self._expected = token.encode()
        self._open_paths = frozenset(open_paths)
        self._under = under

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Runs the application if the token is right."""
        path = scope.get("path", "")
        if (
            scope["type"] == "http"
            and path not in self._open_paths
            and path.startswith(self._under)
            and not self._is_right(scope)
        ):
            detail = "the header Authorization: Bearer TOKEN is missing or wrong"
            raise HttpProblem(401, detail, headers={"WWW-Authenticate": "Bearer"})
        await self._app(scope, receive, send)

    def _is_right(self, scope: Scope) -> bool:
        given = headers_of(scope, b"authorization")
        scheme, _, token = (given[0] if len(given) == 1 else b"").partition(b" ")
        right = hmac.compare_digest(token.strip(), self._expected)
        return right and scheme.lower() == b"bearer"


class HostCheck:
    """Middleware: 421 unless ``Host`` names this service, so that no web page can reach it.

    A page whose name is made to point at 127.0.0.1 could otherwise talk to a service that needs no
    token, as its own origin. ``hosts`` are names without a port; any port is accepted, because
    containers and tunnels map them.
    """

    def __init__(
        self, app: ASGIApp, hosts: Iterable[str], open_paths: Collection[str] = ()
    ) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)
        self._open_paths = frozenset(open_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Runs the application if the header names it."""
        if scope["type"] == "http" and scope["path"] not in self._open_paths:
            given = headers_of(scope, b"host")
            if len(given) != 1 or host_name(given[0]) not in self._hosts:
                raise HttpProblem(421, "the header Host does not name this service")
        await self._app(scope, receive, send)


LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "[::1]")


def host_name(header: bytes) -> str:
    """The name of a ``Host`` header, in lower case and without the port."""
    text = header.decode("latin-1").strip().lower()
    name, colon, port = text.rpartition(":")
    return name if colon and port.isdigit() else text


def headers_of(scope: Scope, name: bytes) -> list[bytes]:
    """All values of a header."""
    return [value for each, value in scope["headers"] if each == name]
