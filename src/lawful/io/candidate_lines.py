"""Lines of JSON with candidates: sampled objects, log-probabilities, or results of services."""

from __future__ import annotations

from typing import Any

import msgspec

from lawful.candidates import SMOOTHING, Candidates
from lawful.cloud import READERS
from lawful.document import BadLine
from lawful.errors import InputError
from lawful.io.jsonl import BAD_TEXT, check_line

KINDS = ("samples", "candidates", *READERS)
"""The keys of a line, one of which it has."""


class _Line(msgspec.Struct):
    id: str
    samples: list[dict[str, Any]] | None = None
    log_probs: list[float] | None = None
    candidates: dict[str, Any] | None = None
    textract: dict[str, Any] | None = None
    azure: dict[str, Any] | None = None
    document_ai: dict[str, Any] | None = None
    given: dict[str, str | int | float | None] | None = None
    classes: dict[str, dict[str, float]] | None = None


def parse_candidates(
    number: int, text: bytes, smoothing: float = SMOOTHING
) -> Candidates | BadLine:
    """The candidates of a line, or a ``BadLine`` that says why there are none."""
    try:
        check_line(text)
        line = msgspec.json.decode(text, type=_Line)
    except (*BAD_TEXT, MemoryError) as error:
        return BadLine(number, str(error) or "not enough memory to read it")
    try:
        return _candidates(line, number, smoothing)
    except InputError as error:
        return BadLine(number, str(error), line.id)


def _candidates(line: _Line, number: int, smoothing: float) -> Candidates:
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
    kind = here[0]
    given = getattr(line, kind)
    return Candidates(READERS[kind](given) if kind in READERS else given, **about)
