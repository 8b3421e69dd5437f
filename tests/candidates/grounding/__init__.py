"""Tests of values on their words."""
