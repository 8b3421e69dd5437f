"""Receipts, invoices and letters out of the box: the kind of a page decides how it is read."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from datetime import date
from decimal import Decimal

import pytest

import lawful
from lab.receipts.drawing import Text, pdf_of
from lawful import FailedDocument, Rules, RulesError
from lawful.models.kinds import CallByKind
from lawful.models.shipped import invoice_model, model_for, receipt_model
from lawful.pipeline.call import DecodeOptions
from lawful.rules.packs import PACKS

pytest.importorskip("pypdfium2", reason="needs the 'pdf' extra")
pytest.importorskip("onnxruntime", reason="needs the 'onnx' extra")

GERMAN = """
Muster & Sohn GmbH
Hauptweg 12
80331 Neustadt

Beispiel AG                                          Rechnungsnummer:   RE-2026-0417
Ringweg 3                                            Rechnungsdatum:    03.02.2026
10115 Altstadt                                       Kundennummer:      30412

Rechnung

Pos   Bezeichnung                         Menge        Einzelpreis           Betrag
1     Wartung Heizung                         2              60,00           120,00
2     Ersatzfilter                            4              12,50            50,00

Nettobetrag                                                                  170,00
zzgl. 19 % MwSt.                                                              32,30
Rechnungsbetrag                                                              202,30

Zahlbar bis 17.02.2026.      IBAN: DE02 1203 0000 0000 2020 51
"""

ENGLISH = """
Acme Tools Ltd
7 Harbour Road
Bristol BS1 4QD

                                        INVOICE

Bill to:                                             Invoice No:        INV-20981
Northwind Traders                                    Invoice Date:      14/03/2026
22 Mill Lane                                         Due Date:          13/04/2026
Leeds LS1 2AB

Description                                Qty       Unit Price              Amount
Garden hose 25 m                             3            19.50               58.50
Steel shelf                                  1           141.50              141.50

                                                     Subtotal                200.00
                                                     VAT 20%                  40.00
                                                     Total                   240.00
"""

RECEIPT = """
       CORNER SHOP
      12 High Street
   05/03/2026     14:22

 Milk 1L               1.20
 Bread                 2.35
 Apples                3.10

 SUBTOTAL              6.65
 TOTAL                 6.65
 CASH                 10.00
 CHANGE                3.35

   THANK YOU, COME AGAIN
"""

LETTER = """
Jane Porter
4 Rose Court
Bath BA1 5NX

                                                     Bath, 2 May 2026

Dear Mr Hill,

Thank you very much for the pleasant evening last week. My husband and I enjoyed
the music and the good company. We hope that you and your family will visit us in
the summer, when the garden is at its best and the children are at home again.

Please give my regards to your sister, and tell her that the book has arrived.

Yours sincerely,

Jane Porter
"""

PAGES = {"german": GERMAN, "english": ENGLISH, "receipt": RECEIPT, "letter": LETTER}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for name, text in PAGES.items():
        words = [
            Text(word[0], 40 + 5.4 * word.start(), 60 + 14 * number, 9)
            for number, line in enumerate(text.splitlines())
            for word in re.finditer(r"\S+", line)
        ]
        (folder / f"{name}.pdf").write_bytes(pdf_of([words], (595, 842)))
    return folder


@pytest.mark.parametrize(
    ("name", "number", "issued", "net", "tax", "gross", "lines"),
    [
        ("german", "RE-2026-0417", date(2026, 2, 3), "170.00", "32.30", "202.30", 2),
        ("english", "INV-20981", date(2026, 3, 14), "200.00", "40.00", "240.00", 2),
    ],
)
def test_an_invoice_is_read_as_one(folder, name, number, issued, net, tax, gross, lines):
    found = lawful.extract(folder / f"{name}.pdf")
    assert found.classes["kind"].value == "invoice"
    assert found.values("number")[:1] == (number,)
    assert found.values("issued")[:1] == (issued,)
    for field, amount in (("net", net), ("tax", tax)):
        assert found.values(field)[:1] == (Decimal(amount),)
    assert Decimal(gross) in (*found.values("gross"), *found.values("due"))
    assert len([row for row in found.rows("line") if row["line_amount"].value]) == lines
    assert found.status == "satisfied"


def test_a_receipt_is_read_by_its_own_model(folder):
    found = lawful.extract(folder / "receipt.pdf")
    assert found.classes["kind"].value == "receipt"
    assert found.values("total") == (Decimal("6.65"),)
    assert found.values("change") == (Decimal("3.35"),)
    alone = lawful.extract(folder / "receipt.pdf", rules="receipt")
    assert (alone.fields, alone.labels) == (found.fields, found.labels)
    assert not alone.classes


def test_a_letter_is_neither_and_says_what_to_do(folder):
    first, failed = lawful.extract([folder / "english.pdf", folder / "letter.pdf"])
    assert first.values("number") == ("INV-20981",)
    assert isinstance(failed, FailedDocument)
    assert "neither a receipt nor an invoice: choose --rules receipt or" in failed.message
    read = lawful.extract(folder / "letter.pdf", rules="invoice")
    assert read.status == "unchecked"


def test_the_command_reads_all_kinds_of_a_folder(folder):
    def lines(*more):
        command = [sys.executable, "-m", "lawful", "extract", str(folder), "--quiet", *more]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    done = lines()
    found = {line["id"].split("/")[-1]: line for line in map(json.loads, done.stdout.splitlines())}
    kinds = {name: line["classes"]["kind"]["value"] for name, line in found.items()}
    assert kinds == {"english.pdf": "invoice", "german.pdf": "invoice", "receipt.pdf": "receipt"}
    assert "letter.pdf: looks like neither" in done.stderr
    assert done.returncode == 1
    head, *rows = lines("--workers", "2", "--format", "csv").stdout.splitlines()
    columns = head.split(",")
    assert len(columns) == len(set(columns))
    assert {"kind", "total", "gross", "number", "shop"} <= set(columns)
    assert len(rows) == 3


def test_rows_are_of_the_documents_that_have_such(folder):
    def table(rows):
        files = (str(folder / f"{name}.pdf") for name in ("german", "receipt"))
        more = ("--quiet", "--format", "csv", "--rows", rows)
        command = [sys.executable, "-m", "lawful", "extract", *files, *more]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    for rows, name, count in (("line", "german", 2), ("item", "receipt", 3)):
        found = list(csv.DictReader(table(rows).stdout.splitlines()))
        assert [row["id"].split("/")[-1] for row in found] == [f"{name}.pdf"] * count
        assert [row[rows] for row in found] == [str(number) for number in range(1, count + 1)]
    refused = table("cell")
    assert refused.returncode == 2
    known = "rows of the rule file: line, allowance, charge, vat, item"
    assert known in " ".join(refused.stderr.split())


@pytest.mark.parametrize(
    ("needs", "said"),
    [
        ("total,issued", "(--rules receipt alone would do); invoice: needs: no field 'total'"),
        ("gross", "(--rules invoice alone would do); receipt: needs: no field 'gross'"),
        ("nothing", "the packs invoice and receipt; invoice: needs: no field 'nothing'"),
    ],
)
def test_fields_that_one_kind_does_not_have_are_refused_with_the_rules_that_do(needs, said):
    with pytest.raises(RulesError) as refused:
        CallByKind.of_packs(DecodeOptions(needs=needs).call)
    assert said in str(refused.value)
    assert CallByKind.of_packs(DecodeOptions(needs="tax,issued").call).calls


def test_the_model_for_rules_is_the_one_that_knows_their_labels():
    assert model_for(Rules.load(PACKS["invoice"])) == invoice_model()
    assert model_for(Rules.load(PACKS["receipt"])) == receipt_model()
    assert model_for(Rules([lawful.Field("a", label="unheard")])) == receipt_model()
