"""A decoding as it leaves the program: the one schema of its lines, tables and answers.

``DecodingLine`` is a line of ``lawful decode``, ``CheckedLine`` one of ``lawful check``. JSON
lines, ``Decoding.to_dict`` and OpenAPI are made of these structs; the columns of Arrow and the
types of the review page are tested against them. A key whose value is ``UNSET`` is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf, isfinite
from typing import Any, Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from lawful.documents.labels import Span
from lawful.results.decoding import ClassValue, Correction, Decoding, Limit, Move, Status
from lawful.results.sections import Section, nested
from lawful.results.span_corrections import SpanCorrection
from lawful.rules.judging.checks import Check, RuleCounts, State
from lawful.rules.judging.field_reader import FieldValue

Price: TypeAlias = float | Literal["hard"]
"""Nats; ``hard`` is infinite, which JSON cannot say."""

Value: TypeAlias = str | int | float | None
"""What a text was read as: decimals are numbers, dates texts."""

Checked: TypeAlias = Literal["satisfied", "violated", "unchecked", "undecided"]
"""What rules say about given labels; ``undecided``: texts had too many possible values to try."""

PinForm: TypeAlias = dict[str, str | int | float | list[int] | None]
"""A pin, in one of the forms that ``Pin.of`` reads."""


class Strict(Struct, forbid_unknown_fields=True):
    """A struct without other keys than its own."""


class Cell(Strict):
    """A value: its text, and what that means; ``null`` if it cannot be read."""

    text: str
    value: Value


class ValueData(Cell, kw_only=True):
    """A value of a field, and where it is."""

    words: tuple[int, int]
    box: tuple[float, float, float, float] | UnsetType | None = UNSET
    page: int | UnsetType = UNSET
    choice: int | UnsetType = UNSET
    row: int | UnsetType = UNSET
    read_as: str | UnsetType = UNSET


class SectionData(Strict):
    """A section: its own values, and its rows, or the sections that it holds."""

    values: dict[str, Cell]
    rows: list[dict[str, Cell]] | UnsetType = UNSET
    sections: list[SectionData] | UnsetType = UNSET


class RowChecks(Strict):
    """How many rules on single rows there are, and how many of them could be checked."""

    checked: int
    all: int


class CheckData(Strict):
    """The verdict on a rule, or on a condition that a field implies."""

    id: str
    state: State
    message: str
    price: Price | UnsetType = UNSET
    implied: bool | UnsetType = UNSET


class SpanData(Strict):
    """A span of words with its label and its text."""

    label: str
    words: tuple[int, int]
    text: str


class SpanChange(Strict):
    """A span that is not as in the model's own best spans; ``old`` or ``new`` may be missing."""

    old: SpanData | None
    new: SpanData | None
    price: float
    because: tuple[str, ...] | None


class ClassData(Strict):
    """The class of a document; all but the value only if it is not the model's first choice."""

    value: str
    first: str | UnsetType = UNSET
    price: float | UnsetType = UNSET
    because: tuple[str, ...] | UnsetType | None = UNSET


class Alternative(Strict, kw_only=True):
    """One of the next best decodings."""

    optimal: bool
    log_prob: float
    penalty: Price
    fields: dict[str, list[ValueData]]
    classes: dict[str, str] | UnsetType = UNSET
    violated: list[str]


class KnownData(Strict):
    """Values of a field that are known, those that were found, and whether they are the same."""

    known: tuple[str, ...]
    found: tuple[str, ...]
    right: bool


class DecodingLine(Strict, kw_only=True):
    """The answer for one document: a line of ``lawful decode`` (docs/results.md)."""

    id: str
    status: Status
    trust: float | UnsetType = UNSET
    passes: bool | UnsetType = UNSET
    passes_because: str | UnsetType = UNSET
    doubts: dict[str, float] | UnsetType = UNSET
    setting: str | UnsetType = UNSET
    checked: int
    rules: int
    row_checks: RowChecks | UnsetType = UNSET
    repaired: int | UnsetType = UNSET
    optimal: bool
    log_prob: float
    labels: tuple[str, ...]
    fields: dict[str, list[ValueData]]
    rows: dict[str, list[dict[str, Cell]]] | UnsetType = UNSET
    sections: dict[str, list[SectionData]] | UnsetType = UNSET
    checks: list[CheckData]
    corrections: tuple[Correction, ...]
    span_corrections: list[SpanChange] | UnsetType = UNSET
    classes: dict[str, ClassData] | UnsetType = UNSET
    pins: list[PinForm] | UnsetType = UNSET
    moved: tuple[Move, ...] | UnsetType | None = UNSET
    clash: tuple[str, ...] | UnsetType = UNSET
    clash_minimal: bool | UnsetType = UNSET
    margin: float | Literal["Infinity"] | UnsetType | None = UNSET
    confidence: dict[str, tuple[float, float]] | UnsetType = UNSET
    alternatives: list[Alternative] | UnsetType = UNSET
    decoder: str
    chosen: str | UnsetType = UNSET
    bound: float | None
    penalty: Price
    stopped_by: Limit | None
    tried: int
    mass: float
    seconds: float
    known: dict[str, KnownData] | UnsetType = UNSET


class CheckedLine(Strict, kw_only=True):
    """The rules' verdict on given labels: a line of ``lawful check``."""

    id: str
    status: Checked
    checked: int
    rules: int
    row_checks: RowChecks | UnsetType = UNSET
    fields: dict[str, list[ValueData]]
    checks: list[CheckData]


def line_of(decoding: Decoding, *, ranked: bool = False) -> DecodingLine:
    """The line of a decoding; with ``ranked``, keys about alternatives are there without any."""
    ranked = bool(ranked or decoding.alternatives or decoding.margin is not None)
    margin, moved, words = decoding.margin, decoding.moved, decoding.words
    return DecodingLine(
        id=decoding.id,
        status=decoding.status,
        trust=_unless_none(decoding.trust),
        passes=_unless_none(decoding.passes),
        passes_because=_unless_none(decoding.passes_because),
        doubts=dict(decoding.doubts) or UNSET,
        setting=_unless_none(decoding.setting),
        **counts(decoding.checks),
        repaired=decoding.repaired or UNSET,
        optimal=decoding.optimal,
        log_prob=decoding.log_prob,
        labels=decoding.labels,
        fields=_fields(decoding),
        rows=_rows(decoding) or UNSET,
        sections=_sections(decoding) or UNSET,
        checks=list(map(check_data, decoding.checks)),
        corrections=decoding.corrections,
        span_corrections=[_change(each, words) for each in decoding.span_corrections] or UNSET,
        classes={name: _class(found) for name, found in decoding.classes.items()} or UNSET,
        pins=[pin.to_dict() for pin in decoding.pins] or UNSET,
        moved=moved if decoding.pins else UNSET,
        clash=decoding.clash or UNSET,
        clash_minimal=decoding.clash_minimal if decoding.clash else UNSET,
        # JSON has no infinity; Python's float() and JavaScript's Number() parse this word.
        margin=("Infinity" if margin == inf else margin) if ranked else UNSET,
        confidence=dict(decoding.confidence) if ranked or decoding.confidence else UNSET,
        alternatives=list(map(_alternative, decoding.alternatives)) if ranked else UNSET,
        decoder=decoding.decoder,
        chosen=decoding.chosen or UNSET,
        bound=decoding.bound if isfinite(decoding.bound) else None,
        penalty=_price(decoding.penalty),
        stopped_by=decoding.stopped_by,
        tried=decoding.tried,
        mass=decoding.mass,
        seconds=decoding.seconds,
        known={k.field: KnownData(k.known, k.found, k.right) for k in decoding.known} or UNSET,
    )


def counts(checks: Iterable[Check]) -> dict[str, Any]:
    """The keys about how many rules there are; ``row_checks`` only if rules are about rows."""
    found = RuleCounts.of(checks)
    rows = RowChecks(found.rows_checked, found.row_checks)
    return {
        "checked": found.checked,
        "rules": found.rules,
        "row_checks": rows if rows.all else UNSET,
    }


def check_data(check: Check) -> CheckData:
    """A check; ``price`` and ``implied`` are left out where zero or false."""
    price = _price(check.price) or UNSET
    return CheckData(check.id, check.state, check.message, price, check.implied or UNSET)


def plain_values(value: Any) -> Any:
    """Structs as dictionaries without the keys that are left out, tuples as lists."""
    if isinstance(value, Struct | Correction | Move):
        names = value.__struct_fields__ if isinstance(value, Struct) else value.__match_args__
        parts = ((name, getattr(value, name)) for name in names)
        return {name: plain_values(part) for name, part in parts if part is not UNSET}
    if isinstance(value, dict):
        return {name: plain_values(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return list(map(plain_values, value))
    return value


def _unless_none(value: Any) -> Any:
    return UNSET if value is None else value


def _price(nats: float) -> Price:
    return nats if isfinite(nats) else "hard"


def _fields(decoding: Decoding) -> dict[str, list[ValueData]]:
    return {name: list(map(_value, values)) for name, values in decoding.fields.items()}


def _value(value: FieldValue) -> ValueData:
    return ValueData(
        text=value.text,
        value=value.value,
        words=value.words,
        box=value.box,
        page=_unless_none(value.page),
        choice=value.choice or UNSET,
        row=_unless_none(value.row),
        read_as=_unless_none(value.read_as),
    )


def _rows(decoding: Decoding) -> dict[str, list[dict[str, Cell]]]:
    """By kind, the text and value of each field in each row."""
    return {kind: list(map(_row, decoding.rows(kind))) for kind in decoding.row_kinds}


def _sections(decoding: Decoding) -> dict[str, list[SectionData]]:
    """By kind of sections, each with its rows."""
    return {kind: list(map(_section, nested(decoding, kind))) for kind in decoding.sections}


def _section(section: Section) -> SectionData:
    return SectionData(
        _row(section.values),
        list(map(_row, section.rows)) or UNSET,
        list(map(_section, section.sections)) or UNSET,
    )


def _row(row: Mapping[str, FieldValue]) -> dict[str, Cell]:
    return {name: Cell(found.text, found.value) for name, found in row.items()}


def _class(found: ClassValue) -> ClassData:
    if found.value == found.first:
        return ClassData(found.value)
    return ClassData(found.value, found.first, found.price, found.because)


def _change(change: SpanCorrection, words: Sequence[str]) -> SpanChange:
    spans = _span(change.old, words), _span(change.new, words)
    return SpanChange(*spans, change.price, change.because)


def _span(span: Span | None, words: Sequence[str]) -> SpanData | None:
    if span is None:
        return None
    text = " ".join(words[span.start : span.end])
    return SpanData(span.type, (span.start, span.end), text)


def _alternative(other: Decoding) -> Alternative:
    return Alternative(
        optimal=other.optimal,
        log_prob=other.log_prob,
        penalty=_price(other.penalty),
        fields=_fields(other),
        classes={name: found.value for name, found in other.classes.items()} or UNSET,
        violated=[check.id for check in other.violations],
    )
