"""Tests: brute force is the specification."""
