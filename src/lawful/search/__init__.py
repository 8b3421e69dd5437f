"""The search that decoders share: the problem, the walk over candidates, readings, explanations."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lawful._core import Stream as Stream
    from lawful.search.problem import Problem as Problem
    from lawful.search.reading_stream import DocumentReading as DocumentReading
    from lawful.search.reading_stream import ReadingStream as ReadingStream

# Imported when first used: a stream of scores needs no rules.
_MODULE_OF = {
    "DocumentReading": "lawful.search.reading_stream",
    "Problem": "lawful.search.problem",
    "ReadingStream": "lawful.search.reading_stream",
    "Stream": "lawful._core",
}

__all__ = list(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'lawful.search' has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)
