"""E-invoices: values from the XML inside a PDF file, and XML that could be an attack."""

from __future__ import annotations

import pickle

import pytest

from lawful import Document, Field, InputError, Rules, Scores, decode
from lawful.readers import Reader
from lawful.readers.einvoice import find_einvoice, read_einvoice
from lawful.readers.xml import parse_xml
from tests.fixtures import pdfs
from tests.fixtures.einvoices import PRINTED, UBL, XML

LAUGHS = b"""<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">]>
<l>&d;</l>"""
FILE = b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/passwd">]><l>&a;</l>'
NETWORK = b'<?xml version="1.0"?><!DOCTYPE l SYSTEM "http://localhost/x.dtd"><l>x</l>'


@pytest.mark.parametrize("data", [LAUGHS, FILE, NETWORK], ids=("laughs", "file", "network"))
def test_document_types_and_entities_are_refused(data):
    with pytest.raises(InputError, match="the XML has a document type or an entity"):
        parse_xml(data)
    with pytest.raises(InputError, match=r"its e-invoice factur-x\.xml is not read: the XML has a"):
        find_einvoice({"note.xml": b"<note/>", "factur-x.xml": data})
    assert find_einvoice({"note.xml": data}) is None


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "the XML is damaged: no element found"),
        (b"<a><b></a>", "the XML is damaged: mismatched tag"),
        (b"<a>&undefined;</a>", "the XML is damaged: undefined entity"),
        (b'<?xml version="1.0" encoding="nonsense"?><a/>', "the XML is damaged: unknown encoding"),
        (b"<a>" * 300, "nested more than 200 deep"),
        (b"<a>" + b"<b/>" * 1_000_001 + b"</a>", "more than 1,000,000 elements"),
    ],
    ids=("empty", "tags", "entity", "encoding", "deep", "long"),
)
def test_xml_that_is_damaged_or_too_large(data, said):
    with pytest.raises(InputError, match=said):
        parse_xml(data)


def test_elements_by_name_whatever_their_namespace():
    root = parse_xml(b'<x:a xmlns:x="u"><x:b x:k="1"> t </x:b><c><b>s</b></c></x:a>')
    assert root.name == "a"
    assert [b.text for b in root.all("b")] == ["t", "s"]
    assert root.first("b").attributes == {"k": "1"}
    assert root.first("d") is None


def test_the_values_of_an_invoice():
    invoice = read_einvoice(XML)
    assert invoice.values == {
        "number": ("RE-2024-17",), "date": ("2024-02-05",), "due_date": ("2024-03-04",),
        "line_total": ("115.00",), "charges": ("0.00",), "net": ("115.00",), "tax": ("21.85",),
        "gross": ("136.85",), "due": ("136.85",),
        "line.quantity": ("2.00", "3.00"), "line.unit_price": ("12.50", "30.00"),
        "line.rate": ("19.00", "19.00"), "line.amount": ("25.00", "90.00"),
        "vat.rate": ("19.00",), "vat.basis": ("115.00",), "vat.tax": ("21.85",),
    }  # fmt: skip
    with pytest.raises(
        InputError, match="the root of the XML is 'html', expected Invoice, CreditNote"
    ):
        read_einvoice(b"<html/>")


def test_odd_values_are_left_out():
    odd = XML.replace(b">136.85<", b">NaN<").replace(b">21.85<", b">1e999<")
    odd = odd.replace(b">20240205<", b">20249999<").replace(b">12.5000<", b">twelve<")
    values = read_einvoice(odd).values
    assert not {"gross", "due", "tax", "vat.tax", "date"} & set(values)
    assert values["line.unit_price"] == ("30.00",)


def test_the_attachment_of_a_pdf_file(tmp_path):
    pytest.importorskip("pypdfium2", reason="needs the 'pdf' extra")
    path = pdfs.attached(
        tmp_path / "a.pdf", pdfs.text_pdf(PRINTED), note_txt=b"x", factur__x_xml=XML
    )
    document = Reader("never").read(path)
    assert document.values["gross"] == ("136.85",)
    assert pickle.loads(pickle.dumps(document)).invoice == document.invoice
    pdfs.attached(path, pdfs.text_pdf(PRINTED), a_xml=LAUGHS)
    assert Reader("never").read(path).values is None
    pdfs.attached(path, pdfs.text_pdf(PRINTED), factur__x_xml=XML[:900])
    damaged = Reader("never").read(path)
    assert damaged.values is None
    [note] = damaged.notes
    assert note.startswith(
        "its e-invoice factur-x.xml is not read: the XML is damaged: unclosed token"
    )


def test_a_name_that_ends_in_nul():
    assert find_einvoice({"factur-x.xml\0": XML}) == read_einvoice(XML)


def test_an_xml_file_by_itself(tmp_path):
    path = tmp_path / "a.xml"
    path.write_bytes(UBL)
    document = Reader().read(path)
    assert document.words == ()
    assert document.values == document.invoice.values == read_einvoice(UBL).values


def test_known_values_are_compared_by_value():
    fields = [
        Field("gross", "gross", "money"), Field("rate", "vat.rate", "number"),
        Field("amounts", "line.amount", "money", many=True), Field("free", "free", "money"),
        Field("charges", "charges", "money"), Field("issued", "date", "date"),
    ]  # fmt: skip
    labels = ["O", *(f"B-{f.label}" for f in fields)]
    words = ["136,85", "19%", "25,00", "91,00", "5.2.2024", "x"]
    gold = ["B-gross", "B-vat.rate", "B-line.amount", "B-line.amount", "B-date", "O"]
    document = Document("d", words, values=read_einvoice(XML).values)
    scores = Scores.from_probs([[float(label == g) for label in labels] for g in gold], labels)
    rules = Rules(fields)
    found = decode(document, scores, rules)
    assert [(each.field, each.found, each.right) for each in found.known] == [
        ("gross", ("136.85",), True),
        ("rate", ("19.00",), True),
        ("amounts", ("25.00", "91.00"), False),
        ("issued", ("2024-02-05",), True),
    ]


def test_ubl_has_the_same_values_and_the_names_of_items():
    values = read_einvoice(UBL).values
    assert values.pop("line.name") == ("Gruener Tee", "Reis")
    assert values == read_einvoice(XML).values
    other = UBL.replace(b"InvoiceLine", b"CreditNoteLine").replace(b"InvoicedQ", b"CreditedQ")
    credit = other.replace(b"<Invoice ", b"<CreditNote ").replace(b"</Invoice>", b"</CreditNote>")
    assert read_einvoice(credit).values == read_einvoice(UBL).values
