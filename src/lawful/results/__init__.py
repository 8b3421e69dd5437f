"""The answer for one document, and what is compared with it."""

from lawful.results.decoding import Budget, ClassValue, Confidence, Correction, Decoding
from lawful.results.span_corrections import SpanCorrection
from lawful.rules.judging.checks import Check
from lawful.rules.judging.field_reader import FieldValue

__all__ = [
    "Budget", "Check", "ClassValue", "Confidence", "Correction", "Decoding", "FieldValue",
    "SpanCorrection",
]  # fmt: skip
