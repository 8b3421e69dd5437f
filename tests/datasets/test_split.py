"""The paper's split: 60 % of the satisfying documents to train and validate on, 40 % to test."""

from __future__ import annotations

import json
from collections import Counter

from lawful import Rules, Scored, demo, read_jsonl, write_jsonl
from lawful.datasets.split import obedient, split_documents
from lawful.document import Labelled
from lawful.evaluation import gold_obeys
from tests.helpers import run

RULES = Rules.load(demo.RULES)
EXAMPLES = list(demo.generate(120))
PAGES = [Labelled(page.document, page.gold) for page in EXAMPLES]


def test_shares_are_the_papers_and_what_breaks_a_rule_is_trained_on():
    parts = split_documents(PAGES, RULES)
    good = {p.document.id for p, ok in zip(PAGES, obedient(PAGES, RULES), strict=True) if ok}
    counts = Counter(parts[name] for name in good)
    assert counts["test"] == round(0.4 * len(good))
    assert counts["validation"] == round(0.2 * (len(good) - counts["test"]))
    assert {parts[page.document.id] for page in PAGES if page.document.id not in good} == {"train"}


def test_it_does_not_depend_on_the_order_of_the_file():
    assert split_documents(PAGES[::-1], RULES) == split_documents(PAGES, RULES)
    assert split_documents(PAGES, RULES, seed=1) != split_documents(PAGES, RULES)


def test_the_filter_is_the_evaluations():
    scored = [Scored(page.document, page.scores, page.gold) for page in EXAMPLES]
    assert obedient(PAGES, RULES) == [gold_obeys(page, RULES) for page in scored]


def test_there_may_be_too_few_for_three_parts():
    good = [page for page, ok in zip(PAGES, obedient(PAGES, RULES), strict=True) if ok]
    assert set(split_documents(good[:1], RULES).values()) == {"train"}
    assert sorted(split_documents(good[:2], RULES).values()) == ["test", "train"]
    assert sorted(split_documents(good[:3], RULES).values()) == ["test", "train", "validation"]
    assert split_documents([], RULES) == {}


def test_on_the_command_line_lines_stay_as_they_are(tmp_path):
    scored = [Scored(page.document, page.scores, page.gold) for page in EXAMPLES[:30]]
    write_jsonl(tmp_path / "all.jsonl", scored)
    found = run("data", "split", tmp_path / "all.jsonl", "-r", demo.RULES, "-o", tmp_path / "parts")
    assert found.returncode == 0, found.stderr
    expected = split_documents(PAGES[:30], RULES)
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
    assert "no rule file 'crod'; rules by name: cord, wildreceipt, docile" in found.stderr


def test_rules_for_other_labels_are_refused(tmp_path):
    pages = (Scored(page.document, page.scores, page.gold) for page in demo.generate(3))
    write_jsonl(tmp_path / "d.jsonl", pages)
    done = run(
        "data", "split", tmp_path / "d.jsonl", "--rules", "cord", "--out", tmp_path / "parts"
    )
    assert done.returncode == 2
    assert "no field of cord occurs in" in done.stderr
    assert not (tmp_path / "parts").exists()
