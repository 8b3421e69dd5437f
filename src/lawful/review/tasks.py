"""Documents as tasks of Label Studio, with predictions and annotations, in its JSON.

A document with boxes, page sizes and images becomes regions on its pages, any other one regions of
its text. Every region says which words it is about (``meta``), so that what comes back is exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from lawful.base.errors import InputError, LawfulError
from lawful.documents.document import Box, Document
from lawful.documents.labels import Scheme, Span
from lawful.documents.pins import Pin
from lawful.documents.records import Scored
from lawful.results.decoding import Decoding
from lawful.review.answer import corrected, labels_of, least_probability
from lawful.review.desk import Desk
from lawful.review.export import Accepted


class Tasks:
    """All documents of a desk as tasks; those that were accepted have annotations."""

    def __init__(self, desk: Desk, *, any_rules: bool = False) -> None:
        self._desk = desk
        self.accepted = Accepted(desk, any_rules=any_rules)
        self._types: dict[str, None] = {f.label: None for f in desk.shared.rules.fields}
        self._on_pages = False

    def all(self) -> Iterator[dict[str, Any]]:
        """One task per document, in the order of the input."""
        rows = dict(self.accepted.rows())
        for slip in self._desk.documents.slips:
            try:
                yield self._task(slip.n, rows)
            except LawfulError:
                continue  # a bad line, which the command has reported

    @property
    def interface(self) -> str:
        """The labelling interface for the tasks so far, as Label Studio's projects take it."""
        return _interface(list(self._types), pages=self._on_pages)

    def _task(self, n: int, rows: Mapping[int, Any]) -> dict[str, Any]:
        document = self._desk.scored(n).document
        task: dict[str, Any] = {
            "data": _data(document),
            "meta": {"lawful": {"id": document.id, "hash": self._desk.slip(n).hash}},
            "predictions": [self.prediction(n, document.pins)],
        }
        if n in rows and rows[n].after is not None:
            row = rows[n]
            fixed = corrected(document, self._desk.standing(n).pins)
            task["annotations"] = [
                {
                    "result": self._regions(fixed, labels_of(row.after)),
                    "created_at": row.at,
                    "lead_time": row.seconds,
                    "was_cancelled": False,
                    "meta": {"reviewer": row.reviewer},
                }
            ]
        return task

    def prediction(self, n: int, pins: tuple[Pin, ...]) -> dict[str, Any]:
        """The fields of a document with these pins, as a prediction."""
        scored, decoding = self._desk.scored(n), self._desk.decoding(n, pins)
        if decoding.status == "infeasible":
            raise InputError(f"no labelling agrees with it: {'; '.join(decoding.clash)}")
        return {
            "model_version": f"lawful {self._desk.shared.version}",
            "score": _score(scored, decoding),
            "result": self._regions(scored.document, decoding.labels),
        }

    def _regions(self, document: Document, labels: Sequence[str]) -> list[dict[str, Any]]:
        found = []
        starts = word_starts(document)
        self._on_pages |= on_pages(document)
        for number, span in enumerate(spans_of(labels, self._desk.shared.rules.scheme)):
            self._types[span.type] = None
            id_ = f"w{span.start}-{span.end}"
            common = {
                "id": id_,
                "from_name": "label",
                "meta": {"words": [span.start, span.end], "text": [f"span {number + 1}"]},
            }
            text = document.text(span.start, span.end)
            if not on_pages(document):
                value = {"start": starts[span.start], "end": starts[span.start] + len(text),
                         "text": text, "labels": [span.type]}  # fmt: skip
                found.append({**common, "to_name": "text", "type": "labels", "value": value})
                continue
            place = _place(document, span)
            found.append(
                {**common, **place, "type": "rectanglelabels",
                 "value": {**place["value"], "rectanglelabels": [span.type]}}
            )  # fmt: skip
            found.append(
                {**common, **place, "from_name": "text", "type": "textarea",
                 "value": {**place["value"], "text": [text]}}
            )  # fmt: skip
        return found


def _score(scored: Scored, decoding: Decoding) -> float:
    """The smallest probability that the model gives to a label of a field."""
    words = {w for values in decoding.fields.values() for v in values for w in range(*v.words)}
    return least_probability(scored, decoding, words)


def _interface(types: Sequence[str], *, pages: bool) -> str:
    labels = "\n".join(f"    <Label value={quoteattr(each)}/>" for each in types)
    if not pages:
        return (
            '<View>\n  <Labels name="label" toName="text">\n'
            f'{labels}\n  </Labels>\n  <Text name="text" value="$text"/>\n</View>\n'
        )
    return (
        '<View>\n  <RectangleLabels name="label" toName="image">\n'
        f'{labels}\n  </RectangleLabels>\n  <Image name="image" valueList="$pages"/>\n'
        '  <TextArea name="text" toName="image" perRegion="true" editable="true"/>\n</View>\n'
    )


def on_pages(document: Document) -> bool:
    """Whether its regions are rectangles on images of pages."""
    return bool(document.boxes and document.sizes and document.images)


def spans_of(labels: Sequence[str], scheme: str) -> list[Span]:
    """The spans of labels, of all types."""
    names = tuple(dict.fromkeys(("O", *labels)))
    named = Scheme.named(scheme, names)
    index = {name: i for i, name in enumerate(names)}
    return named.spans(np.array([index[label] for label in labels], np.intp))


def _data(document: Document) -> dict[str, Any]:
    data: dict[str, Any] = {"id": document.id, "text": document.text(0, len(document))}
    if on_pages(document):
        data["pages"] = [image or "" for image in document.images or ()]
    return data


def word_starts(document: Document) -> list[int]:
    """By word, where it begins in the document's text."""
    starts, end = [], 0
    for i, word in enumerate(document.words):
        glued = i == 0 or (document.joins is not None and document.joins[i])
        starts.append(end if glued else end + 1)
        end = starts[-1] + len(word)
    return starts


def _place(document: Document, span: Span) -> dict[str, Any]:
    """The rectangle of a span, in percent of its page."""
    page = document.page(span.start) or 0
    width, height = (document.sizes or ())[page]
    box = document.box(span.start, span.end) or Box(0, 0, 0, 0)
    return {
        "to_name": "image",
        "item_index": page,
        "original_width": round(width),
        "original_height": round(height),
        "image_rotation": 0,
        "value": {
            "x": 100 * box.x0 / max(width, 1e-9),
            "y": 100 * box.y0 / max(height, 1e-9),
            "width": 100 * (box.x1 - box.x0) / max(width, 1e-9),
            "height": 100 * (box.y1 - box.y0) / max(height, 1e-9),
            "rotation": 0,
        },
    }
