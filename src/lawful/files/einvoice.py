"""E-invoices: Factur-X, ZUGFeRD and Order-X (UN/CEFACT's XML) inside PDF files, and UBL.

Values are under the labels of the rule pack ``invoice``; numbers have a decimal point and dates are
ISO's. Amounts that the XML does not state are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation

from lawful.errors import InputError
from lawful.files.xml import Element, parse_xml

NAMES = ("factur-x.xml", "zugferd-invoice.xml", "xrechnung.xml", "order-x.xml")
"""Names of the attachment, in lower case."""

TYPES: Mapping[str, str] = {
    "number": "text",
    "line.name": "text",
    "date": "date",
    "due_date": "date",
    **dict.fromkeys(("line.quantity", "line.rate", "vat.rate"), "number"),
    **dict.fromkeys(
        ("line.unit_price", "line.amount", "vat.basis", "vat.tax", "line_total", "allowances",
         "charges", "net", "tax", "gross", "prepaid", "rounding", "due"),
        "money",
    ),
}  # fmt: skip
"""The type of each label."""

_SUMS = {
    "line_total": "LineTotalAmount",
    "allowances": "AllowanceTotalAmount",
    "charges": "ChargeTotalAmount",
    "net": "TaxBasisTotalAmount",
    "tax": "TaxTotalAmount",
    "gross": "GrandTotalAmount",
    "prepaid": "TotalPrepaidAmount",
    "rounding": "RoundingAmount",
    "due": "DuePayableAmount",
}
_SUMMATIONS = (
    "SpecifiedTradeSettlementHeaderMonetarySummation",
    "SpecifiedTradeSettlementMonetarySummation",
)
_SETTLEMENTS = ("ApplicableHeaderTradeSettlement", "ApplicableSupplyChainTradeSettlement")
_LINE_SETTLEMENTS = ("SpecifiedLineTradeSettlement", "SpecifiedSupplyChainTradeSettlement")
_QUANTITIES = ("BilledQuantity", "RequestedQuantity", "AgreedQuantity")
_RATES = ("RateApplicablePercent", "ApplicablePercent")


_UBL_SUMS = {
    "line_total": "LineExtensionAmount",
    "allowances": "AllowanceTotalAmount",
    "charges": "ChargeTotalAmount",
    "net": "TaxExclusiveAmount",
    "gross": "TaxInclusiveAmount",
    "prepaid": "PrepaidAmount",
    "rounding": "PayableRoundingAmount",
    "due": "PayableAmount",
}


@dataclass(frozen=True, slots=True)
class EInvoice:
    """The values of an e-invoice by label: of its header, its lines and its rates of tax."""

    header: Mapping[str, str]
    lines: tuple[Mapping[str, str], ...]
    rates: tuple[Mapping[str, str], ...]

    @property
    def values(self) -> dict[str, tuple[str, ...]]:
        """All values by label; those of lines in the order of lines."""
        found: dict[str, list[str]] = {label: [text] for label, text in self.header.items()}
        for row in (*self.lines, *self.rates):
            for label, text in row.items():
                found.setdefault(label, []).append(text)
        return {label: tuple(texts) for label, texts in found.items()}


def find_einvoice(attachments: Mapping[str, bytes]) -> EInvoice | None:
    """The e-invoice among the attachments of a PDF file; ``None`` if none can be read."""
    named = [data for name, data in attachments.items() if name.lower() in NAMES]
    others = [data for name, data in attachments.items() if name.lower().endswith(".xml")]
    for data in (*named, *others):
        try:
            return read_einvoice(data)
        except InputError:
            continue
    return None


def read_einvoice(data: bytes) -> EInvoice:
    """The e-invoice of an XML file; raises an ``InputError`` if it is none."""
    root = parse_xml(data)
    if root.name in ("Invoice", "CreditNote"):
        return _read_ubl(root)
    known = ("CrossIndustryInvoice", "CrossIndustryDocument", "SCRDMCCBDACIOMessageStructure")
    if root.name not in known:
        raise InputError(
            f"the root of the XML is {root.name!r}, expected Invoice, CreditNote (UBL), "
            f"{', '.join(known)}"
        )
    document = root.first("ExchangedDocument", "HeaderExchangedDocument")
    settlement = root.first(*_SETTLEMENTS)
    header = {
        "number": _text(document, "ID"),
        "date": _date(document, "IssueDateTime"),
        "due_date": _date(settlement, "DueDateDateTime"),
    }
    sums = _first(settlement, *_SUMMATIONS)
    header |= {label: _number(sums, name) for label, name in _SUMS.items()}
    lines = tuple(
        _row(
            name=_text(_first(line, "SpecifiedTradeProduct"), "Name"),
            quantity=_number(line, *_QUANTITIES),
            unit_price=_number(_first(line, "NetPriceProductTradePrice"), "ChargeAmount"),
            rate=_number(_first(line, "ApplicableTradeTax"), *_RATES),
            amount=_number(_first(line, *_LINE_SETTLEMENTS), "LineTotalAmount"),
        )
        for line in root.all("IncludedSupplyChainTradeLineItem")
    )
    rates = tuple(
        _row(
            "vat",
            rate=_number(tax, *_RATES),
            basis=_number(tax, "BasisAmount"),
            tax=_number(tax, "CalculatedAmount"),
        )
        for tax in (settlement.children if settlement else ())
        if tax.name == "ApplicableTradeTax"
    )
    return _einvoice(header, lines, rates)


def _read_ubl(root: Element) -> EInvoice:
    """The e-invoice of UBL's XML (OASIS), as in Peppol and XRechnung."""
    taxes = [child for child in root.children if child.name == "TaxTotal"]
    header = {
        "number": _text(_child(root, "ID")),
        "date": _iso(_text(_child(root, "IssueDate"))),
        "due_date": _iso(_text(_child(root, "DueDate")) or _text(root, "PaymentDueDate")),
        "tax": _number(taxes[0] if taxes else None, "TaxAmount"),
    }
    sums = root.first("LegalMonetaryTotal")
    header |= {label: _number(sums, name) for label, name in _UBL_SUMS.items()}
    lines = [
        _row(
            name=_text(_first(line, "Item"), "Name"),
            quantity=_number(line, "InvoicedQuantity", "CreditedQuantity"),
            unit_price=_number(_first(line, "Price"), "PriceAmount"),
            rate=_number(_first(line, "ClassifiedTaxCategory"), "Percent"),
            amount=_number(line, "LineExtensionAmount"),
        )
        for line in root.all("InvoiceLine", "CreditNoteLine")
    ]
    rates = [
        _row(
            "vat",
            rate=_number(_first(part, "TaxCategory"), "Percent"),
            basis=_number(part, "TaxableAmount"),
            tax=_number(part, "TaxAmount"),
        )
        for total in taxes
        for part in total.children
        if part.name == "TaxSubtotal"
    ]
    return _einvoice(header, lines, rates)


def _einvoice(
    header: Mapping[str, str],
    lines: Iterable[Mapping[str, str]],
    rates: Iterable[Mapping[str, str]],
) -> EInvoice:
    known = {label: text for label, text in header.items() if text}
    return EInvoice(known, tuple(filter(None, lines)), tuple(filter(None, rates)))


def _child(element: Element, name: str) -> Element | None:
    return next((child for child in element.children if child.name == name), None)


def _row(kind: str = "line", **values: str) -> dict[str, str]:
    return {f"{kind}.{name}": text for name, text in values.items() if text}


def _first(element: Element | None, *names: str) -> Element | None:
    return None if element is None else element.first(*names)


def _text(element: Element | None, *names: str) -> str:
    """The text of the first element below with one of these names; of the element without names."""
    found = _first(element, *names) if names else element
    return "" if found is None else " ".join(found.text.split())


def _number(element: Element | None, *names: str) -> str:
    """A number with at least two decimals; empty if there is none."""
    try:
        number = Decimal(_text(element, *names))
        if not number.is_finite() or abs(number.adjusted()) > 30:
            return ""
        number = number.normalize()
        places = max(2, -int(number.as_tuple().exponent))
        return f"{number:.{places}f}"
    except (InvalidOperation, ValueError):
        return ""


def _date(element: Element | None, name: str) -> str:
    """An ISO date; empty if there is none."""
    return _iso(_text(_first(element, name), "DateTimeString"))


def _iso(digits: str) -> str:
    try:
        return date.fromisoformat(digits[:10] if "-" in digits else digits[:8]).isoformat()
    except ValueError:
        return ""
