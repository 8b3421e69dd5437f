"""Logs as JSON lines on standard error; never with a document's text.

A line has ``time``, ``level`` and ``event``, and what the event is about. Messages of exceptions
are left out, because they may quote a document: an exception is its type and its place.
"""

from __future__ import annotations

import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

import msgspec

LOGGER = logging.getLogger("lawful.server")
LONGEST_PATH = 200
"""Characters of a request's path in the log; a longer one is cut off."""


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            line |= place_of(record.exc_info[1])
        return msgspec.json.encode(line).decode()


def start_logs(level: str = "info") -> None:
    """Sends this package's events and uvicorn's to standard error, as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    handler.addFilter(_is_news)
    for name, least in (("lawful.server", level), ("uvicorn.error", "warning")):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(least.upper())
        logger.propagate = False


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a record says something that no other line does: a cut-off answer has its own."""
    return not (record.exc_info and type(record.exc_info[1]).__name__ == "CutOff")


def log(event: str, *, level: int = logging.INFO, **fields: Any) -> None:
    """Writes an event with its fields; those that are ``None`` are left out."""
    found = {name: value for name, value in fields.items() if value is not None}
    LOGGER.log(level, event, extra={"fields": found})


def log_failure(error: BaseException, scope: Any) -> None:
    """Writes an unexpected exception, which is a defect: its type and place, not its message."""
    log(
        "failure",
        level=logging.ERROR,
        id=scope.get("request_id"),
        path=scope["path"][:LONGEST_PATH],
        **place_of(error),
    )


def place_of(error: BaseException) -> dict[str, Any]:
    """The type of an exception, and the lines of code it came through."""
    frames = traceback.extract_tb(error.__traceback__)[-12:]
    return {
        "error": type(error).__name__,
        "at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }
