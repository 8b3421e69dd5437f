"""Starting a review: from files and options to a page in the browser."""

from __future__ import annotations

import os
import secrets
import socket
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import lawful
from lawful.errors import InputError
from lawful.extras import needed
from lawful.io.jsonl import encode
from lawful.review.desk import Desk, Shared
from lawful.review.documents import Documents
from lawful.review.pictures import Pictures
from lawful.review.queue import Queue
from lawful.review.store import Store
from lawful.rules.rule_set import Rules
from lawful.rules.writing import rules_data

HOST = "127.0.0.1"


def hash_of_rules(rules: Rules, python: Path | None = None) -> str:
    """A hash of what rules say, whatever their file looks like, and of their Python file."""
    plain = [rule for rule in rules.rules if isinstance(rule.check, str)]
    parts = [encode(_sortable(rules_data(replace(rules, rules=tuple(plain)))))]
    parts += [] if python is None else [python.read_bytes()]
    return sha256(b"\0".join(parts)).hexdigest()[:32]


def _sortable(data: Any) -> Any:
    """Plain values with what JSON cannot say as text."""
    if isinstance(data, dict):
        return {str(key): _sortable(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_sortable(value) for value in data]
    return data if isinstance(data, str | int | bool | None) else repr(data)


def shared(rules: Rules, name: str, python: Path | None = None) -> Shared:
    """What all documents of a review have in common."""
    return Shared(rules, hash_of_rules(rules, python), name, lawful.__version__)


@contextmanager
def open_desk(
    documents: Documents, store: Store, common: Shared, pictures: Pictures
) -> Iterator[Desk]:
    """A desk whose queue is being filled; closed when the block ends."""
    workers = max(1, min(4, (os.cpu_count() or 1) - 1))
    queue = Queue(documents, common.rules, workers=workers)
    queue.start()
    desk = Desk(documents, store, common, pictures, queue)
    try:
        yield desk
    finally:
        desk.close()


def serve(
    desk: Desk, reviewer: str, *, port: int = 0, ready: Callable[[str], None], browser: bool = True
) -> None:
    """Serves the page until it is interrupted; ``ready`` is called with its address."""
    uvicorn = needed("uvicorn", "lawful review")
    needed("starlette", "lawful review")
    from lawful.review.app import make_app

    token = secrets.token_urlsafe(24)
    with _listening(port) as listener:
        address = f"http://{HOST}:{listener.getsockname()[1]}/#token={token}"
        config = uvicorn.Config(
            make_app(desk, token, reviewer),
            log_level="warning", access_log=False, server_header=False, lifespan="off",
            timeout_graceful_shutdown=3,
        )  # fmt: skip
        ready(address)
        if browser:
            webbrowser.open(address)
        uvicorn.Server(config).run(sockets=[listener])


@contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    """A socket that listens on this machine only; port 0 is any that is free."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except (OSError, OverflowError) as error:
            raise InputError(f"cannot listen on port {port}: {error}") from None
        yield listener
