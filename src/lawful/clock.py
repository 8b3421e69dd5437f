"""The time that is left. Moments are as ``perf_counter`` has them; ``inf`` is never."""

from __future__ import annotations

from math import inf
from time import perf_counter


def seconds_left(until: float) -> float | None:
    """How long it is until then, 0 if that has passed; ``None`` for ever, as the core wants it."""
    return None if until == inf else max(0.0, until - perf_counter())
