"""The receipt model's labels, and those of data sets that mean the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lawful.documents.records import Labelled

FIELDS = (
    "shop.name", "shop.address", "date",
    "item.name", "item.count", "item.unit_price", "item.price", "item.extra", "item.discount",
    "subtotal", "discount", "service", "tax", "rounding", "tip", "total", "cash", "card", "change",
)  # fmt: skip
"""The labels of the receipt model, without ``B-`` and ``I-``."""

LABELS = ("O", *(f"{prefix}-{field}" for field in FIELDS for prefix in "BI"))

CORD: Mapping[str, str] = {
    "menu.nm": "item.name",
    "menu.cnt": "item.count",
    "menu.unitprice": "item.unit_price",
    "menu.price": "item.price",
    "menu.sub_price": "item.extra",
    "menu.discountprice": "item.discount",
    "sub_total.subtotal_price": "subtotal",
    "sub_total.discount_price": "discount",
    "sub_total.service_price": "service",
    "sub_total.tax_price": "tax",
    "total.total_price": "total",
    "total.cashprice": "cash",
    "total.creditcardprice": "card",
    "total.emoneyprice": "card",
    "total.changeprice": "change",
}
"""Fields of CORD by their label there; it has no shops and dates, and its others are left out."""

WILDRECEIPT: Mapping[str, str] = {
    "Store_name_value": "shop.name",
    "Store_addr_value": "shop.address",
    "Date_value": "date",
    "Prod_item_value": "item.name",
    "Prod_quantity_value": "item.count",
    "Prod_price_value": "item.price",
    "Subtotal_value": "subtotal",
    "Tax_value": "tax",
    "Tips_value": "tip",
    "Total_value": "total",
}
"""Fields of WildReceipt by their label there."""


def renamed(page: Labelled, names: Mapping[str, str]) -> Labelled:
    """The page with these labels renamed, and all others ``O``."""

    def name(label: str) -> str:
        prefix, _, field = label.partition("-")
        return f"{prefix}-{names[field]}" if field in names else "O"

    return replace(page, gold=tuple(map(name, page.gold)))
