"""E-invoices as training data: labels by value, rows where a line of the XML is a printed line."""

from __future__ import annotations

import pytest

from lawful import InputError
from lawful.readers.facturx import read_facturx
from tests.fixtures import pdfs
from tests.fixtures.einvoices import PRINTED, UBL, XML
from tests.fixtures.outputs import SHARED
from tests.helpers import run

pytest.importorskip("pypdfium2", reason="needs the 'pdf' extra")

REAL = SHARED / "data" / "facturx" / "pdf"


@pytest.fixture
def folder(tmp_path):
    pdfs.attached(tmp_path / "a.pdf", pdfs.text_pdf(PRINTED), factur__x_xml=XML)
    (tmp_path / "b.pdf").write_bytes(pdfs.text_pdf(PRINTED))
    (tmp_path / "c.pdf").write_bytes(b"%PDF-1.7 broken")
    return tmp_path


def test_words_are_labelled_by_value(folder):
    (found,) = read_facturx(folder)
    labelled = [
        (word, label[2:])
        for word, label in zip(found.document.words, found.gold, strict=True)
        if label != "O"
    ]
    assert labelled == [
        ("RE-2024-17", "number"), ("5.2.2024", "date"),
        ("2", "line.quantity"), ("12,50", "line.unit_price"), ("25,00", "line.amount"),
        ("3", "line.quantity"), ("30,00", "line.unit_price"), ("90,00", "line.amount"),
        ("115,00", "net"),
        ("19", "vat.rate"), ("115,00", "vat.basis"), ("21,85", "vat.tax"),
        ("136,85", "gross"), ("136,85", "gross"), ("4.3.2024", "due_date"),
    ]  # fmt: skip
    rows = dict(zip(found.document.words, found.document.rows, strict=True))
    assert rows["25,00"] == rows["12,50"] != rows["90,00"] == rows["30,00"]
    assert rows["RE-2024-17"] is None


def test_xml_beside_a_file_labels_it_and_the_names_of_items(folder):
    (folder / "b.xml").write_bytes(UBL)
    (folder / "c.xml").write_bytes(UBL)  # of a broken PDF
    one, other = read_facturx(folder)
    assert other.document.id.endswith("b.pdf")
    names = [
        (word, label)
        for word, label in zip(other.document.words, other.gold, strict=True)
        if label.endswith("line.name")
    ]
    assert names == [("Gruener", "B-line.name"), ("Tee", "I-line.name"), ("Reis", "B-line.name")]
    rest = ["O" if label.endswith("line.name") else label for label in other.gold]
    assert rest == list(one.gold)
    (folder / "b.xml").write_bytes(b"<Invoice")
    assert len(list(read_facturx(folder))) == 1


def test_a_value_that_may_be_of_a_line_is_not_one_of_the_header(folder):
    """Its price stands below its line, so the charges of the same amount cannot be told apart."""
    printed = [line.replace("30,00", "") for line in PRINTED] + ["(Net): 30,00"]
    xml = XML.replace(b">0.00<", b">30.00<")
    pdfs.attached(folder / "a.pdf", pdfs.text_pdf(printed), factur__x_xml=xml)
    (found,) = read_facturx(folder)
    assert dict(zip(found.document.words, found.gold, strict=True))["30,00"] == "O"
    printed = [*PRINTED, "Fracht 30,00"]
    pdfs.attached(folder / "a.pdf", pdfs.text_pdf(printed), factur__x_xml=xml)
    (found,) = read_facturx(folder)
    assert found.gold[-1] == "B-charges"


def test_the_command_says_which_values_were_found(folder):
    found = run("data", "convert", "facturx", folder, "--out", folder / "out.jsonl")
    first, second = found.stderr.splitlines()
    assert first == "1 document"
    assert second.startswith("known values that label words: number 1 of 1, date 1 of 1")
    assert "line_total 0 of 1, net 1 of 1" in second  # the same value
    assert "charges" not in second  # zero
    assert run("data", "info", "facturx", folder, "--rules", "invoice").returncode == 0


def test_folders_without_invoices(folder):
    (folder / "a.pdf").unlink()
    with pytest.raises(InputError, match=r"no e-invoice in .*: looked for PDF files with factur-x"):
        list(read_facturx(folder))
    with pytest.raises(InputError, match="no split 'train'"):
        list(read_facturx(folder, "train"))


@pytest.mark.skipif(not REAL.is_dir(), reason="needs ../shared/data/facturx")
def test_real_invoices():
    found = list(read_facturx(REAL))
    assert len(found) == 42
    labels = [{label[2:] for label in each.gold} for each in found]
    assert sum("gross" in each for each in labels) >= 36
    assert sum("line.amount" in each for each in labels) >= 30
