"""Tests of the generated invoices."""
