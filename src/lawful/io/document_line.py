"""A document as a line of JSON: the one schema of what is read and written, and what it means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
import numpy as np

from lawful.base.errors import InputError
from lawful.documents.chain import Chain
from lawful.documents.document import Document
from lawful.results.wire import PinForm


class DocumentLine(msgspec.Struct):
    """A line as it is parsed; ``Document`` and the readers check what is beyond types."""

    id: str
    words: list[str]
    labels: list[str] | None = None
    boxes: list[list[float]] | None = None
    pages: list[int] | None = None
    joins: list[bool] | None = None
    rows: list[int | None] | None = None
    given: dict[str, str | int | float | None] | None = None
    classes: dict[str, dict[str, float | None]] | None = None
    sizes: list[list[float]] | None = None
    images: list[str | None] | None = None
    values: dict[str, list[str]] | None = None
    misreads: list[list[tuple[str, float]]] | None = None
    pins: list[PinForm] = []
    gold: list[str] | None = None
    split: str | None = None
    probs: list[list[float]] | None = None
    log_probs: list[list[float]] | None = None
    logits: list[list[float]] | None = None
    chain: dict[str, list[Any]] | None = None
    spans: list[tuple[int, int, str, float]] | None = None
    types: list[str] | None = None
    named: dict[str, Annotated[float, msgspec.Meta(ge=0, le=1)]] | None = None


PARTS = tuple(name for name in DocumentLine.__struct_fields__ if name in Document.__match_args__)
"""The keys that are parts of the document itself, in the order in which they are written."""


def document_of(line: DocumentLine, number: int | None) -> Document:
    """The document of a line, which has this number in its file, if it is of one."""
    parts: dict[str, Any] = {name: getattr(line, name) for name in PARTS}
    if line.classes is not None:
        parts["classes"] = class_scores(line.classes)
    return Document(**parts, line=number)


def record_of(document: Document) -> dict[str, Any]:
    """The keys of a document's line, without those that say nothing."""
    record: dict[str, Any] = {}
    for name in PARTS:
        if (part := getattr(document, name)) is not None:
            record[name] = part
    if document.boxes is not None:
        record["boxes"] = [
            [int(edge) if edge.is_integer() else edge for edge in box] for box in document.boxes
        ]
    record["pins"] = [pin.to_dict() for pin in document.pins]
    if not document.pins:
        del record["pins"]
    return record


def class_scores(
    classes: Mapping[str, Mapping[str, float | None]],
) -> dict[str, dict[str, float]]:
    """The scores of classes, with minus infinity, which JSON cannot write, in place of null."""
    return {
        name: {value: -np.inf if p is None else p for value, p in scores.items()}
        for name, scores in classes.items()
    }


def checked_chain(id_: str, chain: dict[str, Any]) -> dict[str, Any]:
    """A CRF's scores of transitions; raises an ``InputError`` if it has other parts."""
    if not {"between"} <= set(chain) <= set(Chain._fields):
        raise InputError(
            f"document {id_!r} has a chain of {', '.join(chain) or 'nothing'}, "
            f"expected {', '.join(Chain._fields)}"
        )
    return chain


def with_infinity(part: list[Any]) -> list[Any]:
    """The same nested lists with minus infinity, which JSON cannot write, in place of null."""
    return [
        -np.inf if each is None else with_infinity(each) if isinstance(each, list) else each
        for each in part
    ]
