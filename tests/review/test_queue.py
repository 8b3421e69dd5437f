"""The queue: worst first, filled in the background, the same however people review."""

from __future__ import annotations

import json
import re
from contextlib import closing

import pytest

pytest.importorskip("starlette")

from lab import receipts as demo
from lawful import Rules
from lawful.review import phrases
from lawful.review.needed import described
from lawful.review.queue import Entry
from lawful.rules.packs import rules_named
from tests.helpers import ROOT, demo_lines
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


def test_a_look_at_what_is_most_probably_wrong_comes_first():
    worst_first = [
        Entry("satisfied", True, risk=0.9),
        Entry("relaxed", True, ("a", "b"), risk=0.5),
        Entry("relaxed", True, ("a",), margin=0.5, risk=0.5),
        Entry("relaxed", True, ("a",), margin=2.0, risk=0.5),
        Entry("satisfied", True, risk=0.1, passes=True),  # how sure it is, is not known yet
        Entry("satisfied", True, risk=0.2, passes=True, final=True),
        Entry("satisfied", True, passes=True, final=True),
        Entry(),
        Entry(error="no document"),
    ]
    mixed = worst_first[1::2] + worst_first[::2]
    assert sorted(mixed, key=lambda entry: entry.order) == worst_first


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
    progress = found["progress"]
    assert (progress["documents"], progress["open"], progress["accepted"]) == (24, 24, 0)
    assert 0 < progress["passing"] < 24
    listed = found["documents"]
    worth = [(each["passes"], -each["worth"]) for each in listed if "error" not in each]
    assert worth == sorted(worth)
    assert {each["passes"] for each in listed if each.get("violated")} == {False}
    assert [each["id"] for each in listed[-2:]] == ["line 5", "no scores"]
    assert "expected one of probs, log_probs, logits" in listed[-1]["error"]
    assert all(any(each["heading"]) for each in listed if "error" not in each)

    order = [each["n"] for each in listed]
    desk.judge(order[0], 0, "skipped", "ada")
    pinned = desk.pin(order[1], 0, [{"words": [0, 1], "field": None}], "ada")
    assert [each["n"] for each in desk.listing()["documents"]] == order
    entry = desk.listing()["documents"][1]
    assert (entry["pins"], entry["seq"], entry["status"]) == (
        1, pinned["seq"], pinned["answer"]["status"],
    )  # fmt: skip


def test_the_queue_has_a_reason_for_every_document_with_a_doubtful_field(tmp_path):
    """The demo's documents, but of a model that is much less sure."""
    path, looks = tmp_path / "documents.jsonl", 0
    with path.open("w") as file:
        for line in map(json.loads, demo_lines(24).splitlines()):
            soft = [[p**0.3 for p in row] for row in line["probs"]]
            line["probs"] = [[p / sum(row) for p in row] for row in soft]
            print(json.dumps(line), file=file)
    with closing(desk_of(path, tmp_path / "review.db")) as desk:
        desk.queue.start()
        assert desk.queue.wait(300)
        for each in desk.listing()["documents"]:
            stops = desk.alternatives(each["n"])["stops"]
            assert bool(each["reasons"]) >= bool(stops)
            if each["reasons"] and each["reasons"][0].startswith("look at "):
                assert each["reasons"][0].removeprefix("look at ").startswith(stops[0][0])
                looks += 1
    assert looks


def test_reasons_are_those_of_the_answer_after_a_pin(desk):
    desk.queue.start()
    assert desk.queue.wait(300)
    worst = next(each for each in desk.listing()["documents"] if "total" in each["violated"])
    done = desk.pin(worst["n"], 0, [{"field": "total", "value": None}], "ada")
    entry = next(each for each in desk.listing()["documents"] if each["n"] == worst["n"])
    assert done["entry"] == entry
    assert entry["pins"] == 1
    assert entry["reasons"] != worst["reasons"]
    assert "total is " in worst["reasons"][0]
    assert "total is " not in " ".join(entry["reasons"])
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


def test_those_that_pass_are_accepted_together_and_taken_back_together(desk):
    desk.queue.start()
    assert desk.queue.wait(300)
    client = client_of(desk)
    listed = client.get("/api/queue").json["documents"]
    usable = [each for each in listed if "error" not in each]
    passing = [[each["n"], 0] for each in usable if each["passes"]]
    desk.pin(passing[0][0], 0, [{"words": [0, 1], "field": None}], "bob")  # meanwhile

    # One that asks for a look, or was changed by somebody else, is not accepted.
    asked = [[each["n"], 0] for each in usable]
    done = client.post("/api/accept", {"documents": asked}).json["documents"]
    assert [n for n, _ in done] == [n for n, _ in passing[1:]]
    progress = client.get("/api/queue").json["progress"]
    assert progress["accepted"] == len(passing) - 1
    assert client.post("/api/accept", {"documents": done}).json["documents"] == []

    back = client.post("/api/take-back", {"documents": done}).json["documents"]
    assert [n for n, _ in back] == [n for n, _ in done]
    assert client.get("/api/queue").json["progress"]["accepted"] == 0


NEEDS = """
needs: [total]
fields:
  total: {label: total, type: money}
  subtotal: {label: subtotal, type: money}
  item: {label: item, type: money, many: true}
rules:
  - id: items
    check: subtotal == sum(item)
    message: {en: "items {right}, subtotal {left}", de: "Artikel {right}, Summe {left}"}
  - {id: total, check: total == subtotal}
"""


def needy(tmp_path, total="7.00", db="review.db"):
    """A desk over a page whose items do not add up; the total is right, and all that is needed."""
    rules = tmp_path / "rules.yaml"
    rules.write_text(NEEDS)
    labels = ["O", *(f"{p}-{n}" for n in ("total", "subtotal", "item") for p in "BI")]
    words = {"3.00": "B-item", "4.42": "B-item", "7.00": "B-subtotal"}
    best = [*words.values(), "B-total"]
    probs = [[0.999 if each == one else 0.001 / 6 for each in labels] for one in best]
    line = {"id": "a", "words": [*words, total], "labels": labels, "probs": probs}
    path = tmp_path / "documents.jsonl"
    path.write_text(json.dumps(line))
    return desk_of(path, tmp_path / db, Rules.load(rules))


def test_only_what_is_needed_decides_whether_a_document_passes(tmp_path):
    with closing(needy(tmp_path)) as desk:
        desk.queue.start()
        assert desk.queue.wait(300)
        [entry] = desk.listing()["documents"]
        assert entry["violated"] == ["items"]
        assert (entry["passes"], entry["stops"], entry["reasons"]) == (True, 0, [])
    with closing(needy(tmp_path, total="8.00", db="other.db")) as desk:
        desk.queue.start()
        assert desk.queue.wait(300)
        [entry] = desk.listing()["documents"]
        assert (entry["passes"], entry["stops"]) == (False, 1)
        assert entry["reasons"] == ["total is 8.00, subtotal is 7.00"]
        assert entry["heading"] == ["8.00"]


def test_messages_are_in_the_readers_language_if_the_rules_have_it(tmp_path):
    with closing(needy(tmp_path)) as desk:
        client = client_of(desk)
        for wanted, said in (
            ("de-AT,de;q=0.9,en;q=0.8", "Artikel 7.42, Summe 7.00"),
            ("fr, en;q=0.2", "items 7.42, subtotal 7.00"),
            ("", "items 7.42, subtotal 7.00"),
            (";;q=x,", "items 7.42, subtotal 7.00"),
        ):
            found = client.get("/api/documents/0", headers={"accept-language": wanted}).json
            assert found["answer"]["summary"].lower().startswith(said.lower()), wanted
            checks = {each["id"]: each for each in found["answer"]["checks"]}
            assert checks["items"]["said"] == said


def test_what_the_page_says_itself_is_in_the_readers_language(tmp_path):
    with closing(needy(tmp_path, total="8.00")) as desk:
        desk.queue.start()
        assert desk.queue.wait(300)
        client = client_of(desk)

        def ask(path, language):
            return client.get(f"/api/{path}", headers={"accept-language": language}).json

        for language, likely in (
            ("en", "less likely"), ("de-CH", "weniger wahrscheinlich"), ("fr", "moins probable"),
            ("it", "less likely"),
        ):  # fmt: skip
            found = ask("documents/0/alternatives", language)["alternatives"]
            assert found
            assert all(likely in each["odds"] for each in found), language
        absent = [{"field": name, "value": None} for name in ("subtotal", "item", "total")]
        for language, summary, reason in (
            ("en", "None of the rules could be checked.", "no rule could be checked"),
            ("de", "Keine der Regeln war prüfbar.", "keine Regel war prüfbar"),
            ("fr", "Aucune des règles n’a pu être vérifiée.", "aucune règle n’a pu être vérifiée"),
        ):
            body = {"base": ask("documents/0", language)["seq"], "pins": absent}
            found = client.post(
                "/api/documents/0/pins", body, headers={"accept-language": language}
            ).json
            assert found["answer"]["summary"] == summary
            assert reason in found["entry"]["reasons"]


def test_every_phrase_has_its_places_in_both_languages():
    for pattern, forms in phrases._PHRASES.items():
        groups = re.compile(pattern).groups
        for form in forms:
            assert {int(n) for n in re.findall(r"\{(\d)\}", form)} == set(range(groups)), pattern
    assert phrases.said("total: 55 % sure", "de") == "total: zu 55 % sicher"
    assert phrases.said("total: 55 % sure", "it") == "total: 55 % sure"
    assert phrases.said("a rule's own words", "fr") == "a rule's own words"


def test_what_a_pin_would_change_is_told_without_storing_it(tmp_path):
    with closing(needy(tmp_path)) as desk:
        client = client_of(desk)
        body = {"base": 0, "pins": [{"words": [3, 4], "field": "item"}]}
        found = client.post("/api/documents/0/preview", body).json
        changed = {each["field"]: (each["old"], each["new"]) for each in found["changes"]}
        assert changed["item"] == ("3.00, 4.42", "3.00, 4.42, 7.00")
        assert changed["total"] == ("7.00", "")
        body["pins"] = [{"words": [0, 1], "field": "total"}, {"words": [2, 3], "field": "subtotal"}]
        found = client.post("/api/documents/0/preview", body).json
        assert found["worse"] == ["total is 3.00, subtotal is 7.00"]
        assert client.get("/api/documents/0").json["seq"] == 0


def test_an_unproven_answer_is_no_worse_than_the_one_before_with_the_pin(tmp_path, monkeypatch):
    """A pin on one field made a till's number a date, and broke two more rules."""
    from lawful.results.decoding import Budget
    from lawful.review import desk as module

    monkeypatch.setattr(module, "QUICK", Budget(candidates=1))
    with closing(needy(tmp_path)) as desk:
        before = desk.decoding(0, ())
        pins = [{"words": [3, 4], "field": None}]
        after = desk.pin(0, 0, pins, "ada")["answer"]
        kept = {name: [v.words for v in found] for name, found in before.fields.items()}
        for name in ("subtotal", "item"):
            assert [tuple(each["words"]) for each in after["fields"][name]] == kept[name]


def test_every_field_has_a_colour_of_the_style_sheet():
    """Fields of long rule files, such as the totals of invoices, were drawn as black boxes."""
    colours = {each["colour"] for each in described(rules_named("invoice"))["fields"]}
    look = (ROOT / "src/lawful/report/look.css").read_text(encoding="utf-8")
    assert all(f".c{colour}" in look for colour in colours)
