"""``lawful choose``: lines of candidates in, decodings out."""

from __future__ import annotations

import csv
import io
import json

import pytest

from tests.helpers import run

RULES = """
fields:
  total:  {label: TOTAL, type: money}
  tax:    {label: TAX, type: money}
  amount: {label: AMOUNT, type: money}
rows: {line: {fields: [amount]}}
rules:
  - total == sum(amount) + tax
"""
SAMPLES = [
    {"total": 5.28, "tax": 5.28, "lines": [{"amount": 40}, {"amount": 8}]},
    {"total": 53.28, "tax": 5.28, "lines": [{"amount": 40}, {"amount": 8}]},
    {"total": 5.28, "tax": 5.28, "lines": [{"amount": 40}]},
]
LINES = [
    {"id": "a", "samples": SAMPLES},
    {"id": "b", "candidates": {"total": {"1": -0.1}}, "given": {"x": 1}},
    {"id": "c", "samples": SAMPLES, "candidates": {}},
    {"id": "d", "samples": [7]},
    {"id": "e", "document_ai": {"entities": [{"type": "TAX", "mentionText": "2"}]}},
    {"id": "f", "candidates": {"total": {"1": 1}}},
    {"id": "g", "candidates": {}, "log_probs": [0]},
    {"samples": []},
    {"id": "h", "candidates": {"other": {"1": -1}}},
    {"id": "i", "textract": {}},
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "rules.yaml").write_text(RULES)
    (tmp_path / "lines.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return tmp_path


def test_lines_are_chosen_and_bad_ones_are_named(folder):
    done = run("choose", "lines.jsonl", "-r", "rules.yaml", "--alternatives", 1, cwd=folder)
    assert done.returncode == 1
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(each["id"], each["status"]) for each in found] == [
        ("a", "satisfied"),
        ("b", "unchecked"),
        ("e", "unchecked"),
    ]
    assert found[0]["fields"]["total"][0]["value"] == 53.28
    assert found[0]["rows"]["line"][1]["amount"]["text"] == "8"
    [change] = found[0]["span_corrections"]
    assert (change["old"]["text"], change["new"]["text"]) == ("5.28", "53.28")
    for message in (
        "line 3: the line has samples and candidates, expected one of samples, sources, cand",
        "line 4: Expected `str | object | null`, got `int`",
        "line 6: candidates of total: '1' has 1, expected a log-probability",
        "line 7: log_probs are those of samples, of which the line has none",
        "line 8: Object missing required field `id`",
        "line 9: no candidates for the fields of the rules: total, tax, amount; found other",
        "line 10: ExpenseDocuments of Textract's AnalyzeExpense is None, expected a list",
    ):
        assert message in done.stderr.replace("\n", " "), done.stderr


def test_formats_workers_and_resuming_are_those_of_decode(folder):
    options = ("choose", "lines.jsonl", "-r", "rules.yaml", "--quiet")
    table = run(*options, "--format", "csv", "--workers", 2, cwd=folder).stdout
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [(row["id"], row["total"], row["amount"]) for row in rows] == [
        ("a", "53.28", "40; 8"),
        ("b", "1", ""),
        ("e", "", ""),
    ]
    lines = run(*options, "--format", "csv", "--rows", "line", cwd=folder).stdout
    assert [row["amount"] for row in csv.DictReader(io.StringIO(lines))] == ["40", "8"]
    report = run(*options, "--format", "html", "--out", "report.html", cwd=folder)
    assert report.returncode == 1
    assert "<del>total 5.28</del> → <b>total</b>" in (folder / "report.html").read_text()


def test_settings_that_are_wrong_for_all_lines_end_the_run(folder):
    done = run("choose", "lines.jsonl", "-r", "rules.yaml", "--smoothing", 0, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--smoothing is 0, expected 0.000001 to 1,000,000" in done.stderr
    (folder / "rules.yaml").write_text(RULES + "  - line(total) > 1\n")
    done = run("choose", "lines.jsonl", "-r", "rules.yaml", cwd=folder)
    assert done.returncode == 2
    assert "is about the place of total, which candidates do not have" in done.stderr
    done = run("choose", "lines.jsonl", "-r", "rules.yaml", "--decoder", "lazyk", cwd=folder)
    assert done.returncode == 2
