"""Files under review: read and scored by a model first, their own pages as pictures."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("onnxruntime")
pytest.importorskip("pypdfium2")

import lawful
from lab import receipts as demo
from lab.receipts.drawing import draw_pdf
from lawful.io.jsonl import encode
from lawful.rules.packs import PACKS
from tests.fixtures import pdfs
from tests.fixtures.einvoices import PARTY, PRINTED, XML
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


def test_e_invoices_have_the_values_of_their_xml(tmp_path):
    """Also where the page says something else, or one word is the print of two of them."""
    scans = tmp_path / "scans"
    scans.mkdir()
    xml = XML.replace(b"<ram:ApplicableHeaderTradeSettlement>", PARTY, 1)
    page, wrong = (pdfs.text_pdf([line.replace("21,85", tax) for line in PRINTED])
                   for tax in ("21,85", "28,15"))  # fmt: skip
    pdfs.attached(scans / "good.pdf", page, factur__x_xml=xml)
    pdfs.attached(scans / "other.pdf", wrong, factur__x_xml=xml)
    xml = xml.replace(b"<ram:GrandTotalAmount>136", b"<ram:GrandTotalAmount>139")
    pdfs.attached(scans / "sums.pdf", page, factur__x_xml=xml)
    with reviewing(scans, tmp_path / "review.db", rules=None) as server:
        until = time.monotonic() + 60
        queue = server.documents()
        while None in [each["confidence"] for each in queue]:
            assert time.monotonic() < until, queue
            time.sleep(0.1)
            queue = server.documents()
        entries = {Path(each["id"]).stem: each for each in queue}
        answers = {
            name: server.ask(f"/api/documents/{each['n']}")[1]["answer"]
            for name, each in entries.items()
        }
    for name, answer in answers.items():
        known = json.loads(encode(lawful.extract(scans / f"{name}.pdf").to_dict()))
        assert _values(answer) == _values(known)
    assert entries["good"]["passes"]
    assert not entries["other"]["passes"]
    assert not entries["sums"]["passes"]
    assert entries["other"]["reasons"] == ["look at net, tax, gross"]


def _values(answer):
    return {name: [each["value"] for each in found] for name, found in answer["fields"].items()}


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
