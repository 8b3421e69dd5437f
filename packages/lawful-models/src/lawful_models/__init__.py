"""Models for lawful, as data: ``RECEIPT`` and ``INVOICE`` read the fields of such pages."""

from pathlib import Path

__version__ = "0.2.0"

RECEIPT = Path(__file__).with_name("receipt")
"""A tagger in ONNX, trained on generated receipts and on CORD (CC BY 4.0)."""

INVOICE = Path(__file__).with_name("invoice")
"""A tagger in ONNX, trained on generated invoices; it tells receipts, invoices and others apart."""
