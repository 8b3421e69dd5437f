"""The plugs that need no library, against what the other side has said."""

import json
import os
import shutil
import subprocess
import sys

import pytest
import yaml

import lawful
from lawful.rules.packs import DEMO
from tests.fixtures.einvoices import XML
from tests.helpers import ROOT
from tests.plugs.loading import PLUGS, served

RECORDED = ROOT / "tests" / "plugs" / "recorded"


def test_docling_says_where_its_words_are():
    """A document of docling-core 2.104: two paragraphs, one of them on two lines, and a table."""
    page = lawful.readers.Reader().read(RECORDED / "docling.json")
    assert page.words[:3] == ("Invoice", "2024-17", "Please")
    assert page.words[-6:] == ("Tea", "48.00", "Tax", "5.28", "Total", "53.28")
    boxes = dict(zip(page.words, page.boxes, strict=True))
    assert boxes["53.28"] == (250, 140, 300, 152)
    assert (boxes["Invoice"].y0, boxes["Invoice"].y1) == (42, 54)
    assert (boxes["Please"].y1, boxes["quoting"].y0) == (76, 76)
    assert all(50 <= box.x0 < box.x1 <= 300 for box in page.boxes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: [text.update(prov=[]) for text in d["texts"]], "cells without places"),
        (lambda d: d["texts"][0]["prov"][0].update(page_no=7), "a text on page 7"),
        (lambda d: d.pop("pages"), "missing required field `pages`"),
    ],
)
def test_a_docling_document_without_places_is_refused(tmp_path, change, message):
    found = json.loads((RECORDED / "docling.json").read_text())
    change(found)
    if "cells" in message:
        found["tables"][0]["prov"] = []
    (tmp_path / "x.json").write_text(json.dumps(found))
    with pytest.raises(lawful.InputError, match=message):
        lawful.readers.Reader().read(tmp_path / "x.json")
    found["tables"] = []
    (tmp_path / "x.json").write_text(json.dumps(found))
    if "cells" in message:
        with pytest.raises(lawful.InputError, match=r"no places \(prov\)"):
            lawful.readers.Reader().read(tmp_path / "x.json")


FIELDS = [
    {"id": 3, "name": "Total", "data_type": "monetary"},
    {"id": 4, "name": "issued", "data_type": "date"},
    {"id": 5, "name": "price", "data_type": "monetary"},
    {"id": 6, "name": "shop", "data_type": "integer"},
]
"""Custom fields of paperless; a receipt has several prices, and a shop is no number."""


CONTRADICTORY = XML.replace(b"GrandTotalAmount>136.85", b"GrandTotalAmount>163.85")


def consumed(address, path):
    """What the post-consume script does about a file."""
    given = {
        "DOCUMENT_ID": "12", "DOCUMENT_SOURCE_PATH": str(path), "DOCUMENT_ARCHIVE_PATH": "",
        "PAPERLESS_API_URL": address, "PAPERLESS_API_TOKEN": "secret",
    }  # fmt: skip
    subprocess.run(
        [sys.executable, PLUGS / "paperless.py"], env={**os.environ, **given}, check=True
    )


@pytest.mark.parametrize("kind", ["good", "nonsense"])
def test_paperless_gets_fields_and_a_tag_for_doubts(tmp_path, kind):
    pytest.importorskip("pypdfium2")
    pytest.importorskip("onnxruntime")
    answers = {
        "GET /api/documents/12/": {
            "id": 12, "tags": [1], "custom_fields": [{"field": 9, "value": "kept"}],
        },
        "GET /api/custom_fields/?page_size=1000": {"count": 4, "results": FIELDS},
        "GET /api/tags/?name__iexact=check%20me": {"count": 0, "results": []},
        "POST /api/tags/": {"id": 77, "name": "check me"},
        "PATCH /api/documents/12/": {},
    }  # fmt: skip
    path = tmp_path / "a.pdf"
    if kind == "good":
        shutil.copy(DEMO / "receipt-00021.pdf", path)
        found = lawful.extract(path)
        assert len(found.values("price")) > 1
        satisfied = found.status == "satisfied"
        total, issued = found.values("total")[0], found.values("issued")
        expected = [{"field": 3, "value": f"{total:.2f}"}]
        expected += [{"field": 4, "value": day.isoformat()} for day in issued[:1]]
    else:
        path.write_text("nonsense")
        satisfied, expected = False, []
    with served(lambda call, _: answers.get(call)) as (address, asked):
        consumed(address, path)
    call, body = asked[-1]
    assert call == "PATCH /api/documents/12/"
    assert body["custom_fields"] == [{"field": 9, "value": "kept"}, *expected]
    assert body["tags"] == ([1] if satisfied else [1, 77])
    assert ("POST /api/tags/", {"name": "check me"}) in asked or satisfied


def test_label_studio_follows_what_a_person_draws(tmp_path):
    """With the requests that Label Studio 1.23 sent, about a project of two exported tasks."""
    pytest.importorskip("starlette")
    from starlette.testclient import TestClient

    from lawful.review.backend import backend
    from lawful.review.documents import Documents
    from lawful.review.pictures import Pictures
    from lawful.review.serving import open_desk, shared
    from lawful.review.store import Store

    recorded = json.loads((RECORDED / "label_studio.json").read_text())
    rules = lawful.Rules.load(DEMO / "rules.yaml")
    documents = Documents.open(str(DEMO / "documents.jsonl.gz"))
    store = Store(tmp_path / "reviews.db")
    with open_desk(documents, store, shared(rules, "rules"), Pictures()) as desk:
        client = TestClient(backend(desk))
        for each in recorded:
            answer = client.request(each["method"], each["path"], json=each["body"])
            assert answer.status_code == 200, each["path"]
            if each["path"] != "/predict":
                continue
            result = answer.json()["results"][0]
            assert "error" not in result
            drawn = (each["body"]["params"].get("context") or {}).get("result")
            if drawn:
                value = drawn[0]["value"]
                kept = [r["value"] for r in result["result"]]
                assert (value["start"], value["end"], value["labels"]) in [
                    (v["start"], v["end"], v["labels"]) for v in kept
                ]
        bad = client.post("/predict", json={"tasks": [{"data": {"id": "nowhere"}}]})
        assert "there is no document 'nowhere'" in bad.json()["results"][0]["error"]
        assert client.post("/predict", content=b"{}").status_code == 400


def test_the_action_audits_what_a_pull_request_changes(tmp_path):
    """The step of the action that audits, in a repository with one good and one bad invoice."""
    pytest.importorskip("pypdfium2")
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    (step,) = (each for each in action["runs"]["steps"] if each.get("id") == "audit")

    def git(*command):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *command], cwd=tmp_path,
            check=True, capture_output=True,
        )  # fmt: skip

    git("init", "-q")
    (tmp_path / "old.xml").write_bytes(CONTRADICTORY)
    git("add", ".")
    git("commit", "-qm", "before")
    git("branch", "base")
    (tmp_path / "good invoice.xml").write_bytes(XML)
    (tmp_path / "pom.xml").write_text("<project/>")
    (tmp_path / "bad.xml").write_bytes(CONTRADICTORY)
    git("add", ".")
    git("commit", "-qm", "after")
    (tmp_path / "bin").mkdir()
    for name, more in (("python", ""), ("lawful", " -m lawful")):
        tool = tmp_path / "bin" / name
        tool.write_text(f'#!/bin/sh\nexec "{sys.executable}"{more} "$@"\n')
        tool.chmod(0o755)
    tools = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    env = {**os.environ, "PATH": tools, "BASE": "base", "FILES": "", "OCR": "never"}
    env["GITHUB_STEP_SUMMARY"] = str(tmp_path / "summary.md")
    done = subprocess.run(
        ["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=env, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "::error file=bad.xml,title=BR-CO-15::" in done.stdout
    assert "old.xml" not in done.stdout
    assert "1 sound e-invoice, 1 contradictory e-invoice" in (tmp_path / "summary.md").read_text()
