"""A review that teaches: each accepted document makes the next ones easier, and nothing is lost."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("starlette")

from lab import receipts as demo
from lawful import Rules, decode
from lawful.models.shipped import RULES_FILE
from lawful.models.tagger import from_pretrained
from lawful.review.documents import Documents
from lawful.review.learning import Learner
from lawful.review.pictures import Pictures
from lawful.review.serving import open_desk, shared
from lawful.review.store import Store
from tests.helpers import run
from tests.review.client import client_of
from tests.review.process import reviewing

RULES = """
needs: [total, subtotal]
fields:
  total: {label: total, type: money}
  subtotal: {label: subtotal, type: money}
  price: {label: item.price, type: money, many: true}
rules:
  - {id: sum, check: total >= subtotal}
"""
NAMES = {"total": "total", "subtotal": "subtotal", "item.price": "price"}


def pages(count, seed=3):
    """Receipts with a total and a subtotal."""
    found = (page for page in demo.generate(4 * count, seed=seed, words=(20, 80)))
    some = [p for p in found if {"B-total", "B-subtotal"} <= set(p.gold)]
    return some[:count]


def unscored(page):
    """The line of a document without scores and labels."""
    document = page.document
    return json.dumps({"id": document.id, "words": document.words, "boxes": document.boxes})


def spans(page):
    """What is true of a page: fields with their words."""
    found, gold = [], page.gold
    for start, label in enumerate(gold):
        mark, _, type_ = label.partition("-")
        if mark == "B" and type_ in NAMES:
            end = start + 1
            while end < len(gold) and gold[end] == f"I-{type_}":
                end += 1
            found.append({"words": [start, end], "field": NAMES[type_]})
    return found


@contextmanager
def learning(tmp_path, some, db="review.db"):
    """A desk that learns, over documents that nothing is known about."""
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULES)
    from lawful.cli.inputs import Inputs
    from lawful.cli.review_inputs import scored
    from lawful.models.quick import QuickTagger
    from lawful.readers import Reader

    path = tmp_path / "pages.jsonl"
    path.write_text("".join(unscored(page) + "\n" for page in some))
    loaded = Rules.load(rules)
    documents = Documents.arriving(
        scored(Inputs([str(path)]), Reader(), QuickTagger(()), None), None
    )
    learner = Learner(loaded, tmp_path / "model")
    common = shared(loaded, "rules")
    with open_desk(documents, Store(tmp_path / db), common, Pictures(), learner=learner) as desk:
        settle(documents, desk)
        yield client_of(desk), learner, desk


def settle(documents, desk):
    waiting = threading.Event()
    while documents.coming or desk.queue.decoded < len(documents):
        waiting.wait(0.02)


def accept(client, n, page):
    """Says what is true of a document that was opened, and accepts it; the keys it took."""
    found = client.get(f"/api/documents/{n}").json
    answer = {
        (name, *value["words"])
        for name, values in found["answer"]["fields"].items() for value in values
    }  # fmt: skip
    truth = {(pin["field"], *pin["words"]) for pin in spans(page)}
    pins = [{"words": [a, b], "field": name} for name, a, b in sorted(truth - answer)]
    pins += [{"words": [a, b], "not": name} for name, a, b in sorted(answer - truth)
             if not any(a < end and start < b for _, start, end in truth)]  # fmt: skip
    if pins:
        found = client.post(f"/api/documents/{n}/pins", {"base": found["seq"], "pins": pins}).json
    body = {"base": found["seq"], "verdict": "accepted", "confirmed": True}
    done = client.post(f"/api/documents/{n}/verdict", body)
    assert done.status == 200
    return len(pins)


def values(client, n):
    fields = client.get(f"/api/documents/{n}").json["answer"]["fields"]
    return {name: [tuple(v["words"]) for v in found] for name, found in fields.items() if found}


def test_documents_become_easier_and_the_page_says_how_much(tmp_path):
    some = pages(30)
    with learning(tmp_path, some) as (client, learner, desk):
        first = client.get("/api/queue")
        assert first.json["teaching"] == {
            "documents": 0, "right": 0, "of": 0, "leads": False, "busy": False, "failure": None,
        }  # fmt: skip
        assert all(not each["heading"][0] for each in first.json["documents"])
        said = []
        for n in range(20):
            said.append(accept(client, n, some[n]))
            learner.wait()
        assert sum(said[10:]) < 0.6 * sum(said[:10])
        teaching = client.get("/api/queue").json["teaching"]
        assert (teaching["documents"], teaching["of"], teaching["leads"]) == (20, 20, True)
        # What is said is what the model had right of documents that it had not seen.
        taught_before = sum(right_alone(tmp_path, some[:n], some[n]) for n in range(20))
        assert abs(teaching["right"] - taught_before) <= 2
        desk.queue.again()
        again = {n: values(client, n) for n in range(20, 30)}
        right = sum(
            again[n].get("total", [None])[0] == tuple(pin["words"])
            for n in range(20, 30) for pin in spans(some[n]) if pin["field"] == "total"
        )  # fmt: skip
        assert right >= 7
        for n in range(20):  # what people accepted is there, whatever the model says
            truth = {(pin["field"], tuple(pin["words"])) for pin in spans(some[n])}
            found = values(client, n)
            assert {(name, words) for name, each in found.items() for words in each} == truth
            assert client.get(f"/api/documents/{n}").json["stale"] is None


def right_alone(tmp_path, taught, page):
    """Whether a model that was taught these documents has the needed values of another one."""
    from lawful.learn.align import Truth
    from lawful.models.teaching import Teacher

    rules = Rules.load(tmp_path / "rules.yaml")
    teacher = Teacher(rules)
    for number, each in enumerate(taught):
        texts = {}
        for pin in spans(each):
            texts.setdefault(pin["field"], []).append(each.document.text(*pin["words"]))
        truth = Truth(str(number), {name: tuple(found) for name, found in texts.items()}, {})
        from dataclasses import replace

        teacher.add(replace(each.document, id=str(number)), truth, each.gold)
    if not taught:
        return False
    scores = teacher.tagger().scores_of(page.document).knowing(f.label for f in rules.fields)
    found = decode(page.document, scores, rules)
    truth = {}
    for pin in spans(page):
        truth.setdefault(pin["field"], set()).add(page.document.text(*pin["words"]))
    return all(
        {value.text for value in found.fields.get(name, [])} == truth.get(name, set())
        for name in ("total", "subtotal")
    )


def test_what_is_looked_at_stays_as_it_is_until_the_reviewer_looks_elsewhere(tmp_path):
    some = pages(12)
    with learning(tmp_path, some) as (client, learner, _):
        before = values(client, 11)  # ada looks at it
        assert before == {}
        for n in range(8):
            found = client.get(f"/api/documents/{n}", reviewer="bob").json
            pins = {"base": found["seq"], "pins": spans(some[n])}
            found = client.post(f"/api/documents/{n}/pins", pins, reviewer="bob").json
            body = {"base": found["seq"], "verdict": "accepted", "confirmed": True}
            client.post(f"/api/documents/{n}/verdict", body, reviewer="bob")
        learner.wait()
        assert learner.leads
        pinned = client.post(
            "/api/documents/11/preview", {"base": 0, "pins": [{"words": [0, 1], "field": None}]}
        ).json
        assert pinned["changes"] == []
        assert values(client, 11) == {}
        client.get("/api/documents/10")
        assert values(client, 11) != {}


def test_what_is_taken_back_is_forgotten_and_what_was_accepted_is_learned_anew(tmp_path):
    some = pages(6)
    with learning(tmp_path, some) as (client, learner, _):
        for n in range(4):
            accept(client, n, some[n])
        learner.wait()
        assert client.get("/api/queue").json["teaching"]["documents"] == 4
        seq = client.get("/api/documents/0").json["seq"]
        client.post("/api/documents/0/undo", {"base": seq})
        learner.wait()
        assert client.get("/api/queue").json["teaching"]["documents"] == 3
        assert len(learner._teacher.documents) == 3
        kept = values(client, 1)
    with learning(tmp_path, some) as (client, learner, _):
        learner.wait()
        while client.get("/api/queue").json["teaching"]["documents"] < 3:
            learner.wait()
        assert values(client, 1) == kept
        assert client.get("/api/documents/1").json["stale"] is None


def test_the_model_is_a_folder_that_extract_takes(tmp_path):
    some = pages(12)
    with learning(tmp_path, some) as (client, learner, _):
        for n in range(10):
            accept(client, n, some[n])
        learner.wait()
    folder = tmp_path / "model"
    assert (folder / RULES_FILE).is_file()
    rules = Rules.load(folder / RULES_FILE)
    (found,) = from_pretrained(folder).predict([some[11].document])
    assert decode(found.document, found.scores, rules).fields
    pages_file = tmp_path / "last.jsonl"
    pages_file.write_text(unscored(some[11]) + "\n")
    out = run("extract", pages_file, "--model", folder, "--unchecked", "pass", "--quiet")
    assert out.returncode == 0, out.stderr
    assert json.loads(out.stdout)["fields"]["total"]


def test_from_the_command_line_nothing_needs_to_be_known_but_the_rules(tmp_path):
    some = pages(3)
    path, rules, db = tmp_path / "pages.jsonl", tmp_path / "rules.yaml", tmp_path / "review.db"
    rules.write_text(RULES)
    lines = [unscored(page) for page in some]
    path.write_text("\n".join([*lines, '{"id": "bad", "words": ["x"], "probs": [[0.5]]}']))
    with reviewing(path, db, "--teach", rules=rules) as server:
        listed = server.documents()
        assert len(listed) == 4
        assert sum("error" in each for each in listed) == 1  # scores that are wrong are said
        status, found = server.pin(0, 0, spans(some[0]))
        assert status == 200
        body = {"base": found["seq"], "verdict": "accepted", "confirmed": True}
        assert server.ask("/api/documents/0/verdict", body)[0] == 200
        while (teaching := server.ask("/api/queue")[1]["teaching"])["busy"]:
            pass
        assert teaching["documents"] == 1
    assert (Path(f"{db}.model") / RULES_FILE).is_file()
    found = run("review", path, "--teach", "--no-browser", "--db", db)
    assert found.returncode == 2
    assert "--teach wants --rules" in found.stderr
