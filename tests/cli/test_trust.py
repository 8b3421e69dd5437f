"""``lawful trust``, and ``--trust`` of ``lawful decode`` and ``lawful extract``."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import pytest

from lab import receipts as demo
from lawful import Rules, read_jsonl
from lawful.evaluation.scoreboard import right_fields
from lawful.learn.trust import DOUBTS, Trust
from lawful.models.shipped import receipt_model
from lawful.pipeline.call import DecodeOptions
from lawful.results.promise import BY_OTHERS
from tests.helpers import DOCUMENTS, RULES, run, timeless

NEEDS = ("-r", RULES, "--needs", "total,tax")
ASKED = ("--error", 0.1, "--confidence", 0.9)
OF_RECEIPTS = ("-r", "receipt", "--needs", "total")
PROMISE = "at most 10 in 100 wrong (90 % sure)"


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    path = tmp_path_factory.mktemp("trust") / "trust.json"
    found = run("trust", "fit", DOCUMENTS, *NEEDS, *ASKED, "--out", path)
    assert found.returncode == 0, found.stderr
    return path, found


@pytest.fixture(scope="module")
def trust(fitted):
    return fitted[0]


@pytest.fixture(scope="module")
def counts(trust):
    """How many documents pass, and how many do not."""
    found = run("decode", DOCUMENTS, *NEEDS, "--trust", trust)
    passed = sum(line["passes"] for line in timeless(found.stdout))
    assert 20 < passed < 48
    return passed, 48 - passed


@pytest.fixture(scope="module")
def marked(trust, counts):
    found = run("decode", DOCUMENTS, *NEEDS, "--trust", trust)
    assert f"{counts[0]} of 48 pass, {PROMISE}" in found.stderr
    assert found.returncode == 1
    return timeless(found.stdout)


def test_fit_says_what_it_tested_and_what_it_promises(fitted):
    path, found = fitted
    made = Trust.load(path).promise
    assert (made.error, made.confidence, made.documents) == (0.1, 0.9, 32)
    assert f"{made.passed} of 32 documents that trust was not fitted to pass" in found.stdout
    assert PROMISE in found.stdout
    assert f"{made.threshold:.4f}" in found.stdout
    assert "fitted to 16 documents; weights of doubts: values " in found.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            [*NEEDS],
            "48 reviewed documents cannot carry a promise of at most 1 in 100 wrong (95 % sure): "
            "that takes at least 448, 400 more, if all of them pass and none is wrong",
        ),
        (
            [*NEEDS[:2], "--needs", "items", *ASKED],
            "no promise of at most 10 in 100 wrong (90 % sure): of 32 documents",
        ),
        ([*NEEDS[:2], *ASKED], "name their fields with --needs"),
        ([*NEEDS[:2], "--needs", "totl"], "needs: no field 'totl'; did you mean 'total'?"),
        ([*NEEDS, "--error", 0], "error is 0.0, expected a number between 0 and 1"),
    ],
)
def test_a_promise_that_cannot_be_made_is_refused(tmp_path, options, message):
    path = tmp_path / "trust.json"
    found = run("trust", "fit", DOCUMENTS, *options, "--out", path)
    assert found.returncode == 2
    assert message in " ".join(found.stderr.split())
    assert not path.exists()


def test_documents_without_truth_are_counted(tmp_path):
    line = json.loads(gzip.decompress(Path(DOCUMENTS).read_bytes()).splitlines()[0])
    del line["gold"]
    found = run("trust", "fit", "-", *NEEDS, "--out", tmp_path / "x", stdin=json.dumps(line))
    assert found.returncode == 2
    assert "nothing to fit on in -: 1 without gold labels" in found.stderr


def changed(path, change):
    """The documents in another file, each changed."""
    with path.open("w") as file:
        for line in map(json.loads, gzip.decompress(Path(DOCUMENTS).read_bytes()).splitlines()):
            print(json.dumps(line | change(line)), file=file)
    return path


def test_nothing_is_promised_of_a_value_that_no_document_has(tmp_path):
    totals = {"B-total", "I-total"}
    path = changed(
        tmp_path / "d.jsonl",
        lambda line: {"gold": ["O" if label in totals else label for label in line["gold"]]},
    )
    found = run("trust", "fit", path, *NEEDS, *ASKED, "--out", tmp_path / "x")
    assert found.returncode == 2
    assert "no document has total among its gold labels" in " ".join(found.stderr.split())


def test_check_finds_a_promise_that_no_longer_holds(trust, tmp_path):
    check = ["trust", "check", "-", *NEEDS, "--trust", trust]
    new = changed(tmp_path / "new.jsonl", lambda line: {"id": f"new-{line['id']}"})
    found = run(*check, stdin=new.read_text())
    assert found.returncode == 0
    assert f"promised: {PROMISE}" in found.stdout
    assert "nothing speaks against the promise" in found.stdout
    # The same pages, whose truth is another one: every total is a tax, and the other way round.
    swap = {f"{mark}-{a}": f"{mark}-{b}" for mark in "BI"
            for a, b in (("total", "tax"), ("tax", "total"))}  # fmt: skip
    wrong = changed(
        tmp_path / "wrong.jsonl",
        lambda line: {"id": f"w-{line['id']}", "gold": [swap.get(x, x) for x in line["gold"]]},
    )
    found = run(*check, stdin=wrong.read_text())
    assert found.returncode == 1
    assert "the promise is broken" in found.stdout


def test_check_leaves_out_what_trust_was_made_of(trust, tmp_path):
    check = ["trust", "check", "-", *NEEDS, "--trust", trust]
    old = gzip.decompress(Path(DOCUMENTS).read_bytes()).decode()
    found = run(*check, stdin=old)
    assert found.returncode == 2
    assert "nothing to check in -: 48 that trust was made of" in " ".join(found.stderr.split())
    new = changed(tmp_path / "new.jsonl", lambda line: {"id": f"new-{line['id']}"}).read_text()
    both = run(*check, stdin=old + new)
    assert both.stdout == run(*check, stdin=new).stdout
    assert "left out: 48 that trust was made of" in both.stderr


def test_check_needs_the_same_rules_and_needs(trust):
    found = run("trust", "check", DOCUMENTS, "-r", RULES, "--needs", "total", "--trust", trust)
    assert found.returncode == 2
    assert "fitted with another --needs (total,tax there, total here)" in found.stderr


def test_trust_is_that_of_the_model(trust, marked):
    model = Trust.load(trust)
    call = DecodeOptions(needs="total,tax").call(Rules.load(demo.RULES))
    for scored, line in zip(read_jsonl(DOCUMENTS), marked, strict=True):
        decoding = model.applied(scored, call.decode(scored), call.rules)
        assert line["trust"] == pytest.approx(decoding.trust)
        assert line["passes"] == (line["trust"] >= model.promise.threshold)
        assert line["passes_because"] == decoding.passes_because


def test_without_a_promise_nothing_is_said_to_pass(trust):
    (line, *_) = timeless(run("decode", DOCUMENTS, "-r", RULES).stdout)
    assert not {"trust", "passes", "passes_because", "doubts", "setting"} & line.keys()
    found = run("decode", DOCUMENTS, *NEEDS)
    lines = timeless(found.stdout)
    assert {(each["passes"], each["passes_because"]) for each in lines} == {(False, BY_OTHERS)}
    assert all(0 < each["trust"] < 1 and list(each["doubts"]) == list(DOUBTS) for each in lines)
    sure = sum(each["trust"] >= 0.99 for each in lines)
    said = f"by measurements on other documents, trust is at least 0.99 in {sure} of 48"
    assert said in " ".join(found.stderr.split())
    assert found.returncode == 1  # by the rules, as without needs
    table = run("decode", DOCUMENTS, *NEEDS, "--format", "csv").stdout
    assert {row["passes_because"] for row in csv.DictReader(io.StringIO(table))} == {BY_OTHERS}


def test_trust_by_other_documents_orders_these():
    """The demo's documents are none of the measured ones."""
    call = DecodeOptions(needs="total,tax").call(Rules.load(demo.RULES))
    found = []
    for scored in read_jsonl(DOCUMENTS):
        decoding = call.decode(scored)
        right = right_fields(scored, decoding.labels, call.rules)
        model = Trust.usual(scored, call.rules.needs)
        trust = model.applied(scored, decoding, call.rules).trust
        found.append((trust, right["total"] and right["tax"]))
    found.sort()
    unsure, sure = ([right for _, right in half] for half in (found[:24], found[24:]))
    assert sum(sure) > sum(unsure)


def test_a_run_whose_documents_all_pass_exits_with_0(trust, marked):
    lines = gzip.decompress(Path(DOCUMENTS).read_bytes()).decode().splitlines()
    passing = [line for line, found in zip(lines, marked, strict=True) if found["passes"]]
    broken = [found for found in marked if found["passes"] and found["status"] == "relaxed"]
    assert broken  # rules about other values
    found = run("decode", "-", *NEEDS, "--trust", trust, stdin="\n".join(passing))
    assert found.returncode == 0
    assert f"{len(passing)} of {len(passing)} pass, {PROMISE}" in found.stderr


def test_documents_that_do_not_pass_are_in_their_own_file(trust, marked, tmp_path):
    out, review = tmp_path / "out.jsonl", tmp_path / "review.jsonl"
    run("decode", DOCUMENTS, *NEEDS, "--trust", trust, "--out", out, "--review-out", review)
    assert timeless(out.read_text()) == [line for line in marked if line["passes"]]
    assert timeless(review.read_text()) == [line for line in marked if not line["passes"]]
    assert sorted(tmp_path.iterdir()) == [out, review]


def test_an_audit_draws_documents_that_would_pass(trust, marked):
    how = ["decode", DOCUMENTS, *NEEDS, "--trust", trust, "--audit"]
    found = run(*how, 0.25)
    drawn = 0
    for line, before in zip(timeless(found.stdout), marked, strict=True):
        if line != before:
            assert before["passes"]
            assert (line["passes"], line["passes_because"]) == (False, "drawn for an audit")
            drawn += 1
    passed = sum(line["passes"] for line in marked)
    assert 0.1 * passed < drawn < 0.45 * passed
    assert f"{passed - drawn} of 48 pass" in found.stderr
    assert "0 of 48 pass" in run(*how, 1).stderr


def test_tables_and_reports_have_trust_and_the_promise(trust, marked, counts, tmp_path):
    review = tmp_path / "review"
    how = [*NEEDS, "--trust", trust, "--review-out", review]
    for text in (run("decode", DOCUMENTS, *how, "--format", "csv").stdout, review.read_text()):
        for row in csv.DictReader(io.StringIO(text)):
            (line,) = (line for line in marked if line["id"] == row["id"])
            assert float(row["trust"]) == pytest.approx(line["trust"], abs=0.001)
            assert row["passes"] == str(line["passes"]) == str(text != review.read_text())
            assert row["passes_because"] == line["passes_because"]
    page = run("decode", DOCUMENTS, *how, "--format", "html").stdout
    assert page.count('<details class="card') == counts[0]
    assert "for review" not in page
    assert f"<b>{counts[0]} of {counts[0]} pass, {PROMISE}</b>" in page
    assert review.read_text().count(" %, for review") == counts[1]
    assert f"{counts[1]} that the promise does not cover" in review.read_text()


@pytest.mark.parametrize("lost", [None, "out.jsonl", "review.jsonl"])
def test_a_split_run_resumes(trust, marked, counts, tmp_path, lost):
    lines = gzip.decompress(Path(DOCUMENTS).read_bytes()).decode().splitlines()
    pages = tmp_path / "pages.jsonl"
    how = ["decode", pages, *NEEDS, "--trust", trust,
           "--out", tmp_path / "out.jsonl", "--review-out", tmp_path / "review.jsonl"]  # fmt: skip
    pages.write_text("\n".join([*lines[:30], "{", *lines[31:]]))
    found = run(*how, "--bad-lines", "fail")
    assert found.returncode == 2
    assert found.stderr.count("the results of 30 lines are kept: --resume continues") == 1
    assert "--resume continues it" in run(*how).stderr
    if lost is not None:  # as if it had been finished, and the other not
        for left in tmp_path.glob(f"{lost}.*"):
            left.unlink()
    pages.write_text("\n".join(lines))
    found = run(*how, "--resume")
    assert ("resuming after line 30" in found.stderr) == (lost is None)
    assert f"{counts[0]} of 48 pass, {PROMISE}" in found.stderr
    assert "48 documents: 31 satisfied" in found.stderr
    assert "with the id of an earlier one" not in found.stderr
    for name, passes in (("out.jsonl", True), ("review.jsonl", False)):
        found = timeless((tmp_path / name).read_text())
        assert found == [line for line in marked if line["passes"] == passes]
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--temperature", 2], "fitted with another --temperature (1.0 there, 2.0 here)"),
        (["--decoder", "paths"], "fitted with another --decoder (auto there, paths here)"),
        (["--pool", "mean"], "fitted with another --pool (None there, mean here)"),
        (["--needs", "total"], "fitted with another --needs (total,tax there, total here)"),
        (["--alternatives", 2], "fitted with another --alternatives (0 there, 1 here)"),
        (["--by-field"], "fitted with another --by-field (False there, True here)"),
        (["--mass", 0.5], "fitted with another --mass"),
        (["--out", "x", "--review-out", "x"], "is the file of --out"),
        (["--review-out", "-"], "is the file of --out"),
        (["--audit", 2], "--audit is 2, expected a share from 0 to 1"),
        (["--trust", RULES], "is no model of trust"),
        (["--trust", "nothing.json"], "cannot read nothing.json"),
    ],
)
def test_options_that_do_not_fit_are_refused(trust, more, message):
    found = run("decode", DOCUMENTS, *NEEDS, "--trust", trust, *more)
    assert found.returncode == 2
    assert message in " ".join(found.stderr.split())


def test_review_needs_trust_and_trust_the_same_rules(trust, tmp_path):
    found = run("decode", DOCUMENTS, "-r", RULES, "--review-out", tmp_path / "x")
    assert "--review-out needs --trust" in found.stderr
    found = run("decode", DOCUMENTS, "-r", RULES, "--audit", 0.1)
    assert "--audit needs --trust" in found.stderr
    rules = tmp_path / "rules.yaml"
    rules.write_text(demo.RULES.read_text() + "# another comment\n")
    found = run("decode", DOCUMENTS, "-r", rules, *NEEDS[2:], "--trust", trust)
    assert found.returncode == 2
    assert "fitted with another --rules" in found.stderr


def test_a_file_without_a_promise_is_refused(trust, tmp_path):
    record = json.loads(trust.read_text())
    other = tmp_path / "trust.json"
    other.write_text(json.dumps(record | {"promise": None}))
    found = run("decode", DOCUMENTS, *NEEDS, "--trust", other)
    assert found.returncode == 2
    assert "has no promise: make one with lawful trust fit" in " ".join(found.stderr.split())


def test_scores_of_another_model_are_refused(trust):
    line = json.loads(gzip.decompress(Path(DOCUMENTS).read_bytes()).splitlines()[0])
    line |= {"words": ["Total", "5.00"], "boxes": None, "gold": None,
             "labels": ["O", *(f"B-{f.label}" for f in Rules.load(demo.RULES).fields)]}  # fmt: skip
    width = len(line["labels"])
    line = {"id": "a", "words": line["words"], "labels": line["labels"],
            "probs": [[1 / width] * width] * 2}  # fmt: skip
    found = run("decode", "-", *NEEDS, "--trust", trust, stdin=json.dumps(line))
    assert "labels, others than the 27 that trust was fitted to" in found.stderr
    assert (found.returncode, found.stdout) == (2, "")


def test_outputs_do_not_replace_inputs(trust, tmp_path):
    model = tmp_path / "trust.json"
    model.write_text(trust.read_text())
    for option, how in {
        "out": ["trust", "fit", model, *NEEDS, "--out", model],
        "review-out": ["decode", DOCUMENTS, *NEEDS, "--trust", model, "--review-out", model],
    }.items():
        found = run(*how)
        assert found.returncode == 2
        assert f"--{option} {model} is the input file" in " ".join(found.stderr.split())
    assert json.loads(model.read_text()) == json.loads(trust.read_text())


@pytest.fixture(scope="module")
def tagged(tmp_path_factory):
    """Words of receipts, their scores, and a model of trust for these."""
    pytest.importorskip("onnxruntime", reason="needs the 'onnx' extra")
    pytest.importorskip("tokenizers", reason="needs the 'onnx' extra")
    folder = tmp_path_factory.mktemp("extract")
    words, scored, trust = (folder / f"{name}.json" for name in ("words", "scored", "trust"))
    lines = (
        {"id": d.id, "words": d.words, "boxes": d.boxes, "gold": page.gold}
        for page in demo.generate(32, seed=3, words=(20, 40))
        if (d := page.document)
    )
    words.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run("predict", words, "--out", scored)
    found = run("trust", "fit", scored, *OF_RECEIPTS, "--error", 0.2, "--confidence", 0.5,
                "--out", trust)  # fmt: skip
    assert found.returncode == 0, found.stderr
    return words, scored, trust


def test_extract_trusts_as_decode_does(tagged, tmp_path):
    words, scored, trust = tagged
    how = [*OF_RECEIPTS, "--trust", trust]
    found = run("extract", words, *how)
    marked = timeless(found.stdout)
    decoded = timeless(run("decode", scored, *how).stdout)
    for line, other in zip(marked, decoded, strict=True):
        same = ("id", "labels", "status", "passes")
        assert [line[key] for key in same] == [other[key] for key in same]
        # Written scores are rounded.
        assert line["trust"] == pytest.approx(other["trust"], abs=1e-3)
    passed = sum(line["passes"] for line in marked)
    assert len(marked) == 32
    assert f"{passed} of 32 pass, at most 20 in 100 wrong (50 % sure)" in found.stderr
    out, review = tmp_path / "out.jsonl", tmp_path / "review.jsonl"
    run("extract", words, *how, "--out", out, "--review-out", review, "--workers", 2)
    for path, passes in ((out, True), (review, False)):
        assert timeless(path.read_text()) == [each for each in marked if each["passes"] == passes]


def test_a_split_extraction_resumes(tagged, tmp_path):
    words, _, trust = tagged
    lines = words.read_text().splitlines()
    pages, out, review = (tmp_path / name for name in ("pages.jsonl", "out.jsonl", "review.jsonl"))
    how = ["extract", pages, *OF_RECEIPTS, "--trust", trust, "--batch", 4,
           "--out", out, "--review-out", review]  # fmt: skip
    pages.write_text("\n".join([*lines[:20], "{", *lines[21:]]))
    assert run(*how, "--bad-lines", "fail").returncode == 2
    assert not out.exists()
    pages.write_text("\n".join(lines))
    assert "resuming after line 20" in run(*how, "--resume").stderr
    whole = [timeless(path.read_text()) for path in (out, review)]
    again = ["--out", tmp_path / "a.jsonl", "--review-out", tmp_path / "b.jsonl"]
    run(*how[:-4], *again)
    assert whole == [timeless((tmp_path / name).read_text()) for name in ("a.jsonl", "b.jsonl")]


def test_extract_refuses_trust_in_another_model(tagged, tmp_path):
    words, scored, _ = tagged
    other = tmp_path / "other"
    other.mkdir()
    (other / "model.onnx").write_bytes(b"weights")
    mine = Path(receipt_model())
    for model, code in ((other, 2), (mine, 0)):
        trust = tmp_path / "trust.json"
        run("trust", "fit", scored, *OF_RECEIPTS, "--error", 0.2, "--confidence", 0.5,
            "--model", model, "--out", trust)  # fmt: skip
        found = run("extract", words, *OF_RECEIPTS, "--trust", trust)
        assert (found.returncode == 2) == (code == 2)
        said = f"was fitted to scores of another --model than {mine}"
        assert (said in " ".join(found.stderr.split())) == (code == 2)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--rules", RULES], "fitted with another --rules"),
        (["--temperature", 2], "fitted with another --temperature (1.0 there, 2.0 here)"),
        (["--needs", "issued"], "fitted with another --needs (total there, issued here)"),
    ],
)
def test_extract_refuses_options_that_do_not_fit(tagged, more, message):
    words, _, trust = tagged
    found = run("extract", words, *OF_RECEIPTS, "--trust", trust, *more)
    assert found.returncode == 2
    assert message in found.stderr
