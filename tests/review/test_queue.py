"""The queue: worst first, filled in the background, the same however people review."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

pytest.importorskip("starlette")

from lawful import Rules, demo
from lawful.review.queue import Entry
from tests.helpers import demo_lines
from tests.review.client import client_of, desk_of


@pytest.fixture
def desk(tmp_path):
    path = tmp_path / "documents.jsonl"
    lines = demo_lines(24).splitlines()
    lines.insert(4, '{"id": "half", "words": ["x"')
    lines.insert(9, '{"id": "no scores", "words": ["x"]}')
    path.write_text("\n".join(lines))
    with closing(desk_of(path, tmp_path / "review.db")) as desk:
        yield desk


def test_the_worst_documents_come_first():
    worst_first = [
        Entry("relaxed", True, ("a", "b"), margin=9.0),
        Entry("infeasible", True, ("a",), margin=0.1),
        Entry("relaxed", True, ("a",), margin=3.0),
        Entry("unchecked", True, margin=0.5),
        Entry("unchecked", True),
        Entry("exhausted", False, margin=0.1),
        Entry("satisfied", True, margin=0.1, confidence=0.9),
        Entry("satisfied", True, margin=0.1, confidence=0.99),
        Entry("satisfied", True, margin=5.0, confidence=0.5),
        Entry("satisfied", True),
        Entry(),
        Entry(error="no document"),
    ]
    mixed = worst_first[1::2] + worst_first[::2]
    assert sorted(mixed, key=lambda entry: entry.doubt) == worst_first


def test_all_documents_are_listed_before_any_is_decoded(desk):
    found = desk.listing()
    assert len(found["documents"]) == 26
    assert found["decoded"] == 0
    known = [each for each in found["documents"] if "error" not in each]
    assert all(each["status"] is None and each["words"] > 0 for each in known)


def test_decoding_in_the_background_sorts_them(desk):
    before = desk.listing_tag()
    desk.queue.start()
    assert desk.queue.wait(300)
    found = desk.listing()
    assert desk.listing_tag() != before
    assert found["decoded"] == 24
    assert found["progress"] == {
        "documents": 24, "accepted": 0, "rejected": 0, "skipped": 0, "open": 24,
    }  # fmt: skip
    listed = found["documents"]
    ranks = [2 if "error" in each else 0 if each["violated"] else 1 for each in listed]
    assert ranks == sorted(ranks)
    assert [each["id"] for each in listed[-2:]] == ["line 5", "no scores"]
    assert "expected one of probs, log_probs, logits" in listed[-1]["error"]
    satisfied = [each for each in listed if each.get("status") == "satisfied" and each["optimal"]]
    margins = [each["margin"] for each in satisfied if each["margin"] is not None]
    assert margins == sorted(margins)
    assert len(margins) > 5

    order = [each["n"] for each in listed]
    desk.judge(order[0], 0, "skipped", "ada")
    pinned = desk.pin(order[1], 0, [{"words": [0, 1], "field": None}], "ada")
    assert [each["n"] for each in desk.listing()["documents"]] == order
    entry = desk.listing()["documents"][1]
    assert (entry["pins"], entry["seq"], entry["status"]) == (
        1, pinned["seq"], pinned["answer"]["status"],
    )  # fmt: skip


def test_the_queue_has_a_reason_for_every_document_with_a_doubtful_field(desk):
    desk.queue.start()
    assert desk.queue.wait(300)
    usable = [each for each in desk.listing()["documents"] if "error" not in each]
    looks = 0
    for each in usable:
        doubtful = desk.document(each["n"])["answer"]["doubtful"]
        assert bool(each["reasons"]) >= bool(doubtful)
        if each["reasons"] and each["reasons"][0].startswith("look at "):
            assert each["reasons"][0].removeprefix("look at ").startswith(doubtful[0])
            looks += 1
    assert looks


def test_reasons_are_those_of_the_answer_after_a_pin(desk):
    desk.queue.start()
    assert desk.queue.wait(300)
    worst = desk.listing()["documents"][0]
    assert worst["violated"]
    field = next(name for name in desk.document(worst["n"])["answer"]["doubtful"])
    done = desk.pin(worst["n"], 0, [{"field": field, "value": None}], "ada")
    entry = desk.listing()["documents"][0]
    assert done["entry"] == entry
    assert entry["pins"] == 1
    assert entry["reasons"] != worst["reasons"]
    assert (entry["violated"] == []) == ("is not" not in " ".join(entry["reasons"]))
    undone = desk.step(worst["n"], done["seq"], "undo", "ada")
    assert undone["entry"]["reasons"] == worst["reasons"]


def test_a_queue_that_is_as_it_was_is_not_sent_again(desk):
    client = client_of(desk)
    first = client.get("/api/queue")
    again = client.get("/api/queue", headers={"if-none-match": first.headers["etag"]})
    assert (again.status, again.body) == (304, b"")
    desk.judge(0, 0, "skipped", "ada")
    again = client.get("/api/queue", headers={"if-none-match": first.headers["etag"]})
    assert again.status == 200


def test_reviews_under_other_rules_are_not_applied_but_offered(tmp_path):
    path, db = tmp_path / "documents.jsonl", tmp_path / "review.db"
    path.write_text(demo_lines(2))
    pins = [{"words": [0, 1], "field": None}]
    with closing(desk_of(path, db)) as desk:
        seq = desk.pin(0, 0, pins, "ada")["seq"]
        desk.judge(0, seq, "accepted", "ada", confirmed=True, note="done")
    other = Rules.load(demo.RULES).with_rules("total >= 0")
    with closing(desk_of(path, db, other)) as desk:
        found = desk.document(0)
        assert (found["pins"], found["verdict"], found["undo"], found["seq"]) == (
            [],
            None,
            False,
            2,
        )
        stale = found["stale"]
        assert (stale["what"], stale["pins"], stale["verdict"], stale["note"]) == (
            "rules", pins, "accepted", "done",
        )  # fmt: skip
        assert desk.listing()["progress"]["accepted"] == 0
        found = desk.pin(0, found["seq"], stale["pins"], "bob")
        assert (found["pins"], found["stale"], found["undo"]) == (pins, None, True)


def test_another_answer_than_the_one_that_was_accepted_is_said(tmp_path):
    """The model was trained again: the words are the same, but not the answer."""
    path, db = tmp_path / "documents.jsonl", tmp_path / "review.db"
    line = json.loads(demo_lines(1))
    path.write_text(json.dumps(line))
    with closing(desk_of(path, db)) as desk:
        desk.judge(0, 0, "accepted", "ada", confirmed=True)
        assert desk.document(0)["stale"] is None
    line["probs"] = [
        [1.0 - 1e-6, *[1e-6 / (len(row) - 1)] * (len(row) - 1)] for row in line["probs"]
    ]
    path.write_text(json.dumps(line))
    with closing(desk_of(path, db)) as desk:
        found = desk.document(0)
        assert (found["verdict"], found["stale"]["what"]) == ("accepted", "answer")


def test_two_documents_of_one_id_have_reviews_of_their_own(tmp_path):
    path, db = tmp_path / "documents.jsonl", tmp_path / "review.db"
    one, other = map(json.loads, demo_lines(2).splitlines())
    path.write_text("\n".join(json.dumps({**each, "id": "same"}) for each in (one, other)))
    with closing(desk_of(path, db)) as desk:
        desk.pin(0, 0, [{"words": [0, 1], "field": None}], "ada")
        assert (desk.document(1)["seq"], desk.document(1)["stale"]) == (0, None)
        desk.judge(1, 0, "skipped", "ada")
        assert [desk.document(n)["verdict"] for n in (0, 1)] == [None, "skipped"]
