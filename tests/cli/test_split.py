"""``lawful data split`` as a user would run it."""

from __future__ import annotations

import json

from lab import receipts as demo
from lawful import Rules, Scored, read_jsonl, write_jsonl
from lawful.documents.records import Labelled
from lawful.evaluation.split import split_documents
from tests.helpers import run

RULES = Rules.load(demo.RULES)
EXAMPLES = list(demo.generate(30))
PAGES = [Labelled(page.document, page.gold) for page in EXAMPLES]


def test_on_the_command_line_lines_stay_as_they_are(tmp_path):
    scored = EXAMPLES
    write_jsonl(tmp_path / "all.jsonl", scored)
    found = run("data", "split", tmp_path / "all.jsonl", "-r", demo.RULES, "-o", tmp_path / "parts")
    assert found.returncode == 0, found.stderr
    expected = split_documents(PAGES, RULES)
    together = []
    for part in ("train", "validation", "test"):
        file = tmp_path / "parts" / f"{part}.jsonl"
        lines = file.read_text().splitlines()
        assert {expected[json.loads(line)["id"]] for line in lines} == {part}
        assert all(isinstance(page, Scored) for page in read_jsonl(file))
        together += lines
    assert sorted(together) == sorted((tmp_path / "all.jsonl").read_text().splitlines())


def test_without_gold_or_rules_it_says_so(tmp_path):
    (tmp_path / "page.jsonl").write_text('{"id": "a", "words": ["x"]}\n')
    found = run("data", "split", tmp_path / "page.jsonl", "-r", "cord", "-o", tmp_path)
    assert (found.returncode, "document 'a' has no gold labels" in found.stderr) == (2, True)
    found = run("data", "split", demo.shipped(), "-r", "crod", "-o", tmp_path)
    assert "no rule file 'crod'; rules by name: receipt, invoice" in found.stderr


def test_rules_for_other_labels_are_refused(tmp_path):
    pages = demo.generate(3)
    write_jsonl(tmp_path / "d.jsonl", pages)
    done = run(
        "data", "split", tmp_path / "d.jsonl", "--rules", "cord", "--out", tmp_path / "parts"
    )
    assert done.returncode == 2
    assert "no label of cord occurs in" in done.stderr
    assert not (tmp_path / "parts").exists()
