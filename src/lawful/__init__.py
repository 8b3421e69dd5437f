"""lawful finds the most probable labelling that obeys your rules."""

from lawful._core import Stream
from lawful.errors import (
    InputError,
    LawfulError,
    LimitError,
    MemoryBudgetError,
    SchemeError,
    ScoresError,
)
from lawful.labels import Scheme
from lawful.streams import assignments, paths

__version__ = "0.1.0"

__all__ = [
    "InputError",
    "LawfulError",
    "LimitError",
    "MemoryBudgetError",
    "Scheme",
    "SchemeError",
    "ScoresError",
    "Stream",
    "assignments",
    "paths",
]
