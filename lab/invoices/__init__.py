"""Generated invoices, and how the shipped model learned from them.

``python -m lab.invoices`` prints some as text.
"""
