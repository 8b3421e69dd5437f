"""Readings judged by rules, in Python: the reference."""
