"""E-invoices: Factur-X, ZUGFeRD and Order-X (UN/CEFACT's XML) inside PDF files, and UBL.

Values are under the labels of the rule pack ``invoice``; numbers have a decimal point and dates are
ISO's. Amounts that the XML does not state are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Context, Decimal, InvalidOperation
from functools import cached_property
from typing import Any, TypeAlias

from lawful.base.errors import InputError
from lawful.readers.xml import Element, parse_xml

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
"""The type of each label that is printed as it is."""

Row: TypeAlias = Mapping[str, str]

_SUMS = {  # by label, in UN/CEFACT's XML and in UBL
    "line_total": ("LineTotalAmount", "LineExtensionAmount"),
    "allowances": ("AllowanceTotalAmount", "AllowanceTotalAmount"),
    "charges": ("ChargeTotalAmount", "ChargeTotalAmount"),
    "net": ("TaxBasisTotalAmount", "TaxExclusiveAmount"),
    "gross": ("GrandTotalAmount", "TaxInclusiveAmount"),
    "prepaid": ("TotalPrepaidAmount", "PrepaidAmount"),
    "rounding": ("RoundingAmount", "PayableRoundingAmount"),
    "due": ("DuePayableAmount", "PayableAmount"),
}
_UBL = ("Invoice", "CreditNote")
_CII = ("CrossIndustryInvoice", "CrossIndustryDocument", "SCRDMCCBDACIOMessageStructure")
_ROOT = re.compile(rf"<(?:[\w.-]+:)?(?:{'|'.join((*_UBL, *_CII))})[\s>]".encode())
_SUMMATIONS = (
    "SpecifiedTradeSettlementHeaderMonetarySummation",
    "SpecifiedTradeSettlementMonetarySummation",
)
_SETTLEMENTS = ("ApplicableHeaderTradeSettlement", "ApplicableSupplyChainTradeSettlement")
_LINE_SETTLEMENTS = ("SpecifiedLineTradeSettlement", "SpecifiedSupplyChainTradeSettlement")
_QUANTITIES = ("BilledQuantity", "RequestedQuantity")
_RATES = ("RateApplicablePercent", "ApplicablePercent", "Percent")
_TAXES = ("CategoryTradeTax", "AppliedTradeTax", "ApplicableTradeTax", "TaxCategory")
_AMOUNTS = ("ActualAmount", "AppliedAmount", "Amount")
_NO_ITEMS = ("GROUP", "INFORMATION")  # lines that are not added up
EXACT = Context(prec=200)
"""Arithmetic in which sums and products of numbers of an XML file are exact."""

START = 2**16
"""Bytes of an XML file among which its root begins."""


@dataclass(frozen=True)
class EInvoice:
    """The values of an e-invoice by label: of its header, its lines and its rates of tax.

    ``allowances`` and ``charges`` are those of the whole invoice. ``others`` of the header are not
    audited: who sells and buys, how to pay. ``numbers`` are all numbers that the XML has anywhere,
    ``syntax`` is ``CII``, ``UBL`` or ``Order-X``.
    """

    header: Row
    lines: tuple[Row, ...]
    rates: tuple[Row, ...]
    allowances: tuple[Row, ...] = ()
    charges: tuple[Row, ...] = ()
    syntax: str = "CII"
    numbers: frozenset[Decimal] = frozenset()
    others: Row = field(default_factory=dict)

    @property
    def values(self) -> dict[str, tuple[str, ...]]:
        """All values by label; those of lines in the order of lines."""
        found: dict[str, list[str]] = {label: [text] for label, text in self.header.items()}
        for row in (*self.lines, *self.rates, *self.allowances, *self.charges):
            for label, text in row.items():
                found.setdefault(label, []).append(text)
        return {label: tuple(texts) for label, texts in found.items()}

    @property
    def stated(self) -> dict[str, Any]:
        """All that the XML says, as an object with lists of rows."""
        return dict(self.others) | self.object

    @cached_property
    def object(self) -> dict[str, Any]:
        """What is audited, as an object with lists of rows, as for ``lawful.ground``."""
        rows = {"line": self.lines, "allowance": self.allowances, "charge": self.charges,
                "vat": self.rates}  # fmt: skip
        return dict(self.header) | {
            kind: [{label.partition(".")[2]: text for label, text in row.items()} for row in some]
            for kind, some in rows.items()
            if some
        }


def find_einvoice(attachments: Mapping[str, bytes]) -> EInvoice | None:
    """The e-invoice among the attachments of a PDF file; ``None`` if there is none.

    Raises an ``InputError`` if there is one that cannot be read, and no other.
    """
    files = {name.rstrip("\0"): data for name, data in attachments.items()}
    named = [name for name in files if name.lower() in NAMES]
    others = [name for name in files if name.lower().endswith(".xml") and name not in named]
    problem = None
    for name in (*named, *others):
        try:
            return read_einvoice(files[name])
        except InputError as error:
            if name in named or is_einvoice(files[name]):
                problem = problem or InputError(f"its e-invoice {name} is not read: {error}")
    if problem is not None:
        raise problem
    return None


def is_einvoice(data: bytes) -> bool:
    """Whether the root of an XML file, by its beginning, is that of an e-invoice."""
    return _ROOT.search(data[:START]) is not None


def read_einvoice(data: bytes) -> EInvoice:
    """The e-invoice of an XML file; raises an ``InputError`` if it is none."""
    root = parse_xml(data)
    if root.name not in (*_UBL, *_CII):
        raise InputError(
            f"the root of the XML is {root.name!r}, expected Invoice, CreditNote (UBL), "
            f"{', '.join(_CII)}"
        )
    return _read_ubl(root) if root.name in _UBL else _read_cii(root)


def _read_cii(root: Element) -> EInvoice:
    """The e-invoice of UN/CEFACT's XML: Factur-X, ZUGFeRD, Order-X and XRechnung."""
    document = root.first("ExchangedDocument", "HeaderExchangedDocument")
    settlement = root.first(*_SETTLEMENTS)
    currency = _text(settlement, "InvoiceCurrencyCode", "OrderCurrencyCode")
    sums = _first(settlement, *_SUMMATIONS)
    header = {
        "number": _text(document, "ID"),
        "date": _date(document, "IssueDateTime"),
        "due_date": _date(settlement, "DueDateDateTime"),
        "tax": _number(_in_currency(_below(sums, "TaxTotalAmount"), currency)),
    }
    means = root.first("SpecifiedTradeSettlementPaymentMeans")
    others = {
        "order_number": _text(root.first("BuyerOrderReferencedDocument"), "IssuerAssignedID", "ID"),
        "delivery_date": _date(root.first("ActualDeliverySupplyChainEvent"), "OccurrenceDateTime"),
        "currency": currency,
        "customer_number": _text(_only(root.first("BuyerTradeParty"), "ID")),
        "iban": _text(_first(means, "PayeePartyCreditorFinancialAccount"), "IBANID"),
        "bic": _text(_first(means, "PayeeSpecifiedCreditorFinancialInstitution"), "BICID"),
    }
    for who in ("seller", "buyer"):
        party = root.first(f"{who.capitalize()}TradeParty")
        place = _first(party, "PostalTradeAddress")
        taxes = (_only(each, "ID") for each in _below(party, "SpecifiedTaxRegistration"))
        vat = (e for e in taxes if e is not None and e.attributes.get("schemeID") in ("VA", "VAT"))
        others |= {
            f"{who}.name": _text(_only(party, "Name")),
            f"{who}.address": _joined(
                place, ("LineOne", "LineTwo", "LineThree"), "PostcodeCode", "CityName"
            ),
            f"{who}.vat_id": _text(next(vat, None)),
        }
    header |= {label: _number(sums, names[0]) for label, names in _SUMS.items()}
    lines = (
        _row(
            article=_text(_first(line, "SpecifiedTradeProduct"), "SellerAssignedID"),
            name=_text(_first(line, "SpecifiedTradeProduct"), "Name"),
            gross_price=_number(_first(line, "GrossPriceProductTradePrice"), "ChargeAmount"),
            quantity=_number(line, "AgreedQuantity") or _number(line, *_QUANTITIES),
            unit_price=_number(_first(line, "NetPriceProductTradePrice"), "ChargeAmount"),
            base_quantity=_number(_first(line, "NetPriceProductTradePrice"), "BasisQuantity"),
            **_taxed(_first(line, "ApplicableTradeTax")),
            **_extras(_first(line, *_LINE_SETTLEMENTS)),
            amount=_number(_first(line, *_LINE_SETTLEMENTS), "LineTotalAmount"),
        )
        for line in root.all("IncludedSupplyChainTradeLineItem")
        if _text(line, "LineStatusReasonCode") not in _NO_ITEMS
    )
    rates = (
        _row(
            "vat", **_taxed(tax), basis=_number(tax, "BasisAmount"),
            tax=_number(tax, "CalculatedAmount"),
        )
        for tax in _below(settlement, "ApplicableTradeTax")
    )  # fmt: skip
    return _einvoice(root, header, lines, rates, settlement, others)


def _read_ubl(root: Element) -> EInvoice:
    """The e-invoice of UBL's XML (OASIS), as in Peppol and XRechnung."""
    totals = list(_below(root, "TaxTotal"))
    currency = _text(next(_below(root, "DocumentCurrencyCode"), None))
    header = {
        "number": _text(next(_below(root, "ID"), None)),
        "date": _iso(_text(next(_below(root, "IssueDate"), None))),
        "due_date": _iso(
            _text(next(_below(root, "DueDate"), None)) or _text(root, "PaymentDueDate")
        ),
        "tax": _number(_in_currency((a for t in totals for a in _below(t, "TaxAmount")), currency)),
    }
    account = root.first("PayeeFinancialAccount")
    others = {
        "order_number": _text(_only(_only(root, "OrderReference"), "ID")),
        "delivery_date": _iso(_text(_only(root.first("Delivery"), "ActualDeliveryDate"))),
        "currency": currency,
        "iban": _text(_only(account, "ID")),
        "bic": _text(_first(account, "FinancialInstitutionBranch"), "ID"),
    }
    for who, name in (("seller", "AccountingSupplierParty"), ("buyer", "AccountingCustomerParty")):
        party = _first(root.first(name), "Party")
        others |= {
            f"{who}.name": _text(_first(party, "PartyName"), "Name")
            or _text(_first(party, "PartyLegalEntity"), "RegistrationName"),
            f"{who}.address": _joined(
                _first(party, "PostalAddress"),
                ("StreetName", "AdditionalStreetName"), "PostalZone", "CityName",
            ),
            f"{who}.vat_id": _text(_first(party, "PartyTaxScheme"), "CompanyID"),
        }  # fmt: skip
    sums = root.first("LegalMonetaryTotal")
    header |= {label: _number(sums, names[1]) for label, names in _SUMS.items()}
    lines = (
        _row(
            article=_text(_first(line, "SellersItemIdentification"), "ID"),
            name=_text(_first(line, "Item"), "Name"),
            quantity=_number(line, "InvoicedQuantity", "CreditedQuantity"),
            unit_price=_number(_first(line, "Price"), "PriceAmount"),
            base_quantity=_number(_first(line, "Price"), "BaseQuantity"),
            **_taxed(_first(line, "ClassifiedTaxCategory")),
            **_extras(line),
            amount=_number(line, "LineExtensionAmount"),
        )
        for line in root.all("InvoiceLine", "CreditNoteLine")
    )
    rates = (
        _row(
            "vat", **_taxed(_first(part, "TaxCategory")), basis=_number(part, "TaxableAmount"),
            tax=_number(part, "TaxAmount"),
        )
        for total in totals
        for part in _below(total, "TaxSubtotal")
    )  # fmt: skip
    return _einvoice(root, header, lines, rates, root, others)


def _einvoice(
    root: Element,
    header: Row,
    lines: Iterable[Row],
    rates: Iterable[Row],
    settlement: Element | None,
    others: Row,
) -> EInvoice:
    """The e-invoice, with allowances and charges of the element that has those of the whole."""
    extras: dict[str, list[Row]] = {"allowance": [], "charge": []}
    for kind, each in _allowances_and_charges(settlement):
        extras[kind].append(
            _row(kind, **_taxed(_first(each, *_TAXES)), amount=_number(each, *_AMOUNTS))
        )
    return EInvoice(
        {label: text for label, text in header.items() if text},
        tuple(filter(None, lines)),
        tuple(filter(None, rates)),
        tuple(filter(None, extras["allowance"])),
        tuple(filter(None, extras["charge"])),
        "UBL" if root.name in _UBL else "CII" if root.name in _CII[:2] else "Order-X",
        frozenset(_numbers(root)),
        {label: text for label, text in others.items() if text},
    )


def _allowances_and_charges(element: Element | None) -> Iterator[tuple[str, Element]]:
    """What is directly below an element, each with whether it is an allowance or a charge."""
    for each in _below(element, "SpecifiedTradeAllowanceCharge", "AllowanceCharge"):
        inside = each.first("ChargeIndicator")
        said = _text(inside, "Indicator") or _text(inside)
        yield "charge" if said.lower() in ("true", "1") else "allowance", each
    yield from (("charge", each) for each in _below(element, "SpecifiedLogisticsServiceCharge"))


def _extras(element: Element | None) -> dict[str, str]:
    """The sums of a line's own allowances and charges, if there are any."""
    found: dict[str, Decimal] = {}
    for kind, each in _allowances_and_charges(element):
        amount = Decimal(_number(each, *_AMOUNTS) or 0)
        found[kind] = EXACT.add(found.get(kind, Decimal(0)), amount)
    return {kind: str(amount) for kind, amount in found.items()}


def _taxed(tax: Element | None) -> dict[str, str]:
    """The rate and the category of a tax."""
    return {
        "rate": _number(tax, *_RATES),
        "category": _text(tax, "CategoryCode") or _text(next(_below(tax, "ID"), None)),
    }


def _in_currency(amounts: Iterable[Element], currency: str) -> Element | None:
    """The amount in the currency of the invoice, or else the first one."""
    found = list(amounts)
    same = (each for each in found if each.attributes.get("currencyID", currency) == currency)
    return next(same, found[0] if found else None)


def _numbers(root: Element) -> Iterator[Decimal]:
    """All numbers of an XML file that are texts of elements."""
    for element in root.all():
        if text := _number(element):
            yield abs(Decimal(text))


def _below(element: Element | None, *names: str) -> Iterator[Element]:
    """The elements directly below with one of these names."""
    for child in () if element is None else element.children:
        if child.name in names:
            yield child


def _only(element: Element | None, name: str) -> Element | None:
    """The first element directly below with this name."""
    return next(_below(element, name), None)


def _joined(place: Element | None, lines: Iterable[str], postcode: str, city: str) -> str:
    """An address in lines as they are mostly printed."""
    streets = [_text(_only(place, name)) for name in lines]
    town = " ".join(filter(None, (_text(_only(place, name)) for name in (postcode, city))))
    return ", ".join(filter(None, (*streets, town)))


def _row(kind: str = "line", **values: str) -> dict[str, str]:
    return {f"{kind}.{name}": text for name, text in values.items() if text}


def _first(element: Element | None, *names: str) -> Element | None:
    return None if element is None else element.first(*names)


def _text(element: Element | None, *names: str) -> str:
    """The text of the first element below with one of these names; of the element without names."""
    found = _first(element, *names) if names else element
    return "" if found is None else " ".join(found.text.split())


def _number(element: Element | None, *names: str) -> str:
    """A number with at least two decimals; empty if there is none, or one of too many digits."""
    try:
        number = Decimal(_text(element, *names))
        if not number.is_finite() or abs(number.adjusted()) > 30 or len(number.as_tuple()[1]) > 60:
            return ""
        number = number.normalize(EXACT)
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
