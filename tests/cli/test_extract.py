"""The shipped model: fields off words and boxes, without torch."""

import json
import subprocess
import sys

import pytest
from lawful_models import RECEIPT as MODEL

from lab import receipts as demo
from lawful import Document, MissingExtraError, Rules, from_pretrained, read_jsonl
from lawful.evaluation.scoreboard import Scoreboard, best_legal
from tests.helpers import timeless

pytest.importorskip("onnxruntime", reason="needs the 'onnx' extra")
pytest.importorskip("tokenizers", reason="needs the 'onnx' extra")

RULES = Rules.load(demo.RULES)


@pytest.fixture(scope="module")
def tagger():
    return from_pretrained(MODEL)


def test_it_is_small_enough_to_ship():
    assert sum(file.stat().st_size for file in MODEL.iterdir()) <= 15_000_000


def test_it_reads_receipts_and_rules_make_it_better(tagger):
    pages = list(read_jsonl(demo.shipped()))
    plain, ruled = Scoreboard(RULES), Scoreboard(RULES)
    scored = list(tagger.predict(pages))
    for page, decoding in zip(scored, tagger.decode(pages, RULES), strict=True):
        plain.add_labels(page, best_legal(page, RULES))
        ruled.add(page, decoding)
    assert plain.values.f1 > 0.95
    assert ruled.values.f1 > plain.values.f1
    assert ruled.passed > plain.passed


def extract(*arguments, code=0):
    command = [sys.executable, "-m", "lawful", "extract", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done


def test_extract_works_out_of_the_box(tmp_path):
    documents = [page.document for page in demo.generate(4, seed=9)]
    lines = ({"id": d.id, "words": d.words, "boxes": d.boxes} for d in documents)
    (tmp_path / "words.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = subprocess.run(
        [sys.executable, "-m", "lawful", "extract", tmp_path / "words.jsonl"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["id"] for line in lines] == [document.id for document in documents]
    assert sum("total" in line["fields"] for line in lines) >= 3
    assert done.returncode in (0, 1)


def test_a_page_with_nothing_to_check_needs_a_person_unless_told_otherwise(tmp_path):
    (tmp_path / "d.jsonl").write_text('{"id": "e", "words": []}\n')
    done = extract(tmp_path / "d.jsonl", code=1)
    assert json.loads(done.stdout)["status"] == "unchecked"
    assert "1 document: 1 unchecked; 0 of 7 rules checked, 0 hold" in done.stderr
    extract(tmp_path / "d.jsonl", "--unchecked", "pass")


@pytest.mark.parametrize("at", [3, 8, 11])
def test_a_resumed_run_gives_the_scores_of_an_unbroken_one(tmp_path, at):
    documents = [page.document for page in demo.generate(12, seed=5, words=(16, 40))]
    lines = [json.dumps({"id": d.id, "words": d.words, "boxes": d.boxes}) for d in documents]
    path, out, whole = tmp_path / "d.jsonl", tmp_path / "out.jsonl", tmp_path / "whole.jsonl"
    command = (path, "--batch", 2, "--unchecked", "pass")
    path.write_text("\n".join([*lines[:at], "no JSON", *lines[at + 1 :]]))
    stopped = extract(*command, "-o", out, "--bad-lines", "fail", code=2)
    assert f"the results of {at} lines are kept: --resume continues" in stopped.stderr
    extract(*command, "-o", out, "--resume", code=1)
    extract(*command, "-o", whole, code=1)
    assert timeless(out.read_text()) == timeless(whole.read_text())


def test_bad_lines_are_told_and_the_rest_goes_on(tmp_path):
    line = json.dumps({"id": "r", "words": ["Total", "5.00"]})
    (tmp_path / "d.jsonl").write_text(f'{line}\n{{"id": 3}}\n{{"id": "e", "words": []}}\n')
    done = extract(tmp_path / "d.jsonl", "--format", "csv", code=1)
    assert "line 2:" in done.stderr
    assert "1 document without boxes, which the model was trained with" in done.stderr
    assert [row.split(",")[0] for row in done.stdout.splitlines()] == ["id", "r", "e"]
    strict = extract(tmp_path / "d.jsonl", "--bad-lines", "fail", "-o", tmp_path / "x", code=2)
    assert "line 2" in strict.stderr
    assert not (tmp_path / "x").exists()


@pytest.fixture
def words(tmp_path):
    """Words and boxes of some receipts, with two bad lines among them."""
    documents = [page.document for page in demo.generate(6, seed=9, words=(16, 40))]
    lines = [json.dumps({"id": d.id, "words": d.words, "boxes": d.boxes}) for d in documents]
    lines.insert(3, '{"id": 3}')
    lines.append("{")
    (tmp_path / "words.jsonl").write_text("\n".join(lines))
    return tmp_path / "words.jsonl"


def test_workers_keep_the_order_the_answers_and_the_bad_lines(words):
    alone, together = (extract(words, "--workers", count, code=1) for count in (1, 2))
    assert len(timeless(alone.stdout)) == 6
    assert timeless(together.stdout) == timeless(alone.stdout)
    assert together.stderr == alone.stderr
    assert [line.split(":")[0] for line in alone.stderr.splitlines()[:2]] == ["line 4", "line 8"]


def test_options_of_decode_are_options_of_extract(words):
    plain = timeless(extract(words, code=1).stdout)
    more = extract(words, "--temperature", 2, "--alternatives", 1, "--max-cost", 50, "-q", code=1)
    lines = timeless(more.stdout)
    assert [line["id"] for line in lines] == [line["id"] for line in plain]
    assert {len(line["alternatives"]) for line in lines} <= {0, 1}
    assert sum(len(line["alternatives"]) for line in lines) > len(lines) / 2
    assert all(a["log_prob"] < b["log_prob"] for a, b in zip(lines, plain, strict=True))
    assert all(line.startswith("line ") for line in more.stderr.splitlines())  # no summary


def test_rules_for_other_labels_are_an_error(tmp_path):
    (tmp_path / "d.jsonl").write_text('{"id": "r", "words": ["Total"]}\n')
    (tmp_path / "r.yaml").write_text("fields:\n  vat: {label: vat, type: money}\nrules: []\n")
    done = extract(tmp_path / "d.jsonl", "--rules", tmp_path / "r.yaml", code=2)
    assert "field 'vat' has label 'vat', which the model does not know" in done.stderr


def test_without_onnxruntime_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"needs onnxruntime: install the 'onnx' extra"):
        from_pretrained(MODEL)


def test_a_word_that_was_never_seen_has_scores(tagger):
    with pytest.warns(UserWarning, match="documents without boxes"):
        (scored,) = tagger.predict([Document("d", ("日本語", "", "x" * 9000))])
    assert len(scored.scores) == 3
