"""The schema of documents: every part of a document is written, read again, and in tables."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from math import log

import msgspec
import pytest

from lawful import Document, Labelled, Pin, Scored, Scores
from lawful.arrow import scored_batch
from lawful.arrow.documents import NAMES, ScoredReader
from lawful.documents.misreads import Misread
from lawful.io.document_line import PARTS, DocumentLine
from lawful.io.jsonl import LineParser, document_line, parse_documents, scored_line

FULL = Document(
    "d",
    ("Total", "7.00"),
    boxes=((0, 0, 1, 1), (1, 0, 2.5, 1)),
    pages=(0, 1),
    joins=(False, False),
    rows=(None, 3),
    line=1,
    given={"paid": 7, "note": "x", "none": None},
    classes={"kind": {"invoice": log(0.75), "letter": log(0.25)}},
    pins=(Pin("is", (1, 2), "total"),),
    sizes=((10, 20), (10, 20)),
    images=("a.pdf", None),
    values={"total": ("7.00",)},
    misreads=((), (Misread("1.00", 2.5),)),
)
"""A document that has something under every name."""

SCORED = Scored(FULL, Scores.from_probs([[0.75, 0.25], [0.25, 0.75]], ["O", "B-total"]))


def test_every_part_of_a_document_is_a_key_of_its_line():
    names = {field.name for field in fields(Document)} - {"line"}
    assert {*PARTS} == names
    assert {*json.loads(document_line(FULL))} == names
    assert all(getattr(FULL, name) for name in names), "the example lacks a part"
    assert {*NAMES} == {*DocumentLine.__struct_fields__, "scores"} - {
        "split",
        "spans",
        "types",
        "named",
    }


def test_a_document_is_the_same_when_it_is_read_again():
    (again,) = parse_documents([(1, document_line(FULL).encode())])
    assert again == FULL
    scored = LineParser("-").parse(1, scored_line(SCORED).encode())
    assert scored.document == FULL
    batch = scored_batch([SCORED])
    (scored,) = ScoredReader(batch.schema).read(batch, 1)
    assert scored.document == FULL


def test_a_line_says_nothing_of_what_a_document_lacks():
    assert json.loads(document_line(Document("d", ()))) == {"id": "d", "words": []}
    (again,) = parse_documents([(1, b'{"id": "d", "words": []}')])
    assert again == Document("d", ())


def test_pieces_and_pages_keep_every_part():
    pieces = replace(SCORED, document=replace(FULL, joins=(False, True), pages=(0, 0), pins=()))
    whole = pieces.to_words().document
    assert (whole.words, whole.boxes, whole.joins) == (("Total7.00",), ((0, 0, 2.5, 1),), None)
    assert whole.misreads == ((Misread("Total1.00", 2.5),),)
    per_word = {"words", "boxes", "pages", "joins", "rows", "misreads", "pins"}
    for name in {*PARTS} - per_word:
        assert getattr(whole, name) == getattr(FULL, name), name
    page = list(Labelled(FULL, ("O", "B-total")).by_page())[1].document
    assert (page.id, page.words, page.rows, page.line) == ("d/1", ("7.00",), (3,), 1)
    assert page.misreads == ((Misread("1.00", 2.5),),)
    assert page.pins == (Pin("is", (0, 1), "total"),)
    for name in {*PARTS} - per_word - {"id", "values"}:
        assert getattr(page, name) == getattr(FULL, name), name


@pytest.mark.parametrize("name", PARTS)
def test_a_part_of_another_type_is_refused_with_its_name(name):
    record = {**json.loads(document_line(FULL)), name: True}
    with pytest.raises(msgspec.ValidationError, match=rf"\$\.{name}"):
        msgspec.json.decode(json.dumps(record), type=DocumentLine)
