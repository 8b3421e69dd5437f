"""The command line, as a user would run it: in a process of its own."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from lab import receipts as demo
from lab.datasets import RULES as PAPERS
from lawful import Rules, write_jsonl
from lawful.cli.runs import _manifest
from tests.helpers import DOCUMENTS, ROOT, RULES, demo_lines, run, timeless


@pytest.fixture(scope="module")
def decoded():
    return run("decode", DOCUMENTS, "--rules", RULES)


def test_decode_prints_a_line_a_document(decoded):
    records = [json.loads(line) for line in decoded.stdout.splitlines()]
    assert len(records) == 48
    assert decoded.returncode == 1  # some gold breaks a rule, so not all can be satisfied
    assert decoded.stderr.strip() == (
        "48 documents: 31 satisfied, 6 unchecked, 11 relaxed; 100 of 144 rules checked, 90 hold"
    )
    assert sum(record["checked"] for record in records) == 100
    assert sum(record["rules"] for record in records) == 144
    for record in records:
        assert set(record) >= {
            "id", "status", "checked", "rules", "optimal", "log_prob", "labels", "fields",
            "checks", "corrections", "tried", "seconds",
        }  # fmt: skip
        assert (record["checked"] == 0) == (record["status"] == "unchecked")
        for correction in record["corrections"]:
            assert set(correction) == {"word", "old", "new", "price", "because"}


def test_workers_keep_the_order_and_the_answers(decoded):
    found = run("decode", DOCUMENTS, "-r", RULES, "--workers", 2)
    assert found.returncode == 1
    assert timeless(found.stdout) == timeless(decoded.stdout)


SPANS = """
fields:
  title: {label: title, in: titles.txt}
  year:  {label: year, type: integer}
words: [{match: '^[0-9]+$', only: [year], weight: 2}]
boundaries: {after: '[.,]$', weight: 0.5}
order: {fields: [title, year], weight: 1, id: usual}
given: {printed: integer}
rules: [{check: year <= printed, weight: 1}]
"""


def test_rules_about_spans_and_given_values(tmp_path):
    path, lexicon = tmp_path / "rules.yaml", tmp_path / "titles.txt"
    path.write_text(SPANS)
    lexicon.write_text("Growth\n")
    listed = run("rules", path).stdout
    for part in ("usual", "words: ^[0-9]+$", "boundaries: [.,]$", "(given)", "before the search"):
        assert part in listed
    document = {
        "id": "d", "words": ["1942", "Growth"], "labels": ["O", "B-title", "B-year"],
        "probs": [[0.02, 0.03, 0.95], [0.02, 0.95, 0.03]], "given": {"printed": "1917"},
    }  # fmt: skip
    found = run("decode", "-", "-r", path, stdin=json.dumps(document))
    record = json.loads(found.stdout)
    assert record["labels"] == ["B-year", "B-title"]
    assert [(check["id"], check["state"]) for check in record["checks"]] == [
        ("year <= printed", "violated"),
        ("usual", "violated"),
        ("title:boundary", "violated"),
    ]
    lexicon.unlink()
    missing = run("decode", "-", "-r", path, stdin=json.dumps(document))
    assert missing.returncode == 2
    assert "rules.yaml, line 3: field 'title': in: cannot read" in missing.stderr


def test_a_run_depends_on_the_files_that_its_rules_name(tmp_path):
    path, lexicon = tmp_path / "rules.yaml", tmp_path / "titles.txt"
    path.write_text(SPANS)
    params = {"rules": path, "documents": "-"}
    manifests = []
    for text in ("Growth", "Form", "growth"):
        lexicon.write_text(text)
        context = SimpleNamespace(info_name="decode", params=params)
        manifests.append(_manifest(context, Rules.load(path), None))
    assert manifests[0] != manifests[1]
    assert manifests[0] == manifests[2]  # the case does not matter


def test_standard_input_and_an_output_file(tmp_path):
    lines = demo_lines(3, noise=0)
    out = tmp_path / "out.jsonl"
    found = run("decode", "-", "-r", RULES, "-o", out, "--quiet", stdin=lines)
    assert found.stderr == ""
    assert found.stdout == ""
    assert len(out.read_text().splitlines()) == 3
    assert list(tmp_path.iterdir()) == [out]


def test_exit_code_0_when_everything_is_satisfied():
    satisfied = [
        demo.json_line(e)
        for e, line in zip(
            demo.generate(12, seed=4, noise=0),
            run(
                "decode", "-", "-r", RULES, stdin=demo_lines(12, seed=4, noise=0)
            ).stdout.splitlines(),
            strict=True,
        )
        if json.loads(line)["status"] == "satisfied"
    ]
    assert len(satisfied) > 3
    assert run("decode", "-", "-r", RULES, stdin="\n".join(satisfied)).returncode == 0


def test_a_bad_line_is_skipped_or_fatal_as_asked(tmp_path):
    good = demo_lines(2, noise=0)
    lines = good + '{"id": "bad"}\n' + good
    found = run("decode", "-", "-r", RULES, stdin=lines)
    assert len(found.stdout.splitlines()) == 4
    assert "line 3: " in found.stderr
    assert "1 bad line;" in found.stderr
    assert found.returncode == 1
    out = tmp_path / "out.jsonl"
    found = run("decode", "-", "-r", RULES, "--bad-lines", "fail", "-o", out, stdin=lines)
    assert found.returncode == 2
    assert "line 3: " in found.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["decode", "nothing.jsonl", "-r", RULES], "cannot read nothing.jsonl: No such file"),
        (["decode", DOCUMENTS, "-r", "nothing.yaml"], "cannot read rule file nothing.yaml"),
        (["decode", DOCUMENTS], "Missing option '--rules'"),
        (
            ["decode", DOCUMENTS, "-r", RULES, "-d", "best"],
            "unknown decoder 'best'; decoders: auto",
        ),
        (["decode", DOCUMENTS, "-r", RULES, "--candidates", "0"], "budget: candidates is 0"),
        (["decode", DOCUMENTS, "-r", RULES, "--format", "xml"], "Invalid value for '--format'"),
        (["decode", DOCUMENTS, "-r", RULES, "-o", "no/such/folder/x"], "cannot write"),
        (["decode", DOCUMENTS, "-r", RULES, "--temperature", "0"], "temperature is 0"),
        (["explain", DOCUMENTS, "-r", RULES, "--id", "nobody"], "no document 'nobody'"),
        (["choose", DOCUMENTS, "-r", RULES, "-o", "tests"], "cannot write tests: it is a folder"),
        (["decode", DOCUMENTS, "-r", RULES, "--temperature", "0", "--workers", "2"], "temperature"),
        (["rules"], "name a rule file"),
        (["nonsense"], "No such command"),
    ],
)
def test_usage_and_input_errors_exit_with_2_and_no_traceback(arguments, message):
    found = run(*arguments)
    assert found.returncode == 2
    assert message in " ".join(found.stderr.replace("│", " ").split())
    assert "Traceback" not in found.stderr


def test_what_is_no_regular_file_is_written_to_not_replaced(tmp_path):
    fifo, link, target = tmp_path / "fifo", tmp_path / "link", tmp_path / "target"
    os.mkfifo(fifo)
    reader = subprocess.Popen(["/bin/cat", str(fifo)], stdout=subprocess.PIPE, text=True)
    run("decode", "-", "-r", RULES, "-o", fifo, stdin=demo_lines(2))
    assert len(reader.communicate(timeout=120)[0].splitlines()) == 2
    assert fifo.is_fifo()
    target.write_text("before")
    target.chmod(0o600)
    link.symlink_to(target)
    run("decode", "-", "-r", RULES, "-o", link, stdin=demo_lines(2))
    assert link.is_symlink()
    assert len(target.read_text().splitlines()) == 2
    assert target.stat().st_mode & 0o777 == 0o600


def test_packed_lines_on_standard_input():
    found = subprocess.run(
        [sys.executable, "-m", "lawful", "decode", "-", "-r", RULES],
        input=demo.shipped().read_bytes(), cwd=ROOT, capture_output=True, check=False,
    )  # fmt: skip
    assert len(found.stdout.splitlines()) == 48


def test_other_alphabets_survive_a_plain_terminal():
    line = demo_lines(1).replace('"words":["', '"words":["Ünïcødé ', 1)
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    found = subprocess.run(
        [sys.executable, "-m", "lawful", "decode", "-", "-r", RULES, "--format", "html"],
        input=line.encode(), cwd=ROOT, capture_output=True, env=environment, check=False,
    )  # fmt: skip
    assert "Ünïcødé" in found.stdout.decode()


def test_nothing_usable_is_an_error(tmp_path):
    assert run("decode", "-", "-r", RULES, stdin='{"id": "bad"}\n').returncode == 2
    rules = tmp_path / "rules.yaml"
    rules.write_text("fields: {a: {label: nobody}}")
    found = run("decode", "-", "-r", rules, stdin=demo_lines(2))
    assert found.returncode == 2
    assert "which the model does not know" in found.stderr
    assert "NaN and Infinity are not JSON" in run("check", "-", "-r", RULES, stdin="NaN").stderr


def test_alternatives_come_with_their_margin_and_how_sure_each_field_is():
    some = demo_lines(6)
    found = run("decode", "-", "-r", RULES, "--alternatives", "2", "--quiet", stdin=some)
    assert len(found.stdout.splitlines()) == 6
    for line in map(json.loads, found.stdout.splitlines()):
        assert line["decoder"] == "exact"
        assert len(line["alternatives"]) == 2
        assert line["margin"] >= 0
        assert all(0 <= low <= high <= 1 for low, high in line["confidence"].values())
        assert all(
            {"optimal", "fields", "violated"} <= set(other) for other in line["alternatives"]
        )
    ranked = ("decode", "-", "-r", RULES, "--alternatives", "1", "--quiet")
    found = run(*ranked, "--format", "csv", stdin=some)
    rows = list(csv.DictReader(found.stdout.splitlines()))
    assert all(float(row["margin"]) >= 0 and "confidence" in row for row in rows)
    assert len(rows) == 6
    found = run(*ranked, "--format", "html", stdin=some)
    assert found.returncode in (0, 1), found.stderr
    assert found.stdout.count("Next best values") == 6


def test_max_cost_keeps_the_models_answer_where_rules_would_cost_more():
    free = run("decode", DOCUMENTS, "-r", RULES, "--quiet")
    capped = run("decode", DOCUMENTS, "-r", RULES, "--max-cost", "0", "--quiet")
    pairs = list(zip(free.stdout.splitlines(), capped.stdout.splitlines(), strict=True))
    stopped = 0
    for before, after in (map(json.loads, pair) for pair in pairs):
        assert after["log_prob"] >= before["log_prob"] - 1e-9
        stopped += after["stopped_by"] == "max_cost"
        if after["stopped_by"] is None:
            assert after["labels"] == before["labels"]
    assert stopped > 5


def test_rules_say_how_they_are_judged():
    found = run("rules", RULES)
    assert "inside the search" in found.stdout
    assert "auto decodes with exact: every rule is compiled" in found.stdout


def test_csv_has_a_column_a_field():
    found = run("decode", DOCUMENTS, "-r", RULES, "--format", "csv", "--quiet")
    rows = list(csv.DictReader(found.stdout.splitlines()))
    assert len(rows) == 48
    assert {"id", "status", "checked", "rules", "total", "items", "violated"} <= set(rows[0])
    assert sum(int(row["checked"]) for row in rows) == 100


def test_html_is_one_file(tmp_path):
    out = tmp_path / "report.html"
    run("decode", DOCUMENTS, "-r", RULES, "--format", "html", "-o", out)
    text = out.read_text()
    assert text.startswith("<!")
    assert "receipt-00007" in text
    assert "http://" not in text
    assert "https://" not in text


def test_check_judges_gold_without_decoding():
    found = run("check", DOCUMENTS, "-r", RULES)
    records = [json.loads(line) for line in found.stdout.splitlines()]
    violated = [r for r in records if any(c["state"] == "violated" for c in r["checks"])]
    assert len(records) == 48
    assert 5 < len(violated) < 20
    assert not any(c["id"].endswith(":kept") for r in records for c in r["checks"])
    assert found.returncode == 1
    assert run("check", DOCUMENTS, "-r", RULES, "--labels", "argmax").returncode == 1
    for record in records:
        states = [c["state"] for c in record["checks"] if not c.get("implied")]
        assert record["rules"] == len(states) == 3
        assert record["checked"] == 3 - states.count("vacuous")
        assert (record["status"] == "unchecked") == (
            {c["state"] for c in record["checks"]} == {"vacuous"}
        )
    assert "rules checked" in found.stderr
    assert " unchecked, " in found.stderr


def test_check_of_true_labels_needs_no_scores():
    lines = [json.loads(line) for line in demo_lines(5).splitlines()]
    bare = [{k: line[k] for k in ("id", "words", "gold")} for line in lines]
    scored, plain = (
        run("check", "-", "-r", RULES, stdin="\n".join(map(json.dumps, some)))
        for some in (lines, bare)
    )
    assert plain.stdout == scored.stdout
    assert plain.stderr == scored.stderr
    bare[0]["gold"][0] = "?"
    found = run("check", "-", "-r", RULES, stdin="\n".join(map(json.dumps, bare)))
    assert "line 1: document 'receipt-00000': gold of word 0 is '?', unknown" in found.stderr
    none = run("check", "-", "-r", RULES, "--labels", "argmax", stdin=json.dumps(bare[1]))
    assert "has no scores" in none.stderr


def test_labels_that_are_not_legal_are_violated_and_no_rule(tmp_path):
    labels = ["O", "B-total", "I-total"]
    line = {"id": "d", "words": ["7"], "labels": labels, "probs": [[0, 0, 1]]}
    rules = tmp_path / "r.yaml"
    rules.write_text("fields: {total: {label: total, type: money}}\nrules: [total > 0]\n")
    found = run("check", "-", "-r", rules, "--labels", "argmax", stdin=json.dumps(line))
    record = json.loads(found.stdout)
    assert (record["status"], record["checked"], record["rules"]) == ("violated", 1, 1)
    assert record["checks"][-1]["id"] == "legal"
    assert record["checks"][-1]["implied"] is True
    assert "1 document: 1 violated; 1 of 1 rules checked, 1 holds" in found.stderr


def test_explain_says_what_was_wrong_what_changed_and_what_came_next(decoded):
    corrected = next(
        record["id"]
        for record in map(json.loads, decoded.stdout.splitlines())
        if any(set(c["because"]) - {"legal"} for c in record["corrections"])
    )
    text = run("explain", DOCUMENTS, "-r", RULES, "--id", corrected).stdout
    assert "the model's answer:" in text
    assert "nats, because of" in text
    assert "6. log p" in text


def test_explain_shows_the_arithmetic_before_and_after():
    before, after = (
        run("explain", DOCUMENTS, "-r", RULES, "--id", "receipt-00005")
        .stdout.split("the next best")[0]
        .split("decoded by exact")
    )
    held = "satisfied items: 16.20 + 56.00 + 46.05 + 26.00 = 144.25"
    assert ", legal, 2 of 3 rules checked" in before
    assert held in before
    assert "violated total: total is 152.91" in before
    assert "receipt-00005: satisfied (2 of 3 rules checked" in after
    assert held in after
    assert "satisfied total: 144.25 + 8.66 + 0 - abs(0) = 152.91" in after


def test_rules_are_validated_listed_and_described(tmp_path):
    found = run("rules", RULES)
    assert found.returncode == 0
    assert "list of money" in found.stdout
    assert "9 fields, 3 rules" in found.stderr
    assert json.loads(run("rules", "--json-schema").stdout)["title"] == "lawful rules"
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("fields: {a: {label: x}}\nrules: [b == 1]\n")
    assert "unknown field 'b'" in run("rules", wrong).stderr
    priced = tmp_path / "priced.yaml"
    priced.write_text("fields: {a: {label: x}}\nrules: [{check: present(a), unchecked: 2.5}]\n")
    row = next(line for line in run("rules", priced).stdout.splitlines() if "present(a)" in line)
    assert row.split()[:3] == ["present(a)", "10", "2.5"]
    odd = tmp_path / "odd.yaml"
    odd.write_text("fields: {a: {label: x}}\nrules: [\"matches(a, '[/a]+')\"]\n")
    assert "'[/a]+'" in run("rules", odd).stdout


def test_demo_shows_pages_a_table_and_a_report(tmp_path):
    out = tmp_path / "demo.html"
    found = run("demo", "--out", out)
    assert found.returncode == 0, found.stderr
    assert "because of" in found.stdout
    assert "now satisfied, 2 of 3 rules checked:\n    16.20 + 56.00 + 46.05 + 26.00 = 144.25" in (
        found.stdout
    )
    summary = "31 satisfied, 6 unchecked, 11 relaxed; 100 of 144 rules checked, 90 hold"
    assert f"lawful's defaults, 48 documents: {summary}" in found.stdout
    for name in ("argmax", "best legal labelling", "the paper's semantics", "lawful's defaults"):
        assert name in found.stdout
    assert out.stat().st_size > 10_000


def test_version():
    assert run("--version").stdout.strip().count(".") == 2


def big_file(tmp_path, count):
    path = tmp_path / "big.jsonl"
    lines = demo_lines(50, words=(24, 40), noise=0.3)
    path.write_text(lines * (count // 50))
    return path


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_leaves_a_run_that_resumes(tmp_path, workers):
    path, out = big_file(tmp_path, 1_000), tmp_path / "out.jsonl"
    command = [sys.executable, "-m", "lawful", "decode", str(path), "-r", RULES, "-o", str(out),
               "--workers", str(workers)]  # fmt: skip
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    journal = tmp_path / "out.jsonl.journal"
    while process.poll() is None and (not journal.exists() or journal.stat().st_size < 10_000):
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 130, stderr
    assert re.search(r"interrupted; the results of [0-9]+ lines are kept: --resume", stderr)
    assert "Traceback" not in stderr
    assert {p.name for p in tmp_path.iterdir()} == {
        "big.jsonl", "out.jsonl.journal", "out.jsonl.partial"
    }  # fmt: skip
    again = run(*command[3:])
    assert again.returncode == 2
    assert "--resume continues it, --no-resume starts again" in again.stderr
    resumed, whole = run(*command[3:], "--resume"), tmp_path / "whole.jsonl"
    assert resumed.stderr.startswith("resuming after line ")
    unbroken = run("decode", path, "-r", RULES, "-o", whole)
    assert resumed.stderr.splitlines()[1:] == unbroken.stderr.splitlines()
    assert resumed.returncode == unbroken.returncode
    assert timeless(out.read_text()) == timeless(whole.read_text())
    assert {p.name for p in tmp_path.iterdir()} == {"big.jsonl", "out.jsonl", "whole.jsonl"}


def test_memory_stays_flat_over_thousands_of_documents(tmp_path):
    script = (
        "import resource, sys; from lawful.pipeline.batch import decode_lines;"
        "from lawful.pipeline.call import Call;"
        "from lawful.io.jsonl import read_lines;"
        "from lawful import Budget, Rules; peaks = [];\n"
        "call = Call(Rules.load(sys.argv[2]), budget=Budget(candidates=16))\n"
        "lines = read_lines(sys.argv[1])\n"
        "for i, _ in enumerate(decode_lines(sys.argv[1], lines, call)):\n"
        "    if i in (999, 3999): peaks.append(resource.getrusage(resource.RUSAGE_SELF)[2])\n"
        "print(*peaks)"
    )
    path = big_file(tmp_path, 4_000)
    command = [sys.executable, "-c", script, str(path), RULES]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    early, late = map(int, output.split())  # in KiB
    assert late - early < 6_000  # 2 KiB a document


def test_written_documents_decode(tmp_path):
    path = tmp_path / "d.jsonl.gz"
    write_jsonl(path, demo.generate(3))
    assert len(run("decode", path, "-r", RULES).stdout.splitlines()) == 3


@pytest.fixture
def nothing_to_check(tmp_path):
    """A document on which no rule can be checked, and its rules."""
    line = {"id": "d", "words": ["a"], "labels": ["O", "B-total"], "probs": [[1, 0]], "gold": ["O"]}
    (tmp_path / "d.jsonl").write_text(json.dumps(line))
    (tmp_path / "r.yaml").write_text(
        "fields:\n  total: {label: total, type: money}\nrules:\n  - total > 0\n"
    )
    return tmp_path / "d.jsonl", "-r", tmp_path / "r.yaml"


def test_nothing_to_check_is_a_status_of_its_own(nothing_to_check):
    done = run("decode", *nothing_to_check, "--format", "csv")
    assert "1 document: 1 unchecked; 0 of 1 rules checked, 0 hold" in done.stderr
    assert done.stdout.splitlines()[1] == "d,unchecked,0,1,True,,,total > 0,"
    text = run("explain", *nothing_to_check).stdout
    assert "d: unchecked (0 of 1 rules checked, optimal" in text
    assert "vacuous total > 0: not checked: total missing" in text


@pytest.mark.parametrize("command", ["decode", "check"])
@pytest.mark.parametrize(
    ("options", "code"), [([], 1), (["--unchecked", "fail"], 1), (["--unchecked", "pass"], 0)]
)
def test_nothing_to_check_needs_a_person_unless_told_otherwise(
    nothing_to_check, command, options, code
):
    done = run(command, *nothing_to_check, *options)
    assert done.returncode == code
    assert json.loads(done.stdout)["status"] == "unchecked"
    assert "1 document: 1 unchecked; 0 of 1 rules checked" in done.stderr


def test_letting_the_unchecked_pass_lets_nothing_else_pass():
    assert run("decode", DOCUMENTS, "-r", RULES, "-q", "--unchecked", "pass").returncode == 1
    assert run("decode", DOCUMENTS, "-r", RULES, "--unchecked", "maybe").returncode == 2
    text = " ".join(run("--help").stdout.replace("│", " ").split())
    assert "(unless --unchecked pass)" in text


def test_rules_may_be_named_after_their_data_set(tmp_path):
    labels = ["O", *(f"B-{f.label}" for f in Rules.load(PAPERS["cord"]).fields)]
    line = {"id": "d", "words": ["a"], "labels": labels, "logits": [[0.0] * len(labels)]}
    (tmp_path / "d.jsonl").write_text(json.dumps(line))
    assert run("decode", tmp_path / "d.jsonl", "--rules", "cord").stdout


@pytest.mark.parametrize("command", ["decode", "check"])
def test_the_output_may_not_be_an_input(tmp_path, command):
    """It was written over, when all was done."""
    file = tmp_path / "pages.jsonl"
    file.write_text(demo_lines(2))
    (tmp_path / "link.jsonl").symlink_to(file)
    for out in (file, tmp_path / "link.jsonl"):
        found = run(command, file, "--rules", RULES, "--out", out)
        assert found.returncode == 2
        assert "is the input file" in found.stderr
    assert file.read_text() == demo_lines(2)


@pytest.mark.parametrize("command", ["decode", "check", "evaluate", "calibrate", "explain"])
def test_a_folder_for_an_input_file_is_an_error(command, tmp_path):
    found = run(command, ".", "--rules", RULES, cwd=tmp_path)
    assert found.returncode == 2
    assert found.stderr.startswith("lawful: cannot read .: it is a folder")


def test_a_defect_has_an_exit_code_of_its_own(tmp_path):
    """It had 1, as documents that are not satisfied have."""
    code = (
        "from lawful.cli import decode\n"
        "decode.read_lines = lambda path: 1 / 0\n"
        "from lawful.__main__ import main\n"
        "main()\n"
    )
    arguments = [sys.executable, "-c", code, "decode", DOCUMENTS, "--rules", RULES]
    found = subprocess.run(arguments, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert found.returncode == 70
    assert "ZeroDivisionError" in found.stderr
    assert "this is a defect of lawful" in found.stderr


ROWS = """
fields:
  quantity: {label: quantity, type: number}
  price: {label: price, type: money}
  amount: {label: amount, type: money}
rows:
  line: {fields: [quantity, price, amount]}
rules:
  - {each: line, check: amount == quantity * price}
"""


@pytest.fixture
def lines_of_an_invoice(tmp_path):
    """Two lines of three words each, of which the model is sure, and rules for them."""
    labels = ["O", "B-quantity", "B-price", "B-amount"]
    probs = [[0.97 if i == k else 0.01 for i in range(4)] for k in (1, 2, 3, 1, 2, 3)]
    words = ["2", "4.00", "8.00", "3", "2.00", "6.00"]
    line = {"id": "a", "words": words, "labels": labels, "probs": probs, "rows": [1] * 3 + [2] * 3}
    (tmp_path / "d.jsonl").write_text(json.dumps(line))
    (tmp_path / "rules.yaml").write_text(ROWS)
    return tmp_path / "d.jsonl", "-r", tmp_path / "rules.yaml"


def test_a_table_of_rows_as_csv(lines_of_an_invoice):
    found = run("decode", *lines_of_an_invoice, "--format", "csv", "--rows", "line")
    assert found.stdout == (
        "id,status,line,quantity,price,amount\n"
        "a,satisfied,1,2,4.00,8.00\n"
        "a,satisfied,2,3,2.00,6.00\n"
    )
    for more in (("--rows", "line"), ("--format", "csv", "--rows", "item")):
        refused = run("decode", *lines_of_an_invoice, *more)
        assert refused.returncode == 2
        assert "needs --format csv and a kind of rows of the rule file: line" in refused.stderr


def test_explain_shows_rows_and_where_they_come_from(lines_of_an_invoice):
    found = run("explain", *lines_of_an_invoice)
    assert "rows of line, by row ids:\n  1. quantity 2, price 4.00, amount 8.00\n" in found.stdout
