"""lawful finds the most probable labelling that obeys your rules."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the table below once more, as type checkers want it
    from lawful._core import Stream as Stream
    from lawful.batch import FailedDocument as FailedDocument
    from lawful.batch import decode_many as decode_many
    from lawful.candidates import Candidates as Candidates
    from lawful.choosing import choose as choose
    from lawful.decoders import DECODERS as DECODERS
    from lawful.decoders import Decoder as Decoder
    from lawful.decoders import decode as decode
    from lawful.decoding import Budget as Budget
    from lawful.decoding import ClassValue as ClassValue
    from lawful.decoding import Confidence as Confidence
    from lawful.decoding import Correction as Correction
    from lawful.decoding import Decoding as Decoding
    from lawful.document import BadLine as BadLine
    from lawful.document import Box as Box
    from lawful.document import Document as Document
    from lawful.document import Labelled as Labelled
    from lawful.document import Scored as Scored
    from lawful.errors import DocumentError as DocumentError
    from lawful.errors import InputError as InputError
    from lawful.errors import LawfulError as LawfulError
    from lawful.errors import LimitError as LimitError
    from lawful.errors import MemoryBudgetError as MemoryBudgetError
    from lawful.errors import MissingExtraError as MissingExtraError
    from lawful.errors import RuleFailure as RuleFailure
    from lawful.errors import RulesError as RulesError
    from lawful.errors import SchemeError as SchemeError
    from lawful.errors import ScoresError as ScoresError
    from lawful.errors import TimeBudgetError as TimeBudgetError
    from lawful.frames import to_frame as to_frame
    from lawful.io.jsonl import read_jsonl as read_jsonl
    from lawful.io.jsonl import write_jsonl as write_jsonl
    from lawful.labels import Scheme as Scheme
    from lawful.labels import Span as Span
    from lawful.models.tagger import Tagger as Tagger
    from lawful.models.tagger import from_pretrained as from_pretrained
    from lawful.objects import as_object as as_object
    from lawful.pins import Pin as Pin
    from lawful.rules import PAPER as PAPER
    from lawful.rules import Boundaries as Boundaries
    from lawful.rules import Check as Check
    from lawful.rules import Field as Field
    from lawful.rules import FieldValue as FieldValue
    from lawful.rules import Lexicon as Lexicon
    from lawful.rules import Order as Order
    from lawful.rules import RowKind as RowKind
    from lawful.rules import Rule as Rule
    from lawful.rules import RuleDefaults as RuleDefaults
    from lawful.rules import Rules as Rules
    from lawful.rules import WordRule as WordRule
    from lawful.rules import rule as rule
    from lawful.scores import ScoreKind as ScoreKind
    from lawful.scores import Scores as Scores
    from lawful.search.problem import Problem as Problem
    from lawful.search.reading_stream import DocumentReading as DocumentReading
    from lawful.search.reading_stream import ReadingStream as ReadingStream
    from lawful.span_corrections import SpanCorrection as SpanCorrection
    from lawful.span_scores import SpanScores as SpanScores
    from lawful.streams import assignments as assignments
    from lawful.streams import paths as paths
    from lawful.streams import readings as readings
    from lawful.values import register_type as register_type

__version__ = "0.1.0"

# Imported when first used, so that users of the streams do not wait for the rule language.
_MODULES = {
    "_core": ["Stream"],
    "batch": ["FailedDocument", "decode_many"],
    "candidates": ["Candidates"],
    "choosing": ["choose"],
    "decoders": ["DECODERS", "Decoder", "decode"],
    "decoding": ["Budget", "ClassValue", "Confidence", "Correction", "Decoding"],
    "document": ["BadLine", "Box", "Document", "Labelled", "Scored"],
    "errors": [
        "DocumentError",
        "InputError",
        "LawfulError",
        "LimitError",
        "MemoryBudgetError",
        "MissingExtraError",
        "RuleFailure",
        "RulesError",
        "SchemeError",
        "ScoresError",
        "TimeBudgetError",
    ],
    "frames": ["to_frame"],
    "io.jsonl": ["read_jsonl", "write_jsonl"],
    "labels": ["Scheme", "Span"],
    "models.tagger": ["Tagger", "from_pretrained"],
    "objects": ["as_object"],
    "pins": ["Pin"],
    "rules": [
        "PAPER",
        "Boundaries",
        "Check",
        "Field",
        "FieldValue",
        "Lexicon",
        "Order",
        "RowKind",
        "Rule",
        "RuleDefaults",
        "Rules",
        "WordRule",
        "rule",
    ],
    "scores": ["ScoreKind", "Scores"],
    "search.problem": ["Problem"],
    "search.reading_stream": ["DocumentReading", "ReadingStream"],
    "span_corrections": ["SpanCorrection"],
    "span_scores": ["SpanScores"],
    "streams": ["assignments", "paths", "readings"],
    "values": ["register_type"],
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = list(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'lawful' has no attribute {name!r}")
    value = getattr(import_module(f"lawful.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
