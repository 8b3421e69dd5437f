"""The time that is left until a moment, by ``perf_counter``; ``inf`` is never."""

from __future__ import annotations

from math import inf
from time import perf_counter


def seconds_left(until: float) -> float | None:
    """Seconds until the moment, at least 0; ``None`` if there is no limit."""
    return None if until == inf else max(0.0, until - perf_counter())


def is_up(until: float) -> bool:
    """Whether the moment has come."""
    return until != inf and perf_counter() >= until
