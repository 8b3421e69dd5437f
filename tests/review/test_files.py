"""Files under review: read and scored by a model first, their own pages as pictures."""

from __future__ import annotations

import pytest

pytest.importorskip("starlette")
pytest.importorskip("onnxruntime")
pytest.importorskip("pypdfium2")

from lawful import demo
from lawful.demo.drawing import draw_pdf
from lawful.packs import PACKS
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
        queue = server.ask("/api/queue")[1]["documents"]
        (good,) = [each for each in queue if "error" not in each]
        (bad,) = [each for each in queue if "error" in each]
        assert good["words"] > 20
        assert "damaged" in bad["error"] or "PDF" in bad["error"]
        document = server.ask(f"/api/documents/{good['n']}")[1]
        assert document["images"] == [True]
        assert document["answer"]["fields"]["total"]
        assert server.ask(f"/api/documents/{bad['n']}")[0] == 404


def test_several_files_of_lines_are_refused(tmp_path):
    paths = [tmp_path / name for name in ("a.jsonl", "b.jsonl")]
    for path in paths:
        path.write_text(demo_lines(1))
    found = run("review", *paths, "--rules", demo.RULES, "--db", tmp_path / "r.db", "--no-browser")
    assert found.returncode == 2
    assert "review them one by one" in found.stderr
