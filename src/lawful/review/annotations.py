"""Annotations that people made in Label Studio, as reviews.

A region's words are those that it says (``meta``). One that people have drawn there, or that has
lost its ``meta``, has the words that its box or its characters cover.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from lawful.base.errors import InputError, shown
from lawful.documents.document import Document
from lawful.documents.labels import Span
from lawful.documents.pins import Pin
from lawful.review.answer import runs
from lawful.review.desk import Desk
from lawful.review.tasks import word_starts

COVERED = 0.5
"""A word belongs to a drawn region that covers this share of it."""


@dataclass(frozen=True, slots=True)
class Annotated:
    """What people said in Label Studio about one document."""

    id: str
    hash: str | None
    regions: list[Mapping[str, Any]]
    reviewer: str
    seconds: float | None


def read_tasks(data: bytes, name: str) -> list[Any]:
    """The tasks of a file that Label Studio has exported as JSON."""
    try:
        tasks = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{name} is no JSON: {error}") from None
    if not isinstance(tasks, list):
        raise InputError(f"{name} has {shown(tasks)}, expected a list of tasks, as JSON")
    return tasks


def annotation_of(task: Any) -> Annotated | None:
    """The last annotation of a task that was not cancelled; ``None`` if there is none.

    Raises an ``InputError`` if the task is not as Label Studio writes it.
    """
    if not isinstance(task, Mapping) or not isinstance(task.get("data"), Mapping):
        raise InputError(f"found {shown(task)}, expected a task with data")
    own = _mapping(_mapping(task.get("meta")).get("lawful"))
    id_ = task["data"].get("id", own.get("id"))
    if not isinstance(id_, str):
        raise InputError(f"the task's data has the id {shown(id_)}, expected that of a document")
    annotations = task.get("annotations") or []
    if not isinstance(annotations, list):
        raise InputError(f"annotations is {shown(annotations)}, expected a list")
    kept = [each for each in annotations if not _mapping(each).get("was_cancelled")]
    if not kept:
        return None
    last = _mapping(kept[-1])
    regions = last.get("result")
    if not isinstance(regions, list):
        raise InputError(f"an annotation has the result {shown(regions)}, expected a list")
    seconds = last.get("lead_time")
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    hash_ = own.get("hash")
    return Annotated(
        id_, hash_ if isinstance(hash_, str) else None, list(map(_mapping, regions)), _who(last),
        float(seconds) if number else None,  # type: ignore[arg-type]
    )  # fmt: skip


def _who(annotation: Mapping[str, Any]) -> str:
    known = _mapping(annotation.get("meta")).get("reviewer")
    who = annotation.get("completed_by")
    if isinstance(who, Mapping):
        who = who.get("email") or who.get("id")
    name = str(known or who or "").strip()
    return name[:200] if name.isprintable() and name else "Label Studio"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def spans_said(said: Annotated, document: Document) -> tuple[list[Span], list[Pin]]:
    """The labelled spans of an annotation, and the texts that it corrects.

    Raises an ``InputError`` for a region that covers no word.
    """
    spans: dict[Any, Span] = {}
    texts: dict[Any, str] = {}
    for number, region in enumerate(said.regions):
        key = str(region.get("id", number))
        kind = region.get("type")
        value = _mapping(region.get("value"))
        if kind in ("labels", "rectanglelabels"):
            labels = value.get(kind)
            if not isinstance(labels, list) or not labels or not isinstance(labels[0], str):
                raise InputError(f"region {shown(key)} has the labels {shown(labels)}")
            start, end = _words(region, document, key)
            spans[key] = Span(labels[0], start, end)
        elif kind == "textarea":
            text = value.get("text")
            parts = [text] if isinstance(text, str) else text
            if isinstance(parts, list) and all(isinstance(part, str) for part in parts):
                texts[key] = " ".join(parts)
    pins = [
        Pin("text", (span.start, span.end), None, texts[key])
        for key, span in spans.items()
        if key in texts and texts[key] != document.text(span.start, span.end)
    ]
    return sorted(spans.values(), key=lambda span: (span.start, span.end)), pins


def _words(region: Mapping[str, Any], document: Document, key: Any) -> tuple[int, int]:
    """The words of a region: those it says, else those that its box or its characters cover."""
    said = _mapping(region.get("meta")).get("words")
    if (
        isinstance(said, list)
        and len(said) == 2
        and all(isinstance(each, int) and not isinstance(each, bool) for each in said)
        and 0 <= said[0] < said[1] <= len(document)
    ):
        return said[0], said[1]
    value = _mapping(region.get("value"))
    try:
        found = (
            _under_box(value, region.get("item_index", 0), document)
            if region.get("type") == "rectanglelabels"
            else _under_text(value, document)
        )
    except (KeyError, TypeError, ValueError, IndexError):
        raise InputError(f"region {shown(key)} has no place: {shown(dict(value))}") from None
    if not found:
        raise InputError(f"region {shown(key)} covers no word")
    if found != list(range(found[0], found[-1] + 1)):
        raise InputError(
            f"region {shown(key)} covers words {found[0]} to {found[-1]} with others between them"
        )
    return found[0], found[-1] + 1


def _under_box(value: Mapping[str, Any], page: int, document: Document) -> list[int]:
    if document.boxes is None or document.sizes is None:
        raise ValueError
    width, height = document.sizes[page]
    x0, y0 = float(value["x"]) * width / 100, float(value["y"]) * height / 100
    x1 = x0 + float(value["width"]) * width / 100
    y1 = y0 + float(value["height"]) * height / 100
    found = []
    for i, box in enumerate(document.boxes):
        if (document.page(i) or 0) != page:
            continue
        wide = max(0.0, min(x1, box.x1) - max(x0, box.x0))
        high = max(0.0, min(y1, box.y1) - max(y0, box.y0))
        area = (box.x1 - box.x0) * (box.y1 - box.y0)
        if area and wide * high / area >= COVERED:
            found.append(i)
    return found


def _under_text(value: Mapping[str, Any], document: Document) -> list[int]:
    start, end = int(value["start"]), int(value["end"])
    found = []
    for i, (first, word) in enumerate(zip(word_starts(document), document.words, strict=True)):
        shared = min(end, first + len(word)) - max(start, first)
        if word and shared / len(word) >= COVERED:
            found.append(i)
    return found


def take(desk: Desk, said: Annotated) -> list[str]:
    """Stores an annotation as an accepted review; the labels that no field has are returned.

    Raises an ``InputError`` if there is no such document, if it has a review already, or if the
    annotation cannot be: nothing is stored then.
    """
    n = place_of(desk, said)
    standing = desk.standing(n)
    if standing.verdict is not None or standing.chain.can_undo:
        raise InputError(f"document {shown(said.id)} has a review already, which is kept")
    spans, texts = spans_said(said, desk.scored(n).document)
    names = {f.label: f.name for f in reversed(desk.shared.rules.fields)}
    wanted = {(names[s.type], (s.start, s.end)) for s in spans if s.type in names}
    pins = [*texts, *(Pin("is", words, name) for name, words in sorted(wanted, key=_by_words))]
    desk.take(n, standing.seq, _only(desk, n, pins, wanted), said.reviewer, said.seconds)
    return sorted({span.type for span in spans} - names.keys())


def place_of(desk: Desk, said: Annotated) -> int:
    """The document that an annotation is about; an ``InputError`` if there is no such one."""
    found = [slip for slip in desk.documents.slips if slip.id == said.id and slip.error is None]
    if not found:
        raise InputError(f"there is no document {shown(said.id)}")
    same = [slip for slip in found if said.hash in (None, slip.hash)]
    if not same:
        raise InputError(f"document {shown(said.id)} has changed since it was exported")
    if len({slip.hash for slip in same}) > 1:
        raise InputError(f"there are several documents {shown(said.id)}")
    return same[0].n


def _by_words(pair: tuple[str, tuple[int, int]]) -> tuple[tuple[int, int], str]:
    return pair[1], pair[0]


def _only(
    desk: Desk, n: int, pins: list[Pin], wanted: set[tuple[str, tuple[int, int]]]
) -> tuple[Pin, ...]:
    """The pins, and as many more as it takes for fields to have these spans and no others."""
    denied: set[str] = set()
    while True:
        decoding = desk.decoding(n, tuple(pins))
        if decoding.status == "infeasible":
            raise InputError(f"no labelling agrees with it: {'; '.join(decoding.clash)}")
        found = {
            (name, value.words) for name, values in decoding.fields.items() for value in values
        }
        if found == wanted:
            return tuple(pins)
        extra = {name for name, _ in found - wanted} - denied
        if not extra:
            raise InputError("the search ended before it found a labelling that agrees with it")
        for name in sorted(extra):
            inside = {word for each, words in wanted if each == name for word in range(*words)}
            outside = [w for w in range(len(decoding.labels)) if w not in inside]
            pins += [Pin("not", run, name) for run in runs(outside)]
        denied |= extra
