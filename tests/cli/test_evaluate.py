"""``lawful evaluate``: what it prints, what it writes, and what it leaves out."""

from __future__ import annotations

import json
import re
from shutil import copytree

import pytest

from lab import receipts as demo
from lawful import Budget, Rules, decode, decode_many, read_jsonl
from lawful.evaluation.scoreboard import Scoreboard, best_legal, gold_obeys
from tests.helpers import DOCUMENTS, ROOT, RULES, demo_lines, run, without

BASELINE = "best legal labelling"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    out = tmp_path_factory.mktemp("evaluate") / "report.json"
    found = run("evaluate", DOCUMENTS, "-r", RULES, "--out", out)
    assert found.returncode == 0, found.stderr
    return found, json.loads(out.read_text())


def test_the_report_is_the_scoreboards(report):
    _, record = report
    rules = Rules.load(demo.RULES)
    board, baseline = Scoreboard(rules), Scoreboard(rules)
    for scored in read_jsonl(DOCUMENTS):
        board.add(scored, decode(scored.document, scored.scores, rules))
        baseline.add_labels(scored, best_legal(scored, rules))
    assert record["pages"] == 48
    assert record["results"][BASELINE] == baseline.record()
    mine = record["results"]["auto"]
    assert {key: mine[key] for key in board.record()} == board.record()
    assert mine["changed_pages"] == {"fixed": 9, "broken": 0, "unchanged": 39}
    assert sum(mine["changed_values"].values()) == 7 * 48


def test_the_table_says_what_the_report_says(report):
    found, record = report
    lines = [re.split(r"  +", line.strip()) for line in found.stdout.splitlines()]
    rows = {name: cells for name, *cells in lines}
    mine = record["results"]["auto"]
    assert rows["value F1"][-1] == f"{100 * mine['values']['f1']:.1f}"
    assert rows["F1^s, their product"][-1] == f"{100 * mine['f1_s']:.1f}"
    assert mine["f1_s"] == pytest.approx(mine["entities"]["f1"] * mine["satisfied"] / 48)
    assert "9 / 0 / 39" in found.stdout
    for field in ("total", "item.price", "shop.name"):
        assert field in found.stdout
    assert "48 documents: 31 satisfied, 6 unchecked, 11 relaxed; the gold" in found.stderr
    assert rows["pages unchecked"] == ["5", "6"]
    assert mine["pages_unchecked"] == mine["statuses"]["unchecked"] == 6
    assert rows["pages satisfied or unchecked"][-1] == "77.1 %"  # as the paper counts
    assert mine["satisfied"] == 37 == 31 + 6
    assert "left out" not in found.stderr


def test_decodings_made_earlier_score_the_same(report, tmp_path):
    decodings = tmp_path / "decodings.jsonl"
    run("decode", DOCUMENTS, "-r", RULES, "-o", decodings)
    found = run("evaluate", DOCUMENTS, "-r", RULES, "--decodings", decodings, "--out", "-")
    assert found.returncode == 0
    again = json.loads(found.stdout)["results"]["decodings.jsonl"]
    assert again == report[1]["results"]["auto"]
    assert "value F1" in found.stderr  # where the JSON is not


def test_decodings_that_do_not_fit_are_reported(tmp_path):
    lines = demo_lines(4)
    decodings = tmp_path / "decodings.jsonl"
    made = run("decode", "-", "-r", RULES, stdin=lines).stdout.splitlines()
    short = json.dumps({**json.loads(made[1]), "labels": ["O"]})
    decodings.write_text("\n".join([made[0], short, "{", made[2]]))
    found = run("evaluate", "-", "-r", RULES, "--decodings", decodings, stdin=lines)
    assert found.returncode == 1
    assert "line 3: of " in found.stderr
    assert "words, but 1 decoded label" in found.stderr
    assert "line 4: document 'receipt-00003' is not in" in found.stderr
    assert "2 documents: " in found.stderr
    assert "left out: 2 bad lines, 1 without a decoding" in found.stderr


def test_workers_make_no_difference(report):
    found = run("evaluate", DOCUMENTS, "-r", RULES, "--workers", 2)
    assert found.stdout == report[0].stdout


def test_only_pages_whose_gold_satisfies_the_rules():
    found = run("evaluate", DOCUMENTS, "-r", RULES, "--only-satisfied", "--out", "-")
    record = json.loads(found.stdout)
    rules = Rules.load(demo.RULES)
    fine = sum(gold_obeys(scored, rules) for scored in read_jsonl(DOCUMENTS))
    assert record["pages"] == record["gold_satisfied"] == fine < 48
    assert f"left out: {48 - fine} whose gold breaks the rules" in found.stderr
    assert found.returncode == 0


def test_what_cannot_be_scored_is_counted_and_the_rest_goes_on():
    lines = demo_lines(3).splitlines()
    lines[0] = without(lines[0], "gold")
    lines.insert(1, '{"id": "bad"}')
    lines.append(json.dumps({**json.loads(lines[2]), "gold": ["B-nonsense"]}))
    found = run("evaluate", "-", "-r", RULES, stdin="\n".join(lines))
    assert found.returncode == 1
    assert "line 2: " in found.stderr
    assert "line 5: " in found.stderr
    assert "2 documents: " in found.stderr
    assert "left out: 1 without gold labels, 2 bad lines" in found.stderr


def test_documents_without_gold_are_no_mistake():
    lines = demo_lines(2).splitlines()
    lines[0] = without(lines[0], "gold")
    found = run("evaluate", "-", "-r", RULES, stdin="\n".join(lines))
    assert found.returncode == 0
    assert "left out: 1 without gold labels" in found.stderr


def test_one_page_is_one_page():
    found = run("evaluate", "-", "-r", RULES, stdin=demo_lines(1))
    assert found.stdout.startswith("1 page ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "nothing to score in -: no documents"),
        (without(demo_lines(1), "gold"), "nothing to score in -: 1 without gold labels"),
        ("{}", "nothing to score in -: 1 bad line"),
    ],
)
def test_nothing_to_score_is_an_error(text, message, tmp_path):
    out = tmp_path / "report.json"
    found = run("evaluate", "-", "-r", RULES, "--out", out, stdin=text)
    assert found.returncode == 2
    assert message in found.stderr
    assert "Traceback" not in found.stderr
    assert not out.exists()


def test_rules_about_other_labels_leave_nothing(tmp_path):
    rules = tmp_path / "rules.yaml"
    rules.write_text("fields: {a: {label: nonsense}}\nrules: [present(a)]\n")
    for more in ([], ["--only-satisfied"]):
        found = run("evaluate", "-", "-r", rules, *more, stdin=demo_lines(2))
        assert found.returncode == 2
        assert "'nonsense', which the model does not know" in found.stderr
        assert "2 bad lines" in found.stderr


def test_without_a_single_valued_field_in_rules_the_values_of_lists_are_compared(tmp_path):
    rules = tmp_path / "rules.yaml"
    rules.write_text("fields: {items: {label: item.price, type: money, many: true}}\n")
    found = run("evaluate", "-", "-r", rules, stdin=demo_lines(2))
    (row,) = (line for line in found.stdout.splitlines() if line.startswith("value F1"))
    before, now = map(float, row.split()[2:])
    assert before == now > 50


def test_pieces_are_scored_as_words():
    page = json.loads(demo_lines(1))
    page["joins"] = [False, True, *[False] * (len(page["words"]) - 2)]
    found = run("evaluate", "-", "-r", RULES, "--pool", "mean", "--out", "-",
                stdin=json.dumps(page))  # fmt: skip
    assert found.returncode == 0
    assert json.loads(found.stdout)["pool"] == "mean"


def test_the_sessions_in_the_docs_are_real(tmp_path):
    copytree(ROOT / "src/lawful/rules/packs/demo", tmp_path / "demo")
    sessions = (ROOT / "docs/evaluation.md").read_text().split("```console\n")[1:]
    assert sessions
    for session in sessions:
        command, *shown = session.split("```")[0].splitlines()
        found = run(*command.split("#")[0].split()[2:], cwd=tmp_path / "demo")
        lines = {line.rstrip() for line in (found.stdout + found.stderr).splitlines()}
        assert {line for line in shown if line != "..."} <= lines


def test_spans_of_fields_are_compared_with_all_words_of_the_truth(tmp_path):
    lines = demo_lines(6)
    found = run("evaluate", "-", "-r", RULES, "--by-field", "--mass", 0.9, "-o", "-", stdin=lines)
    assert found.returncode == 0, found.stderr
    counts = json.loads(found.stdout)["results"]["auto"]
    path = tmp_path / "some.jsonl"
    path.write_text(lines, encoding="utf-8")
    rules = Rules.load(demo.RULES)
    board = Scoreboard(rules)
    how = {"by_field": True, "budget": Budget(mass=0.9)}
    for scored in read_jsonl(path):
        (found,) = decode_many([scored], rules, workers=1, **how)
        board.add(scored, found)
    assert counts["values"] == board.values.record()
    assert counts["statuses"] == dict(board.statuses)
