"""Responses of document services, in small files in the shapes that these publish."""

from __future__ import annotations

from math import exp

import pytest

from lawful import Candidates, Field, InputError, Rule, Rules, choose
from lawful.candidates.services import azure, document_ai, textract
from lawful.rules import RowKind

EXPENSE = {
    "DocumentMetadata": {"Pages": 1},
    "ExpenseDocuments": [
        {
            "ExpenseIndex": 1,
            "SummaryFields": [
                {
                    "Type": {"Text": "VENDOR_NAME", "Confidence": 98.0},
                    "ValueDetection": {"Text": "Ada's", "Confidence": 90.0, "Geometry": {}},
                    "PageNumber": 1,
                },
                {
                    "Type": {"Text": "TOTAL", "Confidence": 80.0},
                    "LabelDetection": {"Text": "Total", "Confidence": 99.0},
                    "ValueDetection": {"Text": "$9.50", "Confidence": 100.0},
                },
                {
                    "Type": {"Text": "TOTAL", "Confidence": 70.0},
                    "ValueDetection": {"Text": "$7.50", "Confidence": 100.0},
                },
                {"Type": {"Text": "OTHER"}, "ValueDetection": {"Text": "", "Confidence": 50}},
            ],
            "LineItemGroups": [
                {
                    "LineItemGroupIndex": 1,
                    "LineItems": [
                        {
                            "LineItemExpenseFields": [
                                {
                                    "Type": {"Text": "ITEM", "Confidence": 100},
                                    "ValueDetection": {"Text": "tea", "Confidence": 100},
                                },
                                {
                                    "Type": {"Text": "PRICE", "Confidence": 100},
                                    "ValueDetection": {"Text": "3.50", "Confidence": 90},
                                },
                            ]
                        },
                        {
                            "LineItemExpenseFields": [
                                {
                                    "Type": {"Text": "PRICE", "Confidence": 100},
                                    "ValueDetection": {"Text": "4.00", "Confidence": 90},
                                },
                                {
                                    "Type": {"Text": "PRICE", "Confidence": 100},
                                    "ValueDetection": {"Text": "4", "Confidence": 20},
                                },
                            ]
                        },
                    ],
                }
            ],
        }
    ],
}

AZURE = {
    "status": "succeeded",
    "analyzeResult": {
        "modelId": "prebuilt-invoice",
        "documents": [
            {
                "docType": "invoice",
                "confidence": 1,
                "fields": {
                    "VendorName": {"type": "string", "valueString": "ADA'S", "content": "Ada's",
                                   "confidence": 0.9},
                    "InvoiceDate": {"type": "date", "valueDate": "2024-05-06",
                                    "content": "06/05/2024", "confidence": 0.8},
                    "InvoiceTotal": {"type": "currency", "content": "9,50 €", "confidence": 0.6,
                                     "valueCurrency": {"currencySymbol": "€", "amount": 9.5,
                                                       "currencyCode": "EUR"}},
                    "SubTotal": {"type": "currency"},
                    "Codes": {"type": "array",
                              "valueArray": [{"type": "string", "valueString": "A"}]},
                    "Items": {
                        "type": "array",
                        "valueArray": [
                            {"type": "object", "confidence": 0.9, "valueObject": {
                                "Description": {"type": "string", "content": "tea",
                                                "confidence": 0.7},
                                "Quantity": {"type": "number", "valueNumber": 2, "content": "2 pcs",
                                             "confidence": 0.7},
                            }},
                        ],
                    },
                },
            }
        ],
    },
}  # fmt: skip

DOCUMENT_AI = {
    "document": {
        "text": "…",
        "entities": [
            {"type": "supplier_name", "mentionText": "Ada's", "confidence": 0.9},
            {"type": "total_amount", "mentionText": "9,50 €", "confidence": 0.75,
             "normalizedValue": {"text": "9.50 EUR", "moneyValue": {"units": "9"}}},
            {"type": "vat_number", "mentionText": "1", "confidence": 0.5},
            {"type": "vat_number", "mentionText": "2", "confidence": 0.25},
            {"type": "line_item", "mentionText": "tea 3.50", "confidence": 0.9, "properties": [
                {"type": "line_item/description", "mentionText": "tea", "confidence": 0.5},
                {"type": "line_item/amount", "mentionText": "3.50", "confidence": 0.5},
            ]},
        ],
    }
}  # fmt: skip


def chances(found):
    """The probabilities in nested mappings and lists of log-probabilities."""
    if isinstance(found, dict):
        return {name: chances(each) for name, each in found.items()}
    if isinstance(found, list):
        return [chances(each) for each in found]
    return pytest.approx(exp(found))


def test_textract():
    assert chances(textract(EXPENSE)) == {
        "VENDOR_NAME": {"Ada's": 0.98 * 0.9},
        "TOTAL": [{"$9.50": 0.8}, {"$7.50": 0.7}],
        "OTHER": {},
        "LineItems": [{"ITEM": {"tea": 1}, "PRICE": {"3.50": 0.9}}, {"PRICE": {"4.00": 0.9}}],
    }


def test_azure():
    assert chances(azure(AZURE)) == {
        "VendorName": {"Ada's": 0.9},
        "InvoiceDate": {"2024-05-06": 0.8},
        "InvoiceTotal": {"9.5": 0.6},
        "SubTotal": {},
        "Codes": [{"A": 0.9}],
        "Items": [{"Description": {"tea": 0.7}, "Quantity": {"2": 0.7}}],
    }
    assert azure(AZURE["analyzeResult"]) == azure(AZURE)


def test_document_ai():
    assert chances(document_ai(DOCUMENT_AI)) == {
        "supplier_name": {"Ada's": 0.9},
        "total_amount": {"9.50 EUR": 0.75},
        "vat_number": [{"1": 0.5}, {"2": 0.25}],
        "line_item": [{"description": {"tea": 0.5}, "amount": {"3.50": 0.5}}],
    }
    assert document_ai(DOCUMENT_AI["document"]) == document_ai(DOCUMENT_AI)


def test_a_total_is_chosen_that_the_line_items_add_up_to():
    rules = Rules(
        [Field("vendor", "VENDOR_NAME"), Field("total", "TOTAL", "money"),
         Field("item", "ITEM"), Field("price", "PRICE", "money")],
        ["total == sum(price)", Rule("price > 0", each="line")],
        rows=[RowKind("line", ("item", "price"))],
    )  # fmt: skip
    found = choose(Candidates(textract(EXPENSE)), rules)
    assert found.status == "satisfied"
    assert found.fields["total"][0].text == "$7.50"
    assert [list(row) for row in found.rows("line")] == [["item", "price"], ["price"]]
    [change] = found.span_corrections
    assert change.text(found.words) == "total '$9.50' -> total '$7.50'"


@pytest.mark.parametrize(
    ("read", "response", "message"),
    [
        (textract, [], "ExpenseDocuments of Textract's AnalyzeExpense is None, expected a list"),
        (textract, {"ExpenseDocuments": []}, "has 0 documents, expected one: pass them one by one"),
        (
            textract,
            {"ExpenseDocuments": [{"SummaryFields": 7}]},
            "SummaryFields is 7, expected a",
        ),
        (
            textract,
            {"ExpenseDocuments": [{"SummaryFields": [{"Type": {"Confidence": 101}}]}]},
            "a confidence is 101, expected a number from 0 to 100",
        ),
        (azure, {}, "documents of Azure Document Intelligence is None, expected a list"),
        (azure, {"documents": [{"fields": 7}]}, "fields is 7, expected an object"),
        (document_ai, {"entities": [7]}, "an entity is 7, expected an object"),
        (document_ai, 7, "entities of Google Document AI is None, expected a list"),
        (
            document_ai,
            {"entities": [{"type": "a", "mentionText": {}, "confidence": 0.5}]},
            "the text of a field is {}, expected a text, a number or null",
        ),
    ],
)
def test_other_shapes_are_refused(read, response, message):
    with pytest.raises(InputError, match=message):
        read(response)
