"""Benchmarks of time and memory; correctness is tested in tests/."""
