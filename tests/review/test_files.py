"""Files under review: read and scored by a model first, their own pages as pictures."""

from __future__ import annotations

import pytest

pytest.importorskip("starlette")
pytest.importorskip("onnxruntime")
pytest.importorskip("pypdfium2")

from lab import receipts as demo
from lab.receipts.drawing import draw_pdf
from lawful.rules.packs import PACKS
from tests.helpers import demo_lines, run
from tests.review.process import reviewing


def test_pdf_files_are_read_scored_and_shown(tmp_path):
    scans = tmp_path / "scans"
    scans.mkdir()
    page = next(demo.generate(1)).document
    draw_pdf(page, scans / "one.pdf")
    (scans / "two.pdf").write_bytes(b"%PDF-1.7 nothing")
    db = tmp_path / "review.db"
    with reviewing(scans, db, rules=PACKS["receipt"]) as server:
        queue = server.documents()
        (good,) = [each for each in queue if "error" not in each]
        (bad,) = [each for each in queue if "error" in each]
        assert good["words"] > 20
        assert "damaged" in bad["error"] or "PDF" in bad["error"]
        document = server.ask(f"/api/documents/{good['n']}")[1]
        assert document["images"] == [True]
        assert document["answer"]["fields"]["total"]
        assert server.ask(f"/api/documents/{bad['n']}")[0] == 404


def test_files_need_no_rules_and_scored_documents_do(tmp_path):
    draw_pdf(next(demo.generate(1)).document, tmp_path / "one.pdf")
    with reviewing(tmp_path / "one.pdf", tmp_path / "review.db", rules=None) as server:
        (only,) = server.documents()
        answer = server.ask(f"/api/documents/{only['n']}")[1]["answer"]
        assert answer["fields"]["total"]
    (tmp_path / "a.jsonl").write_text(demo_lines(1))
    found = run("review", tmp_path / "a.jsonl", "--db", tmp_path / "r.db", "--no-browser")
    assert found.returncode == 2
    assert "give --rules" in found.stderr


def test_several_files_of_lines_are_refused(tmp_path):
    paths = [tmp_path / name for name in ("a.jsonl", "b.jsonl")]
    for path in paths:
        path.write_text(demo_lines(1))
    found = run("review", *paths, "--rules", demo.RULES, "--db", tmp_path / "r.db", "--no-browser")
    assert found.returncode == 2
    assert "review them one by one" in found.stderr


def test_a_folder_that_is_not_there_is_named(tmp_path):
    found = run("review", tmp_path / "nowhere", "--no-browser")
    assert found.returncode == 2
    assert f"cannot read {tmp_path / 'nowhere'}: no such file or folder" in found.stderr
