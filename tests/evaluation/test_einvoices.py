"""The audit of e-invoices: what holds is silent, and one changed amount is found and explained."""

from __future__ import annotations

import re
from decimal import Decimal, localcontext

import pytest

from lawful import Document
from lawful.evaluation.einvoices import audit, audit_files, einvoices_in
from lawful.evaluation.en16931 import check_arithmetic
from lawful.readers import Reader
from lawful.readers.einvoice import read_einvoice
from tests.fixtures import pdfs
from tests.fixtures.einvoices import PRINTED, UBL, XML

NOTHING = Document("d", ())
AMOUNT = re.compile(rb"(?<=Amount>)[0-9.]+(?=<)|(?<=\"EUR\">)[0-9.]+(?=<)")


def findings(xml, document=NOTHING):
    """The rules that an e-invoice breaks, each with its message."""
    return {check.id: check.message for check in audit(document, read_einvoice(xml)).findings}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page of the e-invoice."""
    pytest.importorskip("pypdfium2", reason="needs the 'pdf' extra")
    path = tmp_path_factory.mktemp("pages") / "a.pdf"
    path.write_bytes(pdfs.text_pdf(PRINTED))
    return Reader("never").read(path)


@pytest.mark.parametrize("xml", [XML, UBL], ids=("CII", "UBL"))
def test_an_invoice_without_contradictions(xml, page):
    found = audit(page, read_einvoice(xml))
    assert found.status == "sound"
    assert found.findings == ()
    checked = {check.id for check in found.checks if check.state == "satisfied"}
    assert checked == {
        "BR-CO-10", "BR-CO-12", "BR-CO-13", "BR-CO-14", "BR-CO-15", "BR-CO-16", "BR-CO-17",
        "BR-S-08", "PEPPOL-R120", "PRINT",
    }  # fmt: skip
    assert found.unchecked == ()


@pytest.mark.parametrize("xml", [XML, UBL], ids=("CII", "UBL"))
def test_every_amount_that_is_changed_is_found(xml):
    changed = 0
    for amount in AMOUNT.finditer(xml):
        if float(amount[0]):
            changed += 1
            other = xml[: amount.start()] + b"7" + amount[0] + xml[amount.end() :]
            assert findings(other), amount
    assert changed == 11


@pytest.mark.parametrize(
    ("old", "new", "rule", "said"),
    [
        (">90.00<", ">91.00<", "BR-CO-10",
         "the total of lines is 115.00, but the lines add up to 116.00"),
        (">90.00<", ">91.00<", "PEPPOL-R120",
         "the amount of line 2 is 91.00, but 3 times 30.00 is 90.00"),
        (">0.00<", ">5.00<", "BR-CO-12",
         "the total of charges is 5.00, but the charges add up to 0.00"),
        (">0.00<", ">5.00<", "BR-CO-13", "the net total is 115.00, but lines of 115.00, less "
         "0.00 of allowances, plus 5.00 of charges make 120.00"),
        (">21.85<", ">22.00<", "BR-CO-15",
         "the gross total is 136.85, but a net total of 115.00 and a tax of 22.00 make 137.00"),
        (">21.85</ram:Calc", ">23.00</ram:Calc", "BR-CO-17",
         "the tax at 19 % is 23.00, but 19 % of 115.00 is 21.85"),
        (">21.85</ram:Calc", ">22.00</ram:Calc", "BR-CO-14",
         "the total tax is 21.85, but the taxes of all rates add up to 22.00"),
        (">115.00</ram:Basis", ">114.50</ram:Basis", "BR-S-08",
         "the basis at 19 % is 114.50, but what is taxed so adds up to 115.00"),
        (">136.85</ram:Due", ">100.00</ram:Due", "BR-CO-16", "the amount due is 100.00, but a "
         "gross total of 136.85, less 0.00 prepaid, plus 0.00 rounding make 136.85"),
    ],
)  # fmt: skip
def test_what_is_said(old, new, rule, said):
    assert findings(XML.replace(old.encode(), new.encode()))[rule] == said


@pytest.mark.parametrize("number", [b"1e30", b"1" * 28 + b".99", b"9" * 31])
@pytest.mark.parametrize("xml", [XML, UBL])
def test_numbers_of_any_size_are_audited_exactly(xml, number):
    """They were rounded to 28 digits, or ended the run."""
    invoice = read_einvoice(re.sub(rb">-?[0-9]+[.][0-9]+<", b">" + number + b"<", xml))
    checks = {check.id: check for check in audit(Document("d", ["x"]), invoice).checks}
    gross = Decimal(number.decode())
    with localcontext(prec=100):
        assert checks["BR-CO-10"].state == "violated"
        assert f"{len(invoice.lines) * gross:.2f}"[:25] in checks["BR-CO-10"].message


def test_numbers_of_too_many_digits_are_none():
    number = b"0." + b"3" * 100_000
    invoice = read_einvoice(XML.replace(b">136.85<", b">" + number + b"<"))
    assert "gross" not in invoice.header


def test_tolerances_are_those_of_the_standard():
    """A tax may be off by less than one unit; a basis in UBL, too, but not in CII."""
    tax = XML.replace(b">21.85<", b">22.50<").replace(b">136.85<", b">137.50<")
    assert findings(tax) == {}
    basis = b">115.00</cbc:Taxable", b">114.50</cbc:Taxable"
    assert UBL.replace(b' currencyID="EUR"', b"").count(basis[0]) == 1
    assert findings(UBL.replace(b' currencyID="EUR"', b"").replace(*basis)) == {}
    assert "BR-S-08" in findings(XML.replace(b">115.00</ram:Basis", b">114.50</ram:Basis"))


def test_categories_without_tax():
    free = XML.replace(b"<ram:RateApplicablePercent>19<", b"<ram:CategoryCode>K</ram:CategoryCode>"
                       b"<ram:RateApplicablePercent>0<")  # fmt: skip
    free = free.replace(b">136.85<", b">115.00<").replace(b">21.85<", b">0<")
    checks = {check.id: check for check in check_arithmetic(read_einvoice(free))}
    assert {name for name in checks if "IC" in name} == {"BR-IC-08", "BR-IC-09"}
    assert findings(free) == {}
    taxed = free.replace(b">0</ram:Calc", b">3</ram:Calc")
    assert findings(taxed)["BR-IC-09"].startswith("the tax of category K is 3.00, but this")


def test_line_allowances_base_quantities_and_texts():
    price = b"<ram:ChargeAmount>30</ram:ChargeAmount>"
    per = price.replace(b"30<", b"3000<") + b"<ram:BasisQuantity>100</ram:BasisQuantity>"
    assert findings(XML.replace(price, per)) == {}
    charge = b"<cac:AllowanceCharge><cbc:ChargeIndicator>true</cbc:ChargeIndicator>"
    charge += b"<cbc:Amount>1</cbc:Amount></cac:AllowanceCharge><cac:Item>"
    said = findings(UBL.replace(b"<cac:Item>", charge, 1))["PEPPOL-R120"]
    assert said.endswith("2 times 12.50, plus 1.00 of charges is 26.00")


@pytest.mark.parametrize("word", ["12,50", "25,00", "90,00", "115,00", "21,85", "136,85"])
def test_an_amount_that_is_printed_otherwise(word, page):
    at = page.words.index(word)
    new = word.replace(word[0], "7", 1)
    other = Document("d", (*page.words[:at], new, *page.words[at + 1 :]), page.boxes, page.pages)
    said = findings(XML, other)["PRINT"]
    assert said.endswith(f"{word.replace(',', '.')} in the XML, but {new} on the page")


def test_files(tmp_path):
    pytest.importorskip("pypdfium2", reason="needs the 'pdf' extra")
    pages = pdfs.text_pdf(PRINTED)
    pdfs.attached(tmp_path / "a.pdf", pages, factur__x_xml=XML)
    pdfs.attached(tmp_path / "b.pdf", pages, factur__x_xml=XML.replace(b">136.85", b">137.85"))
    pdfs.attached(tmp_path / "c.pdf", pages, factur__x_xml=XML[:900])
    (tmp_path / "d.pdf").write_bytes(pages)
    (tmp_path / "d.xml").write_bytes(UBL.replace(b">136.85<", b">137.85<"))
    (tmp_path / "e.xml").write_bytes(UBL)
    (tmp_path / "f.xml").write_bytes(b"<alto/>")
    names = list(einvoices_in([str(tmp_path)]))
    a, b, c, d_pages, d, e, f = audit_files(names, Reader("never"))
    assert (a.status, b.status, d.status, e.status) == ("sound", *["contradictory"] * 2, "sound")
    assert "the XML is damaged" in c.message
    assert d_pages is None
    for each in (b, d):
        assert "PRINT" in {check.id for check in each.findings}
    assert {check.message for check in e.unchecked} == {"not checked: no page has words"}
    assert f is None or f.message
