"""Tests of the documentation: its examples, its links and its list of pages."""
