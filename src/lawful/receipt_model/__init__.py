"""The receipt model that comes with the package, and the receipts that it learned from."""
