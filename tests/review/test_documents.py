"""Documents under review: found again by their place, and recognised by what a person sees."""

from __future__ import annotations

import codecs
import gzip
import json
import os
import threading
import time
from contextlib import closing

import pytest

pytest.importorskip("starlette")

from lab import receipts as demo
from lawful import Document, Rules, Scored, Scores, SpanScores
from lawful.base.errors import InputError
from lawful.documents.records import FailedDocument
from lawful.io.jsonl import read_jsonl, write_npz
from lawful.pipeline.workers import Idle
from lawful.review import documents as documents_module
from lawful.review.documents import ChangedInputError, Documents
from lawful.review.pictures import Pictures
from lawful.review.serving import open_desk, shared
from lawful.review.store import Store
from tests.helpers import demo_lines, without
from tests.review.client import client_of


@pytest.fixture
def path(tmp_path):
    return tmp_path / "documents.jsonl"


def until(holds, seconds=60):
    """Waits until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def demo_path(tmp_path, count):
    path = tmp_path / "demo.jsonl"
    path.write_text(demo_lines(count))
    return path


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


def test_documents_can_be_reviewed_while_others_are_still_being_read(tmp_path):
    """A page of 40 photos opened only when all of them had been read."""
    records = list(read_jsonl(demo_path(tmp_path, 3)))
    more, closed = threading.Semaphore(0), threading.Event()

    def arriving():
        try:
            for record in [*records, FailedDocument(4, "damaged", "four.pdf")]:
                while not more.acquire(timeout=0.05):
                    yield Idle.IDLE
                yield record
        finally:
            closed.set()

    common = shared(Rules.load(demo.RULES), "rules")
    documents = Documents.arriving(arriving(), 4)
    with open_desk(documents, Store(tmp_path / "r.db"), common, Pictures()) as desk:
        client = client_of(desk)
        first = client.get("/api/queue")
        assert first.json["documents"] == []
        assert first.json["reading"] == {"done": 0, "of": 4}
        assert client.get("/api/documents/0").status == 404
        more.release()
        until(lambda: client.get("/api/queue").json["decoded"] == 1)
        found = client.get("/api/queue", headers={"if-none-match": first.headers["etag"]}).json
        assert found["reading"] == {"done": 1, "of": 4}
        answer = client.get("/api/documents/0").json
        assert answer["id"] == records[0].document.id
        done = client.post("/api/documents/0/verdict", {"base": 0, "verdict": "skipped"})
        assert done.status == 200
        more.release(3)
        until(lambda: client.get("/api/queue").json["decoded"] == 3)
        found = client.get("/api/queue").json
        assert "reading" not in found
        assert [each["id"] for each in found["documents"] if "error" in each] == ["four.pdf"]
        assert found["progress"]["skipped"] == 1
    assert closed.is_set()


def test_reading_ends_with_the_review_and_says_why_it_ended(tmp_path):
    closed = threading.Event()

    def endless():
        try:
            while True:
                yield Idle.IDLE
        finally:
            closed.set()

    documents = Documents.arriving(endless(), None)
    documents.start()
    documents.close()
    assert closed.is_set()

    def broken():
        yield Idle.IDLE
        raise InputError("the disk is gone")

    documents = Documents.arriving(broken(), None)
    with closing(documents):
        documents.start()
        until(lambda: not documents.coming)
        assert documents.failure == "the disk is gone"


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
