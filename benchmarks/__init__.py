"""Timings only; correctness lives in tests/."""
