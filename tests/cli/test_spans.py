"""Lines with scores of spans: which commands take them, and what they say."""

from __future__ import annotations

import json

import pytest

from tests.helpers import run

RULES = """
fields:
  total: {label: total, type: money, presence: free}
  tax: {label: tax, type: money, presence: free}
rules:
  - {id: less, check: tax < total, weight: 10}
"""

LINE = {
    "id": "r1",
    "words": ["60", "53.28", "5"],
    "spans": [[0, 1, "tax", 0.6], [1, 2, "total", 0.8], [2, 3, "tax", 0.45]],
    "types": ["total", "tax"],
    "gold": ["O", "B-total", "B-tax"],
}


@pytest.fixture
def files(tmp_path):
    documents, rules = tmp_path / "spans.jsonl", tmp_path / "rules.yaml"
    others = {**LINE, "id": "r2"}, {**LINE, "id": "r3", "gold": None}
    documents.write_text("".join(json.dumps(line) + "\n" for line in (LINE, *others)))
    rules.write_text(RULES)
    return documents, "-r", rules


def test_evaluate(files, tmp_path):
    out = tmp_path / "report.json"
    found = run("evaluate", *files, "--out", out)
    assert found.returncode == 0, found.stderr
    assert "left out: 1 without gold labels" in found.stderr
    baseline, mine = json.loads(out.read_text())["results"].values()
    assert [board["entities"]["right"] for board in (baseline, mine)] == [2, 4]
    assert mine["changed_pages"] == {"fixed": 2, "broken": 0, "unchanged": 0}
    decodings = tmp_path / "decodings.jsonl"
    assert run("decode", *files, "--out", decodings).returncode == 0
    again = run("evaluate", *files, "--decodings", decodings, "--out", out)
    assert again.returncode == 0, again.stderr
    results = json.loads(out.read_text())["results"]
    assert results["decodings.jsonl"]["entities"] == mine["entities"]
    assert run("evaluate", *files, "--only-satisfied").returncode == 0


def test_check(files):
    found = run("check", *files, "--labels", "argmax")
    lines = [json.loads(line) for line in found.stdout.splitlines()]
    assert [line["status"] for line in lines] == ["violated"] * 3
    assert lines[0]["fields"]["tax"][0]["text"] == "60"
    found = run("check", *files)
    assert [json.loads(line)["status"] for line in found.stdout.splitlines()] == ["satisfied"] * 2
    assert "line 3: document 'r3' has no gold labels to judge" in found.stderr


def test_explain(files):
    found = run("explain", *files, "--id", "r2")
    assert found.returncode == 0, found.stderr
    assert "violated less: tax is 60, total is 53.28" in found.stdout
    assert "60 B-tax -> O; 5 O -> B-tax" in found.stdout
    assert "tax '60' -> nothing" in found.stdout


def test_calibrate_needs_scores_of_words(files):
    found = run("calibrate", *files)
    assert found.returncode == 2
    assert "the line has scores of spans, and this command needs scores of words" in found.stderr
