"""Counts for Prometheus: requests, seconds, documents by status, words, proofs, work in flight.

With several processes, each writes its counts to files of a folder that all share, and the one that
is asked adds them up; ``share_metrics`` must come before the first import of this module.
"""

from __future__ import annotations

import os
from typing import Any

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Summary,
    generate_latest,
    multiprocess,
)

from lawful.server.work import Answer

_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """The counts of a process."""

    media_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        more: dict[str, Any] = {"registry": self._registry}
        self._requests = Counter(
            "lawful_requests", "Requests by path and status.", ["path", "status"], **more
        )
        self._seconds = Histogram(
            "lawful_request_seconds", "Duration of requests.", ["path"], buckets=_SECONDS, **more
        )
        self._documents = Counter(
            "lawful_documents", "Documents by status; error: unusable.", ["path", "status"], **more
        )
        self._words = Counter("lawful_words", "Words of the documents answered.", **more)
        self._proven = Counter(
            "lawful_documents_proven", "Documents whose answer is proven optimal.", **more
        )
        self._trust = Summary(
            "lawful_trust", "Trust in the documents answered, by rules.", ["rules"], **more
        )
        self._passed = Counter(
            "lawful_documents_passed", "Documents that pass, by rules.", ["rules"], **more
        )
        self._in_flight = Gauge(
            "lawful_requests_in_flight", "Requests that are being answered.",
            multiprocess_mode="livesum", **more,
        )  # fmt: skip
        self._waiting = Gauge(
            "lawful_work_waiting", "Pieces of work that wait for a thread.",
            multiprocess_mode="livesum", **more,
        )  # fmt: skip

    def waiting(self, count: int) -> None:
        """Takes the number of pieces of work that wait, whenever it changes.

        A function to ask for it would not do: another process is not asked when this one is.
        """
        self._waiting.set(count)

    def began(self) -> None:
        """Counts a request that has begun."""
        self._in_flight.inc()

    def ended(self, path: str, status: int, seconds: float) -> None:
        """Counts a request that has ended."""
        self._in_flight.dec()
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def answered(self, path: str, answer: Answer) -> None:
        """Counts a document."""
        self._documents.labels(path, answer.status).inc()
        self._words.inc(answer.words)
        self._proven.inc(answer.optimal)
        if answer.rules is not None:
            self._trust.labels(answer.rules).observe(answer.trust)
            self._passed.labels(answer.rules).inc(answer.passes)

    def text(self) -> bytes:
        """All counts in the text format of Prometheus."""
        if _FOLDER not in os.environ:
            return generate_latest(self._registry)
        shared = CollectorRegistry()
        multiprocess.MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
        return generate_latest(shared)


def share_metrics(folder: str) -> None:
    """Has this process and those it starts keep their counts in files of the folder."""
    os.environ[_FOLDER] = folder
