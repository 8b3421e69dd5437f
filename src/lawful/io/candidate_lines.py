"""Lines of JSON with candidates: sampled objects, log-probabilities, or results of services."""

from __future__ import annotations

from typing import Any

import msgspec

from lawful.base.errors import InputError
from lawful.candidates.candidates import SMOOTHING, Candidates
from lawful.candidates.services import READERS
from lawful.documents.records import FailedDocument
from lawful.io.jsonl import BAD_TEXT, check_line

KINDS = ("samples", "sources", "candidates", *READERS)
"""The keys of a line, one of which it has."""


class CandidateLine(msgspec.Struct):
    """A line as it is parsed: ``id``, one of ``KINDS``, and what is known besides."""

    id: str
    samples: list[dict[str, Any] | str | None] | None = None
    log_probs: list[float] | None = None
    sources: dict[str, Any] | None = None
    reliability: dict[str, float | dict[str, float]] | None = None
    candidates: dict[str, Any] | None = None
    textract: dict[str, Any] | None = None
    azure: dict[str, Any] | None = None
    document_ai: dict[str, Any] | None = None
    given: dict[str, str | int | float | None] | None = None
    classes: dict[str, dict[str, float]] | None = None


def parse_candidates(
    number: int, text: bytes, smoothing: float = SMOOTHING
) -> Candidates | FailedDocument:
    """The candidates of a line, or a ``FailedDocument`` that says why there are none."""
    try:
        check_line(text)
        line = msgspec.json.decode(text, type=CandidateLine)
    except (*BAD_TEXT, MemoryError) as error:
        return FailedDocument(number, str(error) or "not enough memory to read it")
    try:
        return _candidates(line, number, smoothing)
    except InputError as error:
        return FailedDocument(number, str(error), line.id)


def _candidates(line: CandidateLine, number: int, smoothing: float) -> Candidates:
    here = [kind for kind in KINDS if getattr(line, kind) is not None]
    if len(here) != 1:
        found = " and ".join(here) or "none of them"
        raise InputError(f"the line has {found}, expected one of {', '.join(KINDS)}")
    about: dict[str, Any] = {
        "id": line.id,
        "given": line.given,
        "classes": line.classes,
        "line": number,
    }
    if line.samples is not None:
        return Candidates.from_samples(line.samples, line.log_probs, smoothing=smoothing, **about)
    if line.log_probs is not None:
        raise InputError("log_probs are those of samples, of which the line has none")
    if line.sources is not None:
        return Candidates.from_sources(line.sources, line.reliability, **about)
    if line.reliability is not None:
        raise InputError("reliability is that of sources, of which the line has none")
    kind = here[0]
    given = getattr(line, kind)
    return Candidates(READERS[kind](given) if kind in READERS else given, **about)
