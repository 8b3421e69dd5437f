"""``--trust`` of ``lawful decode`` and ``lawful extract``: trust, and documents for review."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import pytest

from lawful import Rules, decode, demo, read_jsonl
from lawful.learning.trust import Trust
from tests.helpers import DOCUMENTS, RULES, run, timeless

LIMIT = 0.8


@pytest.fixture(scope="module")
def trust(tmp_path_factory):
    path = tmp_path_factory.mktemp("trust") / "trust.json"
    found = run("evaluate", DOCUMENTS, "-r", RULES, "--automation", "--out-trust", path, "-q")
    assert found.returncode == 0, found.stderr
    return path


@pytest.fixture(scope="module")
def marked(trust):
    found = run("decode", DOCUMENTS, "-r", RULES, "--trust", trust, "--review-below", LIMIT)
    assert "20 automatic, 28 for review" in found.stderr
    return timeless(found.stdout)


def test_trust_is_that_of_the_model(trust, marked):
    model, rules = Trust.load(trust), Rules.load(demo.RULES)
    for scored, line in zip(read_jsonl(DOCUMENTS), marked, strict=True):
        decoding = decode(scored.document, scored.scores, rules)
        assert line["trust"] == pytest.approx(model.in_decoding(scored, decoding, rules))
        assert line["review"] == (line["trust"] < LIMIT)


def test_without_a_model_there_is_no_trust():
    (line, *_) = timeless(run("decode", DOCUMENTS, "-r", RULES).stdout)
    assert "trust" not in line
    assert "review" not in line


def test_without_a_limit_there_is_no_review(trust):
    found = run("decode", DOCUMENTS, "-r", RULES, "--trust", trust, "--workers", 2)
    lines = timeless(found.stdout)
    assert all("trust" in line and "review" not in line for line in lines)
    assert "for review" not in found.stderr


def test_documents_for_review_are_in_their_own_file(trust, marked, tmp_path):
    out, review = tmp_path / "out.jsonl", tmp_path / "review.jsonl"
    run("decode", DOCUMENTS, "-r", RULES, "--trust", trust, "--review-below", LIMIT,
        "--out", out, "--review", review)  # fmt: skip
    assert timeless(out.read_text()) == [line for line in marked if not line["review"]]
    assert timeless(review.read_text()) == [line for line in marked if line["review"]]
    assert sorted(tmp_path.iterdir()) == [out, review]


def test_tables_and_reports_have_trust_and_review(trust, marked, tmp_path):
    review = tmp_path / "review"
    how = ["-r", RULES, "--trust", trust, "--review-below", LIMIT, "--review", review]
    for text in (run("decode", DOCUMENTS, *how, "--format", "csv").stdout, review.read_text()):
        for row in csv.DictReader(io.StringIO(text)):
            (line,) = (line for line in marked if line["id"] == row["id"])
            assert float(row["trust"]) == pytest.approx(line["trust"], abs=0.001)
            assert row["review"] == str(line["review"]) == str(text == review.read_text())
    page = run("decode", DOCUMENTS, *how, "--format", "html").stdout
    assert page.count('<details class="card') == 20
    assert "for review" not in page
    assert review.read_text().count(" %, for review") == 28
    assert "<b>28</b> documents" in review.read_text()


@pytest.mark.parametrize("lost", [None, "out.jsonl", "review.jsonl"])
def test_a_split_run_resumes(trust, marked, tmp_path, lost):
    lines = gzip.decompress(Path(DOCUMENTS).read_bytes()).decode().splitlines()
    pages = tmp_path / "pages.jsonl"
    how = ["decode", pages, "-r", RULES, "--trust", trust, "--review-below", LIMIT,
           "--out", tmp_path / "out.jsonl", "--review", tmp_path / "review.jsonl"]  # fmt: skip
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
    assert "20 automatic, 28 for review" in found.stderr
    assert "48 documents: 31 satisfied" in found.stderr
    assert "with the id of an earlier one" not in found.stderr
    for name, review in (("out.jsonl", False), ("review.jsonl", True)):
        found = timeless((tmp_path / name).read_text())
        assert found == [line for line in marked if line["review"] == review]
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--temperature", 2], "fitted with another --temperature (1.0 there, 2.0 here)"),
        (["--decoder", "paths"], "fitted with another --decoder (auto there, paths here)"),
        (["--pool", "mean"], "fitted with another --pool (None there, mean here)"),
        (["--alternatives", 2], "fitted with another --alternatives (0 there, 1 here)"),
        (["--mass", 0.5], "fitted with another --mass"),
        (["--review-below", 1.5], "--review-below is 1.5, expected a number from 0 to 1"),
        (["--review", "x"], "--review needs --review-below"),
        (["--review-below", 0.5, "--out", "x", "--review", "x"], "is the file of --out"),
        (["--review-below", 0.5, "--review", "-"], "is the file of --out"),
        (["--trust", RULES], "is no model of trust"),
        (["--trust", "nothing.json"], "cannot read nothing.json"),
    ],
)
def test_options_that_do_not_fit_are_refused(trust, more, message):
    found = run("decode", DOCUMENTS, "-r", RULES, "--trust", trust, *more)
    assert found.returncode == 2
    assert message in " ".join(found.stderr.split())


def test_review_needs_trust_and_trust_the_same_rules(trust, tmp_path):
    found = run("decode", DOCUMENTS, "-r", RULES, "--review-below", 0.5)
    assert "--review-below needs --trust" in found.stderr
    rules = tmp_path / "rules.yaml"
    rules.write_text(demo.RULES.read_text() + "# another comment\n")
    found = run("decode", DOCUMENTS, "-r", rules, "--trust", trust)
    assert found.returncode == 2
    assert "fitted with another --rules" in found.stderr


def test_outputs_do_not_replace_inputs(trust, tmp_path):
    model = tmp_path / "trust.json"
    model.write_text(trust.read_text())
    for option, how in {
        "out-trust": ["evaluate", model, "-r", RULES, "--automation", "--out-trust", model],
        "review": ["decode", DOCUMENTS, "-r", RULES, "--trust", model, "--review", model],
    }.items():
        found = run(*how)
        assert found.returncode == 2
        assert f"--{option} {model} is the input file" in " ".join(found.stderr.split())
    assert json.loads(model.read_text()) == json.loads(trust.read_text())


def test_scores_of_spans_have_no_trust(trust):
    spans = [[1, 2, f.label, 0.1] for f in Rules.load(demo.RULES).fields]
    line = {"id": "a", "words": ["Total", "5.00"], "spans": spans}
    found = run("decode", "-", "-r", RULES, "--trust", trust, stdin=json.dumps(line))
    assert "trust is about scores of words, and these are of spans" in found.stderr
    assert (found.returncode, found.stdout) == (2, "")


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
    run("evaluate", scored, "-r", "receipt", "--automation", "--out-trust", trust, "-q")
    return words, scored, trust


def test_extract_trusts_as_decode_does(tagged, tmp_path):
    words, scored, trust = tagged
    how = ["--trust", trust, "--review-below", LIMIT]
    found = run("extract", words, *how)
    marked = timeless(found.stdout)
    decoded = timeless(run("decode", scored, "-r", "receipt", *how).stdout)
    for line, other in zip(marked, decoded, strict=True):
        same = ("id", "labels", "status", "review")
        assert [line[key] for key in same] == [other[key] for key in same]
        # Written scores are rounded.
        assert line["trust"] == pytest.approx(other["trust"], abs=1e-3)
    for_review = sum(line["review"] for line in marked)
    assert 0 < for_review < len(marked) == 32
    assert f"{32 - for_review} automatic, {for_review} for review" in found.stderr
    out, review = tmp_path / "out.jsonl", tmp_path / "review.jsonl"
    run("extract", words, *how, "--out", out, "--review", review, "--workers", 2)
    for path, below in ((out, False), (review, True)):
        assert timeless(path.read_text()) == [each for each in marked if each["review"] == below]


def test_a_split_extraction_resumes(tagged, tmp_path):
    words, _, trust = tagged
    lines = words.read_text().splitlines()
    pages, out, review = (tmp_path / name for name in ("pages.jsonl", "out.jsonl", "review.jsonl"))
    how = ["extract", pages, "--trust", trust, "--review-below", LIMIT, "--batch", 4,
           "--out", out, "--review", review]  # fmt: skip
    pages.write_text("\n".join([*lines[:20], "{", *lines[21:]]))
    assert run(*how, "--bad-lines", "fail").returncode == 2
    assert not out.exists()
    pages.write_text("\n".join(lines))
    assert "resuming after line 20" in run(*how, "--resume").stderr
    whole = [timeless(path.read_text()) for path in (out, review)]
    again = ["--out", tmp_path / "a.jsonl", "--review", tmp_path / "b.jsonl"]
    run(*how[:-4], *again)
    assert whole == [timeless((tmp_path / name).read_text()) for name in ("a.jsonl", "b.jsonl")]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--review", "x"], "--review needs --review-below"),
        (["--rules", RULES], "fitted with another --rules"),
        (["--temperature", 2], "fitted with another --temperature (1.0 there, 2.0 here)"),
        (["--review-below", 2], "--review-below is 2, expected a number from 0 to 1"),
    ],
)
def test_extract_refuses_options_that_do_not_fit(tagged, more, message):
    words, _, trust = tagged
    found = run("extract", words, "--trust", trust, *more)
    assert found.returncode == 2
    assert message in found.stderr
