"""lawful finds the most probable labelling that obeys your rules."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the tables below once more, as type checkers want them
    from lawful import decoders as decoders
    from lawful import documents as documents
    from lawful import llm as llm
    from lawful import readers as readers
    from lawful import results as results
    from lawful import rules as rules
    from lawful import search as search
    from lawful.arrow.frames import to_frame as to_frame
    from lawful.base.errors import DocumentError as DocumentError
    from lawful.base.errors import InputError as InputError
    from lawful.base.errors import LawfulError as LawfulError
    from lawful.base.errors import LimitError as LimitError
    from lawful.base.errors import MemoryBudgetError as MemoryBudgetError
    from lawful.base.errors import MissingExtraError as MissingExtraError
    from lawful.base.errors import RuleFailure as RuleFailure
    from lawful.base.errors import RulesError as RulesError
    from lawful.base.errors import SchemeError as SchemeError
    from lawful.base.errors import ScoresError as ScoresError
    from lawful.base.errors import TimeBudgetError as TimeBudgetError
    from lawful.candidates.candidates import Candidates as Candidates
    from lawful.candidates.choose import choose as choose
    from lawful.candidates.grounding.ground import ground as ground
    from lawful.candidates.grounding.results import Grounded as Grounded
    from lawful.candidates.grounding.results import Grounding as Grounding
    from lawful.decoders import decode as decode
    from lawful.documents.document import Box as Box
    from lawful.documents.document import Document as Document
    from lawful.documents.labels import Scheme as Scheme
    from lawful.documents.labels import Span as Span
    from lawful.documents.pins import Pin as Pin
    from lawful.documents.records import FailedDocument as FailedDocument
    from lawful.documents.records import Labelled as Labelled
    from lawful.documents.records import Scored as Scored
    from lawful.documents.scores import Scores as Scores
    from lawful.documents.span_scores import SpanScores as SpanScores
    from lawful.evaluation.report import Report as Report
    from lawful.evaluation.report import evaluate as evaluate
    from lawful.io.jsonl import read_jsonl as read_jsonl
    from lawful.io.jsonl import write_jsonl as write_jsonl
    from lawful.models.extraction import extract as extract
    from lawful.models.tagger import Tagger as Tagger
    from lawful.models.tagger import from_pretrained as from_pretrained
    from lawful.pipeline.batch import decode_many as decode_many
    from lawful.results.decoding import Budget as Budget
    from lawful.results.decoding import Decoding as Decoding
    from lawful.rules import Boundaries as Boundaries
    from lawful.rules import Field as Field
    from lawful.rules import Order as Order
    from lawful.rules import RowKind as RowKind
    from lawful.rules import Rule as Rule
    from lawful.rules import RuleDefaults as RuleDefaults
    from lawful.rules import Rules as Rules
    from lawful.rules import WordRule as WordRule
    from lawful.rules import rule as rule
    from lawful.search.streams import assignments as assignments
    from lawful.search.streams import paths as paths
    from lawful.search.streams import readings as readings
    from lawful.values import register_type as register_type

__version__ = "0.2.0"

# Imported when first used, so that users of the streams do not wait for the rule language.
_MODULES = {
    "arrow.frames": ["to_frame"],
    "base.errors": [
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
    "candidates.candidates": ["Candidates"],
    "candidates.choose": ["choose"],
    "candidates.grounding.ground": ["ground"],
    "candidates.grounding.results": ["Grounded", "Grounding"],
    "decoders": ["decode"],
    "documents.document": ["Box", "Document"],
    "documents.labels": ["Scheme", "Span"],
    "documents.pins": ["Pin"],
    "documents.records": ["FailedDocument", "Labelled", "Scored"],
    "documents.scores": ["Scores"],
    "documents.span_scores": ["SpanScores"],
    "evaluation.report": ["Report", "evaluate"],
    "io.jsonl": ["read_jsonl", "write_jsonl"],
    "models.extraction": ["extract"],
    "models.tagger": ["Tagger", "from_pretrained"],
    "pipeline.batch": ["decode_many"],
    "results.decoding": ["Budget", "Decoding"],
    "rules": [
        "Boundaries",
        "Field",
        "Order",
        "RowKind",
        "Rule",
        "RuleDefaults",
        "Rules",
        "WordRule",
        "rule",
    ],
    "search.streams": ["assignments", "paths", "readings"],
    "values": ["register_type"],
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

SUBMODULES = ("decoders", "documents", "llm", "readers", "results", "rules", "search")
"""Modules with further public names, for those who build on the library."""

__all__ = list(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name in SUBMODULES:
        return import_module(f"lawful.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'lawful' has no attribute {name!r}")
    value = getattr(import_module(f"lawful.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *SUBMODULES})
