"""Documents under review: found again by their place, and recognised by what a person sees."""

from __future__ import annotations

import codecs
import gzip
import json
import os
import threading
from contextlib import closing

import pytest

from lawful import Document, Scored, Scores, SpanScores
from lawful.documents.records import FailedDocument
from lawful.io.jsonl import write_npz
from lawful.review import documents as documents_module
from lawful.review.documents import ChangedInputError, Documents
from tests.helpers import demo_lines, without


@pytest.fixture
def path(tmp_path):
    return tmp_path / "documents.jsonl"


def opened(path):
    return closing(Documents.open(str(path)))


def test_every_document_is_read_from_its_place(path):
    lines = demo_lines(5).encode().splitlines()
    path.write_bytes(codecs.BOM_UTF8 + b"\n\r\n".join([*lines[:3], b"{}", *lines[3:]]))
    with opened(path) as documents:
        assert [slip.line for slip in documents.slips] == [1, 3, 5, 7, 9, 11]
        for n in (5, 0, 4, 2, 1):
            found = documents.read(n)
            assert found.document.id == documents.slips[n].id
            assert len(found.document) == documents.slips[n].words
        assert documents.slips[3].error
        assert isinstance(documents.read(3), FailedDocument)


def test_packed_documents_are_read_in_any_order(path):
    packed = path.with_suffix(".jsonl.gz")
    packed.write_bytes(gzip.compress(demo_lines(4).encode()))
    with opened(packed) as documents:
        ids = [documents.read(n).document.id for n in (3, 1, 0, 2)]
    assert ids == ["receipt-00003", "receipt-00001", "receipt-00000", "receipt-00002"]


def test_a_pipe_is_read_once(path):
    os.mkfifo(path)
    lines = demo_lines(3)
    writer = threading.Thread(target=path.write_text, args=(lines,))
    writer.start()
    with opened(path) as documents:
        assert [documents.read(n).document.id for n in (2, 0)] == ["receipt-00002", "receipt-00000"]
    writer.join()


def test_scores_of_spans_and_scores_next_to_the_file_are_found(path):
    document = Document("a", ("5.00",))
    write_npz(path, [Scored(document, Scores.from_probs([[0.5, 0.5]], ["O", "B-total"]))])
    spans = {"id": "b", "words": ["x"], "spans": [[0, 1, "total", 1.0]]}
    with path.open("a") as file:
        file.write(json.dumps(spans) + "\n")
    with opened(path) as documents:
        assert isinstance(documents.read(0), Scored)
        assert isinstance(documents.read(1).scores, SpanScores)


@pytest.mark.parametrize("how", ["replaced", "written to"])
def test_a_file_that_changes_while_it_is_read_is_noticed(path, monkeypatch, how):
    path.write_text(demo_lines(2))
    read = documents_module.read_places

    def read_and_change(name):
        yield from read(name)
        other = path.with_suffix(".new") if how == "replaced" else path
        other.write_text(demo_lines(3))
        other.replace(path)

    monkeypatch.setattr(documents_module, "read_places", read_and_change)
    with pytest.raises(ChangedInputError, match="was changed while it was being read"):
        Documents.open(str(path))


def test_a_document_is_the_same_while_people_see_the_same(path):
    line = demo_lines(1).splitlines()[0]
    record = json.loads(line)
    other_scores = {**record, "probs": [row[::-1] for row in record["probs"]]}
    whole = {**record, "boxes": [[float(edge) for edge in box] for box in record["boxes"]]}
    moved = {**record, "boxes": [[x0, y0, x1 + 1, y1] for x0, y0, x1, y1 in record["boxes"]]}
    misread = {**record, "words": ["?", *record["words"][1:]]}
    same = [line, without(line, "gold"), json.dumps(other_scores), json.dumps(whole)]
    path.write_text("\n".join([*same, json.dumps(moved), json.dumps(misread)]))
    with opened(path) as documents:
        hashes = [slip.hash for slip in documents.slips]
    assert len(set(hashes[: len(same)])) == 1
    assert len(set(hashes)) == 3


def test_a_file_that_changes_under_the_review_is_noticed(path):
    path.write_text(demo_lines(3))
    with opened(path) as documents:
        documents.read(0)
        path.write_text(demo_lines(3, seed=1))
        with pytest.raises(ChangedInputError, match="start lawful review again"):
            documents.read(1)


def test_a_file_that_is_replaced_stays_as_it_was(path, tmp_path):
    path.write_text(demo_lines(3))
    with opened(path) as documents:
        before = documents.text(2)
        new = tmp_path / "new"
        new.write_text(demo_lines(3, seed=1))
        new.replace(path)
        assert documents.text(2) == before
