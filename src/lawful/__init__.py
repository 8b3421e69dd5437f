"""lawful finds the most probable labelling that obeys your rules."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lawful._core import Stream
from lawful.errors import (
    DocumentError,
    InputError,
    LawfulError,
    LimitError,
    MemoryBudgetError,
    MissingExtraError,
    RuleFailure,
    RulesError,
    SchemeError,
    ScoresError,
    TimeBudgetError,
)
from lawful.labels import Scheme, Span
from lawful.scores import Kind, Scores
from lawful.streams import assignments, paths

if TYPE_CHECKING:
    from lawful.batch import FailedDocument, decode_many
    from lawful.decoders import DECODERS, Decoder, decode
    from lawful.decoders.readings import Reading, ReadingStream, readings
    from lawful.decoding import Budget, Confidence, Correction, Decoding
    from lawful.document import BadLine, Box, Document, Scored
    from lawful.io.jsonl import read_jsonl
    from lawful.io.writing import write_jsonl
    from lawful.models.tagger import Tagger, from_pretrained
    from lawful.rules import Check, Defaults, Field, FieldValue, Rule, Rules, rule
    from lawful.values import register_type

__version__ = "0.1.0"

# Loaded when first used: who only wants the streams does not wait for the rule language.
_LATER = {
    "BadLine": "document",
    "Box": "document",
    "Budget": "decoding",
    "Check": "rules",
    "Confidence": "decoding",
    "Correction": "decoding",
    "DECODERS": "decoders",
    "Decoder": "decoders",
    "Decoding": "decoding",
    "Defaults": "rules",
    "Document": "document",
    "FailedDocument": "batch",
    "Field": "rules",
    "FieldValue": "rules",
    "Reading": "decoders.readings",
    "ReadingStream": "decoders.readings",
    "Rule": "rules",
    "Rules": "rules",
    "Scored": "document",
    "Tagger": "models.tagger",
    "decode": "decoders",
    "decode_many": "batch",
    "from_pretrained": "models.tagger",
    "read_jsonl": "io.jsonl",
    "readings": "decoders.readings",
    "register_type": "values",
    "rule": "rules",
    "write_jsonl": "io.writing",
}

__all__ = [
    "DECODERS",
    "BadLine",
    "Box",
    "Budget",
    "Check",
    "Confidence",
    "Correction",
    "Decoder",
    "Decoding",
    "Defaults",
    "Document",
    "DocumentError",
    "FailedDocument",
    "Field",
    "FieldValue",
    "InputError",
    "Kind",
    "LawfulError",
    "LimitError",
    "MemoryBudgetError",
    "MissingExtraError",
    "Reading",
    "ReadingStream",
    "Rule",
    "RuleFailure",
    "Rules",
    "RulesError",
    "Scheme",
    "SchemeError",
    "Scored",
    "Scores",
    "ScoresError",
    "Span",
    "Stream",
    "Tagger",
    "TimeBudgetError",
    "assignments",
    "decode",
    "decode_many",
    "from_pretrained",
    "paths",
    "read_jsonl",
    "readings",
    "register_type",
    "rule",
    "write_jsonl",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'lawful' has no attribute {name!r}")
    value = getattr(import_module(f"lawful.{_LATER[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
