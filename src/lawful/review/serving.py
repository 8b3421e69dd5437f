"""Starting a review: from files and options to a page in the browser."""

from __future__ import annotations

import os
import secrets
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import lawful
from lawful.base.extras import needed
from lawful.io.jsonl import encode
from lawful.learn.trust import Trust
from lawful.review.answer import RuleSets
from lawful.review.desk import Desk, Shared
from lawful.review.documents import Documents
from lawful.review.learning import Learner
from lawful.review.needed import COSTS, Costs
from lawful.review.pictures import Pictures
from lawful.review.queue import Queue
from lawful.review.store import Store
from lawful.rules.rule_set import Rules
from lawful.rules.to_file import rules_data

HOST = "127.0.0.1"
DRAIN_SECONDS = 2.0


def hash_of_rules(rules: Rules, python: Path | None = None) -> str:
    """A hash of what rules say, whatever their file looks like, and of their Python file."""
    # Neither words for people nor what decides who looks at a document change an answer.
    plain = [replace(rule, message=None) for rule in rules.rules if isinstance(rule.check, str)]
    parts = [encode(_sortable(rules_data(replace(rules, rules=tuple(plain), needs=()))))]
    parts += [] if python is None else [python.read_bytes()]
    return sha256(b"\0".join(parts)).hexdigest()[:32]


def _sortable(data: Any) -> Any:
    """Plain values with what JSON cannot say as text."""
    if isinstance(data, dict):
        return {str(key): _sortable(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_sortable(value) for value in data]
    return data if isinstance(data, str | int | bool | None) else repr(data)


def shared(rules: Rules | RuleSets, name: str, python: Path | None = None) -> Shared:
    """What all documents of a review have in common."""
    sets = {"": rules} if isinstance(rules, Rules) else rules
    hashes = [hash_of_rules(each, python) for each in sets.values()]
    whole = hashes[0] if len(hashes) == 1 else sha256("".join(hashes).encode()).hexdigest()[:32]
    return Shared(sets, whole, name, lawful.__version__)


@contextmanager
def open_desk(
    documents: Documents,
    store: Store,
    common: Shared,
    pictures: Pictures,
    *,
    trust: Trust | None = None,
    costs: Costs = COSTS,
    learner: Learner | None = None,
) -> Iterator[Desk]:
    """A desk whose queue is being filled; closed when the block ends."""
    workers = max(1, min(4, (os.cpu_count() or 1) - 1))
    queue = Queue(documents, common.sets, workers=workers, trust=trust, costs=costs)
    desk = Desk(documents, store, common, pictures, queue, learner)
    documents.start()
    queue.start()
    if learner is not None:
        learner.start(documents, store, common.rules_hash, queue.again)
    pictures.draw_ahead(documents.pictured)
    try:
        yield desk
    finally:
        desk.close()


def check_extra() -> None:
    """Raises a ``MissingExtraError`` unless what serves the page is installed."""
    for module in ("uvicorn", "starlette"):
        needed(module, "lawful review")


def serve(
    desk: Desk, reviewer: str, *, port: int = 0, ready: Callable[[str], None], browser: bool = True
) -> None:
    """Serves the page until it is interrupted; ``ready`` is called with its address."""
    from lawful.review.app import make_app
    from lawful.server.lifecycle import Drain, address_of, bind, run_app
    from lawful.server.logs import start_logs

    start_logs("warning")
    token = secrets.token_urlsafe(24)
    with bind(HOST, port) as listener:
        # Behind #, the token is sent to nobody, not even to this server's log.
        address = f"{address_of(listener)}/#token={token}"

        def begin(_: object) -> None:
            ready(address)
            if browser:
                webbrowser.open(address)

        run_app(make_app(desk, token, reviewer), listener, Drain(DRAIN_SECONDS), on_start=begin)
