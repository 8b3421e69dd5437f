"""Decodings and labels compared with the truth."""
