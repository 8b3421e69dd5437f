"""Whatever documents, pins and requests say, the answer is JSON and nothing else happens."""

from __future__ import annotations

import json
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("starlette")

from lawful import Rules
from tests.review.client import client_of, desk_of

NASTY = [
    "<script>alert(1)</script>", "'; DROP TABLE review; --", "../../etc/passwd", "\u202egnp.exe",
    "\0", "\x1b[2J", "a" * 100_000, "\u2028", "🧾" * 50, "=cmd|' /C calc'!A0", "{id}", "%s%n",
]  # fmt: skip
LABELS = ["O", "B-total", "I-total", "B-tax"]
RULES = {"fields": {"total": {"label": "total", "type": "money"},
                    "tax": {"label": "tax", "type": "money"}},
         "rules": ["total >= tax"]}  # fmt: skip


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    path = tmp_path_factory.mktemp("rules") / "rules.json"
    path.write_text(json.dumps(RULES))
    return Rules.load(path)


def line(id_, words, **more):
    probs = [[0.4, 0.3, 0.2, 0.1]] * len(words)
    return {"id": id_, "words": words, "labels": LABELS, "probs": probs, **more}


def served(tmp_path, lines, rules):
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    return closing(desk_of(path, tmp_path / "review.db", rules))


def test_ids_texts_notes_and_names_may_be_anything(tmp_path, rules):
    lines = [line(text, [text, "5.00", text], images=[text]) for text in NASTY]
    with served(tmp_path, lines, rules) as desk:
        client = client_of(desk)
        for n, text in enumerate(NASTY):
            found = client.get(f"/api/documents/{n}").json
            assert (found["id"], found["words"][0]) == (text, text)
            pins = [{"words": [0, 1], "text": text}, {"words": [1, 2], "field": "total"}]
            found = client.post(f"/api/documents/{n}/pins", {"base": 0, "pins": pins})
            assert found.status == 200
            note = {"base": found.json["seq"], "verdict": "accepted", "note": text[:9000],
                    "confirmed": True}  # fmt: skip
            assert client.post(f"/api/documents/{n}/verdict", note).status == 200
            assert client.get(f"/api/documents/{n}").json["note"] == text[:9000]
        assert client.get("/api/queue").json["progress"]["accepted"] == len(NASTY)
        assert len(desk.store.rows_of(NASTY[1], desk.documents.slips[1].hash)) == 2


def test_names_of_reviewers_are_checked(tmp_path, rules):
    with served(tmp_path, [line("a", ["x"])], rules) as desk:
        client = client_of(desk)
        skip = {"base": 0, "verdict": "skipped"}
        for name in ("%00", "a%0Ab", "x" * 201, "%1b[2J"):
            assert client.post("/api/documents/0/verdict", skip, reviewer=name).status == 400
        found = client.post("/api/documents/0/verdict", skip, reviewer="%C5%81ukasz%20%E6%9D%8E")
        assert found.json["reviewer"] == "Łukasz 李"
        assert client.get("/api/session", reviewer="").json["reviewer"] == "somebody"


@pytest.mark.parametrize(
    "document",
    [
        line("empty", []),
        line("blank", ["", " "]),
        line("boxes", ["1", "2"], boxes=[[0, 0, 0, 0]] * 2, pages=[0, 199]),
        line("pieces", ["5", ".", "00"], joins=[False, True, True]),
        line("pinned", ["5", "6"], pins=[{"words": [0, 1], "field": "total"}]),
        line("chain", ["5", "6"], chain={"between": [[0.0] * 4] * 4}),
        {"id": "spans", "words": ["5", "6"], "spans": [[0, 1, "total", 0.9], [1, 2, "tax", 0.6]]},
    ],
    ids=lambda document: document["id"],
)
def test_documents_of_every_kind_can_be_reviewed(tmp_path, rules, document):
    with served(tmp_path, [document], rules) as desk:
        client = client_of(desk)
        found = client.get("/api/documents/0")
        assert found.status == 200, found.json
        assert client.get("/api/documents/0/alternatives").status == 200
        pins = found.json["pins"]
        if document["words"]:
            pins = [{"words": [0, 1], "field": None}]
        found = client.post("/api/documents/0/pins", {"base": 0, "pins": pins})
        assert found.status == 200, found.json
        assert found.json["pins"] == pins
        found = client.post("/api/documents/0/undo", {"base": 1})
        assert found.json["pins"] == document.get("pins", [])
        verdict = {"base": 2, "verdict": "accepted", "confirmed": True}
        assert client.post("/api/documents/0/verdict", verdict).status == 200
        desk.queue.start()
        assert desk.queue.wait(120)
        (entry,) = desk.listing()["documents"]
        assert entry["status"], entry


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 5) | st.floats() | st.text(max_size=5)
    | st.sampled_from(["total", "tax", "words", "field"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
PINS = st.lists(
    st.dictionaries(
        st.sampled_from(["words", "field", "not", "value", "text"]),
        ANYTHING | st.lists(st.integers(-1, 4), min_size=2, max_size=2), max_size=3,
    ), max_size=4,
)  # fmt: skip


@pytest.fixture(scope="module")
def desk(tmp_path_factory, rules):
    folder = tmp_path_factory.mktemp("any")
    with served(folder, [line("a", ["1.00", "2.00", "3.00"])], rules) as desk:
        yield desk


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pins=PINS, base=ANYTHING)
def test_any_body_is_answered_and_only_good_ones_are_stored(desk, pins, base):
    client = client_of(desk)
    before = len(list(desk.store.rows()))
    for body in ({"base": base, "pins": pins}, {"base": before, "pins": pins}, base):
        found = client.post("/api/documents/0/pins", json.dumps(body).encode())
        assert found.status in (200, 409, 422), found.body
        after = len(list(desk.store.rows()))
        assert after == before + (found.status == 200)
        before = after
    assert client.get("/api/documents/0").status == 200


@settings(max_examples=150, deadline=None)
@given(path=st.text(max_size=40), method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD"]))
def test_any_path_is_answered(desk, path, method):
    client = client_of(desk)
    for start in ("/", "/api/", "/api/documents/", "/api/documents/0/"):
        found = client.send(method, start + path)
        assert found.status < 500


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000, b'{"base": 1e999}'])
def test_bodies_that_are_no_json_are_refused(desk, body):
    for what in ("pins", "undo", "redo", "verdict"):
        found = client_of(desk).post(f"/api/documents/0/{what}", body)
        assert found.status == 422
        assert found.headers["content-type"] == "application/problem+json"


def test_a_body_without_end_is_refused(desk):
    found = client_of(desk).post("/api/documents/0/pins", b" " * (5 * 2**20))
    assert found.status == 413


def test_many_pages_and_words(tmp_path, rules):
    """200 pages of 100 words: a pin is answered, and what is stored stays small."""
    words = [f"{i}.00" for i in range(20_000)]
    pages = [i // 100 for i in range(20_000)]
    probs = [[0.999, 0.0005, 0.0003, 0.0002]] * 20_000
    document = {**line("long", []), "words": words, "pages": pages, "probs": probs}
    with served(tmp_path, [document], rules) as desk:
        found = desk.pin(0, 0, [{"words": [19_000, 19_001], "field": "total"}], "ada")
        assert found["answer"]["fields"]["total"][0]["page"] == 190
        assert len(found["images"]) == 200
        assert (tmp_path / "review.db-wal").stat().st_size < 2**19
