"""``lawful einvoice``: the audit of files and folders, in three formats."""

from __future__ import annotations

import csv
import json

import pytest

from tests.fixtures import pdfs
from tests.fixtures.einvoices import PRINTED, UBL, XML
from tests.helpers import run

pytest.importorskip("pypdfium2", reason="needs the 'pdf' extra")


@pytest.fixture
def folder(tmp_path):
    """A sound e-invoice, one whose XML has another total, a damaged one, and a letter."""
    pages, folder = pdfs.text_pdf(PRINTED), tmp_path / "invoices"
    folder.mkdir()
    pdfs.attached(folder / "a.pdf", pages, factur__x_xml=XML)
    pdfs.attached(folder / "b.pdf", pages, factur__x_xml=XML.replace(b">136.85", b">137.85"))
    pdfs.attached(folder / "c.pdf", pages, factur__x_xml=XML[:900])
    (folder / "<d>.pdf").write_bytes(pages)
    return folder


def test_json_lines(folder):
    result = run("einvoice", folder)
    assert result.returncode == 1
    assert "c.pdf: its e-invoice factur-x.xml is not read" in result.stderr
    assert "1 sound e-invoice, 1 contradictory e-invoice with 3 findings" in result.stderr
    assert "1 unreadable file, 1 other file" in result.stderr
    a, b, c = map(json.loads, result.stdout.splitlines())
    assert (a["status"], a["number"], a["findings"]) == ("sound", "RE-2024-17", [])
    assert b["status"] == "contradictory"
    assert {each["rule"] for each in b["findings"]} == {"BR-CO-15", "PRINT"}
    assert c["error"].startswith("its e-invoice")


def test_a_table_of_findings(folder, tmp_path):
    out = tmp_path / "x.csv"
    assert run("einvoice", folder, "--out", out).returncode == 1
    rows = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    assert [row["status"] for row in rows] == ["sound", *["contradictory"] * 3, "error"]
    assert rows[1]["rule"] == "BR-CO-15"
    assert "137.85" in rows[1]["finding"]


def test_a_page(folder, tmp_path):
    out = tmp_path / "x.html"
    (folder / "<e>.xml").write_bytes(UBL.replace(b"RE-2024-17", b"&lt;script&gt;"))
    assert run("einvoice", folder, "--out", out).returncode == 1
    page = out.read_text(encoding="utf-8")
    assert "<script" not in page
    assert "invoice &lt;script&gt;" in page
    assert "but a net total of 115.00 and a tax of 21.85 make 136.85" in page


def test_exit_codes_and_what_cannot_be_used(folder, tmp_path):
    assert run("einvoice", folder / "a.pdf").returncode == 0
    assert run("einvoice", folder / "<d>.pdf").returncode == 2
    (tmp_path / "pom.xml").write_text("<project/>")
    assert "1 other file" in run("einvoice", tmp_path / "pom.xml").stderr
    (tmp_path / "empty").mkdir()
    assert "no PDF or XML file in" in run("einvoice", tmp_path / "empty").stderr
    result = run("einvoice", folder, "--out", tmp_path / "x.parquet")
    assert result.returncode == 2
    assert "expected a name for jsonl, csv or html, such as x.html" in result.stderr
    result = run("einvoice", folder, "--out", "x.xlsx")
    assert result.returncode == 2
    said = " ".join(result.stderr.split())
    assert "expected one of .jsonl, .ndjson, .json, .csv, .html, .htm" in said
    assert ".parquet" not in said
