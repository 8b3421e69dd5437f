"""The labels of the invoice model, and the kinds of pages that it tells apart."""

from __future__ import annotations

FIELDS = tuple(
    """number order_number customer_number date due_date delivery_date seller.name seller.address
    seller.vat_id buyer.name buyer.address buyer.vat_id iban bic currency line.position line.article
    line.name line.quantity line.unit line.unit_price line.discount line.rate line.amount
    allowance.amount charge.amount vat.rate vat.basis vat.tax line_total allowances charges net tax
    gross prepaid rounding due""".split()  # noqa: SIM905 - shorter than a list
)
"""The labels, without ``B-`` and ``I-``."""

LABELS = ("O", *(f"{prefix}-{field}" for field in FIELDS for prefix in "BI"))

KINDS = ("receipt", "invoice", "other")
