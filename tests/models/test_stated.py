"""E-invoices out of the box: their values are those of the XML, and the page is compared."""

from __future__ import annotations

import pickle
from dataclasses import replace
from decimal import Decimal

import pytest

import lawful
from lawful import Rules
from lawful.cli.trust_options import Trusting
from lawful.evaluation.einvoices import audit
from lawful.learn.trust import DOUBTS, Trust
from lawful.models.stated import stated
from lawful.pipeline.call import Call
from lawful.readers import Reader
from lawful.results.promise import Promise
from lawful.rules.packs import rules_named
from tests.fixtures import pdfs
from tests.fixtures.einvoices import PARTY, PRINTED, UBL, XML

pytest.importorskip("pypdfium2", reason="needs the 'pdf' extra")
pytest.importorskip("onnxruntime", reason="needs the 'onnx' extra")

FULL = XML.replace(b"<ram:ApplicableHeaderTradeSettlement>", PARTY, 1).replace(
    b"12.5000<", b"12.345<"
)


def hybrid(tmp_path, printed=PRINTED, xml=XML):
    return pdfs.attached(tmp_path / "a.pdf", pdfs.text_pdf(printed), factur__x_xml=xml)


def test_the_values_of_the_xml_with_their_places(tmp_path):
    found = lawful.extract(hybrid(tmp_path))
    assert (found.status, found.optimal) == ("satisfied", True)
    assert found.classes["kind"].value == "invoice"
    assert found.values("gross") == (Decimal("136.85"),)
    assert [row["line_amount"].value for row in found.rows("line")] == [25, 90]
    page = Reader("never").read(tmp_path / "a.pdf")
    (gross,) = found.fields["gross"]
    assert page.boxes[page.words.index("136,85")] == gross.box
    assert "satisfied PRINT: the page prints 11 amounts as the XML has them" in str(found)


def test_a_page_that_says_something_else_is_not_satisfied(tmp_path):
    printed = [line.replace("21,85", "28,15") for line in PRINTED]
    found = lawful.extract(hybrid(tmp_path, printed))
    assert found.status == "relaxed"
    assert found.values("tax") == (Decimal("21.85"),)
    assert any("21.85 in the XML, but 28,15 on the page" in c.message for c in found.violations)


def test_xml_that_contradicts_itself_is_not_satisfied(tmp_path):
    xml = XML.replace(b"<ram:GrandTotalAmount>136", b"<ram:GrandTotalAmount>139")
    found = lawful.extract(hybrid(tmp_path, xml=xml), rules="invoice")
    assert found.status == "relaxed"
    assert found.values("gross") == (Decimal("139.85"),)
    assert {"BR-CO-15", "BR-CO-16"} <= {check.id for check in found.violations}


def test_extract_and_the_audit_agree(tmp_path):
    """The pack took a price for six pieces as that of one: it does not know such quantities."""
    per = b'<ram:BasisQuantity unitCode="H87">0.5</ram:BasisQuantity>'
    price = b"12.5000</ram:ChargeAmount>"
    assert XML.count(price) == 1
    found = lawful.extract(hybrid(tmp_path, xml=XML.replace(price, price + per)))
    (line,) = [check for check in found.violations if check.id == "PEPPOL-R120"]
    document = Reader("never").read(tmp_path / "a.pdf")
    assert set(audit(document, document.invoice).findings) == set(found.violations)
    assert "per 0.5" in line.message
    ids = [check.id for check in found.checks]
    assert "BR-27" in ids, "other rules of the pack are judged"


def test_xml_by_itself_has_values_without_places(tmp_path):
    (tmp_path / "a.xml").write_bytes(UBL)
    found = lawful.extract(tmp_path / "a.xml")
    assert found.status == "satisfied"
    assert [str(row["line_name"].value) for row in found.rows("line")] == ["Gruener Tee", "Reis"]
    assert found.fields["gross"][0].box is None
    assert "vacuous PRINT: not checked" in str(found)


def test_parties_and_three_decimals(tmp_path):
    found = lawful.extract(hybrid(tmp_path, xml=FULL))
    values = {name: str(found.fields[name][0].value) for name in ("seller", "seller_address",
              "seller_vat_id", "currency")}  # fmt: skip
    assert values == {"seller": "Tee GmbH", "seller_address": "Weg 1, 10115 Berlin",
                      "seller_vat_id": "DE1", "currency": "EUR"}  # fmt: skip
    assert found.values("unit_price") == (Decimal("12.345"), 30)


def test_a_model_or_other_fields_are_asked_of_the_page(tmp_path):
    path = hybrid(tmp_path)
    document = Reader("never").read(path)
    assert stated(document, Rules([lawful.Field("x", label="shoe_size")])) is None
    model = lawful.models.shipped.invoice_model()
    assert lawful.extract(path, rules="invoice", model=model).words == document.words


def test_it_can_be_sent_to_workers(tmp_path):
    document = Reader("never").read(hybrid(tmp_path))
    record = stated(document, rules_named("invoice"))
    again = pickle.loads(pickle.dumps(record))
    assert (again.document, again.spots, again.checks) == (
        record.document, record.spots, record.checks,
    )  # fmt: skip
    both = list(lawful.extract([tmp_path / "a.pdf"] * 2, workers=2))
    assert [each.values("gross") for each in both] == [(Decimal("136.85"),)] * 2


@pytest.mark.parametrize("labels", [["B-gross", "O"], []])
def test_nothing_is_promised_of_values_that_no_model_found(tmp_path, labels):
    """They were bad lines of a run with trust; or passed, by trust in other scores of spans."""
    rules = replace(rules_named("invoice"), needs=("gross",))
    record = stated(Reader("never").read(hybrid(tmp_path)), rules)
    none = dict.fromkeys(DOUBTS, 0.0)
    promise = Promise(error=0.01, confidence=0.95, threshold=0, documents=9, passed=9, wrong=0)
    trust = Trust(fields=["gross"], intercept=9, weights=none, least=none, documents=9,
                  labels=labels, promise=promise)  # fmt: skip
    [(_, found)] = Trusting(rules, trust).apply([(record, Call(rules).decode(record))])
    assert (found.passes, found.passes_because, found.trust) == (False, "no promise", None)
