"""Tests of rules from data."""
