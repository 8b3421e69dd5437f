"""The review's API, as the page uses it."""

from __future__ import annotations

from contextlib import closing

import pytest

pytest.importorskip("starlette")

from lab import receipts as demo
from tests.review.client import client_of, desk_of


@pytest.fixture
def desk(tmp_path):
    with closing(desk_of(demo.shipped(), tmp_path / "review.db")) as desk:
        yield desk


@pytest.fixture
def client(desk):
    return client_of(desk)


def test_a_session_says_what_there_is(client):
    found = client.get("/api/session").json
    assert found["documents"] == 48
    assert found["reviewer"] == "ada"
    fields = found["sets"][""]["fields"]
    assert [f["key"] for f in fields] == [str(i) for i in range(1, 10)]
    # By use: the total is read by most rules.
    assert fields[0]["name"] == "total"


def test_a_document_comes_with_its_answer_in_plain_words(client):
    found = client.get("/api/documents/3").json
    answer = found["answer"]
    assert found["seq"] == 0
    assert answer["summary"].startswith(
        "Total is 1,479.25, subtotal + tax + service - abs(discount) is 1,479.23; 1 rule holds"
    )
    sums = {check["id"]: check["sum"] for check in answer["checks"]}
    assert sums["total"] == "1,479.25 ≠ 1,344.75 + 134.48 + 0 - abs(0) = 1,479.23"
    assert sums["items"].endswith(" = 1,344.75")
    assert sums["change"] is None
    assert answer["doubtful"][:4] == sorted(answer["doubtful"][:4], key=answer["doubtful"].index)
    assert set(answer["doubtful"]) >= {"total", "subtotal", "tax"}


def test_a_pin_is_obeyed_stored_and_says_what_moved(client):
    found = client.post("/api/documents/10/pins", {"base": 0, "pins": [
        {"words": [32, 33], "field": "total"}]}).json  # fmt: skip
    assert found["answer"]["labels"][32] == "B-total"
    moved = {each["word"]: (each["old"], each["new"]) for each in found["answer"]["moved"]}
    assert moved[32] == ("B-subtotal", "B-total")
    assert (found["seq"], found["undo"], found["reviewer"]) == (1, True, "ada")
    again = client.get("/api/documents/10").json
    assert again["pins"] == [{"words": [32, 33], "field": "total"}]
    assert again["answer"]["labels"] == found["answer"]["labels"]


def test_contradictory_pins_are_refused_with_both_named_and_nothing_is_stored(client, desk):
    pins = [{"words": [0, 1], "field": "total"}, {"words": [0, 1], "field": None}]
    found = client.post("/api/documents/3/pins", {"base": 0, "pins": pins})
    assert found.status == 422
    assert found.headers["content-type"] == "application/problem+json"
    assert "word 0 is total; word 0 is nothing" in found.json["detail"]
    assert list(desk.store.rows()) == []


def test_undo_and_redo_are_further_rows(client, desk):
    first = {"words": [0, 1], "field": None}
    client.post("/api/documents/5/pins", {"base": 0, "pins": [first]})
    undone = client.post("/api/documents/5/undo", {"base": 1}).json
    assert (undone["pins"], undone["undo"], undone["redo"], undone["seq"]) == ([], False, True, 2)
    redone = client.post("/api/documents/5/redo", {"base": 2}).json
    assert (redone["pins"], redone["undo"], redone["redo"]) == ([first], True, False)
    assert [row.action for row in desk.store.rows()] == ["pins", "undo", "redo"]
    assert client.post("/api/documents/5/redo", {"base": 3}).status == 422


def test_whoever_is_second_gets_the_document_as_it_is_now(client):
    pins = [{"words": [0, 1], "field": None}]
    client.post("/api/documents/5/pins", {"base": 0, "pins": pins})
    found = client.post("/api/documents/5/pins", {"base": 0, "pins": []}, reviewer="bob")
    assert found.status == 409
    assert found.json["document"]["pins"] == pins
    assert found.json["document"]["reviewer"] == "ada"


def test_accepting_an_answer_that_breaks_rules_asks_once(client):
    verdict = {"base": 0, "verdict": "accepted", "note": "rounded", "seconds": 4.5}
    asked = client.post("/api/documents/3/verdict", verdict)
    assert asked.status == 409
    assert asked.json["unseen"] == ["total"]
    found = client.post("/api/documents/3/verdict", verdict | {"confirmed": True}).json
    assert (found["verdict"], found["note"], found["seq"]) == ("accepted", "rounded", 1)
    progress = client.get("/api/queue").json["progress"]
    assert (progress["documents"], progress["accepted"], progress["open"]) == (48, 1, 47)


def test_without_the_token_or_under_another_name_there_is_nothing(client):
    for wrong in ("", "Bearer", "Bearer wrong", "Basic " + "t" * 32):
        assert client.get("/api/session", headers={"authorization": wrong}).status == 401
    for wrong in ("evil.example", "127.0.0.1.evil.example:80", "", "localhost.evil:80"):
        assert client.get("/api/session", headers={"host": wrong}).status == 421
    for right in ("localhost:8000", "[::1]:8000", "127.0.0.1"):
        assert client.get("/api/session", headers={"host": right}).status == 200
    page = client.get("/", headers={"authorization": ""})
    assert page.status == 200
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
