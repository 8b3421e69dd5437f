"""Tests of the receipt model."""
