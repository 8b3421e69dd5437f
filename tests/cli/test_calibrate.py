"""``lawful calibrate``: which temperature it finds, and what changes under rules."""

from __future__ import annotations

import json

import pytest

from lab import receipts as demo
from tests.helpers import DOCUMENTS, RULES, demo_lines, run, without


def test_calibrate_says_which_temperature_to_use(tmp_path):
    out = tmp_path / "calibration.json"
    found = run("calibrate", DOCUMENTS, "--out", out)
    assert found.returncode == 0, found.stderr
    record = json.loads(out.read_text())
    assert f"to use it: --temperature {record['temperature']:g}" in found.stdout
    assert "expected calibration error (top label, 15 bins)" in found.stdout
    assert record["fitted_on"]["documents"] == record["held_out"] == 24
    assert record["after"]["nll"] < record["before"]["nll"]
    assert record["before"]["accuracy"] == record["after"]["accuracy"]
    assert sum(b["words"] for b in record["after"]["bins"]) == record["after"]["words"]
    assert record["decoded"] is None
    other = json.loads(run("calibrate", DOCUMENTS, "--seed", 5, "--out", "-").stdout)
    assert other["fitted_on"]["words"] != record["fitted_on"]["words"]


def test_calibrate_shows_what_changes_under_rules(tmp_path):
    some = tmp_path / "some.jsonl"
    some.write_text(demo_lines(12), encoding="utf-8")
    found = run("calibrate", some, "-r", RULES, "--out", "-")
    record = json.loads(found.stdout)
    temperature = record["temperature"]
    results = record["decoded"]["results"]
    assert list(results) == ["temperature 1", f"temperature {temperature:g}"]
    assert f"{temperature:g} times as much" in found.stderr
    hard = tmp_path / "hard.yaml"
    paper = "weight: hard\npresence: free\nrepeat: first\nunchecked: 0\n"
    hard.write_text(paper + demo.RULES.read_text(encoding="utf-8"))
    found = run("calibrate", some, "-r", hard, "--out", "-")
    one, other = json.loads(found.stdout)["decoded"]["results"].values()
    assert {key: other[key] for key in one} == one  # hard results do not change
    found = run("calibrate", some, "-r", hard, "-d", "paths", "--out", "-")
    ranks, later = json.loads(found.stdout)["decoded"]["tried"].values()
    assert ranks == later  # nor does the rank of the first accepted candidate: the order stays
    assert len(ranks) == 6
    assert "candidates tried: median / 95 % / maximum" in found.stderr
    assert "these rules are all hard" in found.stderr
    found = run("calibrate", some, "-r", hard, "--by-field", "--mass", 0.99)
    assert "under the rules:" in found.stdout
    assert "all hard" not in found.stdout  # which spans are candidates depends on the temperature
    priced = tmp_path / "priced.yaml"  # was told that no temperature changes its answers
    priced.write_text("weight: hard\n" + demo.RULES.read_text(encoding="utf-8"))
    found = run("calibrate", some, "-r", priced)
    assert "not scaled by the temperature: unchecked; at" in found.stdout
    assert "all hard" not in found.stdout


def test_calibrate_on_one_document_says_that_it_is_no_test():
    found = run("calibrate", "-", stdin=demo_lines(1, seed=3))
    assert found.returncode == 0
    assert "measured on the same document, which says nothing about others" in found.stdout


def test_calibrate_counts_what_it_leaves_out():
    lines = demo_lines(4).splitlines()
    lines[1] = without(lines[1], "gold")
    page = json.loads(lines[2])
    wrong = page["labels"].index("B-change")
    assert page["gold"][0] != "B-change"
    page["probs"][0] = [float(i == wrong) for i in range(len(page["labels"]))]
    lines[2] = json.dumps(page)
    found = run("calibrate", "-", "--share", 0.5, stdin="\n".join([*lines, "{"]))
    assert found.returncode == 1
    assert "left out: 1 without gold labels, 1 bad line" in found.stderr
    assert "probability zero" in found.stdout or "for which it is infinite" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "text", "message"),
    [
        ([], "", "nothing to fit on in -: no documents"),
        ([], without(demo_lines(1), "gold"), "nothing to fit on in -: 1 without gold labels"),
        (["--share", "2"], demo_lines(1), "share is 2.0, expected a number between 0 and 1"),
        (["-d", "best"], demo_lines(1), "unknown decoder 'best'"),
    ],
)
def test_calibrate_refuses_what_it_cannot_use(arguments, text, message):
    found = run("calibrate", "-", *arguments, stdin=text)
    assert found.returncode == 2
    assert message in found.stderr
    assert "Traceback" not in found.stderr
